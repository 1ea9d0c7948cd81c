"""Where functions and classes say that they stand: what pickle, tracebacks and help() show."""

from __future__ import annotations

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _Made = TypeVar("_Made", bound=Callable[..., Any])

__all__ = ["at_home", "named"]


def named(function: _Made, module: str, name: str, doc: str) -> _Made:
    """Let a function that is made elsewhere stand in `module` under `name`; give it back.

    Example:
        >>> twice = named(lambda x: 2 * x, __name__, "twice", "Give `2 x`.")
        >>> twice.__name__
        'twice'
    """
    function.__module__ = module
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def at_home(module: str, *classes: type) -> None:
    """Let classes that are written elsewhere stand in `module`, where programs know them: files
    that hold them by name can then be read where PyTorch runs.

    Example:
        >>> at_home("facula.optim.lr_scheduler", StepLR)
    """
    for one in classes:
        one.__module__ = module
