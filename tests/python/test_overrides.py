"""__torch_function__ of subclasses, of foreign types, and function modes."""

import operator

import pytest

import facula
import facula.nn.functional as F
from facula import overrides


class Logging(facula.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(getattr(func, "__name__", str(func)))
        return super().__torch_function__(func, types, args, kwargs or {})


def logging(*values):
    t = facula.tensor(list(values)).as_subclass(Logging)
    Logging.calls.clear()
    return t


def test_text_that_a_subclass_extends():
    class Noted(Logging):
        def __repr__(self):
            return super().__repr__()[:-1] + ", note=1)"

    for t in (facula.ones(2).as_subclass(Noted), facula.ones(2).as_subclass(Logging)):
        Logging.calls.clear()
        note = ", note=1" if type(t) is Noted else ""
        assert repr(t) == str(t) == f"{type(t).__name__}([1., 1.]{note})"
        assert Logging.calls == ["__repr__", "__repr__"]


def test_functions_methods_operators():
    t = logging(1.0, 2.0)
    assert type(facula.add(t, 1)) is Logging
    assert type(t.mul(2)) is Logging
    assert type(t + t) is Logging
    assert (1 - t).tolist() == [0.0, -1.0]
    assert Logging.calls[:4] == ["add", "mul", "add", "__rsub__"]


def test_attributes_and_indexing():
    t = logging(1.0, 2.0)
    assert t.shape == (2,)
    assert type(t[0]) is Logging
    t[0] = 5.0
    assert Logging.calls[0] == "__get__" and "__getitem__" in Logging.calls
    assert "__setitem__" in Logging.calls


def test_function_objects_are_public_ones():
    seen = []

    class Sees(facula.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func, types, len(args), kwargs))
            return super().__torch_function__(func, types, args, kwargs)

    t = facula.ones(1).as_subclass(Sees)
    facula.add(t, t, alpha=2)
    t.add(1)
    assert seen[0][0] is facula.add and seen[0][1] == (Sees,)
    assert seen[0][2] == 2 and seen[0][3] == {"alpha": 2}
    assert seen[1][0] is facula.Tensor.add


def test_foreign_types():
    class Foreign:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return "foreign"

    assert facula.add(facula.ones(1), Foreign()) == "foreign"
    assert facula.ones(1) + Foreign() == "foreign"
    assert facula.stack([facula.ones(1), Foreign()]) == "foreign"


def test_not_implemented():
    class Refuses:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    with pytest.raises(TypeError, match="no implementation found"):
        facula.add(facula.ones(1), Refuses())


def test_disabled():
    class Plain(facula.Tensor):
        __torch_function__ = facula._C._disabled_torch_function_impl

    t = facula.ones(1).as_subclass(Plain)
    assert type(t + 1) is facula.Tensor
    assert not overrides.has_torch_function((t,))
    s = logging(1.0)
    assert overrides.has_torch_function((s,)) and overrides.has_torch_function_unary(s)
    with overrides.DisableTorchFunctionSubclass():
        assert type(s + 1) is facula.Tensor


def test_modes():
    class Count(overrides.TorchFunctionMode):
        n = 0

        def __torch_function__(self, func, types, args=(), kwargs=None):
            self.n += 1
            return func(*args, **(kwargs or {}))

    with Count() as outer, Count() as inner:
        facula.ones(2) + 1
    assert inner.n == outer.n == 2
    facula.ones(2) + 1
    assert inner.n == 2


def _stats():
    return facula.zeros(3), facula.ones(3)


SHARED_NAMES = [
    (F.batch_norm, lambda: (facula.ones(2, 3), *_stats())),
    (facula.batch_norm, lambda: (facula.ones(2, 3), None, None, *_stats(), False, 0.1, 1e-5)),
    (F.instance_norm, lambda: (facula.ones(2, 3, 4),)),
    (facula.instance_norm,
     lambda: (facula.ones(2, 3, 4), None, None, *_stats(), True, 0.1, 1e-5)),
    (facula.linalg.svd, lambda: (facula.ones(3, 2),)),
    (facula.linalg.qr, lambda: (facula.ones(3, 2),)),
    (facula.linalg.diagonal, lambda: (facula.ones(2, 3, 3),)),
    (facula.diagonal, lambda: (facula.ones(2, 3, 3),)),
    (facula.linalg.cross, lambda: (facula.ones(2, 3), facula.ones(2, 3))),
    (facula.linalg.norm, lambda: (facula.ones(2, 3), "fro")),
    (facula.linalg.polar, lambda: (facula.eye(2),)),
    (facula.polar, lambda: (facula.ones(2), facula.ones(2))),
    (facula.linalg.cholesky, lambda: (facula.eye(2),)),
    (facula.special.round, lambda: (facula.ones(2),)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args"), SHARED_NAMES)
def test_modes_are_given_the_function_that_was_called(function, args):
    class Keep(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            found.append(func)
            return func(*args, **(kwargs or {}))

    found, given = [], args()
    wanted = function(*args())
    with Keep():
        result = function(*given)
    same = found[0] is function or found[0].__doc__ == function.__doc__
    assert same and found[0].__name__ == function.__name__
    both = (v if isinstance(v, tuple) else (v,) for v in (result, wanted))
    assert all(facula.equal(r, w) for r, w in zip(*both, strict=True))


def test_python_functions_can_be_overridden():
    def mine(x):
        if overrides.has_torch_function_unary(x):
            return overrides.handle_torch_function(mine, (x,), x)
        return "plain"

    class Takes:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func is mine

    assert mine(Takes()) is True and mine(1) == "plain"


def test_overrides_are_given_the_form_in_place():
    calls = []

    class Seen(facula.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    x = facula.ones(2).as_subclass(Seen)
    x.add_(1)
    x += 1
    facula.sin_(x)
    facula.ones(2).mul_(x)
    x.neg()
    assert [c for c in calls if c[0] != "_"] == ["add_", "add_", "sin_", "mul_", "neg"]
    assert type(x) is Seen
    assert facula.equal(x.as_subclass(facula.Tensor), facula.tensor([3.0, 3.0]).sin())


def test_tensors_of_subclasses_are_data_for_constructors():
    x = logging(1.0, 2.0)
    assert facula.as_tensor(x) is x
    assert type(facula.as_tensor(x, dtype=facula.float64)) is facula.Tensor
    with pytest.warns(UserWarning):
        assert type(facula.tensor(x)) is facula.Tensor
    assert not Logging.calls


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.to("cpu", non_blocking=True),
        lambda x: x.to(facula.device("cpu"), non_blocking=True),
        lambda x: x.to(facula.device("cpu"), facula.float64, copy=True),
        lambda x: x.to(facula.float64, non_blocking=True),
        lambda x: x.to(facula.ones(1, dtype=facula.float64), non_blocking=True),
        lambda x: x.sum(0, keepdim=True),
        lambda x: x.max(dim=0, keepdim=True)[0],
        lambda x: facula.std(x, dim=0, correction=0, keepdim=True),
    ],
)
def test_overrides_get_the_arguments_of_the_overload_that_fits(call):
    class Plain(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    class Kind(facula.Tensor):
        pass

    x = facula.ones(3)
    expected = call(x)
    with Plain():
        under_mode = call(x)
    of_subclass = call(x.as_subclass(Kind))
    with facula.autocast("cpu", dtype=facula.bfloat16):
        under_autocast = call(x)
    for found in (under_mode, of_subclass, under_autocast):
        assert found.dtype == expected.dtype and facula.equal(found, expected)


class Answer(overrides.TorchFunctionMode):
    """A mode that answers every call alike."""

    def __init__(self, value):
        super().__init__()
        self.value = value

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return self.value


def test_text_length_and_sign():
    t = logging(1.0, 2.0)
    assert len(t) == 2 and Logging.calls == ["__len__"]
    Logging.calls.clear()
    assert repr(t) == "Logging([1., 2.])" and Logging.calls == ["__repr__"]
    Logging.calls.clear()
    assert type(+t) is Logging and Logging.calls == ["positive"]
    with pytest.raises(TypeError, match="0-d"):
        len(facula.tensor(1.0).as_subclass(Logging))
    plain = facula.ones(2)
    with Answer(7):
        assert len(plain) == 7
    with Answer(-1), pytest.raises(ValueError, match=">= 0"):
        len(plain)
    with Answer("two"), pytest.raises(TypeError):
        len(plain)
    with facula._C.DisableTorchFunctionSubclass():
        Logging.calls.clear()
        assert len(t) == 2 and repr(t) and type(+t) is Logging and not Logging.calls


@pytest.mark.parametrize("value", [None, "a", [1], object()])
def test_in_place_signs_refuse_what_is_no_number(value):
    class Plain(facula.Tensor):
        pass

    for t in (facula.ones(2), facula.ones(2).as_subclass(Plain)):
        with pytest.raises(TypeError):
            t += value
        with pytest.raises(TypeError):
            t *= value
        t += 1
        assert t.tolist() == [2.0, 2.0]


class Index:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, types, args


def test_objects_as_indices():
    x, o = facula.ones(2, 2), Index()
    assert x[o] == ("__getitem__", (Index,), (x, o))
    assert x[0, o] == ("__getitem__", (Index,), (x, (0, o)))
    x[o] = 3.0
    assert x.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    x[0] = o
    assert x.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert type(x[facula.tensor([0]).as_subclass(Logging)]) is Logging
    assert type(x[:, facula.tensor([0]).as_subclass(Logging)]) is Logging
    assert x[..., 0].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("max", lambda x, w: facula.max(x, w)),
        ("min", lambda x, w: facula.min(x, w)),
        ("repeat_interleave", lambda x, w: facula.repeat_interleave(x, w)),
        ("to", lambda x, w: x.to(w)),
        ("to", lambda x, w: x.to(w, non_blocking=True)),
        ("quantile", lambda x, w: facula.quantile(x, w)),
    ],
)
def test_what_overrides_is_not_taken_for_a_number(name, call):
    class Wrapper:
        def __index__(self):
            return 1

        def __float__(self):
            return 1.0

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func.__name__

    assert call(facula.ones(2, 2), Wrapper()) == name


class Handed(facula.Tensor):
    """Notes which methods of Tensor it is given, by the names under which Tensor has them."""

    seen = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        names = {n for n in dir(facula.Tensor) if getattr(facula.Tensor, n) is func}
        cls.seen.append((names, [type(a).__name__ for a in args]))
        return super().__torch_function__(func, types, args, kwargs or {})


# The method that overrides are given with the tensor on the left, and with a number there.
OPERATORS = {
    "add": ("add", "add"),
    "sub": ("sub", "__rsub__"),
    "mul": ("mul", "mul"),
    "truediv": ("div", "__rtruediv__"),
    "floordiv": ("__floordiv__", "__rfloordiv__"),
    "mod": ("remainder", "__rmod__"),
    "pow": ("__pow__", "__rpow__"),
    "lshift": ("__lshift__", "__rlshift__"),
    "rshift": ("__rshift__", "__rrshift__"),
    "and_": ("__and__", "bitwise_and"),
    "or_": ("__or__", "bitwise_or"),
    "xor": ("__xor__", "bitwise_xor"),
    "eq": ("__eq__", "__eq__"),
    "ne": ("ne", "ne"),
    "lt": ("lt", "gt"),
    "le": ("le", "ge"),
    "gt": ("gt", "lt"),
    "ge": ("ge", "le"),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_methods_that_operators_hand_to_overrides(name):
    f, (left, right) = getattr(operator, name), OPERATORS[name]
    x = facula.tensor([6, 5])
    s = x.as_subclass(Handed)
    for a, b, method, kinds in (
        (s, 2, left, ["Handed", "int"]),
        (s, x, left, ["Handed", "Tensor"]),
        (2, s, right, ["Handed", "int"]),
    ):
        Handed.seen.clear()
        result = f(a, b)
        assert type(result) is Handed and len(Handed.seen) == 1
        assert method in Handed.seen[0][0] and Handed.seen[0][1] == kinds
        plain = f(*(x if v is s else v for v in (a, b)))
        assert facula.equal(result.as_subclass(facula.Tensor), plain)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("iadd", "add_"),
        ("isub", "sub_"),
        ("imul", "mul_"),
        ("ifloordiv", "floor_divide_"),
        ("imod", "remainder_"),
        ("ipow", "__ipow__"),
        ("ilshift", "__ilshift__"),
        ("irshift", "__irshift__"),
        ("iand", "__iand__"),
        ("ior", "__ior__"),
        ("ixor", "__ixor__"),
    ],
)
def test_methods_that_operators_in_place_hand_to_overrides(name, method):
    f = getattr(operator, name)
    x = facula.tensor([6, 5])
    s = x.clone().as_subclass(Handed)
    Handed.seen.clear()
    assert f(s, 2) is s
    assert len(Handed.seen) == 1 and method in Handed.seen[0][0]
    assert facula.equal(s.as_subclass(facula.Tensor), f(x.clone(), 2))


def test_methods_of_matrix_products_and_signs():
    m = facula.eye(2, dtype=facula.int64).as_subclass(Handed)
    for call, method in (
        (lambda: m @ m, "matmul"),
        (lambda: -m, "neg"),
        (lambda: +m, "positive"),
        (lambda: abs(m), "abs"),
        (lambda: ~m, "__invert__"),
    ):
        Handed.seen.clear()
        assert type(call()) is Handed and method in Handed.seen[0][0]


def test_modes_are_given_the_methods_of_operators():
    class Keep(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    seen = []
    x = facula.tensor([2.0])
    with Keep():
        results = [2 - x, x**2, 2 / x, x == 2, x + 1]
    t = facula.Tensor
    assert seen == [t.__rsub__, t.__pow__, t.__rtruediv__, t.__eq__, t.add]
    assert [r.item() for r in results] == [0.0, 4.0, 1.0, True, 3.0]


def test_operands_have_their_say_where_overrides_do_not_know_them():
    class Refuses(facula.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    class Other:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

        def __radd__(self, other):
            return "radd"

        def __eq__(self, other):
            return "eq"

    r = facula.ones(1).as_subclass(Refuses)
    assert r + Other() == "radd" and facula.ones(1) + Other() == "radd"
    assert (r == Other()) == "eq" and (r == "text") is False
    with pytest.raises(TypeError, match="unsupported operand"):
        r + 1
    with pytest.raises(TypeError, match="unsupported operand"):
        r += None


def test_names_of_functions_that_are_handed():
    t = facula.Tensor
    resolve = overrides.resolve_name
    for name in ("Tensor.add", "Tensor.__rsub__", "Tensor.__eq__", "add", "linalg.qr",
                 "fft.fft", "nn.functional.linear", "nn.functional.cross_entropy"):  # fmt: skip
        f = facula
        for part in name.split("."):
            f = getattr(f, part)
        assert resolve(f) == "facula." + name
    assert resolve(t.grad.__get__) == "facula.Tensor.grad.__get__"
    assert resolve(t.grad.__set__) == "facula.Tensor.grad.__set__"
    assert resolve(len) is None and resolve(lambda: 0) is None
    assert overrides.is_tensor_method_or_property(t.add)
    assert overrides.is_tensor_method_or_property(t.shape.__get__)
    assert not overrides.is_tensor_method_or_property(facula.add)


def test_functions_that_can_be_overridden():
    by_space = overrides.get_overridable_functions()
    assert facula.add in by_space[facula] and facula.Tensor.add in by_space[facula.Tensor]
    assert F.linear in by_space[F] and facula.linalg.qr in by_space[facula.linalg]
    assert by_space[facula.Tensor.shape] == [facula.Tensor.shape.__get__]
    ignored = overrides.get_ignored_functions()
    for f in (facula.zeros, facula.tensor, facula.is_tensor, facula.set_num_threads,
              facula.Tensor.as_subclass, facula.Tensor.__hash__):  # fmt: skip
        assert f in ignored and all(f not in fs for fs in by_space.values())
    listed = {f for fs in by_space.values() for f in fs}
    assert set(overrides.get_testing_overrides()) == listed
    assert all(overrides.resolve_name(f) for f in listed)


def test_wrapped_functions_are_overridden():
    @overrides.wrap_torch_function(lambda a, b=None: (a,))
    def mine(a, b=None):
        return "plain"

    class Takes:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func is mine, len(args), kwargs

    assert mine(1) == "plain" and mine(Takes(), b=2) == (True, 1, {"b": 2})


def test_redispatch_skips_one_level():
    depth = []

    class Nested(facula.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            depth.append(func.__name__)
            return overrides.redispatch_function(func, types, args, kwargs)

    def twice(a):
        if overrides.has_torch_function_unary(a):
            return overrides.handle_torch_function(twice, (a,), a)
        return a * 2

    x = facula.ones(1).as_subclass(Nested)
    assert twice(x).tolist() == [2.0] and depth == ["twice", "mul"]


def test_the_stack_of_modes():
    a, b = overrides.BaseTorchFunctionMode(), overrides.BaseTorchFunctionMode()
    assert overrides._get_current_function_mode() is None
    with a, b:
        assert overrides._get_current_function_mode() is b
        assert overrides._get_current_function_mode_stack() == [a, b]
    assert overrides._get_current_function_mode_stack() == []
