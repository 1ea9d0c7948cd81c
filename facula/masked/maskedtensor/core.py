"""MaskedTensor: a tensor and a mask that says which elements count."""

from __future__ import annotations

import functools
import warnings
from typing import Any, TypeGuard

import facula
from facula import Tensor

__all__ = ["MaskedTensor", "is_masked_tensor"]

_DTYPES = (
    facula.float16,
    facula.float32,
    facula.float64,
    facula.bool,
    facula.int8,
    facula.int16,
    facula.int32,
    facula.int64,
)


def is_masked_tensor(obj: Any, /) -> TypeGuard[MaskedTensor]:
    """Say whether an object is a tensor with a mask."""
    return isinstance(obj, MaskedTensor)


def _check(data: Tensor, mask: Tensor) -> None:
    if data.layout != mask.layout:
        raise TypeError("data and mask must have the same layout.")
    if data.layout != facula.strided:
        raise NotImplementedError(f"MaskedTensor: data of layout {data.layout} is not built")
    if type(data) is not type(mask):
        raise TypeError(f"data and mask must have the same type. Got {type(data)} and {type(mask)}")
    if mask.dtype != facula.bool:
        raise TypeError("mask must have dtype bool.")
    if data.dtype not in _DTYPES:
        raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
    if data.dim() != mask.dim():
        raise ValueError("data.dim() must equal mask.dim()")
    if data.size() != mask.size():
        raise ValueError("data.size() must equal mask.size()")


def _number(value: Any, kept: bool) -> str:
    if not kept:
        return "--"
    return f"{value:8.4f}" if isinstance(value, float) else str(value)


def _text(data: Tensor, mask: Tensor) -> str:
    """Write the elements, with "--" where the mask is false."""
    if data.dim() > 1:
        rows = [_text(d, m) for d, m in zip(data, mask, strict=True)]
        inner = ",\n".join(_indented(row) for row in rows)
        return f"[\n{inner}\n]"
    values, kept = data.tolist(), mask.tolist()
    texts = [_number(v, True) for v in values]
    width = max((len(t) if k else 8 for t, k in zip(texts, kept, strict=True)), default=0)
    return f"[{', '.join(t if k else '--'.rjust(width) for t, k in zip(texts, kept, strict=True))}]"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


class MaskedTensor(Tensor):
    """A tensor whose elements count where a mask is true.

    Operators of one tensor work on all elements and keep the mask; those of two take tensors with
    equal masks, or a plain tensor beside one with a mask; reductions leave out what the mask
    excludes, and a result over no element at all is masked. Gradients are such tensors as well.

    Args:
        data: the elements, of a dtype of (float16, float32, float64, bool, int8, int16, int32,
            int64); copied.
        mask: bool, of the shape of `data`; copied.
        requires_grad: whether gradients flow to the new leaf.

    TypeError for what is no plain tensor and for other dtypes; ValueError for unequal shapes;
    NotImplementedError for sparse data.

    >>> import facula
    >>> x = MaskedTensor(facula.arange(3.0), facula.tensor([True, False, True]))
    >>> x + x
    MaskedTensor(
      [  0.0000,       --,   4.0000]
    )
    """

    _masked_data: Tensor
    _masked_mask: Tensor

    @staticmethod
    def __new__(cls, data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
        """Make the tensor without elements of its own."""
        if is_masked_tensor(data) or not isinstance(data, Tensor):
            raise TypeError("data must be a Tensor")
        if is_masked_tensor(mask) or not isinstance(mask, Tensor):
            raise TypeError("mask must be a Tensor")
        _check(data, mask)
        if data.requires_grad:
            warnings.warn(
                "It is not recommended to create a MaskedTensor with a tensor that requires_grad. "
                "To avoid this, you can use data.detach().clone()",
                stacklevel=2,
            )
        return Tensor._make_wrapper_subclass(
            cls, data.size(), dtype=data.dtype, device=data.device, requires_grad=requires_grad
        )

    def __init__(self, data: Tensor, mask: Tensor, requires_grad: bool = False) -> None:
        # Data that wants gradients is for the constructor with a gradient, not for this one.
        self._masked_data, self._masked_mask = data.detach().clone(), mask.clone()

    @staticmethod
    def _from_values(data: Tensor, mask: Tensor) -> MaskedTensor:
        return _FromValues.apply(data, mask)

    def _set_data_mask(self, data: Tensor, mask: Tensor) -> None:
        _check(data, mask)
        self._masked_data, self._masked_mask = data, mask

    def get_data(self) -> Tensor:
        """Return all elements, also those that the mask excludes; gradients flow through."""
        return _GetData.apply(self)

    def get_mask(self) -> Tensor:
        """Return the mask."""
        return self._masked_mask

    def to_tensor(self, value: Any) -> Tensor:
        """Return the elements with `value` where the mask excludes them."""
        return self.get_data().masked_fill(~self.get_mask(), value)

    @classmethod
    def unary(cls, fn: Any, data: Tensor, mask: Tensor) -> MaskedTensor:
        """Apply a function to data and keep the mask."""
        return MaskedTensor(fn(data), mask)

    def is_sparse_coo(self) -> bool:
        """Say that the data is not sparse."""
        return False

    def is_sparse_csr(self) -> bool:  # type: ignore[override]
        """Say that the data is not sparse."""
        return False

    def __lt__(self, other: Any) -> MaskedTensor:
        if is_masked_tensor(other):
            other = other.get_data()
        return MaskedTensor(self.get_data() < other, self.get_mask())

    def __repr__(self) -> str:
        data, mask = self._masked_data, self._masked_mask
        if data.dim() == 0:
            return f"MaskedTensor({_number(data.item(), mask.item())}, {mask.item()})"
        return f"MaskedTensor(\n{_indented(_text(data, mask))}\n)"

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        """Reduce over what counts; the other functions work as their operators do."""
        kwargs = kwargs or {}
        rule = _functions().get(func)
        if rule is not None:
            return rule(*args, **kwargs)
        if not all(issubclass(cls, t) for t in types):
            return NotImplemented
        with facula._C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs)

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        """Apply an operator to data and mask by its rule."""
        from facula.masked.maskedtensor import _rules

        rule = _rules.RULES.get(func.overloadpacket.__name__)
        if rule is not None:
            return rule(func, *args, **(kwargs or {}))
        warnings.warn(
            f"{func.overloadpacket.__name__} is not implemented in __torch_dispatch__ for "
            "MaskedTensor.",
            stacklevel=2,
        )
        return NotImplemented


@functools.cache
def _functions() -> dict[Any, Any]:
    from facula.masked.maskedtensor import _functions as functions

    return functions.table()


class _FromValues(facula.autograd.Function):
    """A tensor with a mask from data that a gradient flows to."""

    @staticmethod
    def forward(ctx: Any, data: Tensor, mask: Tensor) -> MaskedTensor:  # type: ignore[override]
        return MaskedTensor(data.detach(), mask)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple:  # type: ignore[override]
        return grad_output, None


class _GetData(facula.autograd.Function):
    """The data of a tensor with a mask, whose gradient has the mask."""

    @staticmethod
    def forward(ctx: Any, masked: MaskedTensor) -> Tensor:  # type: ignore[override]
        ctx.mask = masked._masked_mask
        return masked._masked_data.detach()

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:  # type: ignore[override]
        return grad_output if is_masked_tensor(grad_output) else MaskedTensor(grad_output, ctx.mask)


class ReducedData(_GetData):
    """The data for a reduction, which leaves out what the mask excludes: that has no gradient,
    whatever the mask of the result's gradient is.
    """

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> Tensor:  # type: ignore[override]
        if is_masked_tensor(grad_output):
            grad_output = grad_output._masked_data
        return MaskedTensor(grad_output.detach(), ctx.mask)
