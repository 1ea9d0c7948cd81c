"""The base class: groups, state dicts, hooks, zero_grad, errors."""

import copy
import pickle
import warnings

import pytest

import facula
from facula import optim
from facula.optim.optimizer import Optimizer, required


def param(*values, **kwargs):
    p = facula.tensor(values or (1.0, 2.0), requires_grad=True, **kwargs)
    p.grad = facula.ones_like(p)
    return p


def test_groups_and_defaults():
    a, b = param(), param()
    o = optim.SGD([{"params": a}, {"params": [b], "lr": 0.5}], lr=0.1, momentum=0.9)
    assert [g["lr"] for g in o.param_groups] == [0.1, 0.5]
    assert o.param_groups[0]["params"] == [a]
    c = param()
    o.add_param_group({"params": (c,), "momentum": 0})
    o.step()
    assert c.tolist() == pytest.approx([0.9, 1.9])
    assert b.tolist() == pytest.approx([0.5, 1.5])


def test_named_parameters():
    o = optim.SGD([("w", param()), ("b", param())], lr=0.1)
    assert o.param_groups[0]["param_names"] == ["w", "b"]
    with pytest.raises(ValueError, match="with/without names"):
        o.add_param_group({"params": [param()]})
    with pytest.raises(ValueError, match="with/without names"):
        optim.SGD([("w", param()), param()], lr=0.1)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: optim.SGD([]), ValueError, "empty parameter list"),
        (lambda: optim.SGD(facula.zeros(2)), TypeError, "iterable of Tensors or dicts"),
        (lambda: optim.SGD([1.0]), TypeError, "can only optimize Tensors"),
        (lambda: optim.SGD([param() * 2]), ValueError, "non-leaf"),
        (lambda: optim.SGD([{"params": {param()}}]), TypeError, "ordered collections"),
        (lambda: optim.SGD([param()], lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda: optim.SGD([param()], nesterov=True), ValueError, "Nesterov momentum requires"),
        (lambda: optim.Adam([param()], betas=(1.0, 0.9)), ValueError, "index 0: 1.0"),
        (lambda: optim.Adam([param()], eps=-1), ValueError, "Invalid epsilon value: -1"),
        (lambda: optim.Adam([param()], lr=facula.ones(2)), ValueError, "1-element"),
        (lambda: optim.Adam([param()], fused=True, foreach=True), RuntimeError, "together"),
        (lambda: optim.Adadelta([param()], rho=1.5), ValueError, "Invalid rho value: 1.5"),
        (lambda: optim.Rprop([param()], etas=(1.5, 1.2)), ValueError, "Invalid eta values"),
        (lambda: optim.LBFGS([{"params": [param()]}, {"params": [param()]}]), ValueError, "per-p"),
        (lambda: optim.Muon([param()]), ValueError, "2D parameters"),
    ],
)
def test_refusals(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_parameter_in_two_groups():
    p = param()
    with pytest.raises(ValueError, match="more than one parameter group"):
        optim.SGD([{"params": [p]}, {"params": [p]}])
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([p, p])


def test_required_option():
    class Mine(Optimizer):
        def __init__(self, params):
            super().__init__(params, {"rate": required})

    Mine([{"params": [param()], "rate": 1}])
    with pytest.raises(ValueError, match="required optimization parameter rate"):
        Mine([param()])


def test_state_dict_refers_to_parameters_by_index():
    a, b = param(), param()
    o = optim.Adam([{"params": [a]}, {"params": [b], "lr": 0.5}])
    o.step()
    d = o.state_dict()
    assert [g["params"] for g in d["param_groups"]] == [[0], [1]]
    assert set(d["state"]) == {0, 1} and d["state"][0]["exp_avg"] is o.state[a]["exp_avg"]


def test_load_state_dict_copies():
    p, q = param(), param()
    one, two = optim.Adam([p]), optim.Adam([q])
    one.step()
    saved = one.state_dict()
    two.load_state_dict(saved)
    before = two.state[q]["exp_avg"].clone()
    assert two.state[q]["step"] is not saved["state"][0]["step"]
    for _ in range(3):
        one.step()
    assert two.state[q]["exp_avg"].tolist() == before.tolist()
    assert two.state[q]["step"].item() == 1
    two.param_groups[0]["lr"] = 7
    assert one.param_groups[0]["lr"] == 1e-3


def test_load_state_dict_casts_to_the_parameter():
    p, q = param(), param(dtype=facula.float64)
    one, two = optim.Adam([p]), optim.Adam([q])
    one.step()
    two.load_state_dict(one.state_dict())
    assert two.state[q]["exp_avg"].dtype == facula.float64
    assert two.state[q]["step"].dtype == facula.float32
    two.step()


def test_load_state_dict_refuses_other_groups():
    d = optim.SGD([param(), param()]).state_dict()
    with pytest.raises(ValueError, match="doesn't match the size"):
        optim.SGD([param()]).load_state_dict(d)
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optim.SGD([{"params": [param()]}, {"params": [param()]}]).load_state_dict(d)


def test_copies_and_pickles():
    p = param()
    o = optim.SGD([p], lr=0.1, momentum=0.9)
    o.step()
    for twin in (copy.deepcopy(o), pickle.loads(pickle.dumps(o))):
        (q,) = twin.param_groups[0]["params"]
        assert q is not p and twin.state[q]["momentum_buffer"].tolist() == [1.0, 1.0]
        q.grad = facula.ones(2)
        twin.step()
        assert q.tolist() == pytest.approx([1.0 - 0.1 - 0.19, 2.0 - 0.1 - 0.19])


def test_zero_grad():
    p, q = param(), facula.ones(2, requires_grad=True)
    o = optim.SGD([p, q])
    o.zero_grad(set_to_none=False)
    assert p.grad.tolist() == [0.0, 0.0] and q.grad is None
    kept = p.grad
    (p * kept).sum().backward(create_graph=True)
    o.zero_grad(set_to_none=False)
    assert not p.grad.requires_grad
    o.zero_grad()
    assert p.grad is None


def test_step_hooks():
    p, log = param(), []
    o = optim.SGD([p], lr=0.1)
    handles = [
        o.register_step_pre_hook(lambda opt, args, kwargs: log.append("before")),
        o.register_step_post_hook(lambda opt, args, kwargs: log.append("after")),
    ]
    everywhere = facula.optim.optimizer.register_optimizer_step_post_hook(
        lambda opt, args, kwargs: log.append("global")
    )
    try:
        o.step()
    finally:
        everywhere.remove()
    assert log == ["before", "after", "global"]
    handles[0].remove()
    o.step()
    assert log[3:] == ["after"]
    o.register_step_pre_hook(lambda opt, args, kwargs: 3)
    with pytest.raises(RuntimeError, match="new_args, new_kwargs"):
        o.step()


def test_state_dict_hooks():
    o = optim.SGD([param()], lr=0.1)
    o.register_state_dict_post_hook(lambda opt, d: {**d, "extra": 1})
    d = o.state_dict()
    assert d["extra"] == 1
    seen = []
    o.register_load_state_dict_pre_hook(lambda opt, d: {k: d[k] for k in ("state", "param_groups")})
    o.register_load_state_dict_post_hook(lambda opt: seen.append(opt))
    o.load_state_dict(d)
    assert seen == [o]


def test_closure_runs_with_gradients():
    p = param()
    o = optim.SGD([p], lr=0.1)

    def closure():
        o.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with facula.no_grad():
        assert o.step(closure).item() == 5.0
    assert p.tolist() == pytest.approx([0.8, 1.6])


def test_parameters_without_gradient_stay():
    p, q = param(), facula.ones(2, requires_grad=True)
    o = optim.Adam([p, q], lr=0.1)
    o.step()
    assert q.tolist() == [1.0, 1.0] and q not in o.state


def test_tensor_learning_rate():
    p, q = param(), param()
    rate = facula.tensor(0.1)
    one, two = optim.Adam([p], lr=rate), optim.Adam([q], lr=0.1)
    for _ in range(3):
        one.step()
        two.step()
    assert p.tolist() == pytest.approx(q.tolist())
    rate.fill_(0.0)
    before = p.tolist()
    one.step()
    assert p.tolist() == before


def test_user_optimizer():
    class Sign(Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        @facula.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.sub_(group["lr"] * p.grad.sign())

    p, log = param(), []
    o = Sign([p], 0.5)
    o.register_step_post_hook(lambda *a: log.append(1))
    o.step()
    assert p.tolist() == [0.5, 1.5] and log == [1]


def test_repr():
    text = repr(optim.SGD([{"params": [param()]}, {"params": [param()], "lr": 0.5}], lr=0.1))
    assert text.startswith("SGD (\nParameter Group 0\n    dampening: 0\n")
    assert "    lr: 0.1\n" in text and "\n\nParameter Group 1\n" in text and text.endswith("\n)")


def test_no_deprecation_on_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        o = optim.AdamW([param()])
        o.step()
        o.zero_grad()


def test_sets_of_parameters_warn_first():
    p = facula.ones(2, requires_grad=True)
    with pytest.warns(FutureWarning, match="ordered collections"):
        facula.optim.SGD({p}, lr=0.1)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "SGD", "Adagrad"])
def test_fused_takes_no_complex_numbers(name):
    p = facula.ones(2, dtype=facula.complex64, requires_grad=True)
    p.grad = facula.ones_like(p)
    with pytest.raises(RuntimeError, match="floating point"):
        getattr(facula.optim, name)([p], lr=0.1, fused=True).step()
    getattr(facula.optim, name)([p], lr=0.1).step()
