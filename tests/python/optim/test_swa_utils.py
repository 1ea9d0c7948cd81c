"""Averaged weights and the schedule that goes with them."""

import pytest

import facula
from facula import nn, optim
from facula.optim.swa_utils import (
    SWALR,
    AveragedModel,
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    update_bn,
)


def model_with(value):
    model = nn.Linear(1, 1, bias=False)
    with facula.no_grad():
        model.weight.fill_(value)
    return model


def test_equal_weights():
    model = model_with(0.0)
    average = AveragedModel(model)
    for value in (1.0, 2.0, 6.0):
        with facula.no_grad():
            model.weight.fill_(value)
        average.update_parameters(model)
    assert average.module.weight.item() == pytest.approx(3.0)
    assert average.n_averaged.item() == 3
    assert average(facula.ones(1, 1)).item() == pytest.approx(3.0)


@pytest.mark.parametrize("multi", [False, True])
def test_exponential_average(multi):
    model = model_with(1.0)
    options = (
        {"multi_avg_fn": get_ema_multi_avg_fn(0.9)} if multi else {"avg_fn": get_ema_avg_fn(0.9)}
    )
    average = AveragedModel(model, **options)
    average.update_parameters(model)
    with facula.no_grad():
        model.weight.fill_(2.0)
    average.update_parameters(model)
    assert average.module.weight.item() == pytest.approx(1.1)
    with pytest.raises(ValueError, match="Invalid decay value 1.5"):
        get_ema_avg_fn(1.5)


def test_update_bn():
    model = nn.Sequential(nn.BatchNorm1d(2))
    data = [facula.tensor([[1.0, 2.0], [3.0, 4.0]]), facula.tensor([[5.0, 6.0], [7.0, 8.0]])]
    model.eval()
    update_bn(data, model)
    assert not model.training and model[0].momentum == 0.1
    assert model[0].running_mean.tolist() == pytest.approx([4.0, 5.0])


def test_schedule():
    p = facula.zeros(1, requires_grad=True)
    o = optim.SGD([p], lr=1.0)
    s = SWALR(o, 0.2, anneal_epochs=4, anneal_strategy="linear")
    got = []
    for _ in range(6):
        got.append(o.param_groups[0]["lr"])
        o.step()
        s.step()
    assert got == pytest.approx([1.0, 0.8, 0.6, 0.4, 0.2, 0.2])
    with pytest.raises(ValueError, match="'cos' or 'linear'"):
        SWALR(o, 0.2, anneal_strategy="x")
