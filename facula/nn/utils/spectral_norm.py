"""spectral_norm by a forward pre-hook: the older form, whose parameter is `weight_orig`. The newer
form is in `parametrizations`.
"""

from __future__ import annotations

from typing import Any

import facula
from facula.nn import functional as F
from facula.nn.parameter import Parameter, UninitializedParameter
from facula.nn.utils.weight_norm import remove_hook

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]

Tensor = facula.Tensor


class SpectralNorm:
    """The hook that divides a weight by its largest singular value before each call.

    `weight_u` and `weight_v` are the estimates of the singular vectors, one power iteration further
    at each call in training.
    """

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        self.name = name
        self.dim = dim
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """Bring `dim` to the front and flatten the rest."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Tensor:
        """Give the weight, after improving the singular vectors in place if asked to."""
        weight = getattr(module, self.name + "_orig")
        u = getattr(module, self.name + "_u")
        v = getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with facula.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(facula.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(facula.mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()
        sigma = facula.dot(u, facula.mv(matrix, v))
        return weight / sigma

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        with facula.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for suffix in ("_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))

    @staticmethod
    def apply(module: Any, name: str, iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Move the parameter, make the vectors and add the hook."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(
                    f"Cannot register two spectral_norm hooks on the same parameter {name}"
                )
        fn = SpectralNorm(name, iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Make "
                "sure to "
                "run the dummy forward before applying spectral normalization"
            )
        with facula.no_grad():
            rows, cols = fn.reshape_weight_to_matrix(weight).size()
            u = F.normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
            v = F.normalize(weight.new_empty(cols).normal_(0, 1), dim=0, eps=eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(fn)
        return fn


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Divide a weight by its largest singular value at each call (Miyato et al., 2018)."""
    if dim is None:
        kinds = tuple(getattr(facula.nn, f"ConvTranspose{n}d") for n in (1, 2, 3))
        dim = 1 if isinstance(module, kinds) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Undo `spectral_norm`."""
    return remove_hook(module, SpectralNorm, name, "spectral_norm")
