"""Module: state_dict and load_state_dict."""

import numpy as np
import pytest

import facula
from facula import nn
from facula.nn.modules.utils import consume_prefix_in_state_dict_if_present


def small():
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))


def test_round_trip():
    a, b = small(), small()
    result = b.load_state_dict(a.state_dict())
    assert repr(result) == "<All keys matched successfully>"
    for x, y in zip(a.state_dict().values(), b.state_dict().values(), strict=True):
        np.testing.assert_array_equal(x.numpy(), y.numpy())
    assert b[0].weight is not a[0].weight


def test_entries_are_detached_and_share_memory():
    net = small()
    entry = net.state_dict()["0.weight"]
    assert not entry.requires_grad
    entry.zero_()
    assert float(net[0].weight.abs().sum()) == 0.0
    assert net.state_dict(keep_vars=True)["0.weight"] is net[0].weight
    assert "p.0.weight" in net.state_dict(prefix="p.")
    assert net.state_dict()._metadata["1"]["version"] == 2


def test_strict_errors_list_everything():
    net = small()
    state = net.state_dict()
    del state["0.bias"]
    state["0.weight"] = facula.zeros(5)
    state["other"] = facula.zeros(1)
    with pytest.raises(RuntimeError) as info:
        net.load_state_dict(state)
    assert str(info.value).split("\n\t") == [
        "Error(s) in loading state_dict for Sequential:",
        'Missing key(s) in state_dict: "0.bias". ',
        'Unexpected key(s) in state_dict: "other". ',
        f"size mismatch for 0.weight: copying a param with shape {facula.zeros(5).shape} from "
        f"checkpoint, the shape in current model is {net[0].weight.shape}.",
    ]
    del state["0.weight"]
    result = net.load_state_dict(state, strict=False)
    assert result.missing_keys == ["0.weight", "0.bias"]
    assert result.unexpected_keys == ["other"]


def test_wrong_kinds():
    net = small()
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got"):
        net.load_state_dict([1])
    state = net.state_dict()
    state["0.weight"] = "text"
    with pytest.raises(
        RuntimeError, match='While copying the parameter named "0.weight", expected'
    ):
        net.load_state_dict(state)


def test_assign_takes_the_tensors_themselves():
    net = nn.Linear(2, 2)
    weight = facula.zeros(2, 2, dtype=facula.float64)
    net.load_state_dict({"weight": weight, "bias": facula.zeros(2)}, assign=True)
    assert net.weight.dtype == facula.float64 and isinstance(net.weight, nn.Parameter)
    assert net.weight.data_ptr() == weight.data_ptr() and net.weight.requires_grad


def test_loading_into_meta_by_assignment():
    net = nn.Linear(2, 2, device="meta")
    net.load_state_dict(nn.Linear(2, 2).state_dict(), assign=True)
    assert not net.weight.is_meta


def test_extra_state():
    class Extra(nn.Module):
        def __init__(self, value):
            super().__init__()
            self.value = value

        def get_extra_state(self):
            return {"value": self.value}

        def set_extra_state(self, state):
            self.value = state["value"]

    a, b = Extra(1), Extra(2)
    assert a.state_dict() == {"_extra_state": {"value": 1}}
    b.load_state_dict(a.state_dict())
    assert b.value == 1
    with pytest.raises(RuntimeError, match='Missing key.*"_extra_state"'):
        b.load_state_dict({})
    with pytest.raises(RuntimeError, match='Unexpected key.*"_extra_state"'):
        nn.Module().load_state_dict(a.state_dict())


def test_state_dict_hooks():
    net, order = nn.Linear(1, 1), []
    net.register_state_dict_pre_hook(lambda m, prefix, keep: order.append("pre"))
    net.register_state_dict_post_hook(lambda m, sd, prefix, meta: sd.pop("bias") and None)
    net._register_state_dict_hook(lambda m, sd, prefix, meta: {**sd, "added": 1})
    assert set(net.state_dict()) == {"weight", "added"} and order == ["pre"]


def test_load_hooks():
    net, seen = nn.Linear(1, 1), []

    def rename(module, state, prefix, *rest):
        state[prefix + "bias"] = state.pop(prefix + "b")

    net.register_load_state_dict_pre_hook(rename)
    net.register_load_state_dict_post_hook(lambda m, keys: seen.append(keys.missing_keys))
    net.load_state_dict({"weight": facula.ones(1, 1), "b": facula.ones(1)})
    assert float(net.bias) == 1.0 and seen == [[]]


def test_post_hook_may_forgive_missing_keys():
    net = nn.Linear(1, 1)
    net.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    net.load_state_dict({"weight": facula.ones(1, 1)})


def test_scalars_of_old_checkpoints():
    net = nn.Module()
    net.s = nn.Parameter(facula.zeros(()))
    net.load_state_dict({"s": facula.ones(1)})
    assert float(net.s) == 1.0


def test_batch_norm_of_the_first_version():
    net = nn.BatchNorm1d(2)
    state = {k: v for k, v in net.state_dict().items() if k != "num_batches_tracked"}
    net.load_state_dict(state)


def test_non_persistent_buffers_are_neither_saved_nor_wanted():
    net = nn.Module()
    net.register_buffer("b", facula.zeros(1), persistent=False)
    assert net.state_dict() == {}
    net.load_state_dict({})
    with pytest.raises(RuntimeError, match='Unexpected key.*"b"'):
        net.load_state_dict({"b": facula.zeros(1)})


def test_prefix_taken_off_a_state_dict():
    inner = nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1))
    wrapper = nn.Module()
    wrapper.module = inner
    wrapper.head = nn.Linear(1, 1)
    state = wrapper.state_dict()
    assert consume_prefix_in_state_dict_if_present(state, "module.") is None
    assert list(state)[:4] == ["head.weight", "head.bias", "0.weight", "0.bias"]
    versions = {"": {"version": 1}, "head": {"version": 1}}
    versions |= {"0": {"version": 1}, "1": {"version": 2}}
    assert state._metadata == versions
    del state["head.weight"], state["head.bias"]
    inner.load_state_dict(state)

    plain = {"a.b": 1, "ab": 2, "a": 3}
    consume_prefix_in_state_dict_if_present(plain, "a.")
    assert plain == {"ab": 2, "a": 3, "b": 1}


@pytest.fixture
def switches():
    future = facula.__future__
    yield future
    future.set_swap_module_params_on_conversion(False)
    future.set_overwrite_module_params_on_conversion(False)


def test_conversions_may_put_new_parameters_in_place(switches):
    layer = nn.Linear(2, 2)
    kept = layer.weight
    layer.double()
    assert layer.weight is kept
    switches.set_overwrite_module_params_on_conversion(True)
    assert switches.get_overwrite_module_params_on_conversion()
    layer.float()
    assert layer.weight is not kept
    assert (layer.weight.dtype, kept.dtype) == (facula.float32, facula.float64)


def test_conversions_and_loading_may_exchange_parameters(switches):
    switches.set_swap_module_params_on_conversion(True)
    assert switches.get_swap_module_params_on_conversion()
    layer = nn.Linear(2, 2)
    layer(facula.ones(1, 2)).sum().backward()
    kept, values = layer.weight, layer.weight.tolist()
    layer.to(device="meta")
    assert layer.weight is kept and kept.is_meta and kept.grad.is_meta and kept.requires_grad
    other = nn.Linear(2, 2)
    kept, state = other.weight, {"weight": facula.ones(2, 2), "bias": facula.zeros(2)}
    for assign in (False, True):
        other.load_state_dict(state, assign=assign)
        assert other.weight is kept and type(kept) is nn.Parameter
        assert kept.tolist() == [[1, 1], [1, 1]] != values
