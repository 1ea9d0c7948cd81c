"""Functions of matrices whose arguments or results Python arranges, and older names."""

from __future__ import annotations

from types import SimpleNamespace

from facula import _C
from facula._absent import once

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
    once("lu", "is deprecated: use linalg.lu_factor or linalg.lu_factor_ex")
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
    once("chain_matmul", "is deprecated: use linalg.multi_dot, which takes a list of the matrices")
    result = _rows._chain_matmul(found)
    return result if out is None else _store("chain_matmul", out, result)


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
    the whole spectrum is computed. `tracker` is called after each step for one matrix, with an
    object that has the matrices, `values`, `X` and `P`. ValueError for k outside of the matrix's
    size.

    Example:
        values, vectors = facula.lobpcg(facula.diag(facula.arange(1.0, 20.0)), k=2)
    """
    wanted = (k, B, X, n, iK)
    wants = any(t is not None and t.requires_grad for t in (A, B)) and _C.is_grad_enabled()
    if tracker is None or wants or A.dim() > 2:
        return _rows._lobpcg(A, *wanted, niter, tol, largest, method)
    # Without steps it checks the arguments and gives the best pairs of the first guess.
    found = _rows._lobpcg(A, *wanted, 0, tol, largest, method)
    count, largest = found[0].shape[0], largest is None or largest
    block = (count if X is None else X.shape[-1]) if n is None else n
    start = found[1] if X is None and block == count else X
    if start is None:
        start = _rows.randn(A.shape[-1], block, dtype=A.dtype, device=A.device)
    state = SimpleNamespace(A=A, B=B, iK=iK, k=block, largest=largest, values=None, X=start, P=None)
    for _ in range(1000 if niter is None or niter < 0 else niter):
        before = state.P
        state.values, state.X, state.P = _rows._lobpcg_steps(
            A, B, iK, state.X, before, count, 1, tol, largest
        )
        # Within the tolerance no step is taken, and the direction stays what it was.
        if state.P.numel() == 0 or (before is not None and before.data_ptr() == state.P.data_ptr()):
            break
        tracker(state)
    return state.values[:count], state.X[:, :count]


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
