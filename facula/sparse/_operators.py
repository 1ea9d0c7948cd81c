"""The operators of sparse tensors, by name: what `SparseTensor.__torch_function__` looks up.

Each takes the arguments of the strided operator. What works on values alone is made of the
differentiable operator on values; the rest calls the compiled functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import facula
from facula import _C
from facula.sparse import _create
from facula.sparse._table import TABLE, entry
from facula.sparse._tensor import BLOCKED, SparseTensor, is_sparse, parts, refuse

Tensor = _C.Tensor


def _of_tensors(count: int, *names: str) -> Callable[[Callable], Callable]:
    """Register an operator whose first arguments must be tensors."""

    def add(function: Callable) -> Callable:
        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            for a in args[:count]:
                if not isinstance(a, Tensor):
                    kind = type(a).__name__
                    raise TypeError(f"{names[0]}(): expected a Tensor as argument, got {kind}")
            return function(*args, **kwargs)

        return entry(*names)(checked)

    return add


def on_values(t: SparseTensor, function: Callable[[Tensor], Tensor]) -> SparseTensor:
    """Apply a function to the values, which it must not reshape; others stay zero."""
    t = _C._sparse_settled(t)
    return _C._sparse_map(t, function(_C._sparse_raw_values(t)))


def coalesced(t: SparseTensor) -> SparseTensor:
    """Coalesce a COO tensor; others are given back as they are."""
    return _C._sparse_coalesce(t)


def _is_number(x: Any) -> bool:
    return not isinstance(x, Tensor) or (not is_sparse(x) and x.dim() == 0)


def _no_out(name: str, out: Any) -> None:
    if out is not None:
        raise NotImplementedError(f"{name}: out= is not built for sparse tensors")


# ---- functions of one element that leave zero at zero

_UNARY = (
    "abs asin asinh atan atanh ceil floor round trunc frac deg2rad rad2deg erf erfinv expm1 log1p "
    "sgn sign sin sinh tan tanh sqrt relu isnan isinf isposinf isneginf signbit nan_to_num "
    "conj_physical conj resolve_conj resolve_neg square absolute arcsin arcsinh arctan arctanh fix "
    "leaky_relu"
).split()
_LINEAR = "neg negative positive real imag".split()


def _unary(name: str, merge: bool) -> Callable:
    function = getattr(facula, name, None) or getattr(facula.nn.functional, name)

    def apply(input: SparseTensor, *args: Any, out: Any = None, **kwargs: Any) -> SparseTensor:
        _no_out(name, out)
        t = coalesced(input) if merge else input
        return on_values(t, lambda v: function(v, *args, **kwargs))

    return apply


for _name in _UNARY:
    TABLE[_name] = _unary(_name, True)
for _name in _LINEAR:
    TABLE[_name] = _unary(_name, False)


@entry("pow", "__pow__")
def _pow(input: Any, exponent: Any, *, out: Any = None) -> SparseTensor:
    _no_out("pow", out)
    if not is_sparse(input) or not _is_number(exponent):
        raise refuse("pow", _C.sparse_coo)
    if not isinstance(exponent, Tensor) and exponent == 0:
        raise RuntimeError(
            "pow: Cannot raise to zeroth power on sparse tensor; it would make the "
            "result tensor dense"
        )
    return on_values(coalesced(input), lambda v: v**exponent)


# ---- sums and products


def _kind(t: Tensor) -> str:
    return "sparse" if is_sparse(t) else "dense"


@entry("add", "__add__", "__radd__", "__iadd__")
def _add(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    _no_out("add", out)
    if is_sparse(input) and is_sparse(other):
        return _C._sparse_add(input, other, alpha)
    if is_sparse(other) and isinstance(input, Tensor):
        if input.shape != other.shape:
            input = input.expand(other.shape)
        return _C._sparse_add(input, other, alpha)
    if isinstance(other, Tensor) and parts(input).layout is not _C.sparse_coo:
        base = other.expand(input.shape) if other.shape != input.shape else other
        if alpha != 1:
            base = base * alpha
        return _C._sparse_add(base, input, 1)
    raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")


@entry("sub", "subtract", "__sub__", "__isub__")
def _sub(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Tensor:
    if not isinstance(input, Tensor) or not isinstance(other, Tensor):
        raise RuntimeError("sub(sparse, dense) is not supported. Use sub(dense, sparse) instead.")
    return _add(input, other, alpha=-alpha, out=out)


@entry("rsub", "__rsub__")
def _rsub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    return _sub(other, input, alpha=alpha)


@entry("mul", "multiply", "__mul__", "__rmul__", "__imul__")
def _mul(input: Any, other: Any, *, out: Any = None) -> Tensor:
    _no_out("mul", out)
    if not is_sparse(input):
        input, other = other, input
    if _is_number(other):
        return on_values(input, lambda v: v * other)
    return _C._sparse_mul(input, other)


@entry("div", "divide", "true_divide", "__truediv__", "__itruediv__")
def _div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Tensor:
    _no_out("div", out)
    if not is_sparse(input) or is_sparse(other):
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor "
            f"(got a {_kind(other)} divisor)"
        )
    if _is_number(other):
        if rounding_mode is not None:
            input = coalesced(input)
        return on_values(input, lambda v: facula.div(v, other, rounding_mode=rounding_mode))
    raise RuntimeError(
        "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
        f"{list(other.shape)} for divisor)"
    )


@entry("floor_divide", "__floordiv__")
def _floor_divide(input: Any, other: Any) -> Tensor:
    return _div(input, other, rounding_mode="floor")


@_of_tensors(2, "mm", "spmm", "dsmm", "_sparse_mm", "smm", "hspmm")
def _mm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor:
    _no_out("mm", out)
    for t in (input, mat2):
        if t.dim() != 2:
            raise RuntimeError(f"mm: Expected 2-D matrices, got {input.dim()}-D and {mat2.dim()}-D")
    return _C._sparse_mm(input, mat2)


@_of_tensors(2, "mv")
def _mv(input: Tensor, vec: Tensor, *, out: Any = None) -> Tensor:
    _no_out("mv", out)
    if input.dim() != 2 or vec.dim() != 1:
        raise RuntimeError(
            f"mv: two tensor dim should be 2 and 1, but got {input.dim()} and {vec.dim()}"
        )
    if is_sparse(vec):
        raise refuse("mv", vec.layout)
    return _C._sparse_mm(input, vec.unsqueeze(1)).squeeze(1)


@_of_tensors(2, "bmm")
def _bmm(input: Tensor, mat2: Tensor, *, out: Any = None) -> Tensor:
    _no_out("bmm", out)
    if input.dim() != 3 or mat2.dim() != 3:
        raise RuntimeError("bmm: expected 3-D tensors")
    if not is_sparse(input) or is_sparse(mat2):
        raise refuse("bmm", _C.sparse_coo)
    batches, rows, inner = input.shape
    if mat2.shape[:2] != (batches, inner):
        raise RuntimeError(
            f"bmm: Expected size for first two dimensions of batch2 tensor to be: [{batches}, "
            f"{inner}] but got: {list(mat2.shape[:2])}"
        )
    coo = coalesced(_C._sparse_convert(input, _C.sparse_coo, None, 0))
    if parts(coo).sparse_dim != 3:
        raise refuse("bmm with dense dimensions", _C.sparse_coo)
    at = parts(coo).indices
    diagonal = facula.stack([at[0] * rows + at[1], at[0] * inner + at[2]])
    block = _C._sparse_coo(
        diagonal, _C._sparse_values(coo), (batches * rows, batches * inner), True
    )
    flat = _C._sparse_mm(block, mat2.reshape(batches * inner, mat2.size(2)))
    return flat.reshape(batches, rows, mat2.size(2))


@_of_tensors(2, "matmul", "__matmul__", "__rmatmul__")
def _matmul(input: Tensor, other: Tensor, *, out: Any = None) -> Tensor:
    _no_out("matmul", out)
    dims = (input.dim(), other.dim())
    if dims == (2, 2):
        return _mm(input, other)
    if dims == (2, 1):
        return _mv(input, other)
    if dims == (1, 2) and not is_sparse(input):
        return _C._sparse_mm(input.unsqueeze(0), other).squeeze(0)
    if dims == (3, 3):
        return _bmm(input, other)
    if len(input.shape) > 2 and dims[1] == 2 and not is_sparse(input):
        flat = _C._sparse_mm(input.reshape(-1, input.size(-1)), other)
        return flat.reshape(*input.shape[:-1], other.size(1))
    raise refuse(f"matmul of {dims[0]}-D and {dims[1]}-D tensors", _C.sparse_coo)


@_of_tensors(2, "linear")
def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    if is_sparse(bias):
        raise refuse("linear with a sparse bias", bias.layout)
    out = _matmul(input, weight.t())
    return out if bias is None else out + bias


def _scale_and_add(input: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    if is_sparse(product):
        return _add(input * beta if beta != 1 else input, product)
    if is_sparse(input):
        return _add(product, input, alpha=beta)
    return input * beta + product if beta != 1 else input + product


@_of_tensors(3, "addmm", "sspaddmm", "saddmm")
def _addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    _no_out("addmm", out)
    product = _C._sparse_mm(mat1, mat2) if is_sparse(mat1) or is_sparse(mat2) else mat1 @ mat2
    return _scale_and_add(input, product, beta, alpha)


@_of_tensors(3, "addmv")
def _addmv(
    input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    _no_out("addmv", out)
    return _scale_and_add(input, _mv(mat, vec), beta, alpha)


# ---- reductions


@entry("sum")
def _sum(
    input: SparseTensor,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    _no_out("sum", out)
    if dtype is not None:
        input = on_values(input, lambda v: v.to(dtype))
    if dim is None or (isinstance(dim, (list, tuple)) and len(dim) == 0):
        if keepdim:
            raise refuse("sum with keepdim over all dimensions", input.layout)
        return _C._sparse_sum(input, None)
    dims = [dim] if isinstance(dim, int) else list(dim)
    result = _C._sparse_sum(input, dims)
    if keepdim:
        for d in sorted(d % input.dim() for d in dims):
            result = result.unsqueeze(d)
    return result


@entry("vector_norm")
def _vector_norm(
    x: SparseTensor,
    ord: Any = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    return _norm(x, ord, dim, keepdim, dtype, out)


@entry("norm")
def _norm(
    input: SparseTensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    dtype: Any = None,
    out: Any = None,
) -> Tensor:
    _no_out("norm", out)
    if dim is not None or keepdim:
        raise refuse("norm along dimensions", input.layout)
    t = coalesced(input)
    return _C._sparse_raw_values(t).norm(2 if p == "fro" else p, dtype=dtype)


@_of_tensors(2, "dist")
def _dist(input: SparseTensor, other: SparseTensor, p: float = 2) -> Tensor:
    return _norm(_sub(input, other), p)


@_of_tensors(2, "is_same_size")
def _is_same_size(input: Tensor, other: Tensor) -> bool:
    return input.layout is other.layout and input.shape == other.shape


@entry("any")
def _any(input: SparseTensor) -> Tensor:
    return _C._sparse_raw_values(coalesced(input)).any()


@entry("softmax")
def _softmax(input: SparseTensor, dim: int, dtype: Any = None, _stacklevel: int = 3) -> Tensor:
    return _C._sparse_softmax(_cast(input, dtype), dim, False)


@entry("log_softmax")
def _log_softmax(input: SparseTensor, dim: int, dtype: Any = None, _stacklevel: int = 3) -> Tensor:
    return _C._sparse_softmax(_cast(input, dtype), dim, True)


# ---- copies and types


def _cast(t: SparseTensor, dtype: Any) -> SparseTensor:
    return t if dtype is None or dtype == t.dtype else on_values(t, lambda v: v.to(dtype))


@entry("clone")
def _clone(input: SparseTensor, *, memory_format: Any = None) -> SparseTensor:
    t = _C._sparse_settled(input)
    p = parts(t)
    v = _C._sparse_raw_values(t).clone()
    if p.is_coo:
        return _C._sparse_coo(p.indices.clone(), v, tuple(t.shape), p.coalesced)
    return _C._sparse_compressed(
        p.compressed.clone(), p.indices.clone(), v, tuple(t.shape), p.layout, False
    )


@entry("to")
def _to(input: SparseTensor, *args: Any, **kwargs: Any) -> SparseTensor:
    copy = kwargs.get("copy", False)
    kwargs.pop("memory_format", None)
    if args and isinstance(args[0], Tensor):
        args = (args[0].device, args[0].dtype, *args[1:])
    probe = facula.empty(0, dtype=input.dtype).to(*args, **kwargs)
    _create._device(probe.device)
    if probe.dtype == input.dtype:
        return _clone(input) if copy else input
    return _cast(input, probe.dtype)


def _caster(dtype: Any) -> Callable:
    return lambda input, *args, **kwargs: _cast(input, dtype)


for _name, _dtype in {
    "float": _C.float32,
    "double": _C.float64,
    "half": _C.float16,
    "bfloat16": _C.bfloat16,
    "int": _C.int32,
    "long": _C.int64,
    "short": _C.int16,
    "char": _C.int8,
    "byte": _C.uint8,
    "bool": _C.bool,
    "cfloat": _C.complex64,
    "cdouble": _C.complex128,
}.items():
    TABLE[_name] = _caster(_dtype)


@_of_tensors(2, "type_as")
def _type_as(input: SparseTensor, other: Tensor) -> SparseTensor:
    return _cast(input, other.dtype)


@entry("type")
def _type(input: SparseTensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    if dtype is None:
        plain = facula.empty(0, dtype=input.dtype).type()
        package, _, title = plain.rpartition(".")
        return f"{package}.sparse{'_csr' if input.is_sparse_csr else ''}.{title}"
    return _cast(input, facula.empty(0, dtype=input.dtype).type(dtype).dtype)


@entry("cpu")
def _cpu(input: SparseTensor, *args: Any, **kwargs: Any) -> SparseTensor:
    return input


@entry("cuda")
def _cuda(input: SparseTensor, *args: Any, **kwargs: Any) -> SparseTensor:
    facula.empty(0).cuda(*args, **kwargs)
    return input


@entry("is_contiguous")
def _is_contiguous(input: SparseTensor, *args: Any, **kwargs: Any) -> bool:
    if not parts(input).is_coo:
        raise RuntimeError("Tensors of type SparseCsrTensorImpl do not have is_contiguous")
    return False


@entry("tensor")
def _tensor(
    data: SparseTensor, *, dtype: Any = None, requires_grad: bool = False, **kwargs: Any
) -> SparseTensor:
    made = _clone(_cast(data.detach(), dtype))
    return made.requires_grad_() if requires_grad else made


@entry("as_tensor")
def _as_tensor(data: SparseTensor, dtype: Any = None, device: Any = None) -> SparseTensor:
    return _cast(data, dtype)


@entry("is_pinned", "is_shared", "is_distributed", "is_conj", "is_neg", "_is_view", "is_set_to")
def _false(*args: Any, **kwargs: Any) -> bool:
    return False


@entry("is_nonzero", "item", "__index__", "__complex__")
def _one_value(input: SparseTensor) -> Any:
    if input.numel() != 1:
        raise RuntimeError(f"a Tensor with {input.numel()} elements cannot be converted to Scalar")
    return _C._sparse_dense(input).item()


for _name, _question in {
    "is_floating_point": lambda t: t.dtype.is_floating_point,
    "is_complex": lambda t: t.dtype.is_complex,
    "is_signed": lambda t: t.dtype.is_signed,
    "is_inference": lambda t: parts(t).values.is_inference(),
    "numel": lambda t: math.prod(t.shape),
    "nelement": lambda t: math.prod(t.shape),
}.items():
    TABLE[_name] = _question


def _item_like(kind: type, error: type[Exception], message: str) -> Callable:
    def convert(input: SparseTensor) -> Any:
        if input.numel() != 1:
            raise error(message)
        return kind(_one_value(input))

    return convert


TABLE["__bool__"] = _item_like(
    bool, RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"
)
_ONE = "only one element tensors can be converted to Python scalars"
TABLE["__float__"] = _item_like(float, ValueError, _ONE)
TABLE["__int__"] = _item_like(int, ValueError, _ONE)


def _refusal(error: type[Exception], message: str) -> Callable:
    def raise_it(*args: Any, **kwargs: Any) -> Any:
        raise error(message)

    return raise_it


_TO_NUMPY = "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first."
for _names, _error, _text in (
    ("numpy __array__", TypeError, _TO_NUMPY),
    (
        "reshape flatten view_as reshape_as",
        RuntimeError,
        "reshape is not implemented for sparse tensors",
    ),
    ("expand expand_as", RuntimeError, "expand is unsupported for Sparse tensors"),
    (
        "data_ptr tolist",
        RuntimeError,
        "Cannot access data pointer of Tensor that doesn't have storage",
    ),
    (
        "storage untyped_storage typed_storage set_ share_memory_",
        NotImplementedError,
        "Cannot access storage of a sparse tensor",
    ),
    ("__dlpack__", BufferError, "Can't export sparse tensors"),
):
    for _name in _names.split():
        TABLE[_name] = _refusal(_error, _text)


@entry("backward")
def _backward(
    input: SparseTensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    facula.autograd.backward(input, gradient, retain_graph, create_graph, inputs=inputs)


# ---- tensors like others


@entry("zeros_like", "empty_like")
def _zeros_like(
    input: SparseTensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    p = parts(input)
    dtype, layout = dtype or input.dtype, layout or p.layout
    if layout is _C.strided:
        return facula.zeros(input.shape, dtype=dtype, requires_grad=requires_grad)
    if layout is not p.layout or layout in BLOCKED:
        return _create.empty(input.shape, dtype, layout, requires_grad)
    if p.is_coo:
        at = facula.empty((p.sparse_dim, 0), dtype=facula.int64)
        v = facula.empty((0, *p.values.shape[1:]), dtype=dtype)
        t = _C._sparse_coo(at, v, tuple(input.shape), True)
    else:
        batch = p.compressed.dim() - 1
        none = facula.empty((*p.indices.shape[:-1], 0), dtype=p.indices.dtype)
        v = facula.empty((*p.values.shape[:batch], 0, *p.values.shape[batch + 1 :]), dtype=dtype)
        t = _C._sparse_compressed(
            facula.zeros_like(p.compressed), none, v, tuple(input.shape), layout, False
        )
    return t.requires_grad_() if requires_grad else t


@entry("ones_like", "full_like", "rand_like", "randn_like", "randint_like")
def _full_like(input: SparseTensor, *args: Any, **kwargs: Any) -> Tensor:
    raise refuse("fill_", kwargs.get("layout") or input.layout)


def _fresh(name: str) -> Callable:
    function = getattr(facula, name)

    def make(input: SparseTensor, *size: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        return function(*size, dtype=dtype or input.dtype, **kwargs)

    return make


for _name in ("zeros", "ones", "empty"):
    TABLE["new_" + _name] = _fresh(_name)


# ---- in place


@entry("zero_")
def _zero(input: SparseTensor) -> SparseTensor:
    return input._replace(_zeros_like(input))


@_of_tensors(2, "copy_")
def _copy(input: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    if not is_sparse(input) or not is_sparse(src):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self type = "
            f"{input.layout} and src type = {src.layout}"
        )
    if src.layout is not input.layout:
        raise RuntimeError(f"copy_: cannot copy layout {src.layout} to {input.layout}")
    if src.shape != input.shape:
        raise RuntimeError(f"copy_: expected size {list(input.shape)}, got {list(src.shape)}")
    return input._replace(_clone(_cast(src, input.dtype)))


@entry("add_")
def _add_in_place(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    if is_sparse(input):
        result = _add(input, other, alpha=alpha)
        if not is_sparse(result):
            raise RuntimeError("add_: a sparse tensor cannot hold the sum with a dense one")
        return input._replace(_cast(result, input.dtype))
    return _C._sparse_add_into(input, other, alpha)


@entry("sub_")
def _sub_in_place(input: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
    return _add_in_place(input, other, alpha=-alpha)


@entry("mul_")
def _mul_in_place(input: Tensor, other: Any) -> Tensor:
    if not is_sparse(input):
        raise refuse("mul_ of a strided tensor by a sparse one", other.layout)
    return input._replace(_cast(_mul(input, other), input.dtype))


from facula.sparse import _shapes  # noqa: E402, F401  registers the rest
