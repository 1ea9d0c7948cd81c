"""`facula.foreach`: operators over lists of tensors, each tensor with its own arguments.

Functions have the names of the operators that they apply, take a list or tuple of tensors first,
by position, and return a tuple; forms that end in `_` write into the tensors and return the list
that they were given. A further argument is one number or 0-d tensor for all, or a list with a
number or tensor for each. Shapes and dtypes are as the operator has them for each tensor.
RuntimeError for an empty list and for lists of unlike lengths, TypeError for what is not a list.

Example:
    >>> import facula
    >>> facula.foreach.add([facula.ones(2), facula.ones(1)], [1, 2])
    (tensor([2., 2.]), tensor([3.]))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import facula
from facula import Tensor, _foreach

__all__ = ["clone", "copy_", "max", "mm", "norm", "zero_"]


def clone(inputs: Sequence[Tensor], /, *, memory_format: Any = None) -> tuple[Tensor, ...]:
    """Copy each tensor.

    Example:
        >>> import facula
        >>> facula.foreach.clone([facula.ones(2)])
        (tensor([1., 1.]),)
    """
    if memory_format is None:
        memory_format = facula.preserve_format
    return _foreach._foreach_clone(inputs, memory_format=memory_format)


def copy_(
    inputs: Sequence[Tensor], src: Sequence[Tensor], /, *, non_blocking: bool = False
) -> Sequence[Tensor]:
    """Copy each tensor of `src` into the one at its place, broadcast and cast to its dtype.

    Example:
        >>> import facula
        >>> facula.foreach.copy_([facula.zeros(2)], [facula.tensor(3)])
        [tensor([3., 3.])]
    """
    return _foreach._foreach_copy_(inputs, src, non_blocking)


def max(inputs: Sequence[Tensor], /) -> tuple[Tensor, ...]:
    """Give the largest element of each tensor, without dimensions; RuntimeError if there is none.

    Example:
        >>> import facula
        >>> facula.foreach.max([facula.arange(3), facula.ones(2)])
        (tensor(2), tensor(1.))
    """
    return _foreach._foreach_max(inputs)


def mm(inputs: Sequence[Tensor], mat2: Sequence[Tensor], /) -> tuple[Tensor, ...]:
    """Multiply each pair of matrices.

    Example:
        >>> import facula
        >>> facula.foreach.mm([facula.eye(1)], [facula.ones(1, 2)])
        (tensor([[1., 1.]]),)
    """
    return _foreach._foreach_mm(inputs, mat2)


def norm(
    inputs: Sequence[Tensor], /, *, ord: float = 2, dtype: facula.dtype | None = None
) -> tuple[Tensor, ...]:
    """Give the vector norm of each tensor, over all its elements, as floats.

    Example:
        >>> import facula
        >>> facula.foreach.norm([facula.ones(4), facula.ones(3)], ord=1)
        (tensor(4.), tensor(3.))
    """
    return _foreach._foreach_norm(inputs, ord, dtype)


def zero_(inputs: Sequence[Tensor], /) -> Sequence[Tensor]:
    """Fill each tensor with zeros.

    Example:
        >>> import facula
        >>> facula.foreach.zero_([facula.ones(2)])
        [tensor([0., 0.])]
    """
    return _foreach._foreach_zero_(inputs)


def _unary(call: Callable[..., Any]) -> Callable[..., Any]:
    def function(inputs: Sequence[Tensor], /) -> Sequence[Tensor]:
        return call(inputs)

    return function


def _binary(call: Callable[..., Any]) -> Callable[..., Any]:
    def function(inputs: Sequence[Tensor], other: Any, /) -> Sequence[Tensor]:
        return call(inputs, other)

    return function


def _scaled(call: Callable[..., Any]) -> Callable[..., Any]:
    def function(inputs: Sequence[Tensor], other: Any, /, *, alpha: Any = 1) -> Sequence[Tensor]:
        return call(inputs, other, alpha=alpha)

    return function


def _fused(call: Callable[..., Any]) -> Callable[..., Any]:
    def function(
        inputs: Sequence[Tensor],
        tensor1: Sequence[Tensor],
        tensor2: Sequence[Tensor],
        /,
        *,
        value: Any = 1,
    ) -> Sequence[Tensor]:
        return call(inputs, tensor1, tensor2, value)

    return function


def _lerp(call: Callable[..., Any]) -> Callable[..., Any]:
    def function(inputs: Sequence[Tensor], end: Sequence[Tensor], weight: Any, /) -> Any:
        return call(inputs, end, weight)

    return function


# The operators of each kind, and further arguments for an example.
_KINDS = {
    _unary: (" ".join(_foreach._UNARY), ""),
    _binary: ("clamp_max clamp_min div maximum minimum mul pow", ", 2"),
    _scaled: ("add sub", ", 2"),
    _fused: ("addcdiv addcmul", ", [facula.ones(2)], [facula.ones(2)], value=3"),
    _lerp: ("lerp", ", [facula.zeros(2)], 0.5"),
}


def _make() -> None:
    for kind, (names, more) in _KINDS.items():
        for name in (op + mark for op in names.split() for mark in ("", "_")):
            function = kind(getattr(_foreach, "_foreach_" + name))
            function.__name__ = function.__qualname__ = name
            what = "in place, to each tensor of a list" if name[-1] == "_" else "to each tensor"
            function.__doc__ = (
                f"Apply `{name.rstrip('_')}` {what}; see `facula.foreach`.\n\n"
                "Example:\n    >>> import facula\n"
                f"    >>> results = facula.foreach.{name}([facula.ones(2)]{more})\n"
                "    >>> len(results)\n    1\n"
            )
            globals()[name] = function
            __all__.append(name)
    __all__.sort()


_make()
