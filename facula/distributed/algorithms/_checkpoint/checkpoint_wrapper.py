"""Modules that are computed again in backward instead of saving."""

from __future__ import annotations

import enum
from collections.abc import Callable
from functools import partial
from typing import Any

from facula import nn
from facula.utils.checkpoint import checkpoint

__all__ = [
    "CheckpointImpl",
    "CheckpointWrapper",
    "apply_activation_checkpointing",
    "checkpoint_wrapper",
]

_CHECKPOINT_WRAPPED_MODULE = "_checkpoint_wrapped_module"
_CHECKPOINT_PREFIX = _CHECKPOINT_WRAPPED_MODULE + "."


class CheckpointImpl(enum.Enum):
    """PyTorch's two variants, which are one here."""

    REENTRANT = 0
    NO_REENTRANT = 1


class CheckpointWrapper(nn.Module):
    """A module whose call is a checkpoint. Its state has the names of the module inside."""

    def __init__(
        self,
        mod: nn.Module,
        checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
        checkpoint_fn: Callable | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = mod
        if checkpoint_fn is None:
            checkpoint_fn = partial(checkpoint, use_reentrant=False)
        self.checkpoint_fn = partial(checkpoint_fn, **kwargs)
        self.register_state_dict_post_hook(self._strip)
        self.register_load_state_dict_pre_hook(self._put)

    @staticmethod
    def _strip(module: Any, state_dict: dict, prefix: str, *args: Any) -> None:
        for key in list(state_dict):
            if key.startswith(prefix + _CHECKPOINT_PREFIX):
                state_dict[prefix + key[len(prefix + _CHECKPOINT_PREFIX) :]] = state_dict.pop(key)

    @staticmethod
    def _put(module: Any, state_dict: dict, prefix: str, *args: Any) -> None:
        for key in list(state_dict):
            if key.startswith(prefix) and not key.startswith(prefix + _CHECKPOINT_PREFIX):
                state_dict[prefix + _CHECKPOINT_PREFIX + key[len(prefix) :]] = state_dict.pop(key)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self._modules[_CHECKPOINT_WRAPPED_MODULE], name)

    def __getitem__(self, key: int) -> Any:
        return self._checkpoint_wrapped_module[key]

    def named_parameters(self, *args: Any, **kwargs: Any) -> Any:
        """Give the parameters under the names that they have in the module inside."""
        for name, p in super().named_parameters(*args, **kwargs):
            yield name.replace(_CHECKPOINT_PREFIX, ""), p

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module inside, as a checkpoint."""
        return self.checkpoint_fn(self._checkpoint_wrapped_module, *args, **kwargs)


def checkpoint_wrapper(
    module: nn.Module,
    checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable | None = None,
    **kwargs: Any,
) -> nn.Module:
    """Return a module whose call is a checkpoint."""
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **kwargs)


def apply_activation_checkpointing(
    model: nn.Module,
    checkpoint_wrapper_fn: Callable = checkpoint_wrapper,
    check_fn: Callable[[nn.Module], bool] = lambda _: True,
    auto_wrap_policy: Any = None,
) -> None:
    """Replace the modules inside `model` that `check_fn` picks by checkpointed ones."""

    def walk(parent: nn.Module) -> None:
        for name, child in list(parent.named_children()):
            walk(child)
            if check_fn(child):
                setattr(parent, name, checkpoint_wrapper_fn(child))

    walk(model)
