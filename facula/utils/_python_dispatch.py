"""Modes below autograd written in Python: not built; the class is there to be subclassed."""

from __future__ import annotations

from typing import Any

from facula import _absent

__all__ = ["TorchDispatchMode"]


class TorchDispatchMode:
    """A context in which operators go to `__torch_dispatch__`. Entering one raises."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> TorchDispatchMode:
        raise _absent.missing("facula.utils._python_dispatch.TorchDispatchMode")

    def __exit__(self, *exc: Any) -> None:
        pass


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Say whether a tensor is a subclass that capture can take apart."""
    return hasattr(type(t), "__tensor_flatten__") and hasattr(type(t), "__tensor_unflatten__")


def _get_current_dispatch_mode() -> Any:
    return None


def _disable_current_modes() -> Any:
    import contextlib

    return contextlib.nullcontext()
