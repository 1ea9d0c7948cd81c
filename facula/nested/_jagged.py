"""NestedTensor: batch items of different lengths, their rows one after another in one tensor."""

from __future__ import annotations

from typing import Any

import facula
from facula import _C
from facula.nested._structure import NestedInt, Structure

Tensor = facula.Tensor


class NestedTensor(Tensor):
    """A batch `(B, *, D...)` whose one ragged dimension `*` differs between items.

    The tensor itself holds the values, the items' rows joined along the ragged dimension, and is
    differentiated as such; `_structure` says which rows belong to which item. Functions see the
    batch through `__torch_function__`. Those that have no meaning for, or are not built for, ragged
    rows raise RuntimeError or NotImplementedError with their name.

    >>> import facula
    >>> items = [facula.ones(2, 3), facula.ones(1, 3)]
    >>> t = facula.nested.nested_tensor(items, layout=facula.jagged)
    >>> t.sum(1)
    tensor([[2., 2., 2.],
            [1., 1., 1.]])
    """

    _structure: Structure

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        from facula.nested import _functions

        with _C.DisableTorchFunctionSubclass():
            return _functions.call(func, args, kwargs or {})

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        from facula.nested import _functions

        shape = ", ".join(map(repr, self.shape))
        grad = ", requires_grad=True" if self.requires_grad else ""
        with _C.DisableTorchFunctionSubclass():
            history = self.grad_fn
            contiguous = _functions.is_contiguous(self)
        grad = grad if history is None else f", grad_fn={history}"
        offsets = self._structure.offsets
        return f"NestedTensor(size=({shape}), offsets={offsets}{grad}, contiguous={contiguous})"

    __str__ = __repr__

    def values(self) -> Tensor:
        """Return the joined rows `(sum of lengths, D...)`; gradients pass through."""
        with _C.DisableTorchFunctionSubclass():
            return self.as_subclass(Tensor)

    def offsets(self) -> Tensor:
        """Return where each item begins and the last one ends, `(B + 1,)`."""
        return self._structure.offsets

    def lengths(self) -> Tensor | None:
        """Return the lengths of items that do not fill the rows up to the next; else None."""
        return self._structure.lengths

    def to_padded_tensor(
        self, padding: float, output_size: tuple[int, ...] | None = None
    ) -> Tensor:
        """Return the dense batch, items filled up with `padding`."""
        from facula.nested import _functions

        with _C.DisableTorchFunctionSubclass():
            return _functions.to_padded_tensor(self, padding, output_size)

    def _max_seqlen(self) -> int:
        return self._structure.longest()

    def _min_seqlen(self) -> int:
        return self._structure.shortest()

    def __len__(self) -> int:
        return self._structure.batch

    def __iter__(self) -> Any:
        return iter(self.unbind(0))

    def __deepcopy__(self, memo: dict) -> NestedTensor:
        if id(self) in memo:
            return memo[id(self)]
        made = wrap(self.values().detach().clone(), self._structure)
        made.requires_grad_(self.requires_grad)
        memo[id(self)] = made
        return made

    def __reduce_ex__(self, protocol: Any) -> tuple:
        s = self._structure
        return (
            _rebuild,
            (self.values().detach(), s.offsets, s.lengths, s.ragged, self.requires_grad),
        )


def _rebuild(
    values: Tensor, offsets: Tensor, lengths: Tensor | None, ragged: int, requires_grad: bool
) -> NestedTensor:
    return wrap(values, Structure(offsets, lengths, ragged)).requires_grad_(requires_grad)


def wrap(values: Tensor, structure: Structure) -> NestedTensor:
    """Return values as a nested tensor with these rows; gradients pass through."""
    with _C.DisableTorchFunctionSubclass():
        made = values.as_subclass(NestedTensor)
    made._structure = structure
    return made


def call_on_values(func: Any, structure: Structure, *args: Any, **kwargs: Any) -> Any:
    """Call func on values; tensors among the results become nested ones with these rows."""
    result = super(NestedTensor, NestedTensor).__torch_function__(
        func, (NestedTensor,), args, kwargs
    )
    for item in result if isinstance(result, (tuple, list)) else (result,):
        if isinstance(item, NestedTensor):
            item._structure = structure
    return result


__all__ = ["NestedInt", "NestedTensor", "Structure", "call_on_values", "wrap"]
