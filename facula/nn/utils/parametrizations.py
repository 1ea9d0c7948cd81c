"""Parametrisations that are given: weight_norm, spectral_norm, orthogonal."""

from __future__ import annotations

import enum

import facula
from facula.nn import functional as F
from facula.nn.modules.module import Module
from facula.nn.utils import parametrize
from facula.nn.utils.weight_norm import norm_except_dim, weight_from

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


class _OrthMaps(enum.Enum):
    matrix_exp = enum.auto()
    cayley = enum.auto()
    householder = enum.auto()


def _is_orthogonal(q: Tensor) -> bool:
    n, k = q.size(-2), q.size(-1)
    identity = facula.eye(k, dtype=q.dtype, device=q.device)
    eps = 10.0 * n * facula.finfo(q.dtype).eps  # a reasonable bound of the rounding
    return facula.allclose(q.mH @ q, identity, atol=eps)


def _make_orthogonal(a: Tensor) -> Tensor:
    """Give the factor Q of QR whose R has a positive diagonal; uniform for normal numbers."""
    x, tau = facula.geqrf(a)
    q = facula.linalg.householder_product(x, tau)
    return q * x.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    """A matrix with orthonormal columns, or rows if it is wide, as a function of any matrix.

    With trivialisation the map starts at the buffer `base` (Lezcano-Casado, 2019).
    """

    base: Tensor

    def __init__(
        self, weight: Tensor, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True
    ) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map is _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        n, k = x.size(-2), x.size(-1)
        transposed = n < k
        if transposed:
            x, n, k = x.mT, k, n
        if self.orthogonal_map is _OrthMaps.householder:
            a = x.tril(diagonal=-1)
            tau = 2.0 / (1.0 + (a * a).sum(dim=-2))
            q = facula.linalg.householder_product(a, tau)
            # The diagonal of x is 1 or -1 and fixed: the signs of the columns.
            q = q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            x = x.tril()
            if n != k:
                filler = x.new_zeros((*x.shape[:-2], n, n - k))
                x = facula.cat([x, filler], dim=-1)
            a = x - x.mH
            if self.orthogonal_map is _OrthMaps.matrix_exp:
                q = facula.matrix_exp(a)
            else:
                identity = facula.eye(n, dtype=a.dtype, device=a.device)
                q = facula.linalg.solve(identity - 0.5 * a, identity + 0.5 * a)
            if n != k:
                q = q[..., :k]
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if transposed else q

    @facula.no_grad()
    def right_inverse(self, q: Tensor) -> Tensor:
        """Give a matrix that the map takes to `q`; sets the base."""
        if q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. "
                f"Got a tensor of shape {q.shape}."
            )
        given = q
        n, k = q.size(-2), q.size(-1)
        transposed = n < k
        if transposed:
            q, n, k = q.mT, k, n
        if not hasattr(self, "base"):
            if self.orthogonal_map is not _OrthMaps.householder:
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley "
                    "parametrizations when use_trivialization=False."
                )
            a, tau = facula.geqrf(q)
            diagonal = a.diagonal(dim1=-2, dim2=-1)
            diagonal.copy_(facula.where(tau == 0.0, -diagonal.sign(), diagonal.sign()))
            return a.mT if transposed else a
        if n == k:
            q = q.clone() if _is_orthogonal(q) else _make_orthogonal(q)
        else:  # complete the columns to a basis
            rest = facula.randn((*q.shape[:-2], n, n - k), dtype=q.dtype, device=q.device)
            q = _make_orthogonal(facula.cat([q, rest], dim=-1))
        self.base = q
        # The map takes minus the identity to the identity (the Householder map needs the sign).
        start = facula.zeros_like(given)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Keep a matrix, or a batch of them `(..., m, n)`, orthogonal: orthonormal columns if m >= n,
    else rows.

    `orthogonal_map` is "matrix_exp" (the default for square and complex matrices), "cayley" or
    "householder" (the default for others). Raises ValueError for other names and for vectors.

    Example::

        >>> net = orthogonal(facula.nn.Linear(20, 40))
        >>> facula.dist(net.weight.T @ net.weight, facula.eye(20)) < 1e-4
        tensor(True)
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    chosen = getattr(_OrthMaps, orthogonal_map, None)
    if chosen is None:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    parametrization = _Orthogonal(weight, chosen, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, parametrization, unsafe=True)
    return module
