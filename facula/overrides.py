"""__torch_function__: questions about overrides, the call of them, and function modes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from facula import _C

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "redispatch_function",
    "resolve_name",
    "wrap_torch_function",
]

has_torch_function = _C._has_torch_function
has_torch_function_unary = _C._has_torch_function_unary
has_torch_function_variadic = _C._has_torch_function_variadic
_disabled_torch_function_impl = _C._disabled_torch_function_impl


def handle_torch_function(
    public_api: Callable, relevant_args: Iterable, *args: Any, **kwargs: Any
) -> Any:
    """Call the overrides of `public_api` that the relevant arguments define."""
    return _C._handle_torch_function(public_api, tuple(relevant_args), args, kwargs)


def get_default_nowrap_functions() -> set[Callable]:
    """Return the functions whose results do not become the subclass of their argument."""
    tensor = _C.Tensor
    names = ("_base", "grad", "_grad")
    found = {getattr(getattr(tensor, name, None), "__get__", None) for name in names}
    return {f for f in found if f is not None}


def is_tensor_like(inp: Any) -> bool:
    """Say whether an object is a tensor or defines `__torch_function__`."""
    return isinstance(inp, _C.Tensor) or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable) -> bool:
    """Say whether a function is a method of Tensor, or the getter of an attribute of it."""
    return getattr(func, "__name__", None) == "__get__" or func in _methods()


@functools.cache
def _methods() -> frozenset[Callable]:
    return frozenset(get_overridable_functions()[_C.Tensor])


# What takes no tensors, or takes them without asking them.
_NOT_ASKED = {
    "": (
        "arange as_strided as_tensor asarray autocast_decrement_nesting autocast_increment_nesting "
        "bartlett_window blackman_window broadcast_shapes can_cast clear_autocast_cache compile "
        "cond default_generator device dtype empty empty_permuted empty_quantized empty_strided "
        "enable_grad eye fill finfo fork from_file from_numpy frombuffer full hamming_window "
        "hann_window iinfo inference_mode init_num_threads initial_seed kaiser_window layout "
        "linspace load logspace manual_seed memory_format no_grad normal ones parse_schema "
        "promote_types qscheme rand rand_like randint randint_like randn randn_like randperm range "
        "result_type save scalar_tensor seed sparse_bsc_tensor sparse_bsr_tensor "
        "sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor "
        "sym_fresh_size tensor thread_safe_generator tril_indices triu_indices typename "
        "use_deterministic_algorithms vander vmap wait zeros is_tensor is_storage "
        "are_deterministic_algorithms_enabled is_anomaly_check_nan_enabled is_vulkan_available "
        "is_deterministic_algorithms_warn_only_enabled"
    ),
    "fft": "fftfreq rfftfreq",
    "nn.functional": (
        "grouped_mm handle_torch_function hardsigmoid hardswish has_torch_function "
        "has_torch_function_unary has_torch_function_variadic sigmoid tanh upsample "
        "upsample_bilinear upsample_nearest"
    ),
    "nn.init": (
        "calculate_gain constant dirac eye kaiming_normal kaiming_uniform normal orthogonal sparse "
        "uniform xavier_normal xavier_uniform"
    ),
    "Tensor": (
        "__class__ __delattr__ __delitem__ __dir__ __getattribute__ __hash__ __init__ "
        "__init_subclass__ __iter__ __new__ __setattr__ __subclasshook__ __torch_dispatch__ "
        "__torch_function__ _conj _is_all_true _is_any_true _is_zerotensor _make_subclass "
        "_make_wrapper_subclass _neg_view as_subclass cholesky eig lstsq new new_empty "
        "new_empty_strided new_full new_ones new_tensor new_zeros qr solve stride symeig "
        "to_padded_tensor to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr "
        "unflatten"
    ),
}
# Settings of the process, which are functions of the top level.
_SETTINGS = ("set_", "get_", "is_autocast", "is_anomaly", "is_grad", "is_inference", "is_warn")


def _namespaces() -> Iterator[tuple[str, Any]]:
    """Give the namespaces whose functions can be overridden, by their names in the package."""
    import facula
    from facula.nn import functional, init

    yield "", facula
    yield "functional", facula.functional
    yield "nn.functional", functional
    yield "nn.init", init
    yield "Tensor", _C.Tensor
    yield "linalg", facula.linalg
    yield "fft", facula.fft
    yield "special", facula.special


def _members(where: str, space: Any) -> Iterator[tuple[str, Any]]:
    """Give what a namespace has by name: functions, methods and attributes."""
    import types

    modules = getattr(space, "_SUBMODULES", ())  # they are imported when they are looked at
    for name in dir(space):
        if where != "Tensor" and (name[:2] == "__" or name[0].isupper() or name in modules):
            continue
        found = getattr(space, name, None)
        if where == "Tensor" and getattr(object, name, None) is found:
            continue
        if not isinstance(found, (types.ModuleType, type(annotations))):
            yield name, found


@functools.cache
def _names() -> dict[Callable, str]:
    """Give the dotted name, without the package, of each function and of each getter and setter."""
    found = {}
    for where, space in _namespaces():
        start = where + "." if where else ""
        for name, f in _members(where, space):
            if callable(f):
                found[f] = start + name
            elif hasattr(f, "__get__"):
                found[f.__get__] = f"{start}{name}.__get__"
                if hasattr(f, "__set__"):
                    found[f.__set__] = f"{start}{name}.__set__"
    # Overrides are given the row below a function of nn.functional that is written in Python.
    for name, f in vars(_C._nn).items():
        if callable(f):
            found.setdefault(f, "nn.functional." + name)
    return found


@functools.cache
def _ignored() -> frozenset[Callable]:
    names = {
        f"{where}.{name}".removeprefix(".")
        for where, text in _NOT_ASKED.items()
        for name in text.split()
    }
    return frozenset(
        f
        for f, name in _names().items()
        if name in names or "." not in name and name.startswith(_SETTINGS)
    )


def get_ignored_functions() -> set[Callable]:
    """Return the functions of the package that `__torch_function__` is not asked about."""
    return set(_ignored())


def get_overridable_functions() -> dict[Any, list[Callable]]:
    """Return the functions that `__torch_function__` can take over, by namespace.

    Attributes of Tensor are listed by their getters, under the attribute itself.

    Example:
        >>> import facula
        >>> facula.add in facula.overrides.get_overridable_functions()[facula]
        True
    """
    ignored = _ignored()
    found: dict[Any, list[Callable]] = {}
    for where, space in _namespaces():
        for name, f in _members(where, space):
            if where != "Tensor" and (name.startswith("_") or name.endswith("_")):
                continue
            if callable(f):
                if f not in ignored:
                    found.setdefault(space, []).append(f)
            elif hasattr(f, "__get__") and f.__get__ not in ignored:
                found.setdefault(f, []).append(f.__get__)
    return found


def get_testing_overrides() -> dict[Callable, Callable]:
    """Return a function that gives -1 for each function that can be overridden."""
    return {
        f: lambda *args, **kwargs: -1 for fs in get_overridable_functions().values() for f in fs
    }


def resolve_name(f: Callable) -> str | None:
    """Give the dotted name under which a program finds a function that overrides are given.

    None for other functions.

    Example:
        >>> import facula
        >>> facula.overrides.resolve_name(facula.Tensor.add)
        'facula.Tensor.add'
    """
    name = _names().get(f)
    return None if name is None else f"{_C._package_name()}.{name}"


def wrap_torch_function(
    dispatcher: Callable[..., Iterable[Any]],
) -> Callable[[Callable], Callable]:
    """Make a decorator: overrides of what `dispatcher` returns can take over the function.

    `dispatcher` gets the arguments of each call.
    """

    def decorate(func: Callable) -> Callable:
        @functools.wraps(func)
        def asked(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(asked, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return asked

    return decorate


def redispatch_function(
    func: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
) -> Any:
    """Call a function without asking overrides about it; those of calls that it makes are asked."""
    kwargs = kwargs or {}
    if hasattr(func, "__code__"):
        _C._skip_overrides_once(True)
        try:
            return func(*args, **kwargs)
        finally:
            _C._skip_overrides_once(False)
    modes = _take_modes()
    before = _C._set_torch_function_disabled(True)
    try:
        return func(*args, **kwargs)
    finally:
        _C._set_torch_function_disabled(before)
        _put_modes(modes)


def _take_modes() -> list[TorchFunctionMode]:
    """Take all modes off the stack and return them, the innermost first."""
    return [_C._pop_torch_function_mode() for _ in range(_C._len_torch_function_mode())]


def _put_modes(modes: list[TorchFunctionMode]) -> None:
    for mode in reversed(modes):
        _C._push_torch_function_mode(mode)


def _get_current_function_mode_stack() -> list[TorchFunctionMode]:
    """Return the modes that are on, the innermost last."""
    modes = _take_modes()
    _put_modes(modes)
    return modes[::-1]


def _get_current_function_mode() -> TorchFunctionMode | None:
    """Return the innermost mode that is on."""
    modes = _get_current_function_mode_stack()
    return modes[-1] if modes else None


# Methods of operators: the function that computes the same, and whether the operands change places.
_PLAIN_NAMES = {
    "__pow__": ("pow", False),
    "__rpow__": ("pow", True),
    "__rsub__": ("sub", True),
    "__rtruediv__": ("div", True),
    "__rdiv__": ("div", True),
    "__floordiv__": ("floor_divide", False),
    "__rfloordiv__": ("floor_divide", True),
    "__rmod__": ("remainder", True),
    "__rmatmul__": ("matmul", True),
    "__and__": ("bitwise_and", False),
    "__or__": ("bitwise_or", False),
    "__xor__": ("bitwise_xor", False),
    "__lshift__": ("bitwise_left_shift", False),
    "__rlshift__": ("bitwise_left_shift", True),
    "__rshift__": ("bitwise_right_shift", False),
    "__rrshift__": ("bitwise_right_shift", True),
    "__invert__": ("bitwise_not", False),
}
_PLAIN_IN_PLACE = {
    "__ipow__": "pow_",
    "__iand__": "bitwise_and_",
    "__ior__": "bitwise_or_",
    "__ixor__": "bitwise_xor_",
    "__ilshift__": "bitwise_left_shift_",
    "__irshift__": "bitwise_right_shift_",
}


def _without_operators(func: Callable, args: tuple) -> tuple[Callable, tuple]:
    """Give the function and arguments that stand for the method of an operator; others as given."""
    name = getattr(func, "__name__", "")
    if not name.startswith("__"):
        return func, args
    if name in _PLAIN_IN_PLACE:
        return getattr(_C.Tensor, _PLAIN_IN_PLACE[name]), args
    plain, swapped = _PLAIN_NAMES.get(name, ("", False))
    if not plain:
        return func, args
    return getattr(_C._functions, plain), args[1::-1] if swapped else args


class TorchFunctionMode:
    """A context in which every function call goes to `__torch_function__` of this object."""

    def __torch_function__(
        self, func: Callable, types: tuple, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> TorchFunctionMode:
        _C._push_torch_function_mode(self)
        return self

    def __exit__(self, *exc: Any) -> None:
        _C._pop_torch_function_mode()

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """Make a mode, for programs that say `with Mode.push():`."""
        import warnings

        warnings.warn("Mode.push() is not needed: write `with Mode():`", stacklevel=2)
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A function mode that calls every function as it is."""

    def __torch_function__(
        self, func: Callable, types: tuple, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


class DisableTorchFunctionSubclass:
    """A context in which subclasses do not override functions."""

    def __enter__(self) -> None:
        self._before = _C._set_torch_function_disabled(True)

    def __exit__(self, *exc: Any) -> None:
        _C._set_torch_function_disabled(self._before)


def enable_reentrant_dispatch() -> Any:
    """Give a context that changes nothing: overrides run with their mode off anyway."""
    import contextlib

    return contextlib.nullcontext()
