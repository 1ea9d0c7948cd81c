"""Defining operators: `custom_op`, `Library`, and what can be registered for an operator.

Example:
    >>> @facula.library.custom_op("demo::twice", mutates_args=())
    ... def twice(x: facula.Tensor) -> facula.Tensor:
    ...     return facula.from_numpy(x.detach().numpy() * 2)
    >>> twice.register_autograd(lambda ctx, grad: grad * 2)
    >>> facula.ops.demo.twice(facula.ones(2))
    tensor([2., 2.])
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from facula import _absent, _custom_op

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autograd",
    "register_autocast",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]

_KEYS = {
    "": "any",
    "CPU": "cpu",
    "CUDA": "cuda",
    "Meta": "meta",
    "CompositeImplicitAutograd": "composite",
    "CompositeExplicitAutograd": "any",
    "Autograd": "autograd",
    "AutogradCPU": "autograd",
}
_TYPES = {
    "Tensor": "Tensor",
    "int": "SymInt",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "complex": "Scalar",
}


def fallthrough_kernel() -> None:
    """Stand for "no implementation here" in `Library.impl`."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def _schema_type(annotation: Any) -> str:
    """Return the schema's type for an annotation."""
    import types
    import typing

    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType) and type(None) in parts:
        rest = [p for p in parts if p is not type(None)]
        if len(rest) == 1:
            return _schema_type(rest[0]) + "?"
    if origin in (list, Sequence, tuple) or (isinstance(origin, type) and issubclass(origin, list)):
        return _schema_type(parts[0]) + "[]"
    name = getattr(annotation, "__name__", str(annotation))
    if name in _TYPES:
        return _TYPES[name]
    if name in ("dtype", "device", "layout", "memory_format", "Generator"):
        return {"dtype": "ScalarType", "device": "Device"}.get(name, name)
    raise ValueError(
        f"infer_schema(func): Parameter has unsupported type {annotation}. The valid types are "
        "Tensor, int, float, bool, str, dtype, device, and lists and optionals of them"
    )


def infer_schema(
    prototype_function: Callable, /, *, mutates_args: Any, op_name: str | None = None
) -> str:
    """Return a schema such as "(Tensor x, SymInt n=1) -> Tensor" from a function's annotations."""
    signature = inspect.signature(prototype_function, eval_str=True)
    pieces, keyword_only = [], False
    for at, (name, p) in enumerate(signature.parameters.items()):
        if p.annotation is inspect.Parameter.empty:
            raise ValueError(
                f"infer_schema(func): Parameter {name} must have a type annotation. "
                f"Got func with signature {signature})"
            )
        if p.kind is inspect.Parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            pieces.append("*")
        kind = _schema_type(p.annotation)
        if mutates_args == "unknown" or name in mutates_args:
            kind = kind.replace("Tensor", f"Tensor(a{at}!)", 1)
        default = ""
        if p.default is not inspect.Parameter.empty:
            default = "=" + (f'"{p.default}"' if isinstance(p.default, str) else str(p.default))
        pieces.append(f"{kind} {name}{default}")
    result = signature.return_annotation
    if result is inspect.Signature.empty:
        raise ValueError(f"infer_schema(func): No return type annotation. Got {signature}")
    if result is None or result is type(None):
        returns = "()"
    elif getattr(result, "__origin__", None) is tuple:
        returns = f"({', '.join(_schema_type(r) for r in result.__args__)})"
    else:
        returns = _schema_type(result)
    return f"{op_name or ''}({', '.join(pieces)}) -> {returns}"


def _positions(function: Callable, names: Any) -> tuple[int, ...]:
    if isinstance(names, str):
        return ()
    order = list(inspect.signature(function).parameters)
    unknown = set(names) - set(order)
    if unknown:
        raise ValueError(f"mutates_args: {sorted(unknown)} are no parameters of the function")
    return tuple(order.index(n) for n in names)


class CustomOpDef:
    """An operator made of a Python function; calls of it run the function."""

    def __init__(self, op: _custom_op.Operator, function: Callable) -> None:
        self._op, self._init_fn = op, function
        self._qualname = op.qualname
        self.__name__ = op.name
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    @property
    def _opoverload(self) -> Any:
        import facula

        return getattr(getattr(facula.ops, self._op.space), self._op.name).default

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the operator."""
        return self._op(*args, **kwargs)

    def register_fake(self, fn: Callable, /) -> Callable:
        """Set what is computed for tensors without data; may be used as a decorator."""
        self._op.fake = fn
        return fn

    def register_autograd(
        self, backward: Callable, /, *, setup_context: Callable | None = None
    ) -> None:
        """Set `backward(ctx, *grads)`, and what keeps things on `ctx` for it."""
        self._op.backward, self._op.setup_context = backward, setup_context

    def register_kernel(self, device_types: Any, fn: Callable | None = None, /) -> Any:
        """Set the implementation for kinds of device; may be used as a decorator."""

        def register(f: Callable) -> Callable:
            kinds = [device_types] if isinstance(device_types, str) else device_types
            for kind in ["any"] if kinds is None else kinds:
                self._op.kernels[kind] = f
            return f

        return register if fn is None else register(fn)

    def register_vmap(self, func: Callable | None = None, /) -> Any:
        """Set `func(info, in_dims, *args)`, which gives the results for all samples of a vmap, and
        the dimensions that hold the samples in them; may be used as a decorator.
        """

        def register(f: Callable) -> Callable:
            self._op.batch_rule = f
            return f

        return register if func is None else register(func)

    register_torch_dispatch = _absent.absent_function(
        "facula.library.CustomOpDef.register_torch_dispatch"
    )

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        """Accept the type that autocast should give the inputs; custom operators keep theirs."""

    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Any:
        """Return a context that changes nothing: an operator has one kernel a device."""
        import contextlib

        return contextlib.nullcontext()


def custom_op(
    name: str,
    fn: Callable | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: Any = None,
    schema: str | None = None,
    tags: Sequence[Any] | None = None,
) -> Any:
    """Make an operator of a function, as a decorator: `@custom_op("space::name", mutates_args=())`.

    The function sees tensors without history; `register_autograd` says how gradients are computed.
    """

    def make(function: Callable) -> CustomOpDef:
        text = schema or infer_schema(function, mutates_args=mutates_args)
        space, short = _custom_op.split_name(name)
        _custom_op.forget(f"{space}::{short}")
        op = _custom_op.operator(name)
        op.defined, op.schema = True, text
        op.signature = inspect.signature(function)
        op.mutates = _positions(function, mutates_args)
        result = CustomOpDef(op, function)
        result.register_kernel(device_types, function)
        return result

    return make if fn is None else make(fn)


def triton_op(name: str, fn: Callable | None = None, /, **kwargs: Any) -> Any:
    """`custom_op`; a function that starts Triton kernels fails when it is called."""
    return custom_op(name, fn, **kwargs)


def wrap_triton(kernel: Any, /) -> Any:
    """Return the kernel itself."""
    return kernel


def define(qualname: str, schema: Any, *, lib: Any = None, tags: Any = ()) -> Any:
    """Define an operator by a schema; its implementations are registered by `impl`."""
    if not isinstance(schema, str):  # define(lib, schema, alias_analysis): the older form
        lib, text = qualname, schema
        return lib.define(text)
    op = _custom_op.operator(qualname)
    op.defined, op.schema = True, schema
    op.signature = _signature_of(schema)
    return None


def _signature_of(schema: str) -> inspect.Signature | None:
    """Return a Python signature for the names and defaults of a schema."""
    start, end = schema.find("("), schema.rfind("->")
    inside = schema[start + 1 : schema.rfind(")", start, end if end > 0 else None)]
    depth, piece, pieces = 0, "", []
    for c in inside:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            pieces.append(piece)
            piece = ""
        else:
            piece += c
    pieces.append(piece)
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = []
    for text in (p.strip() for p in pieces):
        if not text:
            continue
        if text == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        left, has_default, value = text.partition("=")
        parts = left.split()
        if len(parts) < 2 or not parts[-1].isidentifier():
            return None
        default = _default_of(value) if has_default else inspect.Parameter.empty
        parameters.append(inspect.Parameter(parts[-1], kind, default=default))
    return inspect.Signature(parameters)


def _default_of(text: str) -> Any:
    import ast

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False}.get(text, text)


def _register(qualname: str, types: Any, func: Callable) -> None:
    op = _custom_op.operator(qualname)
    for kind in [types] if isinstance(types, str) else types:
        key = _KEYS.get(kind, kind)
        if key in ("meta",):
            op.fake = func
        elif key == "default":
            op.kernels["any"] = func
        else:
            op.kernels[key] = func


def impl(qualname: Any, types: Any, func: Callable | None = None, *, lib: Any = None) -> Any:
    """Register an implementation for kinds of device; may be used as a decorator."""
    if isinstance(qualname, Library):  # impl(lib, name, dispatch_key): the older form
        library, name, key = qualname, types, func or ""

        def older(f: Callable) -> Callable:
            library.impl(name, f, key)
            return f

        return older

    def register(f: Callable) -> Callable:
        _register(qualname, types, f)
        return f

    return register if func is None else register(func)


def _name_of(op: Any) -> str:
    if isinstance(op, CustomOpDef):
        return op._qualname
    return op if isinstance(op, str) else op.qualname


def register_kernel(
    op: Any, device_types: Any, func: Callable | None = None, /, *, lib: Any = None
) -> Any:
    """Register an implementation for kinds of device; may be used as a decorator."""
    return impl(_name_of(op), "any" if device_types is None else device_types, func)


def register_fake(op: Any, func: Callable | None = None, /, **kwargs: Any) -> Any:
    """Register what is computed for tensors without data.

    Operators that are not there (as those of a compiled extension that could not be loaded) are
    accepted: the function waits until the operator is defined.
    """

    def register(f: Callable) -> Callable:
        _custom_op.operator(_name_of(op)).fake = f
        return f

    return register if func is None else register(func)


impl_abstract = register_fake


def register_autograd(
    op: Any, backward: Callable, /, *, setup_context: Callable | None = None, lib: Any = None
) -> None:
    """Register the formula for the gradient of an operator."""
    found = _custom_op.operator(_name_of(op))
    found.backward, found.setup_context = backward, setup_context


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Any = None) -> None:
    """Accept the type that autocast should give the inputs; custom operators keep theirs."""


def register_vmap(op: Any, func: Callable | None = None, /, *, lib: Any = None) -> Any:
    """Register `func(info, in_dims, *args)` as `CustomOpDef.register_vmap` does."""

    def register(f: Callable) -> Callable:
        _custom_op.operator(_name_of(op)).batch_rule = f
        return f

    return register if func is None else register(func)


register_torch_dispatch = _absent.absent_function("facula.library.register_torch_dispatch")
opcheck = _absent.absent_function("facula.library.opcheck")


def get_ctx() -> Any:
    """Return what helps functions for tensors without data: not needed for eager calls."""
    raise _absent.missing("facula.library.get_ctx", "sizes that depend on data are not captured")


class Library:
    """Operators of one namespace. `kind` is "DEF", "IMPL" or "FRAGMENT"."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define an operator by a schema such as "twice(Tensor x) -> Tensor"; returns its name."""
        name = schema.partition("(")[0].strip().partition(".")[0]
        define(f"{self.ns}::{name}", schema)
        return name

    def impl(self, op_name: Any, fn: Callable, dispatch_key: str = "", **kwargs: Any) -> None:
        """Register an implementation for a kind of device."""
        if not callable(fn):
            raise TypeError(f"expected a function for {op_name}, but found type {type(fn)}")
        name = op_name if isinstance(op_name, str) else op_name.qualname
        name = name.rpartition("::")[2]
        if fn is not fallthrough_kernel:
            _register(f"{self.ns}::{name}", dispatch_key or self.dispatch_key, fn)

    def _register_fake(self, op_name: str, fn: Callable, _stacklevel: int = 1) -> None:
        register_fake(f"{self.ns}::{op_name}", fn)

    def fallback(self, fn: Callable, dispatch_key: str = "", **kwargs: Any) -> None:
        """Raise: calls are not boxed for a fallback."""
        raise _absent.missing("facula.library.Library.fallback")
