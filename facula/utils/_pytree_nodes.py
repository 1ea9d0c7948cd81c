"""The kinds of containers that trees are made of, how each is taken apart and put together, and the
keys of paths to leaves. `_pytree.py` works with what is registered here.
"""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from facula._C import Size


class NodeDef(NamedTuple):
    """How a kind of container is taken apart and put together."""

    type: type
    flatten_fn: Callable[[Any], tuple[list, Any]]
    unflatten_fn: Callable[[Iterable, Any], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list, Any]] | None = None


class _SerializeNodeDef(NamedTuple):
    typ: type
    serialized_type_name: str
    to_dumpable_context: Callable | None
    from_dumpable_context: Callable | None


SUPPORTED_NODES: dict[Any, NodeDef] = {}
SUPPORTED_SERIALIZED_TYPES: dict[Any, _SerializeNodeDef] = {}
SERIALIZED_TYPE_TO_PYTHON_TYPE: dict[str, Any] = {}
BUILTIN_TYPES: frozenset[type] = frozenset(
    (tuple, list, dict, OrderedDict, defaultdict, deque)
)


# Keys of a path to a leaf.


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """A position in a tuple or list."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """Return the item there."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """A key of a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """Return the item there."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """A field of an object."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """Return the field."""
        return getattr(obj, self.name)


KeyEntry = Any
KeyPath = tuple


def keystr(kp: Iterable[Any]) -> str:
    """Return a path as text: "['a'][0].b"."""
    return "".join(str(k) for k in kp)


def key_get(obj: Any, kp: Iterable[Any]) -> Any:
    """Return what a path leads to."""
    for k in kp:
        obj = k.get(obj)
    return obj


# The registry.


def _add(
    cls: Any,
    flatten_fn: Callable,
    unflatten_fn: Callable,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable | None = None,
    from_dumpable_context: Callable | None = None,
    flatten_with_keys_fn: Callable | None = None,
) -> None:
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)
    name = serialized_type_name or f"{cls.__module__}.{cls.__qualname__}"
    SUPPORTED_SERIALIZED_TYPES[cls] = _SerializeNodeDef(
        cls, name, to_dumpable_context, from_dumpable_context
    )
    SERIALIZED_TYPE_TO_PYTHON_TYPE[name] = cls


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[list, Any]],
    unflatten_fn: Callable[[Iterable, Any], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable | None = None,
    from_dumpable_context: Callable | None = None,
    flatten_with_keys_fn: Callable | None = None,
) -> None:
    """Declare a class a container: `flatten_fn(obj) -> (children, context)` and
    `unflatten_fn(children, context) -> obj`.
    """
    if not isinstance(cls, type):
        raise TypeError(f"register_pytree_node: expected a class, got {cls!r}")
    if (to_dumpable_context is None) ^ (from_dumpable_context is None):
        raise ValueError(
            f"Both to_dumpable_context and from_dumpable_context for {cls} must "
            "be None or registered."
        )
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _add(
        cls,
        flatten_fn,
        unflatten_fn,
        serialized_type_name,
        to_dumpable_context,
        from_dumpable_context,
        flatten_with_keys_fn,
    )


def _register_pytree_node(
    cls: type, flatten_fn: Callable, unflatten_fn: Callable, **kw: Any
) -> None:
    """Do as `register_pytree_node` does, but let a class be declared again."""
    SUPPORTED_NODES.pop(cls, None)
    register_pytree_node(cls, flatten_fn, unflatten_fn, **kw)


_private_register_pytree_node = _register_pytree_node


def _deregister_pytree_node(cls: type) -> None:
    SUPPORTED_NODES.pop(cls, None)
    known = SUPPORTED_SERIALIZED_TYPES.pop(cls, None)
    if known is not None:
        SERIALIZED_TYPE_TO_PYTHON_TYPE.pop(known.serialized_type_name, None)


def register_constant(cls: type) -> None:
    """Declare the objects of a class to be part of the structure, not leaves."""
    register_pytree_node(
        cls, lambda obj: ([], obj), lambda _, obj: obj, flatten_with_keys_fn=lambda obj: ([], obj)
    )


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Declare a dataclass a container of its fields."""
    names = field_names
    if names is None:
        if not dataclasses.is_dataclass(cls):
            raise ValueError(f"{cls} is no dataclass: give field_names")
        dropped = set(drop_field_names or ())
        names = [f.name for f in dataclasses.fields(cls) if f.init and f.name not in dropped]

    def flatten(obj: Any) -> tuple[list, Any]:
        present = [n for n in names if getattr(obj, n) is not None]
        absent = [n for n in names if getattr(obj, n) is None]
        return [getattr(obj, n) for n in present], (present, absent)

    def unflatten(values: Iterable, context: Any) -> Any:
        present, absent = context
        return cls(**dict(zip(present, values, strict=True)), **dict.fromkeys(absent))

    def flatten_with_keys(obj: Any) -> tuple[list, Any]:
        values, context = flatten(obj)
        return [(GetAttrKey(n), v) for n, v in zip(context[0], values, strict=True)], context

    register_pytree_node(
        cls,
        flatten,
        unflatten,
        serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=flatten_with_keys,
    )


# The containers of Python.


def _list_flatten(d: list) -> tuple[list, None]:
    return d, None


def _list_flatten_with_keys(d: list) -> tuple[list, None]:
    return [(SequenceKey(i), v) for i, v in enumerate(d)], None


def _list_unflatten(values: Iterable, context: None) -> list:
    return list(values)


def _tuple_flatten(d: tuple) -> tuple[list, None]:
    return list(d), None


def _tuple_unflatten(values: Iterable, context: None) -> tuple:
    return tuple(values)


def _dict_flatten(d: dict) -> tuple[list, list]:
    return list(d.values()), list(d.keys())


def _dict_flatten_with_keys(d: dict) -> tuple[list, list]:
    return [(MappingKey(k), v) for k, v in d.items()], list(d.keys())


def _dict_unflatten(values: Iterable, context: list) -> dict:
    return dict(zip(context, values, strict=True))


def _namedtuple_flatten(d: Any) -> tuple[list, type]:
    return list(d), type(d)


def _namedtuple_flatten_with_keys(d: Any) -> tuple[list, type]:
    return [(GetAttrKey(n), getattr(d, n)) for n in d._fields], type(d)


def _namedtuple_unflatten(values: Iterable, context: type) -> Any:
    return context(*values)


def _ordereddict_unflatten(values: Iterable, context: list) -> OrderedDict:
    return OrderedDict(zip(context, values, strict=True))


def _defaultdict_flatten(d: defaultdict) -> tuple[list, list]:
    return list(d.values()), [d.default_factory, list(d.keys())]


def _defaultdict_flatten_with_keys(d: defaultdict) -> tuple[list, list]:
    return [(MappingKey(k), v) for k, v in d.items()], [d.default_factory, list(d.keys())]


def _defaultdict_unflatten(values: Iterable, context: list) -> defaultdict:
    return defaultdict(context[0], zip(context[1], values, strict=True))


def _deque_flatten(d: deque) -> tuple[list, int | None]:
    return list(d), d.maxlen


def _deque_flatten_with_keys(d: deque) -> tuple[list, int | None]:
    return [(SequenceKey(i), v) for i, v in enumerate(d)], d.maxlen


def _deque_unflatten(values: Iterable, context: int | None) -> deque:
    return deque(values, maxlen=context)


for _kind, _parts in {
    tuple: (_tuple_flatten, _tuple_unflatten, _list_flatten_with_keys),
    list: (_list_flatten, _list_unflatten, _list_flatten_with_keys),
    dict: (_dict_flatten, _dict_unflatten, _dict_flatten_with_keys),
    OrderedDict: (_dict_flatten, _ordereddict_unflatten, _dict_flatten_with_keys),
    defaultdict: (_defaultdict_flatten, _defaultdict_unflatten, _defaultdict_flatten_with_keys),
    Size: (_tuple_flatten, lambda values, context: Size(values), _list_flatten_with_keys),
    deque: (_deque_flatten, _deque_unflatten, _deque_flatten_with_keys),
}.items():
    _add(_kind, _parts[0], _parts[1], flatten_with_keys_fn=_parts[2])
_add(
    namedtuple,  # stands for every class of named tuples
    _namedtuple_flatten,
    _namedtuple_unflatten,
    "collections.namedtuple",
    flatten_with_keys_fn=_namedtuple_flatten_with_keys,
)


def is_namedtuple(obj: Any) -> bool:
    """Say whether an object is a named tuple."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


_is_namedtuple_instance = is_namedtuple


def is_namedtuple_class(cls: type) -> bool:
    """Say whether a class makes named tuples."""
    fields = getattr(cls, "_fields", None)
    return issubclass(cls, tuple) and isinstance(fields, tuple) and hasattr(cls, "_make")


def is_structseq_class(cls: type) -> bool:
    """Say whether a class makes results of operators, or other named sequences of C."""
    return (
        tuple in cls.__bases__
        and isinstance(getattr(cls, "n_fields", None), int)
        and isinstance(getattr(cls, "n_sequence_fields", None), int)
    )


def is_structseq(obj: Any) -> bool:
    """Say whether an object, or a class, is of the results of operators."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_instance(obj: Any) -> bool:
    """Say whether an object is a result of an operator with several outputs."""
    return is_structseq_class(type(obj))


def _add_result_type(kind: type) -> None:
    """Make a container of the results that an operator with several outputs gives."""
    _add(kind, _tuple_flatten, lambda values, context: kind(tuple(values)))


def _get_node_type(tree: Any) -> Any:
    kind = type(tree)
    if kind in SUPPORTED_NODES:
        return kind
    if is_namedtuple_class(kind):
        return namedtuple
    if issubclass(kind, tuple) and hasattr(kind, "n_sequence_fields"):
        _add_result_type(kind)
    return kind


def _is_leaf(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    if is_leaf is not None and is_leaf(tree):
        return True
    return _get_node_type(tree) not in SUPPORTED_NODES


def tree_is_leaf(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Say whether a value is a leaf."""
    return _is_leaf(tree, is_leaf)
