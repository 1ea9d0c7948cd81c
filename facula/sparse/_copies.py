"""Copies of sparse tensors: by another type, new ones of the same shape, and writes in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula
from facula import _C
from facula.sparse import _create
from facula.sparse._table import TABLE, cast, entry, entry_of_tensors, on_values
from facula.sparse._tensor import SparseTensor, is_sparse, parts, refuse

Tensor = _C.Tensor


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
    return cast(input, probe.dtype)


def _caster(dtype: Any) -> Callable:
    return lambda input, *args, **kwargs: cast(input, dtype)


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


@entry_of_tensors(2, "type_as")
def _type_as(input: SparseTensor, other: Tensor) -> SparseTensor:
    return cast(input, other.dtype)


@entry("type")
def _type(input: SparseTensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    if dtype is None:
        plain = facula.empty(0, dtype=input.dtype).type()
        package, _, title = plain.rpartition(".")
        return f"{package}.sparse{'_csr' if input.is_sparse_csr else ''}.{title}"
    return cast(input, facula.empty(0, dtype=input.dtype).type(dtype).dtype)


@entry("tensor")
def _tensor(
    data: SparseTensor, *, dtype: Any = None, requires_grad: bool = False, **kwargs: Any
) -> SparseTensor:
    made = _clone(cast(data.detach(), dtype))
    return made.requires_grad_() if requires_grad else made


@entry("as_tensor")
def _as_tensor(data: SparseTensor, dtype: Any = None, device: Any = None) -> SparseTensor:
    return cast(data, dtype)


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
    if layout is not p.layout:
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


def _filled(name: str, fill: str) -> Callable:
    """New values at the positions of a compressed tensor; COO tensors have no positions to keep."""
    function = getattr(facula, name)

    def make(
        input: SparseTensor,
        *args: Any,
        layout: Any = None,
        requires_grad: bool = False,
        **options: Any,
    ) -> Tensor:
        if parts(input).is_coo or layout not in (None, input.layout):
            raise refuse(fill, layout or input.layout)
        made = on_values(input.detach(), lambda v: function(v, *args, **options))
        return made.requires_grad_() if requires_grad else made

    return make


for _name, _fill in (("ones_like", "fill_"), ("full_like", "fill_"), ("randn_like", "normal_")):
    TABLE[_name] = _filled(_name, _fill)


@entry("rand_like", "randint_like")
def _random_like(input: SparseTensor, *args: Any, **kwargs: Any) -> Tensor:
    raise refuse("uniform_", kwargs.get("layout") or input.layout)


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


@entry_of_tensors(2, "copy_")
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
    return input._replace(_clone(cast(src, input.dtype)))
