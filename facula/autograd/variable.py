"""Variable: the name that tensors with a history had once; its calls make tensors."""

from __future__ import annotations

from facula import _C

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Variable"]


_VOLATILE = "volatile was removed and now has no effect: compute under no_grad() instead."


class _VariableMeta(type):
    """The type of Variable: every tensor is an instance, calls give tensors."""

    def __call__(
        cls, data: _C.Tensor | None = None, requires_grad: bool = False, volatile: bool = False
    ) -> _C.Tensor:
        """Give a leaf with the elements of `data`, which it shares; `volatile` has no effect."""
        if volatile:
            import warnings

            warnings.warn(_VOLATILE, stacklevel=2)
        if data is None:
            return _C.Tensor().requires_grad_(requires_grad)
        if not isinstance(data, _C.Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return data.detach().requires_grad_(requires_grad)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _C.Tensor)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, _C.Tensor)

    def __getattr__(cls, name: str) -> Any:
        return getattr(_C.Tensor, name)


class Variable(metaclass=_VariableMeta):
    """The old name of tensors that take part in backward passes.

    Example:
        x = facula.autograd.Variable(facula.ones(2), requires_grad=True)
    """
