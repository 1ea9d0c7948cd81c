"""StridedNestedTensor: items of any sizes; it can be made, taken apart, padded and printed."""

from __future__ import annotations

from typing import Any

import facula
from facula import _C
from facula.overrides import _without_operators

Tensor = facula.Tensor


class StridedNestedTensor(Tensor):
    """A batch of tensors whose sizes may all differ; the elements lie in one flat tensor.

    Other functions than those that copy, take apart or pad raise NotImplementedError: the jagged
    layout is the one to compute with.
    """

    _sizes: list[tuple[int, ...]]

    @staticmethod
    def _from_list(items: list[Tensor]) -> StridedNestedTensor:
        if len({t.dim() for t in items}) > 1:
            raise RuntimeError(
                "All Tensors given to nested_tensor must have the same dimension, got "
                f"{sorted({t.dim() for t in items})}"
            )
        if len({t.dtype for t in items}) > 1:
            raise RuntimeError("All Tensors given to nested_tensor must have the same dtype")
        flat = facula.cat([t.reshape(-1) for t in items]) if items else facula.empty(0)
        return _wrap(flat, [tuple(t.shape) for t in items])

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = kwargs or {}
        func, args = _without_operators(func, args)
        name = getattr(func, "__name__", "")
        owner = getattr(func, "__self__", None)
        if name in ("__get__", "__set__") and owner is not None:
            name = owner.__name__
        with _C.DisableTorchFunctionSubclass():
            if name in _HANDLERS:
                return _HANDLERS[name](*args, **kwargs)
            if name in _SAME:
                result = func(*args, **kwargs)
                this = args[0]
                return result if result is this else _wrap(result, this._sizes)
            if name in _PLAIN:
                return func(*args, **kwargs)
        raise NotImplementedError(
            _C._package_words(
                f"{name}: not built for nested tensors of the strided layout; use "
                "layout=facula.jagged"
            )
        )

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        rows = [str(t.detach()).replace("\n", "\n  ") for t in self.unbind(0)]
        end = ", requires_grad=True)" if self.requires_grad else ")"
        return "nested_tensor([\n  " + ",\n  ".join(rows) + "\n]" + end

    __str__ = __repr__

    def __len__(self) -> int:
        return len(self._sizes)

    def __iter__(self) -> Any:
        return iter(self.unbind(0))

    def to_padded_tensor(
        self, padding: float, output_size: tuple[int, ...] | None = None
    ) -> Tensor:
        """Return the dense batch, items filled up with `padding`."""
        return pad_items(self.unbind(0), padding, output_size)

    def __reduce_ex__(self, protocol: Any) -> tuple:
        return (StridedNestedTensor._from_list, ([t.detach() for t in self.unbind(0)],))


def _wrap(flat: Tensor, sizes: list[tuple[int, ...]]) -> StridedNestedTensor:
    with _C.DisableTorchFunctionSubclass():
        made = flat.as_subclass(StridedNestedTensor)
    made._sizes = sizes
    return made


def pad_items(
    items: tuple[Tensor, ...], padding: float, output_size: tuple[int, ...] | None
) -> Tensor:
    """Stack items of different sizes, filled up with `padding` behind each dimension.

    RuntimeError when `output_size`, the size of the batch, is too small.
    """
    if not items:
        raise RuntimeError("to_padded_tensor: the nested tensor has no items")
    most = [max(t.size(d) for t in items) for d in range(items[0].dim())]
    if output_size is not None:
        given = list(output_size)
        fits = len(given) == len(most) + 1 and all(
            a >= b for a, b in zip(given[1:], most, strict=True)
        )
        if not fits or given[0] < len(items):
            raise RuntimeError(
                f"to_padded_tensor: output_size {tuple(given)} is smaller than the batch of "
                f"{len(items)} items of up to {tuple(most)}"
            )
        most = given[1:]
    made = []
    for t in items:
        behind = [n for d in reversed(range(t.dim())) for n in (0, most[d] - t.size(d))]
        made.append(facula.nn.functional.pad(t, behind, value=padding))
    batch = facula.stack(made)
    if output_size is not None and output_size[0] > len(items):
        rest = batch.new_full((output_size[0] - len(items), *most), padding)
        batch = facula.cat([batch, rest])
    return batch


def _unbind(this: StridedNestedTensor, dim: int = 0) -> tuple[Tensor, ...]:
    if dim not in (0, -len(this._sizes[0]) - 1 if this._sizes else 0):
        raise RuntimeError(f"NestedTensor can only be unbound along dimension 0, got {dim}")
    counts = [facula.Size(s).numel() for s in this._sizes]
    parts = this.as_subclass(Tensor).split(counts)
    return tuple(p.reshape(s) for p, s in zip(parts, this._sizes, strict=True))


def _size(this: StridedNestedTensor, dim: int | None = None) -> int:
    if dim is None:
        raise RuntimeError("NestedTensorImpl doesn't support sizes: ask for size(i)")
    dims = len(this._sizes[0]) + 1 if this._sizes else 1
    if not -dims <= dim < dims:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-dims}, {dims - 1}], but got "
            f"{dim})"
        )
    dim %= dims
    if dim == 0:
        return len(this._sizes)
    found = {s[dim - 1] for s in this._sizes}
    if len(found) > 1:
        raise RuntimeError(f"Given dimension {dim} is irregular and does not have a size.")
    return found.pop()


def _select(this: StridedNestedTensor, index: Any) -> Tensor:
    if isinstance(index, int):
        return _unbind(this)[index]
    raise NotImplementedError("__getitem__: nested tensors of the strided layout take one integer")


def _dim(this: StridedNestedTensor) -> int:
    return len(this._sizes[0]) + 1 if this._sizes else 1


_HANDLERS = {
    "unbind": _unbind,
    "size": _size,
    "shape": _size,
    "dim": _dim,
    "ndim": _dim,
    "is_nested": lambda this: True,
    "__getitem__": _select,
    "is_contiguous": lambda this, memory_format=None: True,
    "grad": lambda this: None if this.grad is None else _wrap(this.grad, this._sizes),
}
_SAME = frozenset(
    "detach clone to float double half bfloat16 requires_grad_ contiguous cpu data "
    "zeros_like ones_like empty_like".split()
)
_PLAIN = frozenset(
    "dtype device layout requires_grad is_leaf grad_fn numel element_size itemsize backward "
    "retain_grad retains_grad is_floating_point is_complex is_signed is_cuda is_cpu is_meta "
    "is_quantized is_sparse is_inference is_pinned get_device output_nr _version".split()
)
