"""Methods of Tensor that are written in Python; they are attached to the C type on import."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from facula import _C
from facula._legacy import TITLE_OF, TypedStorage, _TensorKind, _warn_of_typed_storage

TYPE_CHECKING = False  # typing is costly to import
if TYPE_CHECKING:
    from typing import Any

    from facula.utils.hooks import RemovableHandle

Tensor = _C.Tensor

_has_override = _C._has_torch_function_variadic
_handle = _C._handle_torch_function


def _attach(name: str) -> Callable[[Callable], Callable]:
    """Make a function a method of Tensor that subclasses can override."""

    def attach(f: Callable) -> Callable:
        if name in ("_repr", "__dir__", "__setstate__"):
            setattr(Tensor, name, f)
            return f

        def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
            if type(self) is not Tensor and _has_override(self):
                return _handle(method, (self,), (self, *args), kwargs)
            return f(self, *args, **kwargs)

        method.__name__ = name
        method.__qualname__ = f.__qualname__ = f"Tensor.{name}"  # errors name the method
        method.__doc__ = f.__doc__
        method.__wrapped__ = f
        method.__module__ = "facula"
        setattr(Tensor, name, method)
        return f

    return attach


# ---- text


@_attach("_repr")
def _repr(self: Tensor, *, tensor_contents: str | None = None) -> str:
    from facula._tensor_str import _str

    previous = _C._set_torch_function_disabled(True)
    try:
        return _str(self, tensor_contents=tensor_contents)
    finally:
        _C._set_torch_function_disabled(previous)


@_attach("__format__")
def _format(self: Tensor, format_spec: str) -> str:
    if self.dim() == 0 and not self.is_meta and type(self) is Tensor:
        return self.item().__format__(format_spec)
    return object.__format__(self, format_spec)


@_attach("__dir__")
def _dir(self: Tensor) -> list[str]:
    return sorted(set(dir(type(self))) | set(self.__dict__))


# ---- containers


@_attach("__contains__")
def _contains(self: Tensor, element: Any) -> bool:
    if isinstance(element, (Tensor, int, float, complex, bool)):
        return bool((element == self).any().item())
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


@_attach("__reversed__")
def _reversed(self: Tensor) -> Tensor:
    """Reverse the order along the first dimension."""
    return self if self.dim() == 0 else self.flip(0)


# ---- NumPy and DLPack

Tensor.__array_priority__ = 1000


@_attach("__array_wrap__")
def _array_wrap(
    self: Tensor, array: Any, context: Any = None, return_scalar: bool = False
) -> Tensor:
    import facula

    kind = getattr(array, "dtype", None)
    if getattr(kind, "kind", "") == "b":  # as PyTorch, which had no tensors of bool once
        array = array.astype("uint8")
    return array if getattr(kind, "hasobject", False) else facula.from_numpy(array)


@_attach("__dlpack__")
def _dlpack(
    self: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: Any = None,
    copy: bool | None = None,
) -> Any:
    """Give a DLPack capsule over the memory of the tensor (or of a copy)."""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if dl_device is not None and tuple(dl_device) != (1, 0):
        raise BufferError(f"__dlpack__: expected a CPU device, got {dl_device}")
    versioned = max_version is not None and max_version[0] >= 1
    source = self.clone() if copy else self
    return _C._to_dlpack(source, versioned, bool(copy))


@_attach("__dlpack_device__")
def _dlpack_device(self: Tensor) -> tuple[int, int]:
    """Give the kind of device and its index: (1, 0), the CPU."""
    if self.is_meta:
        raise BufferError("__dlpack_device__: a meta tensor has no memory")
    return (1, 0)


# ---- classes with a __torch_dispatch__


@staticmethod
def _make_wrapper_subclass(cls: type, size: Any, *args: Any, **options: Any) -> Tensor:
    """Make a tensor of a class with a `__torch_dispatch__`, of a shape but without memory."""
    from facula.utils._dispatch_classes import make_wrapper_subclass

    return make_wrapper_subclass(cls, size, *args, **options)


Tensor._make_wrapper_subclass = _make_wrapper_subclass


# ---- copies and pickles


@_attach("__deepcopy__")
def _deepcopy(self: Tensor, memo: dict) -> Tensor:
    from copy import deepcopy

    if not self.is_leaf:
        raise RuntimeError(
            _C._package_words(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
                "because of a facula.nn.utils.weight_norm usage, see "
                "https://github.com/pytorch/pytorch/pull/103001"
            )
        )
    if not isinstance(memo, dict):
        raise TypeError(f"__deepcopy__: expected a dict as memo, got {type(memo).__name__}")
    if id(self) in memo:
        return memo[id(self)]
    import facula

    if type(self).__torch_dispatch__ is not Tensor.__torch_dispatch__:
        from facula.utils._dispatch_classes import copied

        return copied(self, memo)
    with facula.no_grad():
        key = ("storage", self.untyped_storage()._cdata)
        storage = memo.get(key)
        if storage is None and not self.is_meta:
            storage = self.untyped_storage().clone()
            memo[key] = storage
        if self.is_meta:
            copy = self.detach().clone()
        else:
            copy = facula.empty(0, dtype=self.dtype)
            copy.set_(storage, self.storage_offset(), self.size(), self.stride())
        if type(self) is not Tensor:
            copy = copy.as_subclass(type(self))
        copy.requires_grad_(self.requires_grad)
        if self.grad is not None:
            copy.grad = deepcopy(self.grad, memo)
        if type(self) is not Tensor or self.__dict__:
            copy.__dict__ = deepcopy(self.__dict__, memo)
    memo[id(self)] = copy
    return copy


def _typed_storage(t: Tensor) -> TypedStorage:
    return TypedStorage(wrap_storage=t.untyped_storage(), dtype=t.dtype)


@_attach("__reduce_ex__")
def _reduce_ex(self: Tensor, proto: int) -> tuple:
    import facula._utils as utils

    state = self.__dict__
    if type(self).__torch_dispatch__ is not Tensor.__torch_dispatch__ and not self.data_ptr():
        from facula.utils._dispatch_classes import reduced

        return reduced(self)
    from facula._bytes import bytes_of

    rebuild = utils._rebuild_tensor_from_bytes
    data = self.detach()
    if data.is_meta:
        content: Any = None
    else:
        content = bytes(bytes_of(data.contiguous() if data.numel() else data))
    args = (
        content,
        self.dtype,
        tuple(self.size()),
        tuple(self.stride()),
        self.requires_grad,
        OrderedDict(),
    )
    if type(self) is Tensor and not state:
        return (rebuild, args)
    return (utils._rebuild_from_type, (rebuild, type(self), args, dict(state)))


@_attach("__setstate__")
def _setstate(self: Tensor, state: dict) -> None:
    self.__dict__.update(state)


# ---- hooks


@_attach("register_hook")
def _register_hook(self: Tensor, hook: Callable) -> RemovableHandle:
    """Register a function that sees, and may replace, the gradient of this tensor."""
    from facula.utils.hooks import TensorHandle

    return TensorHandle(self, "_remove_hook", self._register_hook(hook))


@_attach("register_post_accumulate_grad_hook")
def _register_post_accumulate_grad_hook(self: Tensor, hook: Callable) -> RemovableHandle:
    """Register a function that is called with this leaf after its gradient was accumulated."""
    from facula.utils.hooks import TensorHandle

    return TensorHandle(self, "_remove_post_hook", self._register_post_hook(hook))


# ---- conversions and legacy forms


@_attach("type")
def _type(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """Give the name of the legacy type, or convert to a dtype or legacy type."""
    if dtype is None:
        return f"{_C._package_name()}.{TITLE_OF[self.dtype]}Tensor"
    if isinstance(dtype, (str, type)) and not isinstance(dtype, _TensorKind):
        import facula

        name = dtype if isinstance(dtype, str) else dtype.__name__
        package, _, short = name.rpartition(".")
        dtype = getattr(facula, short, None) if package.isidentifier() else None
        if not isinstance(dtype, _TensorKind):
            raise ValueError(
                f"type: invalid type: {name!r}, expected a dtype or a name such as "
                f"'{_C._package_name()}.FloatTensor'"
            )
    if isinstance(dtype, _TensorKind):
        dtype = dtype.dtype
    if not isinstance(dtype, _C.dtype):
        raise TypeError(
            f"type: dtype must be a type, str, or dtype object, got {type(dtype).__name__}"
        )
    return self.to(dtype, non_blocking=non_blocking)


@_attach("new")
def _new(self: Tensor, *args: Any, device: Any = None) -> Tensor:
    """Make a tensor of this dtype by the legacy constructor; RuntimeError for another device."""
    if device is not None and _C.device(device).type != self.device.type:
        raise RuntimeError(
            f"new: the legacy constructor makes tensors of {self.device.type}, not of {device}"
        )
    made = _C._legacy_new(self.dtype, args)
    return made if made.device == self.device else made.to(self.device)


@_attach("new_tensor")
def _new_tensor(
    self: Tensor,
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Make a tensor of data with this tensor's dtype and device, unless others are given."""
    return _C.tensor(
        data,
        dtype=self.dtype if dtype is None else dtype,
        device=self.device if device is None else device,
        requires_grad=requires_grad,
    )


@_attach("storage")
def _storage(self: Tensor) -> TypedStorage:
    """Give the storage as elements of this dtype."""
    _warn_of_typed_storage()
    return _typed_storage(self)


@_attach("cpu")
def _cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """Give the tensor in the CPU's memory: itself when it is there in this memory format."""
    return self.to("cpu", memory_format=memory_format)


@_attach("cuda")
def _cuda(self: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
    """Give a copy in a GPU's memory; RuntimeError in builds without CUDA."""
    return self.to("cuda" if device is None else device)


@_attach("is_pinned")
def _is_pinned(self: Tensor, device: Any = None) -> bool:
    """Say whether the memory is page-locked; `device` is an argument of older versions."""
    if device is not None:
        import warnings

        warnings.warn(
            "The argument 'device' of Tensor.is_pinned() is deprecated: leave it out.",
            DeprecationWarning,
            stacklevel=3,
        )
    return False


@_attach("lu")
def _lu(self: Tensor, pivot: bool = True, get_infos: bool = False) -> tuple[Tensor, ...]:
    """Give compact LU factors and pivots; see facula.lu."""
    from facula._matrices import lu

    return lu(self, pivot, get_infos)


@_attach("rename")
def _rename(self: Tensor, *names: Any, **rename_map: Any) -> Tensor:
    """Accept only None: named dimensions are not supported."""
    if any(n is not None for n in names) or rename_map:
        raise NotImplementedError("named tensors are not supported")
    return self


@_attach("refine_names")
def _refine_names(self: Tensor, *names: Any) -> Tensor:
    """Accept only None: named dimensions are not supported."""
    return _rename(self, *names)


@_attach("reinforce")
def _reinforce(self: Tensor, reward: Any) -> None:
    """Raise: removed from PyTorch long ago."""
    raise RuntimeError(
        _C._package_words("reinforce() was removed; use facula.distributions instead")
    )


@_attach("__rdiv__")
def _rdiv(self: Tensor, other: Any) -> Tensor:
    return self.reciprocal() * other


# Names of the operators in Python 2, which programs still find in tables.
Tensor.__div__, Tensor.__idiv__ = Tensor.__truediv__, Tensor.__itruediv__
Tensor.__nonzero__, Tensor.__long__ = Tensor.__bool__, Tensor.__int__


@_attach("pin_memory")
def _pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Copy to page-locked memory; RuntimeError without an accelerator that could use it."""
    raise RuntimeError("pin_memory: no accelerator is available that page-locked memory is for")


@_attach("record_stream")
def _record_stream(self: Tensor, stream: Any) -> None:
    """Accept the stream of an accelerator that uses the memory."""


@_attach("is_distributed")
def _is_distributed(self: Tensor) -> bool:
    """Say that the tensor is not spread over processes."""
    return False


@_attach("dequantize")
def _dequantize(self: Tensor) -> Tensor:
    """Give the tensor as float32; there are no quantised tensors."""
    return self.to(_C.float32)


@_attach("apply_")
def _apply(self: Tensor, callable: Callable) -> Tensor:
    """Replace each element by a function of it; slow, on the CPU only."""
    values = [callable(v) for v in self.detach().reshape(-1).tolist()]
    return self.copy_(_C.tensor(values, dtype=self.dtype).reshape(self.shape))


@_attach("map_")
def _map(self: Tensor, tensor: Tensor, callable: Callable) -> Tensor:
    """Replace each element by a function of it and the element of another tensor; slow."""
    pairs = zip(
        self.detach().reshape(-1).tolist(),
        tensor.detach().expand_as(self).reshape(-1).tolist(),
        strict=True,
    )
    values = [callable(a, b) for a, b in pairs]
    return self.copy_(_C.tensor(values, dtype=self.dtype).reshape(self.shape))


def _warn_of_old_name(name: str, instead: str) -> None:
    import warnings

    warnings.warn(f"non-inplace {name} is deprecated: use {instead}", stacklevel=4)


@_attach("resize")
def _resize(self: Tensor, *sizes: Any) -> Tensor:
    """Give the tensor in another shape of as many elements: the old spelling of reshape."""
    _warn_of_old_name("resize", "reshape")
    return self.reshape(*sizes)


@_attach("xpu")
def _xpu(self: Tensor, device: Any = None, non_blocking: bool = False) -> Tensor:
    """Raise: there are no Intel GPUs in this build."""
    raise AssertionError("this build has no XPU")


Tensor.__module__ = "facula"
