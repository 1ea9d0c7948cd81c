"""Parameter and Buffer: tensors that a Module registers when they are assigned to it; and their
uninitialised forms, whose shape a lazy module decides at its first call.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import facula
from facula import _utils
from facula._C import _disabled_torch_function_impl

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "is_lazy"]

Tensor = facula.Tensor


class _ParameterMeta(type(Tensor)):
    """Makes `isinstance(t, Parameter)` true for a tensor of another subclass that carries the mark
    `_is_param`.
    """

    def __instancecheck__(self, instance: Any) -> bool:
        if type.__instancecheck__(self, instance):
            return True
        return (
            self is Parameter
            and isinstance(instance, Tensor)
            and getattr(instance, "_is_param", False)
        )


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that is a parameter of the module it is assigned to: it appears in `parameters()`
    and `state_dict()`.

    Args:
        data: the values; an empty tensor by default. The parameter shares its memory.
        requires_grad: whether gradients are recorded, also when made under `no_grad`.

    """

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = facula.empty(0)
        if type(data) is Tensor or type(data) is Parameter:
            return Tensor._make_subclass(cls, data, requires_grad)
        t = data.detach().requires_grad_(requires_grad)
        if type(t) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires "
                "that detach() returns an "
                f"instance of the same type, but return type {type(t).__name__} was found instead. "
                "To use the type as a "
                "Parameter, please correct the detach() semantics defined by its "
                "__torch_dispatch__() implementation."
            )
        t._is_param = True
        return t

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) in memo:
            return memo[id(self)]
        copy = type(self)(self.data.clone(), self.requires_grad)
        memo[id(self)] = copy
        return copy

    def __repr__(self) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self)

    def __reduce_ex__(self, proto: int) -> tuple:
        state = dict(self.__dict__)
        hooks: OrderedDict = OrderedDict()
        if not state:
            return (_utils._rebuild_parameter, (self.data, self.requires_grad, hooks))
        return (
            _utils._rebuild_parameter_with_state,
            (self.data, self.requires_grad, hooks, state),
        )

    __torch_function__ = _disabled_torch_function_impl


class UninitializedTensorMixin:
    """What UninitializedParameter and UninitializedBuffer share: every use but a few raises until
    `materialize`.
    """

    _allowed = frozenset(
        {
            "__class__",
            "__deepcopy__",
            "__dict__",
            "__hash__",
            "__init__",
            "__new__",
            "__reduce_ex__",
            "__repr__",
            "__setstate__",
            "_allowed",
            "_cls",
            "_is_param",
            "_persistent",
            "_uninitialized",
            "cls_to_become",
            "copy_",
            "cpu",
            "cuda",
            "data",
            "detach",
            "device",
            "double",
            "dtype",
            "float",
            "half",
            "bfloat16",
            "is_complex",
            "is_floating_point",
            "is_leaf",
            "is_meta",
            "is_cuda",
            "grad",
            "grad_fn",
            "layout",
            "materialize",
            "requires_grad",
            "requires_grad_",
            "share_memory_",
            "to",
            "type",
            "_apply_to",
        }
    )

    def __getattribute__(self, name: str) -> Any:
        allowed = UninitializedTensorMixin._allowed
        if name == "shape":
            raise RuntimeError(
                "Can't access the shape of an uninitialized parameter or buffer. This error "
                "usually happens in "
                "`load_state_dict` when trying to load an uninitialized parameter into an "
                "initialized module. Call `forward` "
                "to initialize the parameters before accessing their attributes."
            )
        if name not in allowed and hasattr(Tensor, name) and name not in type(self).__dict__:
            raise ValueError(
                f"Attempted to use an uninitialized parameter in {getattr(Tensor, name)}. This "
                "error happens when you are using "
                "a `LazyModule` or explicitly manipulating "
                + facula._C._package_words("`facula.nn.parameter.UninitializedParameter` objects. ")
                + "When using LazyModules Call `forward` with a dummy batch to initialize the "
                "parameters before "
                "calling facula functions"
            )
        return super().__getattribute__(name)

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give the tensor its shape (and device and dtype); it becomes an ordinary Parameter or
        Buffer in place.
        """
        data = self.data
        if device is None:
            device = data.device
        if dtype is None:
            dtype = data.dtype
        self.data = facula.empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    def share_memory_(self) -> Any:
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before "
            "calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


def is_lazy(param: Any) -> bool:
    """Tell whether `param` is an uninitialised parameter or buffer."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter without a shape: `materialize(shape)` turns it into a Parameter."""

    cls_to_become = Parameter

    def __new__(
        cls, requires_grad: bool = True, device: Any = None, dtype: Any = None
    ) -> UninitializedParameter:
        data = facula.empty(0, device=device, dtype=dtype)
        return Tensor._make_subclass(cls, data, requires_grad)

    def __deepcopy__(self, memo: dict) -> UninitializedParameter:
        if id(self) in memo:
            return memo[id(self)]
        copy = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        memo[id(self)] = copy
        return copy

    def __reduce_ex__(self, proto: int) -> tuple:
        return (UninitializedParameter, (self.requires_grad, self.data.device, self.data.dtype))


class _BufferMeta(type(Tensor)):
    """Makes `isinstance(t, Buffer)` true for tensors that carry the mark `_is_buffer`."""

    def __instancecheck__(self, instance: Any) -> bool:
        if type.__instancecheck__(self, instance):
            return True
        return (
            self is Buffer
            and isinstance(instance, Tensor)
            and getattr(instance, "_is_buffer", False)
        )


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that becomes a buffer of the module it is assigned to; `persistent` buffers are part
    of the state dict.
    """

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        if data is None:
            data = facula.empty(0)
        t = data.detach().requires_grad_(data.requires_grad)
        t.persistent = persistent
        t._is_buffer = True
        return t

    __torch_function__ = _disabled_torch_function_impl


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer without a shape: `materialize(shape)` turns it into a tensor."""

    cls_to_become = Tensor

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> UninitializedBuffer:
        data = facula.empty(0, device=device, dtype=dtype)
        t = Tensor._make_subclass(cls, data, requires_grad)
        t.__dict__["persistent"] = persistent
        t.__dict__["_is_buffer"] = True
        return t

    __torch_function__ = _disabled_torch_function_impl
