"""The names of the package `functorch`: transforms, modules as functions of their parameters."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from facula import Tensor, _absent, nn
from facula.func import (
    functional_call,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    stack_module_state,
    vjp,
    vmap,
)

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble",
    "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "make_functional", "make_functional_with_buffers", "make_fx", "vjp", "vmap",
]  # fmt: skip

make_fx = _absent.absent_function("functorch.make_fx", "programs are not traced")


def _detached(tensors: Sequence[Tensor], disable: bool) -> tuple[Tensor, ...]:
    return tuple(t.detach() for t in tensors) if disable else tuple(tensors)


class FunctionalModule(nn.Module):
    """A module without its parameters: `f(params, *args)` calls it with those given."""

    def __init__(self, stateless: nn.Module, param_names: tuple[str, ...]) -> None:
        super().__init__()
        self.stateless_model = stateless
        self.param_names = param_names

    @classmethod
    def _create_from(
        cls, model: nn.Module, disable_autograd_tracking: bool = False
    ) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
        model = copy.deepcopy(model)
        named = dict(model.named_parameters())
        tensors = _detached(list(named.values()), disable_autograd_tracking)
        return cls(model, tuple(named)), tensors

    def forward(self, params: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """Call the module with these parameters."""
        state = dict(zip(self.param_names, params, strict=True))
        return functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModuleWithBuffers(nn.Module):
    """A module without parameters and buffers: `f(params, buffers, *args)` calls it."""

    def __init__(
        self, stateless: nn.Module, param_names: tuple[str, ...], buffer_names: tuple[str, ...]
    ) -> None:
        super().__init__()
        self.stateless_model = stateless
        self.param_names, self.buffer_names = param_names, buffer_names

    @classmethod
    def _create_from(
        cls, model: nn.Module, disable_autograd_tracking: bool = False
    ) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
        model = copy.deepcopy(model)
        params, buffers = dict(model.named_parameters()), dict(model.named_buffers())
        tensors = _detached(list(params.values()), disable_autograd_tracking)
        return cls(model, tuple(params), tuple(buffers)), tensors, tuple(buffers.values())

    def forward(
        self, params: Sequence[Tensor], buffers: Sequence[Tensor], *args: Any, **kwargs: Any
    ) -> Any:
        """Call the module with these parameters and buffers."""
        state = dict(zip(self.param_names, params, strict=True))
        state.update(zip(self.buffer_names, buffers, strict=True))
        return functional_call(self.stateless_model, state, args, kwargs)


def make_functional(
    model: nn.Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
    """Give a function of a module's parameters, and the parameters.

    RuntimeError for a module with buffers: `make_functional_with_buffers` takes those.
    """
    if list(model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead."
        )
    return FunctionalModule._create_from(model, disable_autograd_tracking)


def make_functional_with_buffers(
    model: nn.Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Give a function of a module's parameters and buffers, the parameters and the buffers."""
    return FunctionalModuleWithBuffers._create_from(model, disable_autograd_tracking)


def combine_state_for_ensemble(
    models: Sequence[nn.Module],
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Give a function of one module, and the stacked parameters and buffers of several."""
    params, buffers = stack_module_state(models)
    function, _, _ = make_functional_with_buffers(models[0])
    return (
        function,
        tuple(params[n] for n in function.param_names),
        tuple(buffers[n] for n in function.buffer_names),
    )
