"""Functions of matrices written in Python: low-rank and partial spectra, and older names."""

from __future__ import annotations

from facula import _C, linalg
from facula._info import finfo

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

Tensor = _C.Tensor
_rows = _C._functions


def _store(name: str, target: Tensor, value: Tensor) -> Tensor:
    """Write a result into an out= tensor, which keeps its strides if its shape fits."""
    if not _C.can_cast(value.dtype, target.dtype):
        raise RuntimeError(
            f"{name}: result type {value.dtype} can't be cast to the desired output type "
            f"{target.dtype}"
        )
    if target.shape != value.shape:
        target.resize_(value.shape)
    return target.copy_(value)


def lu(
    A: Tensor, pivot: bool = True, get_infos: bool = False, out: tuple | None = None
) -> tuple[Tensor, ...]:
    """Give compact LU factors and pivots of matrices (*, m, n), and with `get_infos` their states.

    Example:
        LU, pivots = facula.lu(facula.randn(3, 3))
    """
    if type(A) is not Tensor and _C._has_torch_function_variadic(A):
        options = {"pivot": pivot, "get_infos": get_infos, "out": out}
        return _C._handle_torch_function(lu, (A,), (A,), options)
    found = _rows._lu_with_info(A, pivot, not get_infos)
    result = tuple(found) if get_infos else tuple(found)[:2]
    if out is None:
        return result
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    if len(out) != len(result):
        raise TypeError(f"expected tuple of {len(result)} elements but got {len(out)}")
    for target, value in zip(out, result, strict=True):
        _store("lu", target, value)
    return tuple(out)


def chain_matmul(*matrices: Tensor, out: Tensor | None = None) -> Tensor:
    """Multiply a chain of matrices in the cheapest order.

    Example:
        facula.chain_matmul(facula.ones(2, 3), facula.ones(3, 4), facula.ones(4, 5))
    """
    found = list(matrices)
    if any(type(t) is not Tensor for t in found) and _C._has_torch_function_variadic(*found):
        return _C._handle_torch_function(chain_matmul, tuple(found), matrices, {"out": out})
    result = _rows._chain_matmul(found)
    return result if out is None else _store("chain_matmul", out, result)


def _matrix_type(t: Tensor) -> Any:
    """Give the floating dtype in which a matrix is decomposed."""
    if t.is_floating_point() or t.is_complex():
        return t.dtype
    return _C.get_default_dtype()


def get_approximate_basis(
    A: Tensor, q: int, niter: int | None = 2, M: Tensor | None = None
) -> Tensor:
    """Give an orthonormal basis (*, m, q) that nearly spans the range of `A - M`.

    A random start is multiplied `niter` times by the matrix and its adjoint (Halko, Martinsson
    and Tropp, 2009, algorithm 4.4).
    """
    niter = 2 if niter is None else niter
    matrix = A if M is None else A - M
    start = _rows.randn(matrix.shape[-1], q, dtype=_matrix_type(A), device=A.device)
    basis = linalg.qr(matrix @ start).Q
    for _ in range(niter):
        basis = linalg.qr(matrix.mH @ basis).Q
        basis = linalg.qr(matrix @ basis).Q
    return basis


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Give the q largest singular values of `A - M` and their vectors, found by a random basis.

    A has shape (*, m, n); the result is U (*, m, q), S (*, q), V (*, n, q).

    Example:
        U, S, V = facula.svd_lowrank(facula.randn(100, 40), q=5)
    """
    if type(A) is not Tensor and _C._has_torch_function_variadic(A):
        return _C._handle_torch_function(svd_lowrank, (A,), (A,), {"q": q, "niter": niter, "M": M})
    q = 6 if q is None else q
    matrix = A if M is None else A - M.expand(A.shape)
    wide = matrix.shape[-2] < matrix.shape[-1]
    if wide:
        matrix = matrix.mH
    basis = get_approximate_basis(matrix, q, niter)
    U, S, Vh = linalg.svd(basis.mH @ matrix, full_matrices=False)
    U, V = basis @ U, Vh.mH
    return (V, S, U) if wide else (U, S, V)


def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """Give q principal components of the rows of A (*, m, n), centred unless told otherwise.

    ValueError for q outside of [0, min(m, n)].

    Example:
        U, S, V = facula.pca_lowrank(facula.randn(100, 40))
    """
    if type(A) is not Tensor and _C._has_torch_function_variadic(A):
        options = {"q": q, "center": center, "niter": niter}
        return _C._handle_torch_function(pca_lowrank, (A,), (A,), options)
    most = min(A.shape[-2:])
    q = min(6, most) if q is None else q
    if not 0 <= q <= most:
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={most}"
        )
    if not niter >= 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    matrix = A - A.mean(dim=-2, keepdim=True) if center else A
    return svd_lowrank(matrix, q, niter=niter)


def _exact_pairs(A: Tensor, B: Tensor | None, k: int, largest: bool) -> tuple[Tensor, Tensor]:
    """Give eigenpairs of A x = l B x from a full decomposition, which has derivatives."""
    if B is None:
        values, vectors = linalg.eigh(A)
    else:
        lower = linalg.cholesky(B)
        half = linalg.solve_triangular(lower, A, upper=False)
        inner = linalg.solve_triangular(lower, half.mH, upper=False).mH
        values, vectors = linalg.eigh(inner)
        vectors = linalg.solve_triangular(lower.mH, vectors, upper=True)
    if largest:
        return values[..., -k:].flip(-1), vectors[..., -k:].flip(-1)
    return values[..., :k], vectors[..., :k]


class _Search:
    """The state of the locally optimal block method (Knyazev, 2001) for one matrix pencil."""

    def __init__(
        self, A: Tensor, B: Tensor | None, iK: Tensor | None, X: Tensor, largest: bool
    ) -> None:
        self.A, self.B, self.iK, self.largest = A, B, iK, largest
        self.k = X.shape[-1]
        self.values, self.X = self.ritz(self.orthonormal(X))
        self.P: Tensor | None = None

    def times_b(self, x: Tensor) -> Tensor:
        return x if self.B is None else self.B @ x

    def orthonormal(self, S: Tensor) -> Tensor:
        """Give a basis of the columns of S that is orthonormal under B, without weak directions."""
        for _ in range(2):
            S = S / linalg.vector_norm(S, dim=-2, keepdim=True).clamp_min(1e-300)
            values, vectors = linalg.eigh(S.mH @ self.times_b(S))
            limit = values[-1] * S.shape[-1] * finfo(S.dtype).eps
            keep = values > limit
            S = S @ (vectors[:, keep] * values[keep].rsqrt())
        return S

    def ritz(self, S: Tensor) -> tuple[Tensor, Tensor]:
        """Give the best k pairs inside the space of an orthonormal basis."""
        values, vectors = linalg.eigh(S.mH @ (self.A @ S))
        if self.largest:
            values, vectors = values.flip(-1), vectors.flip(-1)
        return values[: self.k], S @ vectors[:, : self.k]

    def residual(self) -> Tensor:
        return self.A @ self.X - self.times_b(self.X) * self.values

    def step(self, R: Tensor) -> None:
        """Look for better pairs in the span of X, the residuals and the last direction."""
        W = R if self.iK is None else self.iK @ R
        parts = [self.X, W] if self.P is None else [self.X, W, self.P]
        values, best = self.ritz(self.orthonormal(_rows.cat(parts, -1)))
        self.P = best - self.X @ (self.X.mH @ self.times_b(best))
        self.values, self.X = values, best


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Callable[[Any], None] | None = None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """Find the k largest (or smallest) eigenvalues of `A x = l B x` and their vectors.

    A (*, m, m) is symmetric, B positive definite, X (*, m, n) the first guess, iK a preconditioner.
    Both methods, "basic" and "ortho", use an orthonormal basis here. Where a gradient is wanted
    the whole spectrum is computed. ValueError for k outside of the matrix's size.

    Example:
        values, vectors = facula.lobpcg(facula.diag(facula.arange(1.0, 20.0)), k=2)
    """
    m = A.shape[-1]
    largest = True if largest is None else largest
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if X is None else X.shape[-1]) if n is None else n
    if A.dim() < 2 or A.shape[-2] != m:
        raise RuntimeError(f"lobpcg: expected square matrices, got shape {tuple(A.shape)}")
    if method not in (None, "basic", "ortho"):
        raise ValueError(f"lobpcg: expected method 'basic' or 'ortho', got {method!r}")
    if not 0 < k <= m or (X is not None and X.shape[-2] != m):
        raise ValueError(f"lobpcg: k={k} and the first guess do not fit a matrix of size {m}")
    if m < 3 * n:
        raise ValueError(
            f"LPBPCG algorithm is not applicable when the number of A rows (={m}) is smaller than "
            f"3 x the number of requested eigenpairs (={n})"
        )
    wants = [t for t in (A, B) if t is not None and t.requires_grad]
    if wants and _C.is_grad_enabled():
        return _exact_pairs(A, B, k, largest)
    if A.dim() > 2:
        batch = A.shape[:-2]
        flat = A.reshape(-1, m, m)
        pick = [
            None if t is None else t.expand(*batch, *t.shape[-2:]).reshape(-1, *t.shape[-2:])
            for t in (B, X, iK)
        ]
        pairs = [
            lobpcg(
                a,
                k,
                *[None if t is None else t[i] for t in pick[:2]],
                n,
                None if pick[2] is None else pick[2][i],
                niter,
                tol,
                largest,
                method,
            )
            for i, a in enumerate(flat)
        ]
        values = _rows.stack([p[0] for p in pairs]).reshape(*batch, k)
        return values, _rows.stack([p[1] for p in pairs]).reshape(*batch, m, k)
    if X is None:
        X = _rows.randn(m, n, dtype=_matrix_type(A), device=A.device)
    search = _Search(A, B, iK, X, largest)
    niter = 1000 if niter is None or niter < 0 else niter
    eps = finfo(A.dtype).eps
    tol = eps**0.5 if tol is None else tol
    scale = linalg.matrix_norm(A) + (0 if B is None else linalg.matrix_norm(B))
    for _ in range(niter):
        R = search.residual()
        worst = linalg.vector_norm(R[:, :k], dim=0) / (
            linalg.vector_norm(search.X[:, :k], dim=0) * scale
        )
        if bool((worst <= tol).all()):
            break
        search.step(R)
        if tracker is not None:
            tracker(search)
    return search.values[:k], search.X[:, :k]


def _removed(name: str, instead: str) -> Callable[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{name} was deprecated long ago and is removed: use {instead}")

    function.__name__ = name
    function.__doc__ = f"Removed, as in PyTorch: use {instead}."
    return function


eig = _removed("eig", "facula.linalg.eig")
symeig = _removed("symeig", "facula.linalg.eigh")
lstsq = _removed("lstsq", "facula.linalg.lstsq")
matrix_rank = _removed("matrix_rank", "facula.linalg.matrix_rank")
solve = _removed("solve", "facula.linalg.solve")
