"""weight_norm and spectral_norm by forward pre-hooks: the older form, whose parameters are
`weight_g`, `weight_v` and `weight_orig`. The newer form is in `parametrizations`.
"""

from __future__ import annotations

import warnings
from typing import Any

import facula
from facula.nn import functional as F
from facula.nn.parameter import Parameter, UninitializedParameter

__all__ = ["remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"]

Tensor = facula.Tensor


def norm_except_dim(v: Tensor, p: float = 2, dim: int = 0) -> Tensor:
    """Give the norm over all dimensions but `dim`, as a tensor that broadcasts; dim -1 means over
    all.
    """
    if dim == -1:
        return v.norm(p)
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


def _remove(module: Any, kind: type, name: str, what: str) -> Any:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"{what} of '{name}' not found in {module}")


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Undo `weight_norm`."""
    return _remove(module, WeightNorm, name, "weight_norm")


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
    return _remove(module, SpectralNorm, name, "spectral_norm")
