"""Linear algebra: NumPy as judge, derivatives to the second order, errors, shapes on meta."""

from __future__ import annotations

import numpy as np
import pytest

import facula
from facula import linalg
from facula.autograd import gradcheck, gradgradcheck

KINDS = [facula.float64, facula.complex128]
RNG = np.random.default_rng(7)


def matrix(*shape: int, dtype: facula.dtype = facula.float64) -> facula.Tensor:
    """A well-conditioned random matrix, or a batch of them."""
    values = RNG.standard_normal(shape)
    if dtype.is_complex:
        values = values + 1j * RNG.standard_normal(shape)
    t = facula.tensor(values, dtype=dtype)
    return t + 2 * facula.eye(*shape[-2:], dtype=dtype) if len(shape) > 1 else t


def hermitian(t: facula.Tensor) -> facula.Tensor:
    return (t + t.mH) / 2


def positive(t: facula.Tensor) -> facula.Tensor:
    return t @ t.mH + facula.eye(t.shape[-1], dtype=t.dtype)


def phases(vectors: facula.Tensor) -> facula.Tensor:
    """What of vectors does not depend on their phases."""
    return vectors.abs()


def projector(q: facula.Tensor) -> facula.Tensor:
    return q @ q.mH


DIFFERENTIABLE = {
    "cholesky": lambda a: linalg.cholesky(positive(a)),
    "cholesky_upper": lambda a: linalg.cholesky(positive(a), upper=True),
    "cholesky_solve": lambda a: facula.cholesky_solve(a, linalg.cholesky(positive(a))),
    "cholesky_inverse": lambda a: facula.cholesky_inverse(linalg.cholesky(positive(a))),
    "lu_wide": lambda a: linalg.lu(a[..., :2, :])[1:],
    "lu_tall": lambda a: linalg.lu(a[..., :, :2])[1:],
    "lu_square": lambda a: linalg.lu_factor(a)[0],
    "lu_unpivoted": lambda a: linalg.lu(a, pivot=False)[1:],
    "lu_solve_right": lambda a: linalg.lu_solve(*linalg.lu_factor(a), a.mT, left=False),
    "lu_solve_adjoint": lambda a: linalg.lu_solve(*linalg.lu_factor(a), a.mT, adjoint=True),
    "solve": lambda a: linalg.solve(a, a.mT),
    "solve_right": lambda a: linalg.solve(a, a[..., :2, :], left=False),
    "solve_vector": lambda a: linalg.solve(a, a[..., 0]),
    "inv": linalg.inv,
    "det": linalg.det,
    "slogdet": linalg.slogdet,
    "triangular": lambda a: linalg.solve_triangular(a, a.mT, upper=True),
    "triangular_unit": lambda a: linalg.solve_triangular(
        a, a.mT, upper=False, left=False, unitriangular=True
    ),
    "qr": lambda a: linalg.qr(a),
    "qr_tall": lambda a: linalg.qr(a[..., :2]),
    "qr_wide": lambda a: linalg.qr(a[..., :2, :]),
    "qr_complete": lambda a: linalg.qr(a[..., :2, :], mode="complete"),
    "eigvalsh": lambda a: linalg.eigvalsh(hermitian(a)),
    "eigh": lambda a: phases(linalg.eigh(hermitian(a))[1]),
    "eigvals": lambda a: linalg.eigvals(a).abs().sum(-1),
    "eig": lambda a: phases(linalg.eig(a)[1]).pow(4).sum(-1).sum(-1),
    "svdvals": linalg.svdvals,
    "svd_tall": lambda a: [projector(linalg.svd(a[..., :2], full_matrices=False)[0])],
    "svd_wide": lambda a: [projector(linalg.svd(a[..., :2, :], full_matrices=False)[2].mH)],
    "svd_product": lambda a: (lambda u, s, vh: u * (s**2)[..., None, :] @ vh)(
        *linalg.svd(a, full_matrices=False)
    ),
    "pinv_tall": lambda a: linalg.pinv(a[..., :2]),
    "pinv_wide": lambda a: linalg.pinv(a[..., :2, :]),
    "lstsq": lambda a: linalg.lstsq(a[..., :2], a[..., 1:])[:2],
    "polar": linalg.polar,
    "polar_tall": lambda a: linalg.polar(a[..., :2]),
    "sqrth": lambda a: linalg.matrix_sqrth(positive(a)),
    "exp": linalg.matrix_exp,
    "power": lambda a: linalg.matrix_power(a, -3),
    "householder": lambda a: linalg.householder_product(a, a[..., 0]),
    "ormqr": lambda a: facula.ormqr(a, a[..., 0], a.mT, left=False, transpose=True),
    "nuclear": lambda a: linalg.matrix_norm(a, "nuc"),
    "spectral": lambda a: linalg.matrix_norm(a, -2),
    "row_sums": lambda a: linalg.matrix_norm(a, float("inf")),
    "cond": linalg.cond,
    "cond_nuclear": lambda a: linalg.cond(a, "nuc"),
    "tensorinv": lambda a: linalg.tensorinv(a.reshape(3, 3, 1), ind=1) if a.dim() == 2 else a,
}


@pytest.mark.parametrize("dtype", KINDS, ids=["real", "complex"])
@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_derivatives(name: str, dtype: facula.dtype) -> None:
    for shape in ((3, 3), (2, 3, 3)):
        a = matrix(*shape, dtype=dtype).requires_grad_()

        def run(t: facula.Tensor) -> tuple:
            found = DIFFERENTIABLE[name](t)
            found = found if isinstance(found, (tuple, list)) else [found]
            return tuple(f for f in found if f.requires_grad)

        assert gradcheck(run, (a,), fast_mode=True, atol=1e-5)
    assert gradgradcheck(run, (a,), fast_mode=True, atol=1e-4)


@pytest.mark.parametrize("dtype", KINDS, ids=["real", "complex"])
def test_values_of_numpy(dtype: facula.dtype) -> None:
    a, b = matrix(2, 4, 4, dtype=dtype), matrix(2, 4, 3, dtype=dtype)
    x, y = a.numpy(), b.numpy()
    pairs = [
        (linalg.solve(a, b), np.linalg.solve(x, y)),
        (linalg.inv(a), np.linalg.inv(x)),
        (linalg.det(a), np.linalg.det(x)),
        (linalg.pinv(b), np.linalg.pinv(y)),
        (linalg.svdvals(b), np.linalg.svd(y, compute_uv=False)),
        (linalg.eigvalsh(hermitian(a)), np.linalg.eigvalsh(hermitian(a).numpy())),
        (linalg.matrix_power(a, 5), np.linalg.matrix_power(x, 5)),
        (linalg.matrix_rank(b), np.linalg.matrix_rank(y)),
        (linalg.cond(a, 1), np.linalg.cond(x, 1)),
    ]
    for got, want in pairs:
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-9, atol=1e-9)


def test_factors_multiply_back() -> None:
    for m, n in ((4, 4), (5, 3), (3, 5)):
        a = matrix(2, m, n)
        p, lower, upper = linalg.lu(a)
        facula.testing.assert_close(p @ lower @ upper, a)
        q, r = linalg.qr(a, mode="complete")
        facula.testing.assert_close(q @ r, a)
        facula.testing.assert_close(q @ q.mT, facula.eye(m, dtype=a.dtype).expand(2, m, m))
        u, s, vh = linalg.svd(a)
        k = min(m, n)
        facula.testing.assert_close((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a)
    values, vectors = linalg.eig(matrix(3, 4, 4))
    assert values.dtype == facula.complex128 and vectors.shape == (3, 4, 4)


def test_ldl_of_indefinite_matrices() -> None:
    for dtype in KINDS:
        for flag in (False, True):
            a = matrix(2, 5, 5, dtype=dtype)
            a = a + (a.mH if flag else a.mT) - 6 * facula.eye(5, dtype=dtype)
            factors, pivots = linalg.ldl_factor(a, hermitian=flag)
            b = matrix(2, 5, 2, dtype=dtype)
            x = linalg.ldl_solve(factors, pivots, b, hermitian=flag)
            facula.testing.assert_close(a @ x, b)


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
def test_least_squares_drivers(driver: str) -> None:
    for dtype in KINDS:
        a, b = matrix(3, 6, 4, dtype=dtype), matrix(3, 6, 2, dtype=dtype)
        found = linalg.lstsq(a, b, driver=driver)
        for i in range(3):
            x, residuals, rank, values = np.linalg.lstsq(a[i].numpy(), b[i].numpy(), rcond=None)
            np.testing.assert_allclose(found.solution[i].numpy(), x, atol=1e-10)
            if driver == "gelsy":  # which leaves none
                assert found.residuals.shape == (0,)
            else:
                np.testing.assert_allclose(found.residuals[i].numpy(), residuals, atol=1e-10)
            if driver != "gels":
                assert found.rank[i].item() == rank
            if driver in ("gelsd", "gelss"):
                np.testing.assert_allclose(found.singular_values[i].numpy(), values, atol=1e-10)


def test_gradient_of_singular_determinants() -> None:
    a = facula.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=facula.float64, requires_grad=True)
    linalg.det(a).backward()
    facula.testing.assert_close(a.grad, facula.tensor([[4.0, -2.0], [-2.0, 1.0]]).double())


def pivots(*rows: int) -> facula.Tensor:
    return facula.tensor(rows, dtype=facula.int32)


ERRORS = [
    (lambda: linalg.cholesky(-facula.eye(3)), linalg.LinAlgError, "not positive-definite"),
    (lambda: linalg.inv(facula.zeros(2, 3, 3)), linalg.LinAlgError, "Batch element 0.*singular"),
    (lambda: linalg.solve(facula.zeros(3, 3), facula.ones(3)), linalg.LinAlgError, "singular"),
    (lambda: linalg.svd(facula.full((3, 3), float("nan"))), linalg.LinAlgError, "non-finite"),
    (lambda: linalg.lu_factor(facula.zeros(3, 3)), RuntimeError, "is zero"),
    (lambda: linalg.eig(facula.full((3, 3), float("nan"))), RuntimeError, "infs or NaNs"),
    (lambda: linalg.inv(facula.ones(2, 3)), RuntimeError, "square matrices"),
    (lambda: linalg.det(facula.ones(3)), RuntimeError, "at least 2 dimensions"),
    (lambda: linalg.det(facula.eye(3, dtype=facula.int64)), NotImplementedError, "floating point"),
    (lambda: linalg.solve(facula.eye(3), facula.ones(4)), RuntimeError, "Incompatible shapes"),
    (lambda: linalg.solve(facula.eye(3), facula.ones(3).double()), RuntimeError, "same dtype"),
    (lambda: linalg.qr(facula.eye(3), mode="x"), RuntimeError, "unrecognized mode"),
    (lambda: linalg.eigh(facula.eye(3), UPLO="x"), RuntimeError, "UPLO"),
    (lambda: linalg.lstsq(facula.eye(3), facula.ones(3), driver="x"), RuntimeError, "driver"),
    (lambda: linalg.cond(facula.eye(3), "x"), ValueError, "invalid norm type"),
    (lambda: linalg.matrix_norm(facula.eye(3), 3), RuntimeError, "not supported"),
    (lambda: linalg.polar(facula.ones(2, 3)), RuntimeError, "at least as many rows"),
    (lambda: linalg.cholesky(facula.full((2, 2), float("nan"))), linalg.LinAlgError, "order 1"),
    (lambda: facula.lu_unpack(facula.eye(3), pivots(7, 8, 9)), RuntimeError, "between 1 and"),
    (lambda: linalg.lu_solve(facula.eye(2), pivots(0, 1), facula.eye(2)), RuntimeError, "between"),
    (lambda: linalg.ldl_solve(facula.eye(2), pivots(7, 8), facula.eye(2)), RuntimeError, "pivots"),
    (lambda: linalg.ldl_solve(facula.eye(2), pivots(1, -1), facula.eye(2)), RuntimeError, "pivots"),
    (lambda: facula.symeig(facula.eye(3)), RuntimeError, "linalg.eigh"),
]


@pytest.mark.parametrize(("call", "kind", "text"), ERRORS)
def test_refusals(call, kind: type, text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


def test_shapes_on_meta() -> None:
    a = facula.empty(2, 4, 3, device="meta")
    assert [t.shape for t in linalg.svd(a)] == [(2, 4, 4), (2, 3), (2, 3, 3)]
    assert [t.shape for t in linalg.qr(a)] == [(2, 4, 3), (2, 3, 3)]
    square = facula.empty(2, 3, 3, device="meta")
    for call in (linalg.inv, linalg.cholesky, linalg.matrix_exp, linalg.pinv):
        assert call(square).shape == (2, 3, 3) and call(square).is_meta
    assert linalg.det(square).shape == (2,) and linalg.eigvals(square).shape == (2, 3)
    assert linalg.solve(square, facula.empty(2, 3, 5, device="meta")).shape == (2, 3, 5)


def test_out_takes_the_result() -> None:
    a = matrix(3, 3)
    out = facula.empty(0, dtype=a.dtype)
    assert linalg.inv(a, out=out) is out
    facula.testing.assert_close(out, linalg.inv(a))
    q, r = facula.empty(0, dtype=a.dtype), facula.empty(0, dtype=a.dtype)
    linalg.qr(a, out=(q, r))
    facula.testing.assert_close(q @ r, a)
    lu, pivots = facula.lu(a)
    assert facula.lu(a, get_infos=True)[2].item() == 0
    facula.testing.assert_close(facula.lu_solve(a, lu, pivots), facula.eye(3, dtype=a.dtype))


def test_low_rank_and_partial_spectra() -> None:
    facula.manual_seed(0)
    a = matrix(40, 5) @ matrix(5, 30)
    u, s, v = facula.svd_lowrank(a, q=6)
    facula.testing.assert_close((u * s) @ v.mT, a, rtol=1e-8, atol=1e-8)
    assert facula.pca_lowrank(a, q=3)[1].shape == (3,)
    h = positive(matrix(30, 30))
    values, vectors = facula.lobpcg(h, k=3, tol=1e-9, niter=200)
    facula.testing.assert_close(values, linalg.eigvalsh(h).flip(0)[:3], rtol=1e-6, atol=1e-6)
    facula.testing.assert_close(h @ vectors, vectors * values, rtol=1e-4, atol=1e-4)
    b = positive(matrix(30, 30))
    smallest, x = facula.lobpcg(h, k=2, B=b, largest=False, tol=1e-9, niter=400)
    facula.testing.assert_close(h @ x, b @ x * smallest, rtol=1e-3, atol=1e-3)


def test_a_search_of_endless_steps_is_refused() -> None:
    a = matrix(4, 3)
    for m in (a, a[:0], a * float("nan"), a.clone().requires_grad_()):
        with pytest.raises(ValueError, match="niter of at most"):
            facula.svd_lowrank(m, q=2, niter=2**63 - 1)
    with pytest.raises(ValueError, match="niter of at most"):
        facula.pca_lowrank(a, niter=2**40)


def test_a_search_that_stands_still_ends() -> None:
    h = positive(matrix(9, 9))
    values, _ = facula.lobpcg(h, tol=-1.0, niter=2**62)
    facula.testing.assert_close(values, linalg.eigvalsh(h)[-1:], rtol=1e-8, atol=1e-8)


def test_lobpcg_of_batches_and_with_a_tracker() -> None:
    facula.manual_seed(1)
    h = facula.stack([positive(matrix(20, 20)) for _ in range(2)])
    values, vectors = facula.lobpcg(h, k=2, tol=1e-9, niter=200)
    facula.testing.assert_close(values, linalg.eigvalsh(h).flip(-1)[:, :2], rtol=1e-6, atol=1e-6)
    assert vectors.shape == (2, 20, 2)
    seen = []
    found, x = facula.lobpcg(
        h[0], k=2, n=3, tol=1e-9, niter=200, tracker=lambda state: seen.append(state.values)
    )
    facula.testing.assert_close(found, values[0], rtol=1e-6, atol=1e-6)
    assert x.shape == (20, 2) and 1 < len(seen) < 60 and seen[0].shape == (3,)
    exact = facula.lobpcg(h[0].requires_grad_(), k=2)[0]
    exact.sum().backward()
    facula.testing.assert_close(exact.detach(), values[0], rtol=1e-6, atol=1e-6)


def test_partial_spectra_refuse_what_does_not_fit() -> None:
    h = facula.eye(6)
    with pytest.raises(ValueError, match="3 x the number"):
        facula.lobpcg(h, k=3)
    with pytest.raises(ValueError, match="'basic' or 'ortho'"):
        facula.lobpcg(h, k=1, method="fast")
    with pytest.raises(ValueError, match="do not fit"):
        facula.lobpcg(h, k=0)
    with pytest.raises(RuntimeError, match="square"):
        facula.lobpcg(facula.ones(3, 2))
    with pytest.raises(ValueError, match="not greater than"):
        facula.pca_lowrank(h, q=7)


def test_nan_spreads_through_solutions() -> None:
    bad = facula.full((3, 3), float("nan"))
    assert linalg.solve_ex(bad, facula.eye(3)).result.isnan().all()
    assert linalg.det(bad).isnan() and linalg.lu(bad).U.isnan().any()


def test_large_chain_and_broadcast() -> None:
    a, b = matrix(4, 1, 3, 3), matrix(5, 3, 2)
    assert linalg.solve(a, b).shape == (4, 5, 3, 2)
    facula.testing.assert_close(a @ linalg.solve(a, b), b.expand(4, 5, 3, 2))
    parts = [matrix(2, 3), matrix(3, 4), matrix(4, 2)]
    facula.testing.assert_close(facula.chain_matmul(*parts), parts[0] @ parts[1] @ parts[2])


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_singular_values_of_matrices_that_are_not_finite(value):
    """The iterations of LAPACK would never end."""
    a = matrix(2, 3, 3)
    a[1, 0, 2] = value
    for f in (linalg.svd, linalg.svdvals, linalg.polar, linalg.pinv, linalg.matrix_rank):
        with pytest.raises(linalg.LinAlgError, match="non-finite"):
            f(a)


@pytest.mark.parametrize("dtype", [facula.float32, facula.complex64, facula.float64])
@pytest.mark.parametrize("tolerance", [3.402823466385289e38, 1e300, float("inf")])
def test_tolerances_are_doubles(tolerance, dtype):
    """One that is too large for the type of the matrix leaves nothing significant."""
    a = facula.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=dtype)
    for name in ("atol", "rtol"):
        assert (linalg.pinv(a, **{name: tolerance}) == 0).all()
        assert linalg.matrix_rank(a, **{name: tolerance}) == 0
    assert linalg.matrix_rank(a, tolerance) == 0 and (facula.pinverse(a, tolerance) == 0).all()
    assert (linalg.pinv(a @ a.mH, rtol=tolerance, hermitian=True) == 0).all()
    assert linalg.matrix_rank(a, rtol=1e-300) == 2


@pytest.mark.parametrize("driver", ["gelsy", "gelsd", "gelss"])
def test_ranks_are_those_of_the_matrices_alone(driver: str) -> None:
    for batch, sides in (((), (4, 2)), ((1,), (2,)), ((2, 1), (3,)), ((3,), ())):
        a, b = matrix(*batch, 5, 3), matrix(*sides, 5, 2)
        found = linalg.lstsq(a, b, driver=driver)
        assert found.solution.shape == (*np.broadcast_shapes(batch, sides), 3, 2)
        assert found.rank.shape == batch and (found.rank == 3).all()
        if driver != "gelsy":
            facula.testing.assert_close(found.singular_values, linalg.svdvals(a))
