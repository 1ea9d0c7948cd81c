"""TorchDispatchMode: what modes see, what they may change, and counting of operations."""

import pytest

import facula
from facula import nn
from facula.utils._python_dispatch import (
    BaseTorchDispatchMode,
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
)
from facula.utils.flop_counter import FlopCounterMode, register_flop_formula


class Log(TorchDispatchMode):
    def __init__(self):
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append((str(func), args, kwargs))
        return func(*args, **(kwargs or {}))

    def names(self):
        return [name.split(".")[1] for name, _, _ in self.seen]


def test_sees_operators_with_their_arguments():
    x = facula.arange(6.0).view(2, 3)
    with Log() as log:
        y = x.sum(1, keepdim=True)
        z = facula.add(x, y, alpha=2)
        values, indices = x.max(dim=1)
        facula.zeros(2, dtype=facula.float64)
    assert log.names() == ["sum", "add", "max_dim", "zeros"]
    assert str(log.seen[0][0]) == "aten.sum.default"
    assert log.seen[0][1][1:] == ([1], True)
    assert log.seen[1][2] == {"alpha": 2}
    assert log.seen[3][1:] == (([2],), {"dtype": facula.float64})
    assert z.tolist() == (x + 2 * x.sum(1, keepdim=True)).tolist()
    assert values.tolist() == [2.0, 5.0]
    assert indices.tolist() == [2, 2]


def test_sees_backward_passes_and_composed_functions():
    x = facula.ones(2, 3, requires_grad=True)
    w = facula.ones(4, 3, requires_grad=True)
    with Log() as log:
        loss = nn.functional.cross_entropy(x @ w.T, facula.tensor([0, 1]))
        before = len(log.seen)
        loss.backward()
    assert "mm" in log.names()
    assert len(log.seen) > before
    assert x.grad.shape == (2, 3)


def test_results_may_be_replaced():
    class Doubled(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            return result * 2 if func.overloadpacket is facula.ops.aten.exp else result

    x = facula.zeros(3)
    with Doubled():
        assert x.exp().tolist() == [2.0] * 3
    assert x.exp().tolist() == [1.0] * 3


def test_modes_nest_and_errors_leave_them():
    x = facula.ones(2)
    with Log() as outer, Log() as inner:
        assert _get_current_dispatch_mode() is inner
        x.exp()
        with _disable_current_modes():
            x.sin()
    assert outer.names() == inner.names() == ["exp"]
    assert _get_current_dispatch_mode() is None

    class Broken(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise KeyError("no")

    with pytest.raises(KeyError), Broken():
        x.exp()
    assert x.exp().shape == (2,)
    with pytest.raises(NotImplementedError), TorchDispatchMode():
        x.exp()
    with BaseTorchDispatchMode():
        assert x.exp().shape == (2,)


def test_in_place_operators_lists_and_generators():
    g = facula.Generator().manual_seed(3)
    x = facula.zeros(3)
    with Log() as log:
        x.add_(1)
        y = facula.cat([x, x])
        x.normal_(generator=g)
        facula.split(y, 2)
    assert "add_" in log.names()
    assert "cat" in log.names()
    assert y.tolist() == [1.0] * 6
    other = facula.zeros(3).normal_(generator=facula.Generator().manual_seed(3))
    assert x.tolist() == other.tolist()


def test_under_vmap():
    with Log() as log:
        facula.vmap(facula.sin)(facula.ones(2, 3))
    assert log.seen[-1][1][0].shape == (2, 3)


def test_wrong_arguments_are_refused():
    class Wrong(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, nonsense=1)

    with pytest.raises(TypeError, match="do not fit"), Wrong():
        facula.ones(2).exp()


def test_counts_operations():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(4 * 36, 5))
    x = facula.ones(2, 3, 8, 8)
    with FlopCounterMode(display=False) as counter:
        net(x)
    conv, linear = 2 * 2 * 36 * 4 * 27, 2 * 2 * 144 * 5
    assert counter.get_total_flops() == conv + linear
    by_module = counter.get_flop_counts()
    assert sum(by_module["Sequential.0"].values()) == conv
    assert sum(by_module["Sequential.2"].values()) == linear
    assert "Sequential.2" in counter.get_table()
    assert sum(by_module["Sequential"].values()) == conv + linear
    with FlopCounterMode(display=False) as counter:
        net(x).sum().backward()
    assert counter.get_total_flops() == 3 * linear + 2 * conv  # x wants no gradient
    with FlopCounterMode(display=False) as counter:
        facula.ones(2, 3) @ facula.ones(3, 4)
    assert counter.get_total_flops() == 48


def test_modules_in_lists_have_names_of_their_own():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList([nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 4))])

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return x

    with FlopCounterMode(display=False) as counter:
        Net()(facula.ones(2, 3))
    counts = {k: sum(v.values()) for k, v in counter.get_flop_counts().items()}
    assert counts == {
        "Global": 84,
        "Net": 84,
        "Net.blocks.0": 36,
        "Net.blocks.1": 48,
        "Net.blocks.1.0": 48,
    }


def test_own_formulas():
    @register_flop_formula(facula.ops.aten.exp)
    def elements(shape, out_shape=None):
        return shape[0]

    with FlopCounterMode(display=False) as counter:
        facula.ones(7).exp()
    assert counter.get_total_flops() == 7


def test_a_mode_must_give_a_result():
    class Forgetful(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            func(*args, **(kwargs or {}))

    class Empty(Forgetful):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return ()

    x = facula.ones(2)
    for mode in (Forgetful, Empty):
        with mode(), pytest.raises(TypeError):
            (x + 1).sum()
        with mode(), pytest.raises(TypeError):
            x.sum().item()
