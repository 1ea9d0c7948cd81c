"""Making sparse tensors."""

from __future__ import annotations

from typing import Any

import facula
from facula import _C
from facula.sparse._tensor import BLOCKED, ROWS, SparseTensor

Tensor = _C.Tensor


class _Invariants:
    on: bool | None = None


class check_sparse_tensor_invariants:
    """Whether new sparse tensors are checked in full: a context, a decorator, and a flag.

    Indices out of range and shapes that do not fit always raise. The full check also asks that the
    positions in a row of a compressed tensor are sorted and distinct.

    Example:
        >>> with facula.sparse.check_sparse_tensor_invariants():
        ...     t = facula.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2,))
    """

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self.saved: bool | None = None
        self._inside = False

    @staticmethod
    def is_enabled() -> bool:
        """Say whether the full check is on."""
        return bool(_Invariants.on)

    @staticmethod
    def enable() -> None:
        """Switch the full check on."""
        _Invariants.on = True

    @staticmethod
    def disable() -> None:
        """Switch the full check off."""
        _Invariants.on = False

    def __enter__(self) -> None:
        if self._inside:
            raise RuntimeError("This context manager instance is already activated.")
        self._inside, self.saved = True, _Invariants.on
        _Invariants.on = self.state

    def __exit__(self, *exc: Any) -> None:
        self._inside, _Invariants.on = False, self.saved

    def __call__(self, function: Any) -> Any:
        from functools import wraps

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return function(*args, **kwargs)

        return checked


def _strict(check: bool | None) -> bool:
    return check_sparse_tensor_invariants.is_enabled() if check is None else bool(check)


def _device(device: Any) -> None:
    kind = facula.device(device).type if device is not None else "cpu"
    if kind == "meta":
        raise NotImplementedError("sparse tensors on the meta device are not built")
    if kind != "cpu":
        raise RuntimeError(f"sparse tensors: no device {device} is available")


def _values(values: Any, dtype: Any, detach: bool) -> Tensor:
    if not isinstance(values, Tensor):
        values = facula.tensor(values, dtype=dtype)
    if values.layout is not facula.strided:
        raise TypeError("expected values to be a strided tensor")
    if detach:
        values = values.detach()
    return values if dtype is None or values.dtype == dtype else values.to(dtype)


def _indices(indices: Any, what: str = "indices") -> Tensor:
    if not isinstance(indices, Tensor):
        indices = facula.tensor(indices)
        if indices.numel() == 0:
            indices = indices.to(facula.int64)
    if indices.is_floating_point() or indices.is_complex() or indices.dtype == facula.bool:
        raise TypeError(f"{what} must be integers, got {indices.dtype}")
    return indices.detach()


def _finish(t: SparseTensor, requires_grad: bool) -> SparseTensor:
    return t.requires_grad_() if requires_grad else t


def sparse_coo_tensor(
    *args: Any,
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
    pin_memory: bool = False,
) -> SparseTensor:
    """Make a tensor that keeps `values` [nnz, ...dense] at `indices` [sparse_dim, nnz].

    Values at equal positions count together. Without `size` the sizes follow from the largest
    indices. With sizes alone the tensor is empty. The gradient flows to `values`.

    Raises RuntimeError for indices out of range and shapes that do not fit, TypeError for indices
    that are not integers.

    Example:
        >>> facula.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3)).to_dense()
        tensor([[0., 0., 3.],
                [4., 0., 5.]])
    """
    _device(device)
    if args and values is None and len(args) == 1 and indices is None and size is None:
        size, args = args[0], ()
    given = [*args]
    indices = given.pop(0) if given else indices
    values = given.pop(0) if given else values
    size = given.pop(0) if given else size
    if given:
        raise TypeError("sparse_coo_tensor() takes at most 3 positional arguments")
    if indices is None and values is None:
        if size is None:
            raise TypeError("sparse_coo_tensor() missing required arguments: indices and values")
        sizes = tuple(size)
        empty = facula.empty(0, dtype=dtype)
        t = _C._sparse_coo(facula.empty((len(sizes), 0), dtype=facula.int64), empty, sizes, True)
        return _finish(t, requires_grad)
    if indices is None or values is None:
        raise TypeError("sparse_coo_tensor() needs both indices and values")
    given_values = _values(values, dtype, requires_grad)
    at = _indices(indices)
    if given_values.dim() == 0:
        given_values = given_values.expand(at.size(-1) if at.dim() else 1)
    sizes = None if size is None else tuple(size)
    t = _C._sparse_coo(at, given_values, sizes, bool(is_coalesced))
    return _finish(t, requires_grad)


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    pin_memory: bool = False,
) -> SparseTensor:
    """Make a tensor of layout CSR, CSC, BSR or BSC.

    `compressed_indices` [...batch, lines + 1] says where lines begin, `plain_indices`
    [...batch, nnz] where the elements (or blocks) lie in their line; indices are int32 or int64.

    Raises RuntimeError for parts that do not fit together.

    Example:
        >>> t = facula.sparse_compressed_tensor(
        ...     [0, 1, 2], [1, 0], [3.0, 4.0], (2, 2), layout=facula.sparse_csr)
        >>> t.to_dense()
        tensor([[0., 3.],
                [4., 0.]])
    """
    _device(device)
    if layout is None:
        raise TypeError("sparse_compressed_tensor() missing required argument: 'layout'")
    v = _values(values, dtype, requires_grad)
    rows = layout in ROWS
    c = _indices(compressed_indices, ("crow" if rows else "ccol") + "_indices")
    p = _indices(plain_indices, ("col" if rows else "row") + "_indices")
    sizes = None if size is None else tuple(size)
    t = _C._sparse_compressed(c, p, v, sizes, layout, _strict(check_invariants))
    return _finish(t, requires_grad)


def _maker(layout: Any, name: str, lines: str, others: str) -> Any:
    def make(*args: Any, **kwargs: Any) -> SparseTensor:
        names = (lines, others, "values", "size")
        given = dict(zip(names, args, strict=False))
        for key in names:
            if key in kwargs:
                if key in given:
                    raise TypeError(f"{name}() got multiple values for argument '{key}'")
                given[key] = kwargs.pop(key)
        missing = [key for key in names[:3] if key not in given]
        if missing or len(args) > 4:
            what = f"missing required arguments: {', '.join(missing)}"
            raise TypeError(f"{name}() {what if missing else 'takes at most 4 positional ones'}")
        kwargs.pop("layout", None)
        parts = (given[key] for key in names[:3])
        return sparse_compressed_tensor(*parts, given.get("size"), layout=layout, **kwargs)

    blocks = " of blocks" if layout in BLOCKED else ""
    make.__name__ = make.__qualname__ = name
    make.__doc__ = (
        f"Make a matrix{blocks} in the layout {str(layout).rpartition('.')[2]}: `{name}({lines}, "
        f"{others}, values, size=None, *, dtype, device, requires_grad, check_invariants)`.\n\n"
        "See `sparse_compressed_tensor`, whose layout is given here."
    )
    return make


sparse_csr_tensor = _maker(_C.sparse_csr, "sparse_csr_tensor", "crow_indices", "col_indices")
sparse_csc_tensor = _maker(_C.sparse_csc, "sparse_csc_tensor", "ccol_indices", "row_indices")
sparse_bsr_tensor = _maker(_C.sparse_bsr, "sparse_bsr_tensor", "crow_indices", "col_indices")
sparse_bsc_tensor = _maker(_C.sparse_bsc, "sparse_bsc_tensor", "ccol_indices", "row_indices")


def validate_indices(*args: Any, **kwargs: Any) -> None:
    """Raise RuntimeError unless indices, values and size make a COO tensor."""
    sparse_coo_tensor(*args, **kwargs)


def empty(size: Any, dtype: Any, layout: Any, requires_grad: bool = False) -> SparseTensor:
    """Make a sparse tensor without elements."""
    sizes = tuple(size)
    if layout is _C.sparse_coo:
        return sparse_coo_tensor(sizes, dtype=dtype, requires_grad=requires_grad)
    if layout in BLOCKED:
        raise RuntimeError(f"empty: layout {layout} needs a blocksize")
    if len(sizes) < 2:
        raise RuntimeError(f"empty: layout {layout} needs at least 2 dimensions, got {sizes}")
    *batch, rows, cols = sizes
    lines = rows if layout in ROWS else cols
    return sparse_compressed_tensor(
        facula.zeros((*batch, lines + 1), dtype=facula.int64),
        facula.empty((*batch, 0), dtype=facula.int64),
        facula.empty((*batch, 0), dtype=dtype),
        sizes,
        layout=layout,
        requires_grad=requires_grad,
    )
