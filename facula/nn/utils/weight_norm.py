"""weight_norm by a forward pre-hook: the older form with the parameters `weight_g` and `weight_v`.
The newer form is in `parametrizations`.
"""

from __future__ import annotations

import warnings
from typing import Any

import facula
from facula.nn.parameter import Parameter, UninitializedParameter

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

Tensor = facula.Tensor


def norm_except_dim(v: Tensor, p: float = 2, dim: int = 0) -> Tensor:
    """Give the norm over all dimensions but `dim`, as a tensor that broadcasts; dim -1 means over
    all.
    """
    if dim == -1:
        return v.norm(p)
    if dim >= v.dim() > 0:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-v.dim()}, {v.dim() - 1}], but "
            f"got {dim})"
        )
    dims = [d for d in range(v.dim()) if d != dim]
    return v.norm(p, dims, keepdim=True) if dims else v.abs()


def weight_from(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """Give `g * v / |v|`, the norm over all dimensions but `dim`."""
    return v * (g / norm_except_dim(v, 2, dim))


class WeightNorm:
    """The hook that recomputes a weight from its direction and length before each call."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Tensor:
        """Give the weight."""
        g = getattr(module, self.name + "_g")
        v = getattr(module, self.name + "_v")
        return weight_from(v, g, self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        """Split the parameter and add the hook."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(
                    f"Cannot register two weight_norm hooks on the same parameter {name}"
                )
        fn = WeightNorm(name, dim)
        weight = getattr(module, name)
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure "
                "to "
                "run the dummy forward before applying weight normalization"
            )
        del module._parameters[name]
        length = norm_except_dim(weight, 2, fn.dim).data
        module.register_parameter(name + "_g", Parameter(length))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, fn.compute_weight(module))
        module.register_forward_pre_hook(fn)
        return fn

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Split a weight into length `weight_g` and direction `weight_v` (Salimans, Kingma, 2016)."""
    warnings.warn(
        "`nn.utils.weight_norm` is deprecated in favor of `nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_hook(module: Any, kind: type, name: str, what: str) -> Any:
    """Remove the hook of a kind that belongs to a parameter; ValueError if there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"{what} of '{name}' not found in {module}")


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Undo `weight_norm`."""
    return remove_hook(module, WeightNorm, name, "weight_norm")
