"""The functions of jagged nested tensors, by name. They run with overrides off, so that a nested
tensor among arguments stands for its values: the batch item's rows, without a batch dimension.
"""

from __future__ import annotations

from typing import Any

import facula
from facula.nested._jagged import NestedInt, NestedTensor, Structure, call_on_values, wrap
from facula.overrides import _without_operators

Tensor = facula.Tensor
HANDLERS: dict[str, Any] = {}


def handles(names: str) -> Any:
    """Register a handler (func, name, *args, **kwargs) for names separated by spaces."""

    def register(handler: Any) -> Any:
        for name in names.split():
            HANDLERS[name] = handler
        return handler

    return register


def call(func: Any, args: tuple, kwargs: dict) -> Any:
    """Call the handler of a function; NotImplementedError naming it when there is none."""
    func, args = _without_operators(func, args)
    name = getattr(func, "__name__", str(func))
    owner = getattr(func, "__self__", None)
    if name in ("__get__", "__set__", "__delete__") and owner is not None:
        name = ("" if name == "__get__" else name) + owner.__name__
    handler = HANDLERS.get(name)
    if handler is None:
        raise NotImplementedError(
            f"{name}: not built for nested tensors of the jagged layout; unbind them or use "
            "to_padded_tensor"
        )
    return handler(func, name, *args, **kwargs)


def nested_in(items: Any) -> NestedTensor:
    """Return the first nested tensor among arguments or in lists of them."""
    for item in items:
        if isinstance(item, NestedTensor):
            return item
        if isinstance(item, (list, tuple)):
            for part in item:
                if isinstance(part, NestedTensor):
                    return part
    raise TypeError("expected a nested tensor among the arguments")


def outer_shape(this: NestedTensor) -> list[int]:
    """Return the sizes with the batch in front and the ragged one as a symbol."""
    s = this._structure
    shape = [s.batch, *this.shape]
    shape[s.ragged] = s.symbol
    return shape


def shape_text(t: Tensor) -> str:
    shape = outer_shape(t) if isinstance(t, NestedTensor) else list(t.shape)
    return "(" + ", ".join(map(repr, shape)) + ")"


def outer_dim(this: NestedTensor, dim: int) -> int:
    """Return a dimension, the batch counted, as a number that is not negative."""
    dims = this.dim() + 1
    if not -dims <= dim < dims:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-dims}, {dims - 1}], but got "
            f"{dim})"
        )
    return dim % dims


def inner_dim(this: NestedTensor, dim: int, name: str) -> int:
    """Return the values' dimension for one that is neither the batch nor ragged."""
    d = outer_dim(this, dim)
    if d == 0:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on dim=0")
    if d == this._structure.ragged:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on ragged dim")
    return d - 1


def is_contiguous(this: NestedTensor) -> bool:
    s = this._structure
    return s.lengths is None and s.ragged == 1 and Tensor.is_contiguous(this)


def packed(this: NestedTensor) -> NestedTensor:
    """Return the tensor without rows between items, itself if there are none."""
    s = this._structure
    first = s.rows()[0][0] if s.batch else 0
    total = this.size(s.ragged - 1)
    if s.lengths is None and first == 0 and sum(s.counts()) == total:
        return this
    rows = this.as_subclass(Tensor).index_select(s.ragged - 1, s.covered())
    counts = s.spans()[:, 1]
    offsets = facula.cat([counts.new_zeros(1), counts.cumsum(0)])
    return wrap(rows, Structure(offsets, None, s.ragged))


def rows_first(this: NestedTensor) -> Tensor:
    """Return the values with the rows in front."""
    return this.as_subclass(Tensor).movedim(this._structure.ragged - 1, 0)


def pad(this: NestedTensor, fill: Any) -> Tensor:
    """Return the dense batch (B, longest, ...), the ragged dimension behind the batch."""
    s, rows = this._structure, rows_first(this)
    longest = s.longest()
    source = facula.full((s.batch, longest), rows.size(0), dtype=facula.int64)
    for i, (first, n) in enumerate(s.rows()):
        source[i, :n] = facula.arange(first, first + n)
    filler = facula.full((1, *rows.shape[1:]), fill, dtype=rows.dtype, device=rows.device)
    flat = facula.cat([rows, filler]).index_select(0, source.reshape(-1))
    return flat.reshape(s.batch, longest, *rows.shape[1:])


def unpad(dense: Tensor, like: NestedTensor) -> NestedTensor:
    """Return the rows of a batch (B, longest, ...) as a nested tensor with the rows of `like`."""
    s = like._structure
    flat = dense.reshape(s.batch * dense.size(1), *dense.shape[2:])
    item, place = s.places(like.size(s.ragged - 1))
    rows = flat.index_select(0, item * dense.size(1) + place)
    return wrap(rows.movedim(0, s.ragged - 1), s)


def to_padded_tensor(
    this: NestedTensor, padding: float, output_size: tuple[int, ...] | None = None
) -> Tensor:
    s = this._structure
    dense = pad(this, padding).movedim(1, s.ragged)
    if output_size is None:
        return dense
    size = list(output_size)
    if len(size) != dense.dim() or any(a < b for a, b in zip(size, dense.shape, strict=True)):
        raise RuntimeError(
            f"to_padded_tensor(): output_size {tuple(size)} is smaller than the padded batch "
            f"{tuple(dense.shape)}"
        )
    behind = []
    for have, want in zip(reversed(dense.shape), reversed(size), strict=True):
        behind += [0, want - have]
    return facula.nn.functional.pad(dense, behind, value=padding)


def fit(dense: Tensor, like: NestedTensor, name: str) -> Tensor:
    """Bring a dense operand to a shape that broadcasts with the values of `like`."""
    s, dims = like._structure, like.dim() + 1
    missing = dims - dense.dim()
    ragged = s.ragged - missing  # the place of the ragged dimension in the operand
    size = dense.size(ragged) if ragged >= 0 else 1
    if missing < 0 or (missing > 0 and size != 1):
        raise RuntimeError(
            f"cannot call binary pointwise function {name} with inputs of shapes "
            f"{shape_text(like)} and {shape_text(dense)}"
        )
    if missing > 0:
        return dense
    if dense.size(0) == 1 and size == 1:
        return dense.squeeze(0)
    if dense.size(0) not in (1, s.batch) or size not in (1, s.longest()):
        raise RuntimeError(
            f"cannot call binary pointwise function {name} with inputs of shapes "
            f"{shape_text(like)} and {shape_text(dense)}"
        )
    item, place = s.places(like.size(s.ragged - 1))
    wide = dense.movedim(s.ragged, 1).expand(s.batch, size, *([-1] * (dims - 2)))
    rows = wide.reshape(s.batch * size, *wide.shape[2:])
    chosen = rows.index_select(0, item if size == 1 else item * size + place)
    return chosen.movedim(0, s.ragged - 1)


POINTWISE = """
abs absolute acos acosh add addcdiv addcmul alpha_dropout angle arccos arccosh arcsin arcsinh
arctan arctanh arctan2 asin asinh atan atan2 atanh bfloat16 bitwise_and bitwise_not bitwise_or
bitwise_xor bool byte cdouble ceil celu cfloat char clamp clamp_max clamp_min clip clone conj
contiguous copysign cos cosh cpu deg2rad detach digamma div divide double dropout elu empty_like
eq erf erfc erfinv exp exp2 expm1 feature_alpha_dropout fill_ fix float float_power floor
floor_divide fmax fmin fmod frac frexp full_like ge gelu greater greater_equal gt half hardshrink
hardsigmoid hardswish hardtanh heaviside hypot i0 int isclose isfinite isinf isnan isneginf
isposinf isreal ldexp le leaky_relu lerp less less_equal lgamma log log10 log1p log2 logaddexp
logaddexp2 logical_and logical_not logical_or logical_xor logit logsigmoid long lt masked_fill
maximum minimum mish mul multiply nan_to_num ne neg negative nextafter normal_ not_equal ones_like
polar positive pow rad2deg rand_like randint_like randn_like real reciprocal relu relu6 remainder
round rrelu rsqrt rsub selu sgn short sigmoid sign signbit silu sin sinc sinh softplus softshrink
softsign sqrt square sub subtract tan tanh tanhshrink threshold to true_divide trunc type type_as
uniform_ where xlogy zero_ zeros_like retain_grad requires_grad_ detach_ copy_ bernoulli data
"""


@handles(POINTWISE)
def pointwise(func: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    like = nested_in((*args, *kwargs.values()))
    s = like._structure

    def operand(x: Any) -> Any:
        if isinstance(x, NestedTensor):
            if not s.same_rows(x._structure) or s.ragged != x._structure.ragged:
                raise RuntimeError(
                    f"cannot call binary pointwise function {name} with inputs of shapes "
                    f"{shape_text(like)} and {shape_text(x)}"
                )
            return x
        return fit(x, like, name) if isinstance(x, Tensor) and x.dim() else x

    args = tuple(operand(a) for a in args)
    kwargs = {key: operand(value) for key, value in kwargs.items()}
    return call_on_values(func, s, *args, **kwargs)


for _name in POINTWISE.split():
    if not _name.endswith("_"):
        HANDLERS.setdefault(_name + "_", pointwise)


@handles(
    "dtype device is_cuda is_cpu is_meta is_floating_point is_complex is_signed requires_grad "
    "is_leaf grad_fn output_nr element_size itemsize _version is_pinned get_device "
    "register_hook retains_grad is_quantized is_sparse is_inference __setrequires_grad "
    "data_ptr untyped_storage storage_offset is_shared _backward_hooks"
)
def about_values(func: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    return func(*args, **kwargs)


@handles("grad _grad")
def gradient(func: Any, name: str, this: NestedTensor) -> Any:
    grad = func(this)
    return None if grad is None else wrap(grad, this._structure)


@handles("__set__grad __set__requires_grad __set__data __delete__grad")
def set_attribute(func: Any, name: str, this: NestedTensor, *value: Any) -> None:
    func(this, *(v.as_subclass(Tensor) if isinstance(v, NestedTensor) else v for v in value))


@handles("backward")
def backward(func: Any, name: str, this: NestedTensor, gradient: Any = None, **kw: Any) -> None:
    func(this, gradient, **kw)


@handles("shape")
def shape(func: Any, name: str, this: NestedTensor) -> Any:
    return facula.Size(outer_shape(this))


@handles("size")
def size(func: Any, name: str, this: NestedTensor, dim: int | None = None) -> Any:
    sizes = outer_shape(this)
    return facula.Size(sizes) if dim is None else sizes[outer_dim(this, dim)]


@handles("dim ndim ndimension")
def dim(func: Any, name: str, this: NestedTensor) -> int:
    return this.dim() + 1


@handles("numel nelement")
def numel(func: Any, name: str, this: NestedTensor) -> int:
    s = this._structure
    rest = facula.Size([n for d, n in enumerate(this.shape) if d != s.ragged - 1]).numel()
    return rest * sum(s.counts())


@handles("stride")
def stride(func: Any, name: str, this: NestedTensor, dim: int | None = None) -> Any:
    steps = this.stride()
    # The batch step is the ragged length times the step of a row: a symbol, too.
    steps = (this._structure.symbol, *steps)
    return steps if dim is None else steps[outer_dim(this, dim)]


@handles("is_nested")
def is_nested(func: Any, name: str, this: NestedTensor) -> bool:
    return True


@handles("layout")
def layout(func: Any, name: str, this: NestedTensor) -> Any:
    return facula.jagged


@handles("is_contiguous")
def ask_contiguous(func: Any, name: str, this: NestedTensor, memory_format: Any = None) -> bool:
    return is_contiguous(this)


@handles("contiguous")
def contiguous(func: Any, name: str, this: NestedTensor, memory_format: Any = None) -> Any:
    if is_contiguous(this):
        return this
    dense = packed(this)
    return wrap(dense.as_subclass(Tensor).contiguous(), dense._structure)


@handles("as_subclass")
def as_subclass(func: Any, name: str, this: NestedTensor, cls: Any) -> Any:
    return func(this, cls)


@handles("unbind")
def unbind(func: Any, name: str, this: NestedTensor, dim: int = 0) -> tuple[Tensor, ...]:
    if outer_dim(this, dim) != 0:
        raise RuntimeError(f"unbind(): only supported for NestedTensor on dim=0, got {dim}")
    s, values = this._structure, this.as_subclass(Tensor)
    if s.lengths is None and sum(s.counts()) == this.size(s.ragged - 1):
        return tuple(values.split(s.counts(), s.ragged - 1))
    return tuple(values.narrow(s.ragged - 1, first, n) for first, n in s.rows())


@handles("to_padded_tensor")
def ask_padded(func: Any, name: str, this: NestedTensor, padding: float, size: Any = None) -> Any:
    return to_padded_tensor(this, padding, size)


@handles("equal")
def equal(func: Any, name: str, this: Tensor, other: Tensor) -> bool:
    if not isinstance(this, NestedTensor) or not isinstance(other, NestedTensor):
        return False
    a, b = this._structure, other._structure
    if a.ragged != b.ragged or a.counts() != b.counts():
        return False
    return func(packed(this).as_subclass(Tensor), packed(other).as_subclass(Tensor))


@handles("item tolist numpy __bool__")
def refuse(func: Any, name: str, this: NestedTensor, *args: Any, **kwargs: Any) -> Any:
    if name == "item":
        count = numel(None, "numel", this)
        raise RuntimeError(f"a Tensor with {count} elements cannot be converted to Scalar")
    if name.startswith("__"):
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    raise RuntimeError(f".{name}() is not supported for tensor subclasses, got NestedTensor")


from facula.nested import _products, _reductions, _shapes  # noqa: E402,F401 - they register

__all__ = ["HANDLERS", "NestedInt", "call", "is_contiguous", "to_padded_tensor"]
