"""`__torch_dispatch__` of tensor classes: what their calls are named, and how a class is asked.

A row of Facula's operator table is shown to a class as the operator of PyTorch's library that does
the same, `facula.ops.aten.NAME.OVERLOAD`, with that operator's arguments. Rows that stand for
several operators there (`linear`) are called as those operators.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula
from facula import _C

Tensor = facula.Tensor

# A translation takes a row's arguments in order, None for those left out, and gives the operator's
# overload, its positional and its keyword arguments; its name too where that differs.
Translated = tuple[str, str, tuple, dict]

# What `Tensor|Scalar` is called, by the operator: for tensors, then for numbers.
_BY_OPERAND = {
    **dict.fromkeys(("add", "sub", "mul", "div"), ("Tensor", "Tensor")),
    **dict.fromkeys(
        ("eq", "ne", "lt", "le", "gt", "ge", "remainder", "fmod", "bitwise_and", "bitwise_or"),
        ("Tensor", "Scalar"),
    ),
    **dict.fromkeys(("bitwise_xor", "copysign", "lerp", "fill_"), ("Tensor", "Scalar")),
    **dict.fromkeys(("bitwise_left_shift", "bitwise_right_shift"), ("Tensor", "Tensor_Scalar")),
    "floor_divide": ("default", "Scalar"),
    "pow": ("Tensor_Tensor", "Tensor_Scalar"),
    "xlogy": ("Tensor", "Scalar_Other"),
    "masked_fill_": ("Tensor", "Scalar"),
}
_FIRST = {"fill_": 1, "lerp": 2, "masked_fill_": 2}  # where the operand stands, if not second

# Rows of one overload that is not called "default".
_OVERLOADS = {
    "select": "int",
    "transpose": "int",
    "slice": "Tensor",
    "index": "Tensor",
    "where": "self",
    "scatter": "src",
    "any": "default",
    "normal": "Tensor_Tensor",
    "var": "correction",
    "std": "correction",
    "index_fill": "int_Scalar",
    "scatter_reduce": "two",
    "argsort": "default",
}
# Rows with another name: the operator and its overload; the arguments are the same.
_RENAMED = {
    "max_dim": ("max", "dim"),
    "min_dim": ("min", "dim"),
    "prod_dim": ("prod", "dim_int"),
    "median_dim": ("median", "dim"),
    "nanmedian_dim": ("nanmedian", "dim"),
    "squeeze_dim": ("squeeze", "dims"),
    "alias_view": ("alias", "default"),
    "view_dtype": ("view", "dtype"),
    "clamp_both": ("clamp", "default"),
    "clamp_numbers": ("clamp", "default"),
    "clamp_min_number": ("clamp_min", "default"),
    "clamp_max_number": ("clamp_max", "default"),
    "scatter_value": ("scatter", "value"),
    "index_fill_tensor": ("index_fill", "int_Tensor"),
    "pow_number": ("pow", "Scalar"),
    "vector_norm": ("linalg_vector_norm", "default"),
    "new_empty_method": ("new_empty", "default"),
    "arange_end": ("arange", "default"),
    "randint_low": ("randint", "low"),
    "logsigmoid": ("log_sigmoid", "default"),
    "masked_fill_": ("masked_fill_", "Scalar"),
}


def _reduction(name: str, overload: str) -> Callable[..., Translated]:
    def translate(x: Tensor, dim: Any, keepdim: Any, dtype: Any = None) -> Translated:
        options = {} if dtype is None else {"dtype": dtype}
        if dim is None:
            return name, "default", (x,), options
        return name, overload, (x, list(dim), True) if keepdim else (x, list(dim)), options

    return translate


def _softmax(name: str) -> Callable[..., Translated | None]:
    def translate(x: Tensor, dim: int, dtype: Any) -> Translated | None:
        return None if dtype is not None else (name, "default", (x, dim, False), {})

    return translate


def _transpose(x: Tensor, first: int, second: int) -> Translated:
    if x.dim() == 2 and (first, second) == (0, 1):
        return "t", "default", (x,), {}
    return "transpose", "int", (x, first, second), {}


def _sub(a: Any, b: Any, alpha: Any) -> Translated:
    options = {} if alpha in (None, 1) else {"alpha": alpha}
    if isinstance(a, Tensor) or options:
        return "sub", "Tensor", (a, b), options
    return "rsub", "Scalar", (b, a), {}


def _mul(a: Any, b: Any) -> Translated:
    return "mul", "Tensor", (a, b) if isinstance(a, Tensor) else (b, a), {}


def _add(a: Any, b: Any, alpha: Any) -> Translated:
    options = {} if alpha in (None, 1) else {"alpha": alpha}
    return "add", "Tensor", (a, b) if isinstance(a, Tensor) or options else (b, a), options


_TRANSLATED: dict[str, Callable[..., Translated | None]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "transpose": _transpose,
    "sum": _reduction("sum", "dim_IntList"),
    "mean": _reduction("mean", "dim"),
    "softmax": _softmax("_softmax"),
    "log_softmax": _softmax("_log_softmax"),
    "cast": lambda x, dtype: ("_to_copy", "default", (x,), {"dtype": dtype}),
    "to_device": lambda x, device: ("_to_copy", "default", (x,), {"device": device}),
    "narrow": lambda x, d, a, n: ("slice", "Tensor", (x, d, a, a + n), {}),
    "square_number": lambda x: ("pow", "Tensor_Scalar", (x, 2), {}),
    "gelu_erf": lambda x: ("gelu", "default", (x,), {}),
    "gelu_tanh": lambda x: ("gelu", "default", (x,), {"approximate": "tanh"}),
}


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    columns = weight.t() if weight.dim() == 2 else weight
    if weight.dim() != 2:
        out = input.matmul(columns)
        return out if bias is None else out + bias
    rows = input if input.dim() == 2 else input.reshape(-1, input.size(-1))
    out = rows.mm(columns) if bias is None else facula.addmm(bias, rows, columns)
    return out if input.dim() == 2 else out.view([*input.shape[:-1], weight.size(0)])


def _wants_gradient(*values: Any) -> bool:
    return facula.is_grad_enabled() and any(
        isinstance(v, Tensor) and v.requires_grad for v in values
    )


def _index(x: Tensor, indices: list) -> Any:
    """Take what masks choose by positions, whose number is known, where a gradient is wanted."""
    masks = [isinstance(i, Tensor) and i.dtype in (facula.bool, facula.uint8) for i in indices]
    if not any(masks) or not _wants_gradient(x):
        return NotImplemented
    places: list = []
    for i, mask in zip(indices, masks, strict=True):
        places += i.nonzero().unbind(1) if mask else [i]
    return x[tuple(slice(None) if i is None else i for i in places)]


def _dropout(x: Tensor, p: float, train: bool) -> Tensor:
    if not train or p == 0:
        return x.clone()
    if p == 1:
        return x * 0
    return x * facula.empty(x.shape, dtype=x.dtype).bernoulli_(1 - p).div_(1 - p)


_COMPOSED: dict[str, Callable[..., Any]] = {
    "dropout": _dropout,
    "index": _index,
    "linear_product": _linear,
}
# Rows of several parts, whose gradients would be those of the parts.
_UNRECORDED = ("dropout_", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "rrelu")


def _overload(name: str, values: list) -> tuple[str, str]:
    """Name the operator and the overload of a row whose arguments are the operator's."""
    base = name.removesuffix("_") if name not in _BY_OPERAND else name
    if base in _BY_OPERAND:
        place = _FIRST.get(base, 1)
        number = place < len(values) and not isinstance(values[place], Tensor)
        return name, _BY_OPERAND[base][number]
    if name in _RENAMED:
        return _RENAMED[name]
    return name, _OVERLOADS.get(base, "default")


def begin(handle: Any, name: str, schema: str, values: list) -> tuple:
    """Give the operator, the positional and the keyword arguments of a call; or a tuple of one, the
    result of a call that is composed of others.
    """
    composed = _COMPOSED.get(name)
    if composed is not None:
        result = composed(*values)
        if result is not NotImplemented:
            return (result,)
    if name.removesuffix("_") in _UNRECORDED or name in _UNRECORDED:
        if _wants_gradient(*values):
            raise NotImplementedError(
                f"{name}: gradients for tensors of a class with a __torch_dispatch__ are not built"
            )
    translate = _TRANSLATED.get(name)
    found = translate(*values) if translate is not None else None
    if found is not None:
        packet, overload, args, kwargs = found
        func = getattr(getattr(facula.ops.aten, packet), overload)
        return func, args, kwargs
    packet, overload = _overload(name, values)
    func, row = facula.ops.row_overload(handle, packet, schema, overload)
    args, kwargs = row.given(values)
    return func, args, kwargs


def finish(func: Any, args: tuple, kwargs: dict, objects: list[Tensor]) -> Any:
    """Ask the classes of the tensors, those that derive from others first."""
    kinds: list[type] = []
    for o in objects:
        kind = type(o)
        if kind in kinds or kind.__torch_dispatch__ is Tensor.__torch_dispatch__:
            continue
        at = next((i for i, k in enumerate(kinds) if issubclass(kind, k)), len(kinds))
        kinds.insert(at, kind)
    for kind in kinds:
        result = kind.__torch_dispatch__(func, tuple(kinds), args, kwargs)
        if result is not NotImplemented:
            return tuple(result) if type(result) is list else result
    lines = "".join(f"\n  - tensor subclass {k}" for k in kinds)
    raise TypeError(
        f"Multiple dispatch failed for '{_C._package_name()}.ops.{func}'; all __torch_dispatch__ "
        f"handlers returned NotImplemented:\n{lines}"
    )


def value(t: Tensor) -> Any:
    """Return the number in a tensor with one element, asking its class."""
    if t.numel() != 1:
        raise RuntimeError(f"a Tensor with {t.numel()} elements cannot be converted to Scalar")
    with facula.no_grad():
        return finish(facula.ops.aten._local_scalar_dense.default, (t,), {}, [t])


def make_wrapper_subclass(
    cls: type,
    size: Any,
    *,
    strides: Any = None,
    storage_offset: int | None = None,
    memory_format: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    dispatch_sizes_strides_policy: str | None = None,
    dispatch_device: bool = False,
    dispatch_layout: bool = False,
    **unknown: Any,
) -> Tensor:
    """Make a tensor of a class with a `__torch_dispatch__` that has a shape but no memory."""
    if layout is not None and layout is not facula.strided:
        raise NotImplementedError("_make_wrapper_subclass: only the strided layout is supported")
    asked = [
        name
        for name, on in (
            ("dispatch_sizes_strides_policy", dispatch_sizes_strides_policy),
            ("dispatch_device", dispatch_device),
            ("dispatch_layout", dispatch_layout),
            ("pin_memory", pin_memory),
            *unknown.items(),
        )
        if on
    ]
    if asked:
        raise NotImplementedError(f"_make_wrapper_subclass: {asked[0]} is not supported")
    size = tuple(size) if not isinstance(size, int) else (size,)
    if strides is None and memory_format not in (None, facula.contiguous_format):
        strides = facula.empty(size, device="meta", memory_format=memory_format).stride()
    return _C._make_wrapper(
        cls,
        size,
        None if strides is None else tuple(strides),
        storage_offset or 0,
        dtype if dtype is not None else facula.get_default_dtype(),
        facula.device(device if device is not None else "cpu"),
        bool(requires_grad),
    )


def rebuild(
    cls: type, dtype: Any, size: Any, strides: Any, offset: int, device: Any, requires_grad: bool
) -> Tensor:
    """Make a tensor without memory again; what its class knows follows as its state."""
    return _C._make_wrapper(cls, size, strides, offset, dtype, device, requires_grad)


def reduced(t: Tensor) -> tuple:
    """Give what pickle needs of a tensor without memory."""
    parts = (type(t), t.dtype, tuple(t.size()), tuple(t.stride()), t.storage_offset(), t.device)
    return rebuild, (*parts, t.requires_grad), dict(t.__dict__)


def copied(t: Tensor, memo: dict) -> Tensor:
    """Make a deep copy of a tensor of a class with a `__torch_dispatch__`: its clone."""
    from copy import deepcopy

    with facula.no_grad():
        copy = t.detach().clone()
        if type(copy) is not type(t):
            raise RuntimeError(
                f"The default implementation of __deepcopy__() for type {type(t)} is not suitable: "
                "clone() gave another type. Please implement __torch_dispatch__ for aten.clone, or "
                "override __deepcopy__()"
            )
        for key, held in t.__dict__.items():
            if key not in copy.__dict__:
                copy.__dict__[key] = deepcopy(held, memo)
        if t.requires_grad:
            copy.requires_grad_()
        if t.grad is not None:
            copy.grad = deepcopy(t.grad, memo)
    memo[id(t)] = copy
    return copy
