"""Trees of values: taking apart, putting together, paths, registration, text."""

from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass

import pytest

import facula
from facula.utils import _pytree as tree

Point = namedtuple("Point", "x y")
VALUES = [
    1, [], (), {}, [1, (2, {"a": 3})], OrderedDict(b=1, a=[2]), Point(1, [2]), deque([1, 2], 5),
    defaultdict(list, {"a": [1]}), (None, [None]), facula.Size([2, 3]),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_round_trip(value):
    leaves, spec = tree.tree_flatten(value)
    again = tree.tree_unflatten(leaves, spec)
    assert again == value and type(again) is type(value)
    assert spec.num_leaves == len(leaves) == len(tree.tree_leaves(value))
    assert spec == tree.tree_structure(value) and hash(spec) == hash(tree.tree_structure(value))
    assert tree.tree_map(lambda x: x, value) == value


def test_text_is_that_of_pytorch():
    spec = tree.tree_structure({"a": [1, (2, 3)], "b": 4})
    assert repr(spec) == (
        "TreeSpec(dict, ['a', 'b'], [TreeSpec(list, None, [*,\n"
        "    TreeSpec(tuple, None, [*,\n      *])]),\n  *])"
    )
    text = tree.treespec_dumps(spec)
    assert text.startswith('[1, {"type": "builtins.dict", "context": "[\\"a\\", \\"b\\"]"')
    assert tree.treespec_loads(text) == spec
    assert tree.treespec_pprint(spec) == "{'a': [*, (*, *)], 'b': *}"
    assert repr(tree.LeafSpec()) == "*"


def test_map():
    value = {"a": [1, 2.0], "b": (3, "x")}
    assert tree.tree_map_only(int, lambda x: -x, value) == {"a": [-1, 2.0], "b": (-3, "x")}
    assert tree.tree_map(lambda a, b: a + b, [1, (2,)], [10, (20,)]) == [11, (22,)]
    assert tree.tree_map(lambda a, b: (a, b), [1], [{"k": 2}]) == [(1, {"k": 2})]
    assert tree.tree_any(lambda x: x == "x", value) and not tree.tree_all(lambda x: x == 1, value)
    assert tree.tree_flatten(value, is_leaf=lambda x: isinstance(x, tuple))[0] == [1, 2.0, (3, "x")]
    with pytest.raises(ValueError, match="mismatch"):
        tree.tree_map(lambda a, b: a, [1], (1,))
    with pytest.raises(ValueError, match="holds 2"):
        tree.tree_unflatten([1], tree.tree_structure([1, 2]))
    with pytest.raises(TypeError):
        tree.tree_unflatten([1], "spec")


def test_paths():
    value = {"a": [1], "p": Point(2, 3)}
    found = [(tree.keystr(path), leaf) for path, leaf in tree.tree_leaves_with_path(value)]
    assert found == [("['a'][0]", 1), ("['p'].x", 2), ("['p'].y", 3)]
    named = tree.tree_map_with_path(lambda p, x: tree.keystr(p), value)
    assert named["p"] == Point("['p'].x", "['p'].y")
    path = tree.tree_leaves_with_path(value)[2][0]
    assert tree.key_get(value, path) == 3
    assert tree._broadcast_to_and_flatten((0, 1), tree.tree_structure((5, [6, 7]))) == [0, 1, 1]
    assert tree._broadcast_to_and_flatten([0], tree.tree_structure((5,))) is None


def test_registration():
    class Box:
        def __init__(self, value):
            self.value = value

    assert tree.tree_leaves([Box(1)])[0].value == 1
    tree.register_pytree_node(Box, lambda b: ([b.value], "tag"), lambda v, c: Box(*v))
    assert tree.tree_leaves([Box([1, 2])]) == [1, 2]
    assert tree.tree_map(lambda x: x + 1, Box(1)).value == 2
    with pytest.raises(ValueError, match="already registered"):
        tree.register_pytree_node(Box, lambda b: ([], None), lambda v, c: None)
    tree._deregister_pytree_node(Box)
    assert len(tree.tree_leaves(Box([1, 2]))) == 1

    @dataclass
    class Pair:
        left: int
        right: object = None

    tree.register_dataclass(Pair)
    assert tree.tree_map(lambda x: x * 2, Pair(1, [2])) == Pair(2, [4])
    assert tree.tree_leaves(Pair(1)) == [1]
    assert tree.keystr(tree.tree_leaves_with_path(Pair(1))[0][0]) == ".left"
    tree._deregister_pytree_node(Pair)


def test_results_of_operators_are_told_apart_from_named_tuples():
    found = facula.ones(2).max(0)
    assert tree.is_structseq_instance(found) and tree.is_structseq(type(found))
    assert not tree.is_namedtuple(found) and not tree.is_structseq_instance((1, 2))


def test_a_tree_that_holds_itself():
    holds_itself = [1]
    holds_itself.append(holds_itself)
    with pytest.raises(ValueError, match="holds itself"):
        tree.tree_flatten(holds_itself)
