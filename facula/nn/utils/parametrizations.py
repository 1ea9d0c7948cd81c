"""Parametrisations that are given: weight_norm, spectral_norm, orthogonal."""

from __future__ import annotations

from typing import Any

import facula
from facula.nn import functional as F
from facula.nn.modules.module import Module
from facula.nn.utils import parametrize
from facula.nn.utils.norm_hooks import norm_except_dim, weight_from

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

Tensor = facula.Tensor


class _WeightNorm(Module):
    """Length (original0) and direction (original1) of a weight."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_from(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Split a weight."""
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Split a weight into its length and its direction (Salimans and Kingma, 2016)."""
    parametrization = _WeightNorm(dim)
    parametrize.register_parametrization(module, name, parametrization, unsafe=True)

    def read_older_names(
        state_dict: dict,
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing_keys: list,
        unexpected_keys: list,
        error_msgs: list,
    ) -> None:
        g_key, v_key = f"{prefix}{name}_g", f"{prefix}{name}_v"
        if g_key in state_dict and v_key in state_dict:
            original = f"{prefix}parametrizations.{name}.original"
            state_dict[original + "0"] = state_dict.pop(g_key)
            state_dict[original + "1"] = state_dict.pop(v_key)

    module._register_load_state_dict_pre_hook(read_older_names)
    return module


class _SpectralNorm(Module):
    """A weight divided by its largest singular value, which power iterations estimate."""

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got "
                f"{dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            rows, cols = matrix.size()
            u = matrix.new_empty(rows).normal_(0, 1)
            v = matrix.new_empty(cols).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.flatten(1)

    def _power_method(self, matrix: Tensor, iterations: int) -> None:
        with facula.no_grad():
            for _ in range(iterations):
                self._u.copy_(F.normalize(facula.mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(facula.mv(matrix.t(), self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / facula.dot(u, facula.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """Take the value as it is."""
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide a weight by its largest singular value (Miyato et al., 2018)."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        nn = facula.nn
        kinds = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
        dim = 1 if isinstance(module, kinds) else 0
    parametrization = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, parametrization)


def orthogonal(module: Module, name: str = "weight", *args: Any, **kwargs: Any) -> Module:
    """Not built yet."""
    raise NotImplementedError("nn.utils.parametrizations.orthogonal is not built yet")
