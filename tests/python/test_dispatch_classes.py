"""Classes with a `__torch_dispatch__`: wrappers, their autograd, copies, pickles and optimisers."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import pytest

import facula
from facula.nn import functional as F
from facula.utils._python_dispatch import (
    TorchDispatchMode,
    is_traceable_wrapper_subclass,
    return_and_correct_aliasing,
    transform_subclass,
)
from facula.utils._pytree import tree_map, tree_map_only

aten = facula.ops.aten


class Logging(facula.Tensor):
    """Shows its operators, and passes them on to the tensor in it."""

    log: list[str] = []

    @staticmethod
    def __new__(cls, elem):
        return facula.Tensor._make_wrapper_subclass(
            cls,
            elem.size(),
            strides=elem.stride(),
            storage_offset=elem.storage_offset(),
            dtype=elem.dtype,
            layout=elem.layout,
            device=elem.device,
            requires_grad=elem.requires_grad,
        )

    def __init__(self, elem):
        self.elem = elem

    def __repr__(self):
        return f"Logging({self.elem})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        Logging.log.append(str(func))
        assert types == (Logging,)

        def unwrap(x):
            return x.elem if isinstance(x, Logging) else x

        def wrap(x):
            return Logging(x) if isinstance(x, facula.Tensor) else x

        out = func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {}))
        return return_and_correct_aliasing(func, args, kwargs, tree_map(wrap, out))


def logged(f):
    Logging.log = []
    out = f()
    return out, Logging.log


def plain(t):
    return t.elem if isinstance(t, Logging) else t


@pytest.fixture
def x():
    return Logging(facula.arange(6.0).reshape(2, 3) / 4).requires_grad_()


NAMES = [
    (lambda x: x + 2, ["aten.add.Tensor"]),
    (lambda x: 2 * x, ["aten.mul.Tensor"]),
    (lambda x: 2 - x, ["aten.rsub.Scalar"]),
    (lambda x: x - x, ["aten.sub.Tensor"]),
    (lambda x: x / 2, ["aten.div.Tensor"]),
    (lambda x: x**2, ["aten.pow.Tensor_Scalar", "aten.detach.default"]),
    (lambda x: x > 0, ["aten.gt.Scalar"]),
    (lambda x: x == x, ["aten.eq.Tensor"]),
    (lambda x: x.sum(), ["aten.sum.default"]),
    (lambda x: x.sum(0), ["aten.sum.dim_IntList"]),
    (lambda x: x.mean(-1, keepdim=True), ["aten.mean.dim"]),
    (lambda x: x.exp(), ["aten.exp.default", "aten.detach.default"]),
    (lambda x: x.detach(), ["aten.detach.default"]),
    (lambda x: x.data, ["aten.detach.default"]),
    (lambda x: x.clone(), ["aten.clone.default"]),
    (lambda x: x.double(), ["aten._to_copy.default"]),
    (lambda x: x.t(), ["aten.t.default"]),
    (lambda x: x.T, ["aten.permute.default"]),
    (lambda x: x.view(3, 2), ["aten.view.default"]),
    (lambda x: x.transpose(1, 0), ["aten.transpose.int"]),
    (lambda x: x[0], ["aten.select.int"]),
    (lambda x: x[:, 1:], ["aten.slice.Tensor"]),
    (lambda x: x[facula.tensor([0])], ["aten.index.Tensor"]),
    (lambda x: F.relu(x), ["aten.relu.default", "aten.detach.default"]),
    (lambda x: F.gelu(x), ["aten.gelu.default"]),
    (lambda x: facula.cat([x, x]), ["aten.cat.default"]),
    (lambda x: facula.zeros_like(x), ["aten.zeros_like.default"]),
    (lambda x: F.linear(x, facula.ones(4, 3)), ["aten.mm.default"]),
    (lambda x: x.gather(0, facula.tensor([[0, 1, 0]])), ["aten.gather.default"]),
]


@pytest.mark.parametrize(("call", "names"), NAMES)
def test_operators_have_the_names_of_pytorch(x, call, names):
    before = x.elem.clone()
    out, log = logged(lambda: call(x))
    assert log == names
    assert isinstance(out, Logging)
    expected = call(before)
    assert out.dtype == expected.dtype and out.shape == expected.shape
    assert facula.equal(out.elem, expected)
    assert out.requires_grad == (
        out.is_floating_point()
        and names[0] != "aten.zeros_like.default"
        and names != ["aten.detach.default"]
    )


def test_backward_runs_through_the_class(x):
    _, log = logged(lambda: x.exp().sum().backward())
    assert log == [
        "aten.exp.default",
        "aten.detach.default",
        "aten.sum.default",
        "aten.ones_like.default",
        "aten.unsqueeze.default",
        "aten.unsqueeze.default",
        "aten.expand.default",
        "aten.detach.default",
        "aten.mul.Tensor",
        "aten.detach.default",
    ]
    assert isinstance(x.grad, Logging)
    np.testing.assert_allclose(x.grad.elem.numpy(), x.elem.detach().exp().numpy(), rtol=1e-6)


def test_gradients_equal_those_of_plain_tensors():
    values = facula.linspace(-1, 1, 12, dtype=facula.float64).reshape(3, 4)
    weight = facula.linspace(0, 1, 8, dtype=facula.float64).reshape(2, 4)

    def loss(x, w):
        h = facula.tanh(F.linear(x, w)) * facula.sigmoid(x[:, :2]) + x.mean(1, keepdim=True)
        h = facula.softmax(h.transpose(0, 1), -1).pow(2) - h.t().exp() / (1 + h.t() ** 2)
        return facula.cat([h, h.flip(0)]).sum() + facula.where(x > 0, x * 3, x).mean()

    want_x, want_w = values.clone().requires_grad_(), weight.clone().requires_grad_()
    want = loss(want_x, want_w)
    want.backward()
    x, w = Logging(values.clone()).requires_grad_(), Logging(weight.clone()).requires_grad_()
    got = loss(x, w)
    got.backward()
    np.testing.assert_allclose(got.elem.item(), want.item(), rtol=1e-12)
    np.testing.assert_allclose(plain(x.grad).numpy(), want_x.grad.numpy(), rtol=1e-10)
    np.testing.assert_allclose(plain(w.grad).numpy(), want_w.grad.numpy(), rtol=1e-10)


LOSSES = {
    "convolution": lambda x: F.conv2d(x.reshape(1, 1, 3, 4), x[:2, :2].reshape(1, 1, 2, 2)).sum(),
    "pooling": lambda x: F.max_pool2d(x.reshape(1, 1, 3, 4), 2).sum(),
    "normalisation": lambda x: (F.layer_norm(x, (4,)) ** 3).sum(),
    "entropy": lambda x: F.cross_entropy(x, facula.tensor([0, 1, 3])),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None] * 2, x[None]).sum(),
    "split": lambda x: sum(i * p.sum() for i, p in enumerate(x.split(2))),
    "stack": lambda x: (facula.stack([x, x * 2]) ** 2).sum(),
    "mask": lambda x: (x[x.detach() > 0] ** 2).sum(),
    "sort": lambda x: (x.sort(1)[0] * facula.arange(4)).sum(),
    "embedding": lambda x: (F.embedding(facula.tensor([0, 2]), x) ** 2).sum(),
    "largest": lambda x: x.max(1)[0].sum() + x.amax(0).sum(),
    "einsum": lambda x: facula.einsum("ij,kj->ik", x, x).sum(),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_of_layers(name):
    values = facula.tensor(np.random.default_rng(0).normal(size=(3, 4)))
    want = values.clone().requires_grad_()
    LOSSES[name](want).backward()
    got = Logging(values.clone()).requires_grad_()
    LOSSES[name](got).backward()
    np.testing.assert_allclose(plain(got.grad).numpy(), want.grad.numpy(), rtol=1e-9, atol=1e-12)


def test_dropout_scales_what_it_keeps():
    x = Logging(facula.ones(1000)).requires_grad_()
    y = F.dropout(x, 0.25)
    assert set(y.elem.tolist()) == {0.0, facula.tensor(1 / 0.75).item()}
    y.sum().backward()
    assert facula.equal(plain(x.grad), y.elem)
    with pytest.raises(NotImplementedError, match="alpha_dropout"):
        F.alpha_dropout(x, 0.5, training=True)


def test_gradients_can_be_clipped():
    x = Logging(facula.ones(4)).requires_grad_()
    x.sum().backward()
    facula.nn.utils.clip_grad_norm_([x], 1.0)
    np.testing.assert_allclose(plain(x.grad).numpy(), np.full(4, 0.5), rtol=1e-5)


def test_second_derivatives(x):
    (first,) = facula.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = facula.autograd.grad(first.sum(), x)
    np.testing.assert_allclose(second.elem.numpy(), 6 * x.elem.detach().numpy(), rtol=1e-6)
    (first,) = facula.autograd.grad(x.exp().sum(), x, create_graph=True)
    (second,) = facula.autograd.grad(first.sum(), x)
    np.testing.assert_allclose(second.elem.numpy(), x.elem.detach().exp().numpy(), rtol=1e-6)


def test_in_place_forms_are_recorded(x):
    y = x * 1
    back, log = logged(lambda: y.mul_(3).add_(1))
    assert back is y and log == ["aten.mul_.Tensor", "aten.add_.Tensor"]
    assert y._version == 2
    y.exp_()
    y.sum().backward()
    values = x.elem.detach().numpy()
    np.testing.assert_allclose(x.grad.elem.numpy(), 3 * np.exp(3 * values + 1), rtol=1e-6)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.add_(1)
    with facula.no_grad():
        x.add_(1)
    assert x.elem.sum().item() == pytest.approx(15 / 4 + 6)


def test_out_argument(x):
    out = facula.zeros(2, 3)
    plain_out = Logging(out)
    facula.add(x.detach(), facula.ones(2, 3), out=plain_out)
    assert facula.equal(out, x.elem + 1)


class Quantised(facula.Tensor):
    """int8 values and a scale a row; products take what they stand for."""

    @staticmethod
    def __new__(cls, q, scale):
        return facula.Tensor._make_wrapper_subclass(cls, q.shape, dtype=scale.dtype)

    def __init__(self, q, scale):
        self.q, self.scale = q, scale

    @classmethod
    def of(cls, w):
        scale = w.abs().amax(1, keepdim=True) / 127
        return cls((w / scale).round().to(facula.int8), scale)

    def dequantise(self):
        return self.q.to(self.scale.dtype) * self.scale

    def __tensor_flatten__(self):
        return ["q", "scale"], None

    @classmethod
    def __tensor_unflatten__(cls, parts, context, size, stride):
        return cls(parts["q"], parts["scale"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in (aten.detach.default, aten.clone.default):
            return cls(func(args[0].q, **kwargs), func(args[0].scale, **kwargs))
        if func is aten._to_copy.default:
            return cls(args[0].q, func(args[0].scale, **kwargs))
        if func in (aten.t.default, aten.mm.default, aten.addmm.default):
            real = [a.dequantise() if isinstance(a, Quantised) else a for a in args]
            return func(*real, **kwargs)
        raise NotImplementedError(f"Quantised: {func}")


def test_quantised_weights_in_a_module():
    facula.manual_seed(0)
    layer = facula.nn.Linear(4, 3)
    x = facula.randn(2, 4, requires_grad=True)
    weight = Quantised.of(layer.weight.detach())
    layer.weight = facula.nn.Parameter(weight, requires_grad=False)
    assert isinstance(layer.weight, facula.nn.Parameter) and type(layer.weight) is Quantised
    y = layer(x)
    expected = F.linear(x, weight.dequantise(), layer.bias)
    assert type(y) is facula.Tensor
    np.testing.assert_allclose(y.detach().numpy(), expected.detach().numpy(), rtol=1e-6)
    y.sum().backward()
    got, x.grad = x.grad, None
    expected.sum().backward()
    np.testing.assert_allclose(got.numpy(), x.grad.numpy(), rtol=1e-6)
    with pytest.raises(NotImplementedError, match="Quantised: aten.sin.default"):
        layer.weight.sin()
    assert layer.weight.to(facula.float64).dtype == facula.float64
    state = layer.state_dict()
    assert type(state["weight"]) is Quantised


def test_taking_apart_and_putting_together():
    w = Quantised.of(facula.tensor([[1.0, -2.0], [3.0, 4.0]]))
    assert is_traceable_wrapper_subclass(w)
    assert not is_traceable_wrapper_subclass(facula.ones(2))
    seen = []
    doubled = transform_subclass(w, lambda name, t: (seen.append(name), t * 2)[1])
    assert seen == ["q", "scale"] and type(doubled) is Quantised
    assert facula.equal(doubled.scale, w.scale * 2)


class Counting(facula.Tensor):
    """A tensor with memory of its own that counts operators."""

    calls: dict[str, int] = {}

    @staticmethod
    def __new__(cls, data):
        made = facula.Tensor._make_subclass(cls, data, data.requires_grad)
        made.inside = data.detach()
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        cls.calls[name] = cls.calls.get(name, 0) + 1
        out = func(*tree_map_only(cls, lambda t: t.inside, args), **(kwargs or {}))
        return tree_map_only(facula.Tensor, cls, out)


def test_counting_operators():
    Counting.calls = {}
    t = Counting(facula.tensor([1.0, 4.0]))
    out = (t.sqrt() + t * 2).sum()
    assert Counting.calls == {"sqrt": 1, "mul": 1, "add": 1, "sum": 1}
    assert type(out) is Counting and out.inside.item() == 13.0
    assert t.data_ptr() != 0


class Diagonal(facula.Tensor):
    """A diagonal matrix that keeps its diagonal."""

    @staticmethod
    def __new__(cls, diagonal):
        n = diagonal.size(0)
        return facula.Tensor._make_wrapper_subclass(cls, (n, n), dtype=diagonal.dtype)

    def __init__(self, diagonal):
        self.diagonal_values = diagonal

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is aten.mm.default and isinstance(args[0], cls):
            left, right = args
            if isinstance(right, cls):
                return cls(left.diagonal_values * right.diagonal_values)
            return left.diagonal_values[:, None] * right
        if func is aten.add.Tensor and all(isinstance(a, cls) for a in args):
            return cls(args[0].diagonal_values + args[1].diagonal_values)
        if func is aten.mul.Tensor and isinstance(args[1], (int, float)):
            return cls(args[0].diagonal_values * args[1])
        dense = tree_map_only(cls, lambda t: facula.diag(t.diagonal_values), args)
        return func(*dense, **(kwargs or {}))


def test_diagonal_matrix():
    d = Diagonal(facula.tensor([1.0, 2.0]))
    m = facula.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert facula.equal(d @ m, facula.tensor([[1.0, 2.0], [6.0, 8.0]]))
    assert type(d @ d) is Diagonal and type(d + d) is Diagonal and type(3 * d) is Diagonal
    assert facula.equal((3 * d).diagonal_values, facula.tensor([3.0, 6.0]))
    assert facula.equal(m @ d, facula.tensor([[1.0, 4.0], [3.0, 8.0]]))
    assert facula.equal(d.sum(), facula.tensor(3.0))


class Masked(facula.Tensor):
    """Values of which only some count."""

    @staticmethod
    def __new__(cls, data, mask):
        return facula.Tensor._make_wrapper_subclass(cls, data.shape, dtype=data.dtype)

    def __init__(self, data, mask):
        self.data_values, self.mask = data, mask

    def __repr__(self):
        return f"Masked({self.data_values.tolist()}, {self.mask.tolist()})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        first = next(a for a in args if isinstance(a, cls))
        if func is aten.sum.default:
            return (first.data_values * first.mask).sum()
        if func.overloadpacket in (aten.add, aten.mul, aten.exp, aten.neg, aten.detach):
            values = tree_map_only(cls, lambda t: t.data_values, args)
            mask = first.mask
            for a in args:
                mask = mask & a.mask if isinstance(a, cls) else mask
            return cls(func(*values, **(kwargs or {})), mask)
        return NotImplemented


def test_masked_tensor():
    a = Masked(facula.tensor([1.0, 2.0, 3.0]), facula.tensor([True, False, True]))
    b = Masked(facula.tensor([1.0, 1.0, 1.0]), facula.tensor([True, True, False]))
    total = a * 2 + b
    assert repr(total) == "Masked([3.0, 5.0, 7.0], [True, False, False])"
    assert total.sum().item() == 3.0
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for .*aten.sin.default"):
        a.sin()


class Pair(facula.Tensor):
    """Two tensors that take each call side by side."""

    @staticmethod
    def __new__(cls, a, b):
        return facula.Tensor._make_wrapper_subclass(
            cls,
            a.shape,
            strides=a.stride(),
            dtype=a.dtype,
            device=a.device,
            requires_grad=a.requires_grad,
        )

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __repr__(self):
        return f"Pair({self.a}, {self.b})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        left = tree_map_only(cls, lambda t: t.a, (args, kwargs))
        right = tree_map_only(cls, lambda t: t.b, (args, kwargs))
        a, b = func(*left[0], **left[1]), func(*right[0], **right[1])
        out = cls(a, b) if isinstance(a, facula.Tensor) else a
        return return_and_correct_aliasing(func, args, kwargs, out)


def test_two_tensors_and_an_optimiser():
    def run(w, grad):
        opt = facula.optim.Adam([w], lr=0.1)
        for _ in range(3):
            opt.zero_grad()
            ((w - 1) ** 2).sum().backward()
            opt.step()
        return w

    start = facula.tensor([0.0, 3.0])
    pair = facula.nn.Parameter(Pair(start.clone(), start.clone() * 2))
    run(pair, None)
    for inside, values in ((pair.a, start), (pair.b, start * 2)):
        expected = run(facula.nn.Parameter(values.clone()), None)
        np.testing.assert_allclose(
            inside.detach().numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-7
        )


def test_wrappers_of_wrappers():
    inner = Logging(facula.ones(2))
    outer = Pair(inner, facula.ones(2) * 3)
    out, log = logged(lambda: outer + 1)
    assert log == ["aten.add.Tensor"]
    assert type(out.a) is Logging and out.b.tolist() == [4.0, 4.0]


def test_values_ask_the_class(x):
    total = x.sum()
    for f in (float, lambda t: t.item()):
        value, log = logged(lambda f=f: f(total))
        assert value == 3.75 and log == ["aten._local_scalar_dense.default"]
    assert bool(total > 3) and int(total) == 3
    with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
        x.tolist()
    with pytest.raises(RuntimeError, match="not supported for tensor subclasses"):
        x.detach().numpy()
    with pytest.raises(RuntimeError, match="has no storage"):
        x.untyped_storage()
    assert x.data_ptr() == 0


def test_deep_copies_and_pickles(x):
    twin = copy.deepcopy(x)
    assert type(twin) is Logging and twin.requires_grad and twin.elem is not x.elem
    assert facula.equal(twin.elem, x.elem)
    back = pickle.loads(pickle.dumps(x))
    assert type(back) is Logging and back.requires_grad and back.shape == (2, 3)
    assert facula.equal(back.elem, x.elem)
    layer = facula.nn.Linear(3, 2)
    layer.weight = facula.nn.Parameter(Pair(facula.ones(2, 3), facula.zeros(2, 3)))
    other = copy.deepcopy(layer)
    assert type(other.weight) is Pair and isinstance(other.weight, facula.nn.Parameter)
    file = io.BytesIO()
    facula.save(layer.state_dict(), file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="Pair"):
        facula.load(file)
    file.seek(0)
    with facula.serialization.safe_globals([Pair]):
        loaded = facula.load(file)
    assert type(loaded["weight"]) is Pair and facula.equal(loaded["weight"].a, facula.ones(2, 3))
    fresh = facula.nn.Linear(3, 2)
    fresh.weight = facula.nn.Parameter(Pair(facula.zeros(2, 3), facula.ones(2, 3)))
    fresh.load_state_dict(loaded)
    assert facula.equal(fresh.weight.a, facula.ones(2, 3))


def test_printing_without_a_repr():
    w = Quantised.of(facula.ones(2, 2))
    assert repr(w) == "Quantised(..., size=(2, 2))"


def test_functions_of_such_classes_are_not_overridden():
    assert Logging.__torch_function__ is facula._C._disabled_torch_function_impl
    assert facula.Tensor.__torch_dispatch__ is facula._C._disabled_torch_dispatch_impl


def test_a_wrapper_needs_a_dispatch():
    with pytest.raises(TypeError, match="Parameter must define __torch_dispatch__"):
        facula.Tensor._make_wrapper_subclass(facula.nn.Parameter, (2,))
    with pytest.raises(NotImplementedError, match="dispatch_sizes_strides_policy"):
        facula.Tensor._make_wrapper_subclass(Logging, (2,), dispatch_sizes_strides_policy="sizes")


def test_modes_see_calls_before_classes(x):
    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func.overloadpacket.__name__)
            return func(*args, **(kwargs or {}))

    with Mode():
        out, log = logged(lambda: x * 2)
    assert seen[0] == "mul" and log == ["aten.mul.Tensor"] and type(out) is Logging


def test_operators_are_the_same_objects():
    assert aten.mul.Tensor is facula.ops.aten.mul.Tensor
    func = aten.mul.Tensor
    assert func.__name__ == "mul.Tensor" and func.overloadpacket is aten.mul
    assert func.namespace == "aten" and func._overloadname == "Tensor"
    assert func.name() == "aten::mul.Tensor" and str(func) == "aten.mul.Tensor"
    x = facula.tensor([1.0, 2.0])
    assert facula.equal(func(x, x), x * x)
