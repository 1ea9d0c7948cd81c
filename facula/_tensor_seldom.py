"""Methods of Tensor that few programs call, attached to the C type on import."""

from __future__ import annotations

from facula import _C
from facula._tensor import _attach, _warn_of_old_name

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

Tensor = _C.Tensor


# ---- functions of Python numbers, element by element


def _written(self: Tensor, name: str, others: tuple, function: Callable) -> Tensor:
    if self.requires_grad:
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. "
            f"Use var.detach().{name}() instead."
        )
    columns = [self.reshape(-1).tolist()]
    columns += [t.expand(self.shape).reshape(-1).tolist() for t in others]
    values = [function(*row) for row in zip(*columns, strict=True)]
    return self.copy_(_C.tensor(values, dtype=self.dtype).reshape(self.shape))


@_attach("map2_")
def _map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable) -> Tensor:
    """Write `callable(a, b, c)` over each element a, with b and c from other tensors; slow."""
    return _written(self, "map2_", (x, y), callable)


# ---- memory and devices


def _refuse(name: str, text: str, kind: type[Exception]) -> None:
    def moved(self: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
        """Raise: there is no such device."""
        raise kind(text)

    _attach(name)(moved)


_refuse("ipu", "Facula is not linked with support for ipu devices", RuntimeError)
_refuse("mtia", "Facula is not linked with support for mtia devices", RuntimeError)

for _name in ("is_ipu", "is_maia", "is_mtia", "is_vulkan"):
    setattr(Tensor, _name, property(lambda self: False, doc="False: there is no such device."))


@_attach("const_data_ptr")
def _const_data_ptr(self: Tensor) -> int:
    """Give the address of the first element."""
    return self.data_ptr()


@_attach("storage_type")
def _storage_type(self: Tensor) -> type:
    """Give the class of the storage, such as facula.FloatStorage."""
    return type(self.storage())


@_attach("dim_order")
def _dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """Give the dimensions in the order in which they lie in memory, outermost first."""
    if not isinstance(ambiguity_check, (bool, list)):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    return tuple(sorted(range(self.dim()), key=lambda d: (-self.stride(d), d)))


# ---- shapes


@_attach("resize_as")
def _resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """Give the elements in the shape of another tensor."""
    _warn_of_old_name("resize_as", "reshape")
    return self.reshape(tensor.shape)


@_attach("module_load")
def _module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """Give what `load_state_dict` puts in this tensor's place: `other`, or its detached value."""
    if assign:
        return other.detach()
    return self.copy_(other.detach()).detach()


# ---- questions


@_attach("_is_all_true")
def _is_all_true(self: Tensor) -> Tensor:
    """Say, as a tensor, whether all elements of a bool tensor are true."""
    if self.dtype != _C.bool:
        raise RuntimeError(f"_is_all_true: expected a tensor of bool, got {self.dtype}")
    return self.all()


@_attach("_is_any_true")
def _is_any_true(self: Tensor) -> Tensor:
    """Say, as a tensor, whether any element of a bool tensor is true."""
    if self.dtype != _C.bool:
        raise RuntimeError(f"_is_any_true: expected a tensor of bool, got {self.dtype}")
    return self.any()


@_attach("_is_zerotensor")
def _is_zerotensor(self: Tensor) -> bool:
    """Say whether this is a tensor without data that stands for zeros: never."""
    return False


@_attach("_conj")
def _conj(self: Tensor) -> Tensor:
    """Give the conjugate."""
    return self.conj()


@_attach("_neg_view")
def _neg_view(self: Tensor) -> Tensor:
    """Give the negative."""
    return -self


def _old_solver(name: str) -> None:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        from facula import _matrices

        return getattr(_matrices, name)(self, *args, **kwargs)

    method.__doc__ = f"Removed, as in PyTorch; see facula.{name}."
    _attach(name)(method)


for _name in ("eig", "symeig", "lstsq", "solve"):
    _old_solver(_name)


# ---- sparse layouts; see facula.sparse


def _forward(name: str) -> None:
    def forwarded(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        from facula.sparse import _methods

        return getattr(_methods, name)(self, *args, **kwargs)

    forwarded.__doc__ = f"See facula.sparse: {name}."
    _attach(name)(forwarded)


for _name in (
    "to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc to_dense "
    "sparse_mask sparse_dim dense_dim smm sspaddmm sparse_resize_ sparse_resize_and_clear_"
).split():
    _forward(_name)


def _only_sparse(name: str) -> None:
    def refused(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{name} expected a sparse tensor but got the layout {self.layout}")

    refused.__doc__ = f"Raise for strided tensors; see facula.sparse: {name}."
    _attach(name)(refused)


for _name in (
    "coalesce is_coalesced indices values _indices _values crow_indices col_indices ccol_indices "
    "row_indices _nnz _coalesced_"
).split():
    _only_sparse(_name)


def _volatile(self: Tensor) -> bool:
    """False: a flag of the first versions, which is gone."""
    import warnings

    warnings.warn("volatile was removed (Variable.volatile is always False)", stacklevel=2)
    return False


def _set_volatile(self: Tensor, value: Any) -> None:
    import warnings

    from facula.autograd.variable import _VOLATILE

    warnings.warn(_VOLATILE, stacklevel=2)


Tensor.volatile = property(_volatile, _set_volatile)


# ---- the array API standard


@_attach("__array_namespace__")
def _array_namespace(self: Tensor, /, *, api_version: str | None = None) -> Any:
    """Give the namespace of the array API standard: facula.array_api, of revision 2024.12.

    An `api_version` after it, or unknown, is a ValueError.
    """
    from facula import array_api

    if api_version is not None and api_version not in array_api._REVISIONS:
        raise ValueError(
            f"__array_namespace__: expected api_version to be one of "
            f"{', '.join(array_api._REVISIONS)}, got {api_version!r}"
        )
    return array_api


@_attach("to_device")
def _to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """Give the array in a device's memory, itself when it is there; the standard's spelling of to.

    There are no streams on the CPU; one that is given is a ValueError.
    """
    if stream is not None:
        raise ValueError(f"to_device: expected no stream for {self.device}, got {stream!r}")
    return self.to(device)
