"""SparseTensor: the Python class of tensors that keep only some of their elements.

The class overrides what depends on the layout; calls of operators come to `__torch_function__`,
which looks them up in `_table.TABLE` and refuses what is not there by name.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

from facula import _C

LAYOUTS = (
    _C.strided,
    _C.sparse_coo,
    _C.sparse_csr,
    _C.sparse_csc,
    _C.sparse_bsr,
    _C.sparse_bsc,
)
ROWS = (_C.sparse_csr, _C.sparse_bsr)
BLOCKED = (_C.sparse_bsr, _C.sparse_bsc)

#: Methods and attributes that are right as they are for strided tensors.
_PLAIN = frozenset(
    "size dim ndimension element_size get_device requires_grad_ retain_grad "
    "_register_hook _remove_hook _register_post_hook _remove_post_hook register_hook "
    "register_post_accumulate_grad_hook stride storage_offset detach_ __dir__ _make_subclass "
    "as_subclass shape dtype device ndim itemsize requires_grad grad _grad grad_fn is_leaf "
    "retains_grad output_nr _version name names is_cpu is_meta is_cuda is_quantized is_nested "
    "is_mkldnn is_mps is_xpu is_ipu is_maia is_mtia is_vulkan volatile".split()
)


class Parts(NamedTuple):
    """What a sparse tensor consists of; the tensors carry no gradient."""

    layout: Any
    coalesced: bool
    compressed: _C.Tensor | None
    indices: _C.Tensor
    values: _C.Tensor
    sparse_dim: int
    dense_dim: int

    @property
    def is_coo(self) -> bool:
        """Whether positions are kept as coordinates."""
        return self.compressed is None


def parts(t: _C.Tensor) -> Parts:
    """Give the parts of a sparse tensor; RuntimeError for strided ones."""
    number, *rest = _C._sparse_parts(t)
    return Parts(LAYOUTS[number], *rest)


def is_sparse(t: Any) -> bool:
    """Say whether an object is a sparse tensor of any layout."""
    return isinstance(t, SparseTensor)


def name_of(func: Any) -> str:
    """Give the name of a function, a method, or of the attribute that a getter reads."""
    name = getattr(func, "__name__", type(func).__name__)
    if name in ("__get__", "__set__"):
        name = getattr(func.__self__, "__name__", name)
    return name


def refuse(name: str, layout: Any) -> NotImplementedError:
    """Make the error for an operator that a layout does not have."""
    return NotImplementedError(
        f"Could not run '{name}' with arguments of the layout {layout}: sparse tensors do not have "
        "this operator; to_dense() gives a strided tensor, which has"
    )


def _layout_in(args: Any) -> Any:
    for a in args:
        if isinstance(a, SparseTensor):
            return a.layout
        if isinstance(a, (list, tuple)):
            found = _layout_in(a)
            if found is not None:
                return found
    return None


class SparseTensor(_C.Tensor):
    """A tensor that keeps only some elements: COO, CSR, CSC, BSR or BSC.

    Instances come from `facula.sparse_coo_tensor`, `facula.sparse_csr_tensor`, `Tensor.to_sparse`
    and operators; they are Tensors with another `layout`.
    """

    __module__ = "facula.sparse"

    def __new__(cls, *args: Any, **kwargs: Any) -> SparseTensor:
        raise TypeError(
            _C._package_words(
                "SparseTensor: use facula.sparse_coo_tensor or facula.sparse_csr_tensor"
            )
        )

    @classmethod
    def __torch_function__(
        cls, func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        from facula.overrides import _without_operators
        from facula.sparse._operators import TABLE

        kwargs = kwargs or {}
        func, args = _without_operators(func, args)
        name = name_of(func)
        found = TABLE.get(name)
        if found is not None:
            return found(*args, **kwargs)
        if name in _PLAIN:
            before = _C._set_torch_function_disabled(True)
            try:
                return func(*args, **kwargs)
            finally:
                _C._set_torch_function_disabled(before)
        own = SparseTensor.__dict__.get(name)
        if (
            isinstance(own, FunctionType)
            and not name.startswith("__")
            and args
            and is_sparse(args[0])
        ):
            return own(*args, **kwargs)  # a method of strided tensors, taken from the class
        if name.endswith("_") and not name.endswith("__") and args and is_sparse(args[0]):
            found = TABLE.get(name[:-1])
            if found is not None:
                return args[0]._replace(found(*args, **kwargs))
        layout = _layout_in(args) or _layout_in(kwargs.values())
        raise refuse(name, layout)

    # ---- properties

    @property
    def layout(self) -> Any:
        """The layout, such as facula.sparse_coo."""
        return parts(self).layout

    @property
    def is_sparse(self) -> bool:
        """Whether the layout is COO."""
        return parts(self).is_coo

    @property
    def is_sparse_csr(self) -> bool:
        """Whether the layout is CSR."""
        return parts(self).layout is _C.sparse_csr

    @property
    def data(self) -> SparseTensor:
        """The tensor without history."""
        return self.detach()

    @data.setter
    def data(self, value: _C.Tensor) -> None:
        before = _C._set_torch_function_disabled(True)
        try:
            with _no_grad():
                self._replace(value)
        finally:
            _C._set_torch_function_disabled(before)

    @property
    def _base(self) -> None:
        """None: sparse tensors are no views."""
        return None

    @property
    def nbytes(self) -> int:
        """Raise: as the memory of a sparse tensor is that of its parts."""
        raise RuntimeError("Cannot access nbytes of a sparse tensor; ask its indices and values")

    def _nnz(self) -> int:
        """Count the elements that are kept (of one batch)."""
        return parts(self).indices.size(-1)

    def sparse_dim(self) -> int:
        """Count the sparse dimensions."""
        return parts(self).sparse_dim

    def dense_dim(self) -> int:
        """Count the dense dimensions, which the values have."""
        return parts(self).dense_dim

    _dimI, _dimV = sparse_dim, dense_dim

    def is_coalesced(self) -> bool:
        """Say whether the positions are sorted and distinct; RuntimeError unless COO."""
        p = parts(self)
        if not p.is_coo:
            raise RuntimeError(
                f"is_coalesced expected sparse coordinate tensor layout but got {p.layout}"
            )
        return p.coalesced

    def _coalesced_(self, coalesced: bool) -> SparseTensor:
        """Say, without a check that costs anything to rely on, that positions are coalesced."""
        p = parts(self)
        made = _C._sparse_coo(p.indices, p.values, tuple(self.shape), coalesced)
        return _C._sparse_replace(self, made)

    # ---- parts

    def _indices(self) -> _C.Tensor:
        """Give the positions of a COO tensor, [sparse_dim, nnz]."""
        return self._coo("_indices").indices

    def _values(self) -> _C.Tensor:
        """Give the values of a COO tensor, without history."""
        return self._coo("_values").values

    def indices(self) -> _C.Tensor:
        """Give the positions of a coalesced COO tensor, [sparse_dim, nnz]."""
        p = self._coo("indices")
        if not p.coalesced:
            raise RuntimeError(
                "Cannot get indices on an uncoalesced tensor, please call .coalesce() first"
            )
        return p.indices

    def values(self) -> _C.Tensor:
        """Give the values, with history; a COO tensor must be coalesced."""
        return _C._sparse_values(self)

    def _coo(self, what: str) -> Parts:
        p = parts(self)
        if not p.is_coo:
            raise RuntimeError(
                f"{what} expected sparse coordinate tensor layout but got {p.layout}"
            )
        return p

    def _compressed(self, what: str, rows: bool) -> Parts:
        p = parts(self)
        if p.is_coo or (p.layout in ROWS) is not rows:
            kinds = "row" if rows else "column"
            raise RuntimeError(
                f"{what} expected sparse {kinds} compressed tensor layout but got {p.layout}"
            )
        return p

    def crow_indices(self) -> _C.Tensor:
        """Give where the rows of a CSR or BSR tensor begin."""
        return self._compressed("crow_indices", True).compressed

    def col_indices(self) -> _C.Tensor:
        """Give the columns of the elements of a CSR or BSR tensor."""
        return self._compressed("col_indices", True).indices

    def ccol_indices(self) -> _C.Tensor:
        """Give where the columns of a CSC or BSC tensor begin."""
        return self._compressed("ccol_indices", False).compressed

    def row_indices(self) -> _C.Tensor:
        """Give the rows of the elements of a CSC or BSC tensor."""
        return self._compressed("row_indices", False).indices

    # ---- conversions

    def coalesce(self) -> SparseTensor:
        """Sort the positions and add up the values at equal ones; RuntimeError unless COO."""
        self._coo("coalesce")
        return _C._sparse_coalesce(self)

    def _replace(self, other: _C.Tensor) -> SparseTensor:
        """Take over the parts of another sparse tensor, in place."""
        if not is_sparse(other):
            raise RuntimeError(
                "copy_() between dense and sparse Tensors is not implemented! Found self type = "
                f"{self.layout} and src type = {_C.strided}"
            )
        return _C._sparse_replace(self, other)

    def detach(self) -> SparseTensor:
        """Give the tensor without history; it shares indices and values."""
        with _no_grad():
            return _C._sparse_map(self, parts(self).values)

    def share_memory_(self) -> SparseTensor:
        """Raise: sparse tensors in shared memory are not built."""
        raise refuse("share_memory_", self.layout)

    def resize_as_(self, other: _C.Tensor, **kwargs: Any) -> SparseTensor:
        """Take over the sizes of another sparse tensor, without its elements."""
        if not is_sparse(other):
            raise RuntimeError("resize_as_: expected a sparse tensor, as self is one")
        if self.shape == other.shape:
            return self
        return self._replace(_no_elements(other, self.dtype))

    def is_shared(self) -> bool:
        """Say that forked children do not share the memory."""
        return False

    def __complex__(self) -> complex:
        return complex(self.to_dense().item())

    def __len__(self) -> int:
        if self.dim() == 0:
            raise TypeError("len() of a 0-d tensor")
        return self.size(0)

    def __iter__(self) -> Any:
        if self.dim() == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(tuple(self.select(0, i) for i in range(self.size(0))))

    def __getitem__(self, index: Any) -> _C.Tensor:
        from facula.sparse._shapes import subscript

        return subscript(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError("Cannot assign to a sparse tensor")

    def __deepcopy__(self, memo: dict) -> SparseTensor:
        from copy import deepcopy

        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment."
            )
        if id(self) in memo:
            return memo[id(self)]
        with _no_grad():
            made = self.detach().clone()
        made.requires_grad_(self.requires_grad)
        if self.grad is not None:
            made.grad = deepcopy(self.grad, memo)
        made.__dict__.update(deepcopy(self.__dict__, memo))
        memo[id(self)] = made
        return made

    def __reduce_ex__(self, proto: int) -> tuple:
        import facula._utils as utils

        return (utils._rebuild_sparse_tensor, pickle_arguments(self))

    def _repr(self, *, tensor_contents: str | None = None) -> str:
        from facula.sparse._text import text

        return text(self)

    def __format__(self, format_spec: str) -> str:
        return object.__format__(self, format_spec)


def _no_elements(t: SparseTensor, dtype: Any) -> SparseTensor:
    from facula.sparse._operators import TABLE

    return TABLE["zeros_like"](t, dtype=dtype)


def pickle_arguments(t: SparseTensor) -> tuple:
    """Give the arguments of `_rebuild_sparse_tensor`, as PyTorch's files have them."""
    p = parts(t)
    if p.is_coo:
        return p.layout, (p.indices, p.values, t.size(), p.coalesced)
    return p.layout, (p.compressed, p.indices, p.values, t.size())


def _no_grad() -> Any:
    from facula.autograd.grad_mode import no_grad

    return no_grad()
