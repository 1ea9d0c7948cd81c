"""Modules as functions of their parameters: functional_call, stack_module_state and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import facula
from facula import _C, nn
from facula.nn.utils import stateless

__all__ = [
    "functional_call",
    "functionalize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
]

Tensor = facula.Tensor


def functional_call(
    module: nn.Module,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with the given tensors, in one dict or several, in place of its parameters and
    buffers of these names; the module stays as it is.

    Tensors that are tied in the module are replaced together with `tie_weights`. Errors: ValueError
    for names that several dicts give, RuntimeError with `strict` for names missing or unknown.

    >>> net = nn.Linear(2, 1)
    >>> functional_call(net, {"weight": facula.zeros(1, 2)}, facula.ones(2)) - net.bias
    tensor([0.], grad_fn=<SubBackward0>)

    """
    return stateless.functional_call(
        module, parameter_and_buffer_dicts, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def stack_module_state(
    models: Sequence[nn.Module],
) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The parameters and buffers of several modules of one kind, each stacked along dimension 0.

    Together with vmap and functional_call it runs an ensemble at once.
    Errors: RuntimeError for no modules, or modules of different classes or modes.

    >>> params, buffers = stack_module_state([nn.Linear(2, 3) for _ in range(4)])
    >>> params["weight"].shape
    facula.Size([4, 3, 2])

    """
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def stacked(all_named: list[dict[str, Tensor]]) -> dict[str, Tensor]:
        return {name: _stack([named[name] for named in all_named]) for name in all_named[0]}

    params = stacked([dict(m.named_parameters()) for m in models])
    buffers = stacked([dict(m.named_buffers()) for m in models])
    return params, buffers


def _stack(tensors: list[Tensor]) -> Tensor:
    wants = tensors[0].requires_grad
    if any(t.requires_grad != wants for t in tensors):
        raise RuntimeError(
            "Expected all tensors to have the same requires_grad, but found some that do and some "
            "that do not"
        )
    return facula.stack([t.detach() for t in tensors]).requires_grad_(wants)


def replace_all_batch_norm_modules_(root: nn.Module) -> nn.Module:
    """Make every batch norm of a module forget its running statistics, in place, so that it can be
    mapped over by vmap. Gives the module back.
    """
    for module in root.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def functionalize(func: Callable, *, remove: str = "mutations") -> Callable:
    """Not built: rewriting a program without in-place operators. Raises NotImplementedError."""
    raise NotImplementedError(_C._package_words("facula.func.functionalize is not implemented"))
