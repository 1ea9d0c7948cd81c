"""Module: registration, attributes, traversal, printing, copying."""

import copy
import gc
import pickle
import weakref

import pytest

import facula
from facula import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)
        self.body = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.scale = nn.Parameter(facula.ones(2))
        self.register_buffer("count", facula.zeros(1))
        self.register_buffer("scratch", facula.zeros(1), persistent=False)
        self.size = 7

    def forward(self, x):
        return self.body(self.fc(x)) * self.scale


def names(pairs):
    return [name for name, _ in pairs]


def test_registration_by_assignment():
    net = Net()
    assert names(net.named_parameters()) == [
        "scale", "fc.weight", "fc.bias", "body.0.weight", "body.0.bias",
    ]  # fmt: skip
    assert names(net.named_buffers()) == ["count", "scratch"]
    assert names(net.named_children()) == ["fc", "body"]
    assert names(net.named_modules()) == ["", "fc", "body", "body.0", "body.1"]
    assert list(net.state_dict()) == [
        "scale", "count", "fc.weight", "fc.bias", "body.0.weight", "body.0.bias",
    ]  # fmt: skip
    assert net.size == 7 and "size" in net.__dict__ and "fc" not in net.__dict__
    assert isinstance(net._parameters, dict) and net.__dict__["_modules"] is net._modules


def test_shared_parameters_are_listed_once():
    net = Net()
    net.body[0].weight = net.scale
    found = names(net.named_parameters())
    assert found.count("scale") == 1 and "body.0.weight" not in found
    every = names(net.named_parameters(remove_duplicate=False))
    assert "body.0.weight" in every
    assert names(net.named_parameters(prefix="p", recurse=False)) == ["p.scale"]


def test_attribute_lookup_and_errors():
    net = Net()
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'nothing'"):
        net.nothing
    with pytest.raises(TypeError, match="as parameter 'scale'"):
        net.scale = facula.ones(2)
    with pytest.raises(TypeError, match="as child module 'fc'"):
        net.fc = 3
    with pytest.raises(TypeError, match="as buffer 'count'"):
        net.count = 3
    with pytest.raises(KeyError, match="contain"):
        net.register_parameter("a.b", None)
    with pytest.raises(KeyError, match="already exists"):
        net.register_buffer("size", None)
    with pytest.raises(TypeError, match="is not a Module subclass"):
        net.add_module("x", 3)
    with pytest.raises(ValueError, match="Cannot assign non-leaf Tensor"):
        net.register_parameter("y", _derived())
    with pytest.raises(TypeError, match="unexpected keyword argument 'a'"):
        nn.Module(a=1)
    net.scale = None
    assert net.scale is None and "scale" not in net.state_dict()


def _derived():
    p = nn.Parameter(facula.ones(2))
    with facula.enable_grad():
        out = (p * 2).requires_grad_()
    out._is_param = True
    return out


def test_assignment_moves_between_places():
    net = Net()
    net.extra = 3
    net.extra = nn.Parameter(facula.ones(1))
    assert "extra" not in net.__dict__ and "extra" in net._parameters
    net.other = nn.ReLU()
    net.other = nn.Parameter(facula.ones(1))
    assert "other" not in net._modules and "other" in net._parameters
    with pytest.raises(TypeError, match="as parameter 'extra'"):
        net.extra = nn.ReLU()
    net.count = facula.ones(2)
    assert net._buffers["count"].shape == (2,)
    del net.extra, net.count, net.size
    assert not hasattr(net, "extra") and not hasattr(net, "count") and not hasattr(net, "size")
    net.b = nn.Buffer(facula.ones(2), persistent=False)
    assert "b" in net._buffers and "b" not in net.state_dict()


def test_a_plain_tensor_is_no_buffer():
    net = Net()
    net.t = facula.ones(1)
    assert "t" in net.__dict__ and "t" not in net._buffers


def test_object_setattr_hides_a_module():
    net = Net()
    object.__setattr__(net, "hidden", nn.ReLU())
    assert isinstance(net.hidden, nn.ReLU) and "hidden" not in net._modules


def test_property_errors_keep_their_message():
    class Bad(nn.Module):
        @property
        def value(self):
            return self.missing

    with pytest.raises(AttributeError, match="missing"):
        Bad().value


def test_own_getattr_sees_registered_names_first():
    class Wrapper(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

    inner = Net()
    wrapper = Wrapper(inner)
    assert wrapper.inner is inner and wrapper.size == 7 and wrapper.fc is inner.fc


def test_call_reaches_forward():
    class Echo(nn.Module):
        def forward(self, *args, **kwargs):
            return args, kwargs

    echo = Echo()
    assert echo() == ((), {})
    assert echo(1, 2, a=3) == ((1, 2), {"a": 3})
    assert echo(*range(12), b=4) == (tuple(range(12)), {"b": 4})
    echo.forward = lambda x: x + 1
    assert echo(1) == 2
    with pytest.raises(NotImplementedError, match='missing the required "forward" function'):
        nn.Module()(1)


def test_own_call_is_used():
    class Called(nn.Module):
        def __call__(self, *args, **kwargs):
            return "called", args, kwargs

    assert Called()(1, k=2) == ("called", (1,), {"k": 2})


def test_dotted_access():
    net = Net()
    assert net.get_submodule("body.0") is net.body[0]
    assert net.get_submodule("") is net
    assert net.get_parameter("fc.weight") is net.fc.weight
    assert net.get_buffer("count") is net.count
    with pytest.raises(AttributeError, match="Net has no attribute `nope`"):
        net.get_submodule("nope.x")
    with pytest.raises(AttributeError, match="is not an nn.Module"):
        net.get_submodule("size")
    with pytest.raises(AttributeError, match="is not a buffer"):
        net.get_buffer("scale")
    net.set_submodule("body.1", nn.Tanh())
    assert isinstance(net.body[1], nn.Tanh)


def test_train_eval_and_requires_grad():
    net = Net()
    assert net.eval() is net
    assert not any(m.training for m in net.modules())
    assert all(m.training for m in net.train().modules())
    with pytest.raises(ValueError, match="boolean"):
        net.train(1)
    net.requires_grad_(False)
    assert not any(p.requires_grad for p in net.parameters())


def test_zero_grad():
    net = Net()
    net(facula.ones(1, 3)).sum().backward()
    assert net.fc.weight.grad is not None
    net.zero_grad(set_to_none=False)
    assert float(net.fc.weight.grad.abs().sum()) == 0.0
    net.zero_grad()
    assert net.fc.weight.grad is None


def test_apply_goes_children_first():
    seen = []
    Net().apply(lambda m: seen.append(type(m).__name__))
    assert seen == ["Linear", "Linear", "ReLU", "Sequential", "Net"]


def test_casts_keep_the_identity_of_parameters():
    net = Net()
    weight = net.fc.weight
    net.register_buffer("index", facula.zeros(1, dtype=facula.int64))
    net.double()
    assert net.fc.weight is weight and weight.dtype == facula.float64
    assert net.count.dtype == facula.float64 and net.index.dtype == facula.int64
    net.to(facula.float32)
    assert weight.dtype == facula.float32
    net.to("cpu", facula.float16)
    assert weight.dtype == facula.float16
    net.to(facula.ones(1))
    assert weight.dtype == facula.float32
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes"):
        net.to(facula.int64)


def test_cast_takes_gradients_along():
    net = nn.Linear(2, 2)
    net(facula.ones(1, 2)).sum().backward()
    net.double()
    assert net.weight.grad.dtype == facula.float64


def test_meta_and_back():
    net = nn.Linear(2, 3).to("meta")
    assert net.weight.is_meta and isinstance(net.weight, nn.Parameter)
    net = net.to_empty(device="cpu")
    assert not net.weight.is_meta and net.weight.shape == (3, 2)


def test_printing():
    expected = """Net(
  (fc): Linear(in_features=3, out_features=2, bias=True)
  (body): Sequential(
    (0): Linear(in_features=2, out_features=2, bias=True)
    (1): ReLU()
  )
)"""
    assert repr(Net()) == expected
    assert repr(nn.Module()) == "Module()"


def test_dir_lists_what_is_registered():
    listed = dir(Net())
    assert {"fc", "scale", "count", "forward"} <= set(listed)


@pytest.mark.parametrize("how", ["deepcopy", "pickle"])
def test_copies_are_independent(how):
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    other = copy.deepcopy(net) if how == "deepcopy" else pickle.loads(pickle.dumps(net))
    assert list(other.state_dict()) == list(net.state_dict())
    assert isinstance(other[0].weight, nn.Parameter)
    with facula.no_grad():
        other[0].weight.zero_()
    assert float(net[0].weight.abs().sum()) > 0


def test_shallow_copy_shares_the_parameters():
    net = Net()
    other = copy.copy(net)
    assert other.fc is net.fc and other.size == 7


def test_own_getstate_keeps_the_parameters():
    net = pickle.loads(pickle.dumps(Stateful()))
    assert net.fc.weight.shape == (1, 2) and net.cache is None


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)
        self.cache = lambda: None

    def __getstate__(self):
        state = self.__dict__.copy()
        state["cache"] = None
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)


def test_cycles_are_collected():
    net = Net()
    net.itself = [net]
    ref = weakref.ref(net)
    del net
    gc.collect()
    assert ref() is None


def test_compile_is_refused():
    with pytest.raises(NotImplementedError, match="compile"):
        nn.Module().compile()


def test_registration_hooks_replace():
    from facula.nn.modules import module as m

    handle = m.register_module_parameter_registration_hook(
        lambda module, name, param: nn.Parameter(param * 0) if name == "weight" else None
    )
    try:
        assert float(nn.PReLU().weight.abs().sum()) >= 0.0
        probe = nn.Module()
        probe.weight = nn.Parameter(facula.ones(2))
        assert float(probe.weight.sum()) == 0.0
    finally:
        handle.remove()
    probe.weight = nn.Parameter(facula.ones(2))
    assert float(probe.weight.sum()) == 2.0


def test_factory_kwargs():
    assert nn.factory_kwargs({"device": "cpu"}) == {"device": "cpu"}
    with pytest.raises(TypeError, match="unexpected kwargs"):
        nn.factory_kwargs({"x": 1})


def test_call_of_a_subclass_reaches_forward_through_super():
    import inspect

    class Scaled(facula.nn.Module):
        def forward(self, x, *, plus=0):
            return x + plus

        def __call__(self, x, times=1, **kwargs):
            return super().__call__(x, **kwargs) * times

    module = Scaled()
    assert module(2, times=3) == 6 and module(2, plus=1) == 3 and module(1, 2, plus=4) == 10
    module.register_forward_hook(lambda m, args, out: out + 100)
    assert module(2, times=2) == 204
    assert str(inspect.signature(facula.nn.Identity())) == "(*args, **kwargs)"
    assert "in_features" in inspect.signature(facula.nn.Linear).parameters


def test_other_bases_see_subclasses():
    from typing import Generic, TypeVar

    kind = TypeVar("kind")

    class Listed:
        found = []

        def __init_subclass__(cls, mark=None, **kwargs):
            super().__init_subclass__(**kwargs)
            cls.found.append((cls.__name__, mark))

    class Typed(facula.nn.Module, Generic[kind], Listed, mark=3):
        def forward(self, x):
            return x + 1

    assert Typed[int].__origin__ is Typed and Typed.found == [("Typed", 3)]
    assert Typed()(1) == 2
