"""Tensors with masks, against results recorded from PyTorch and against plain tensors."""

from __future__ import annotations

import copy
import json
import math
import pickle
import warnings
from pathlib import Path

import masked_cases as cases
import pytest

import facula
from facula import masked
from facula.masked import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

RECORDED = json.loads(
    (Path(__file__).parent.parent / "fixtures" / "masked_tensors.json").read_text()
)


def close(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=3e-6, abs_tol=3e-7)
    return type(a) is type(b) and a == b


@pytest.fixture
def names():
    return cases.scope(facula)


@pytest.mark.parametrize("case", cases.CASES)
def test_results(case):
    found, expected = cases.plain(eval(case, cases.scope(facula))), RECORDED["cases"][case]
    assert close(found, expected), (found, expected)


@pytest.mark.parametrize("case", cases.TEXTS)
def test_texts(case):
    assert repr(eval(case, cases.scope(facula))) == RECORDED["texts"][case]


@pytest.mark.parametrize("case", cases.GRADIENTS)
def test_gradients(case):
    found, expected = cases.gradients(facula, case), RECORDED["gradients"][case]
    assert close(found, expected), (found, expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", cases.ERRORS)
def test_errors(case):
    assert cases.error(facula, case) == RECORDED["errors"][case]


def test_everything_recorded_is_asked():
    for part, asked in (
        ("cases", cases.CASES),
        ("texts", cases.TEXTS),
        ("gradients", cases.GRADIENTS),
        ("errors", cases.ERRORS),
    ):
        assert list(RECORDED[part]) == list(dict.fromkeys(asked))


@pytest.mark.parametrize(
    "name", sorted(set(cases.UNARY) - {"isnan", "signbit", "acosh", "lgamma", "digamma"})
)
def test_gradients_are_those_of_plain_tensors_where_the_mask_is_true(name):
    values = facula.tensor([0.3, 0.6, 0.2, 0.8])
    mask = facula.tensor([True, False, True, True])
    x, m = values.clone().requires_grad_(), masked_tensor(values, mask, requires_grad=True)
    weight = facula.tensor([1.0, 2.0, 3.0, 4.0])
    (getattr(facula, name)(x) * weight)[mask].sum().backward()
    (getattr(facula, name)(m) * weight).sum().backward()
    assert is_masked_tensor(m.grad) and facula.equal(m.grad.get_mask(), mask)
    facula.testing.assert_close(m.grad.to_tensor(0.0), x.grad)


def test_numbers_on_the_left(names):
    a = names["a"]
    assert cases.plain(1 - a) == cases.plain(a.neg() + 1)
    assert facula.equal((1 - a).get_mask(), a.get_mask())


def test_functions_of_the_module_take_them(names):
    a = names["a"]
    data, mask = a.get_data(), a.get_mask()
    for name in ("sum", "mean", "amax", "amin", "prod", "var", "std"):
        function = getattr(masked, name)
        facula.testing.assert_close(function(a, 1), function(data, 1, mask=mask))
        facula.testing.assert_close(function(a, mask=mask), function(data, mask=mask))
    for name in ("softmax", "log_softmax", "softmin", "cumsum", "cumprod", "logsumexp", "median"):
        function = getattr(masked, name)
        facula.testing.assert_close(function(a, 1), function(data, 1, mask=mask), equal_nan=True)
    facula.testing.assert_close(
        masked.normalize(a, 2.0, 1), masked.normalize(data, 2.0, 1, mask=mask)
    )


def test_norms(names):
    a = names["a"]
    expected = masked.norm(a.get_data(), 2.0, 1, mask=a.get_mask())
    assert facula.equal(a.norm(dim=1).get_data(), expected)
    assert a.norm(1).item() == pytest.approx(0.25 + 0.75 + 0.1 + 0.9)
    x = masked_tensor(facula.tensor([3.0, 7.0, 4.0]), facula.tensor([True, False, True]), True)
    x.norm().backward()
    facula.testing.assert_close(x.grad.to_tensor(0.0), facula.tensor([0.6, 0.0, 0.8]))


def test_data_and_mask_are_copies():
    data, mask = facula.ones(2), facula.tensor([True, False])
    m = masked_tensor(data, mask)
    data.fill_(5)
    mask.fill_(True)
    assert cases.plain(m) == {"masked": [1.0, 0.0], "mask": [True, False], "dtype": "float32"}


def test_gradients_of_what_it_is_made_from():
    x = facula.tensor([1.0, 2.0, 3.0], requires_grad=True)
    mask = facula.tensor([True, False, True])
    m = as_masked_tensor(x, mask)
    assert m.requires_grad and not m.is_leaf
    (m * m).sum().backward()
    assert cases.plain(x.grad) == {
        "masked": [2.0, 0.0, 6.0],
        "mask": [True, False, True],
        "dtype": "float32",
    }
    with pytest.warns(UserWarning, match="tensor that requires_grad"):
        leaf = masked_tensor(x, mask)
    assert leaf.is_leaf and not leaf.requires_grad
    assert masked_tensor(x.detach(), mask, requires_grad=True).requires_grad


def test_steps_of_an_optimiser():
    weight = masked_tensor(facula.ones(3), facula.tensor([True, True, False]), requires_grad=True)
    with facula.no_grad():
        (weight * facula.tensor([1.0, 2.0, 3.0])).sum()
    (weight * facula.tensor([1.0, 2.0, 3.0])).sum().backward()
    with facula.no_grad():
        weight.sub_(weight.grad * 0.5)
    assert cases.plain(weight)["masked"] == [0.5, 0.0, 0.0]


def test_nothing_left_to_reduce():
    m = masked_tensor(facula.ones(2, 2), facula.zeros(2, 2, dtype=facula.bool))
    for name in ("sum", "mean", "amax", "prod"):
        assert repr(getattr(m, name)()) == "MaskedTensor(--, False)"
        assert not getattr(m, name)(0).get_mask().any()
    assert m.softmax(0).get_data().isfinite().all()


def test_operators_without_a_rule():
    m = masked_tensor(facula.ones(2, 2), facula.ones(2, 2, dtype=facula.bool))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(TypeError, match="cumsum"):
            m.cumsum(0)
    assert any("cumsum is not implemented" in str(w.message) for w in caught)


def test_sparse_layouts_are_refused():
    mask = facula.eye(2, dtype=facula.bool)
    m = masked_tensor(facula.ones(2, 2), mask)
    for call in (m.to_sparse, m.to_sparse_csr, lambda: masked_tensor(*2 * [mask.to_sparse()])):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(TypeError, match="same layout"):
        masked_tensor(facula.ones(2, 2), mask.to_sparse())
    assert m.to_dense() is m and not m.is_sparse_coo() and not m.is_sparse_csr()


def test_copies_and_pickles(names):
    a = names["a"]
    a.note = "kept"
    for twin in (copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        assert type(twin) is MaskedTensor and cases.plain(twin) == cases.plain(a)


def test_writes(names):
    a = names["a"]
    before = a.get_data().clone()
    a.mul_(2)
    facula.testing.assert_close(a.get_data(), before * 2)
    a.copy_(masked_tensor(facula.zeros(2, 3), a.get_mask()))
    assert not a.get_data().any()
    with pytest.raises(ValueError, match="must match"):
        a.copy_(names["b"])
    with pytest.raises(TypeError):
        names["p"].add_(a)


def test_tensors_without_elements_have_a_text():
    empty = masked_tensor(facula.ones(0), facula.ones(0, dtype=facula.bool))
    assert "[]" in repr(empty)
