"""Trees of values: taking nested containers apart into leaves and a structure, and back.

Containers are tuples, lists, dicts, named tuples, ordered and default dicts, deques, dataclasses
that were registered, and whatever `register_pytree_node` declares. Everything else is a leaf.
"""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from facula.utils._pytree_nodes import (
    BUILTIN_TYPES,
    SERIALIZED_TYPE_TO_PYTHON_TYPE,
    SUPPORTED_NODES,
    SUPPORTED_SERIALIZED_TYPES,
    GetAttrKey,
    KeyEntry,
    KeyPath,
    MappingKey,
    NodeDef,
    SequenceKey,
    _add,
    _defaultdict_flatten,
    _defaultdict_unflatten,
    _deque_flatten,
    _deque_unflatten,
    _deregister_pytree_node,
    _dict_flatten,
    _dict_flatten_with_keys,
    _dict_unflatten,
    _get_node_type,
    _is_leaf,
    _is_namedtuple_instance,
    _list_flatten,
    _list_flatten_with_keys,
    _list_unflatten,
    _namedtuple_flatten,
    _namedtuple_flatten_with_keys,
    _namedtuple_unflatten,
    _private_register_pytree_node,
    _register_pytree_node,
    _tuple_flatten,
    _tuple_unflatten,
    is_namedtuple,
    is_namedtuple_class,
    is_structseq,
    is_structseq_class,
    is_structseq_instance,
    key_get,
    keystr,
    register_constant,
    register_dataclass,
    register_pytree_node,
    tree_is_leaf,
)

__all__ = [
    "LeafSpec",
    "NodeDef",
    "PyTree",
    "TreeSpec",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
    "treespec_dumps",
    "treespec_loads",
    "treespec_pprint",
]

PyTree = Any
Context = Any

PyTree = Any
Context = Any


# Structures.


class TreeSpec:
    """The structure of a tree: its kind of container, what that needs, and its children."""

    __slots__ = ("_children", "context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type: Any, context: Any, children_specs: list[TreeSpec]) -> None:
        self.type, self.context, self._children = type, context, children_specs
        self.num_children = len(children_specs)
        self.num_nodes = 1 + sum(c.num_nodes for c in children_specs)
        leaf = type is None
        self.num_leaves = 1 if leaf else sum(c.num_leaves for c in children_specs)

    @property
    def children_specs(self) -> list[TreeSpec]:
        """The structures of the children."""
        return self._children

    def children(self) -> list[TreeSpec]:
        """Return the structures of the children."""
        return self._children

    def child(self, index: int) -> TreeSpec:
        """Return the structure of one child."""
        return self._children[index]

    def is_leaf(self) -> bool:
        """Say whether this is a leaf."""
        return self.type is None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeSpec)
            and self.type == other.type
            and self.context == other.context
            and self._children == other._children
        )

    def __hash__(self) -> int:
        context = self.context
        if isinstance(context, list):
            context = tuple(str(c) for c in context)
        try:
            mine = hash(context)
        except TypeError:
            mine = 0
        return hash((self.type, mine, tuple(self._children)))

    def __repr__(self) -> str:
        if self.is_leaf():
            return "*"
        return self._text(0)

    def _text(self, indent: int) -> str:
        if self.is_leaf():
            return "*"
        indent += 2
        gap = ",\n" + " " * indent
        inside = gap.join(c._text(indent) for c in self._children)
        name = getattr(self.type, "__name__", str(self.type))
        return f"TreeSpec({name}, {self.context}, [{inside}])"

    def unflatten(self, leaves: Iterable) -> Any:
        """Return the tree that has these leaves."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec "
                f"refers to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._build(iter(leaves))

    def _build(self, leaves: Any) -> Any:
        if self.type is None:
            return next(leaves)
        children = [c._build(leaves) for c in self._children]
        return SUPPORTED_NODES[self.type].unflatten_fn(children, self.context)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """Return the parts of a tree that stand where this structure has leaves."""
        if self.type is None:
            return [tree]
        kind = _get_node_type(tree)
        both_dicts = {kind, self.type} <= {dict, OrderedDict, defaultdict}
        if kind != self.type and not both_dicts:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {kind!r}.")
        children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(
                f"Node arity mismatch; expected {self.num_children}, but got {len(children)}."
            )
        if both_dicts:
            keys = self.context[1] if self.type is defaultdict else self.context
            if set(keys) != set(tree):
                raise ValueError(f"Node keys mismatch; expected {keys}, but got {list(tree)}.")
            children = [tree[k] for k in keys]
        elif context != self.context:
            raise ValueError(f"Node context mismatch; expected {self.context}, got {context}.")
        return [
            part
            for spec, child in zip(self._children, children, strict=True)
            for part in spec.flatten_up_to(child)
        ]


class LeafSpec(TreeSpec):
    """The structure of a leaf."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, [])


_LEAF = LeafSpec()


def treespec_leaf() -> LeafSpec:
    """Return the structure of a leaf."""
    return _LEAF


# Taking apart and putting together.


def _flatten(tree: Any, leaves: list, is_leaf: Callable[[Any], bool] | None) -> TreeSpec:
    if _is_leaf(tree, is_leaf):
        leaves.append(tree)
        return _LEAF
    kind = _get_node_type(tree)
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(c, leaves, is_leaf) for c in children])


def tree_flatten(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a tree, in order, and its structure."""
    leaves: list[Any] = []
    try:
        spec = _flatten(tree, leaves, is_leaf)
    except RecursionError:
        raise ValueError("tree_flatten: the tree holds itself, or is nested too deeply") from None
    return leaves, spec


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """Return the tree of a structure that has these leaves; ValueError if their number differs."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but "
            f"got item of type {type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Iterate over the leaves."""
    if _is_leaf(tree, is_leaf):
        yield tree
        return
    children, _ = SUPPORTED_NODES[_get_node_type(tree)].flatten_fn(tree)
    for child in children:
        yield from tree_iter(child, is_leaf)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """Return the leaves."""
    return list(tree_iter(tree, is_leaf))


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """Return the structure."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable, tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """Return a tree of the same structure with `func` of the leaves.

    Of further trees, which may be deeper, the parts at the same places are given too.
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(spec.flatten_up_to(r) for r in rests)]
    return spec.unflatten(map(func, *columns))


def tree_map_(func: Callable, tree: Any, *rests: Any, is_leaf: Any = None) -> Any:
    """Call `func` on every leaf and return the tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    for row in zip(leaves, *(spec.flatten_up_to(r) for r in rests), strict=True):
        func(*row)
    return tree


def _predicate(kind: Any) -> Callable[[Any], bool]:
    if isinstance(kind, type) or (hasattr(kind, "__args__") and not callable(kind)):
        return lambda x: isinstance(x, kind)
    if isinstance(kind, tuple):
        return lambda x: isinstance(x, kind)
    return kind


def map_only(type_or_types_or_pred: Any, /) -> Callable[[Callable], Callable]:
    """Return a decorator for functions that should leave other leaves alone."""
    wanted = _predicate(type_or_types_or_pred)

    def decorate(func: Callable) -> Callable:
        return lambda x: func(x) if wanted(x) else x

    return decorate


def tree_map_only(
    type_or_types_or_pred: Any, /, func: Callable, tree: Any, is_leaf: Any = None
) -> Any:
    """`tree_map` over the leaves of a type, or those that a predicate picks."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, /, func: Callable, tree: Any, is_leaf: Any = None
) -> Any:
    """`tree_map_` over the leaves of a type, or those that a predicate picks."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: Any = None) -> bool:
    """Say whether a predicate holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: Any = None) -> bool:
    """Say whether a predicate holds for some leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(kind: Any, /, pred: Callable, tree: Any, is_leaf: Any = None) -> bool:
    """Say whether a predicate holds for all leaves of a type."""
    return all(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, kind))


def tree_any_only(kind: Any, /, pred: Callable, tree: Any, is_leaf: Any = None) -> bool:
    """Say whether a predicate holds for some leaf of a type."""
    return any(pred(x) for x in tree_iter(tree, is_leaf) if isinstance(x, kind))


def _broadcast_to_and_flatten(
    tree: Any, treespec: TreeSpec, is_leaf: Callable[[Any], bool] | None = None
) -> list[Any] | None:
    """Return a value for each leaf of a structure, from a tree that may end earlier; or None."""
    if _is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf() or _get_node_type(tree) != treespec.type:
        return None
    children, context = SUPPORTED_NODES[treespec.type].flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    result: list[Any] = []
    for child, spec in zip(children, treespec.children_specs, strict=True):
        part = _broadcast_to_and_flatten(child, spec, is_leaf)
        if part is None:
            return None
        result += part
    return result


# With paths.


def _with_path(path: tuple, tree: Any, is_leaf: Any) -> Any:
    if _is_leaf(tree, is_leaf):
        yield path, tree
        return
    node = SUPPORTED_NODES[_get_node_type(tree)]
    if node.flatten_with_keys_fn is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {node.type}. Please pass a "
            "flatten_with_keys_fn argument to register_pytree_node."
        )
    for key, child in node.flatten_with_keys_fn(tree)[0]:
        yield from _with_path((*path, key), child, is_leaf)


def tree_leaves_with_path(tree: Any, is_leaf: Any = None) -> list[tuple[tuple, Any]]:
    """Return pairs of path and leaf."""
    return list(_with_path((), tree, is_leaf))


def tree_flatten_with_path(
    tree: Any, is_leaf: Any = None
) -> tuple[list[tuple[tuple, Any]], TreeSpec]:
    """Return pairs of path and leaf, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable, tree: Any, *rests: Any, is_leaf: Any = None) -> Any:
    """`tree_map` with a function of path and leaf."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [list(c) for c in zip(*pairs, strict=True)] or [[], []]
    return spec.unflatten(map(func, *columns, *(spec.flatten_up_to(r) for r in rests)))


# Structures as text.


def _to_json(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    known = SUPPORTED_SERIALIZED_TYPES.get(spec.type)
    if known is None:
        raise NotImplementedError(f"Serializing {spec.type} in pytree is not registered.")
    if known.to_dumpable_context is not None:
        context = known.to_dumpable_context(spec.context)
    else:
        context = json.dumps(spec.context)
    children = [_to_json(c) for c in spec.children_specs]
    return {"type": known.serialized_type_name, "context": context, "children_spec": children}


def _from_json(data: dict[str, Any]) -> TreeSpec:
    if data["type"] is None:
        return _LEAF
    kind = SERIALIZED_TYPE_TO_PYTHON_TYPE.get(data["type"])
    if kind is None:
        raise NotImplementedError(f"{data['type']} is not registered for serialized pytrees")
    known = SUPPORTED_SERIALIZED_TYPES[kind]
    if known.from_dumpable_context is not None:
        context = known.from_dumpable_context(data["context"])
    else:
        context = json.loads(data["context"])
    return TreeSpec(kind, context, [_from_json(c) for c in data["children_spec"]])


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """Return a structure as JSON text."""
    return json.dumps([1, _to_json(treespec)])


def treespec_loads(serialized: str) -> TreeSpec:
    """Return the structure of a JSON text."""
    protocol, data = json.loads(serialized)
    if protocol != 1:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [1]")
    return _from_json(data)


def treespec_pprint(treespec: TreeSpec) -> str:
    """Return a structure as text, with a star for each leaf."""
    return repr(tree_unflatten([_Dot()] * treespec.num_leaves, treespec))


class _Dot:
    def __repr__(self) -> str:
        return "*"


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """Return the leaves of all arguments."""
    return [leaf for a in (*args, *kwargs.values()) for leaf in tree_iter(a)]
