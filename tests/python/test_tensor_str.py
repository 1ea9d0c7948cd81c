"""What tensors print, against texts recorded from PyTorch."""

import json
import math
from pathlib import Path

import pytest

import facula

RECORDED = json.loads((Path(__file__).parent / "fixtures" / "tensor_str.json").read_text())


@pytest.fixture(autouse=True)
def default_options():
    facula.set_printoptions(profile="default")
    yield
    facula.set_printoptions(profile="default")


def shown(t):
    # The prefix of dtypes is the package's name.
    return repr(t).replace(str(facula.float32).partition(".")[0] + ".", "facula.")


@pytest.mark.parametrize(
    ("options", "expression", "text"), RECORDED, ids=[f"{i}" for i in range(len(RECORDED))]
)
def test_recorded(options, expression, text):
    facula.set_printoptions(**options)
    names = {"t": facula, "nan": math.nan, "inf": math.inf}
    assert shown(eval(expression, names)) == text, expression


def test_str_is_repr_and_format_is_item():
    t = facula.tensor([1.0, 2.0])
    assert str(t) == repr(t)
    assert f"{facula.tensor(1.5):.3f}" == "1.500"


def test_subclass():
    class Mine(facula.Tensor):
        pass

    assert repr(facula.arange(4).reshape(2, 2).as_subclass(Mine)) == (
        "Mine([[0, 1],\n      [2, 3]])"
    )


def test_options():
    from facula._tensor_str import get_printoptions, printoptions

    with printoptions(precision=1):
        assert repr(facula.tensor(0.25)) in ("tensor(0.2)", "tensor(0.3)")
    assert get_printoptions() == {
        "precision": 4,
        "threshold": 1000,
        "edgeitems": 3,
        "linewidth": 80,
        "sci_mode": None,
    }
