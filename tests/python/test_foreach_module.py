"""`facula.foreach`: the public names of operators over lists."""

from __future__ import annotations

import inspect

import pytest

import facula
from facula import _foreach


def tensors(*numbers: float) -> list[facula.Tensor]:
    return [facula.full((2,), float(number)) for number in numbers]


def test_names_and_signatures() -> None:
    names = facula.foreach.__all__
    private = (n for n in dir(_foreach) if n.startswith("_foreach_"))
    # Sums of powers are a step of norms, which has no public name.
    assert names == sorted({n.removeprefix("_foreach_") for n in private} - {"powsum"})
    for name in names:
        function = getattr(facula.foreach, name)
        assert function.__name__ == name and function.__module__ == "facula.foreach"
        first = next(iter(inspect.signature(function).parameters.values()))
        assert first.kind is inspect.Parameter.POSITIONAL_ONLY
    assert str(inspect.signature(facula.foreach.add)).startswith("(inputs")


def test_results_are_those_of_the_operator_for_each_tensor() -> None:
    for name in ("abs", "exp", "lgamma", "sigmoid", "sqrt", "trunc"):
        got = getattr(facula.foreach, name)(tensors(0.5, 2.5))
        assert isinstance(got, tuple)
        want = [getattr(facula, name)(t) for t in tensors(0.5, 2.5)]
        for g, w in zip(got, want, strict=True):
            facula.testing.assert_close(g, w)


def test_arguments_are_for_all_or_for_each() -> None:
    f = facula.foreach
    a = tensors(1, 2)
    assert [t.tolist() for t in f.add(a, 1)] == [[2, 2], [3, 3]]
    assert [t.tolist() for t in f.add(a, [1, 10])] == [[2, 2], [12, 12]]
    assert [t.tolist() for t in f.sub(a, a, alpha=2)] == [[-1, -1], [-2, -2]]
    assert [t.tolist() for t in f.mul(a, facula.tensor(3.0))] == [[3, 3], [6, 6]]
    assert [t.tolist() for t in f.pow(2, a)] == [[2, 2], [4, 4]]
    assert [t.tolist() for t in f.lerp(a, tensors(3, 4), 0.5)] == [[2, 2], [3, 3]]
    assert [t.tolist() for t in f.addcmul(a, a, a, value=[2, 3])] == [[3, 3], [14, 14]]
    assert [t.item() for t in f.norm(a, ord=1)] == [2, 4]
    assert [t.item() for t in f.max(a)] == [1, 2]


def test_forms_in_place_return_the_list() -> None:
    a = tensors(1, 2)
    assert facula.foreach.add_(a, 1) is a
    assert facula.foreach.copy_(a, tensors(5, 6)) is a
    assert [t.tolist() for t in a] == [[5, 5], [6, 6]]
    assert [t.tolist() for t in facula.foreach.zero_(a)] == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda f, a: f.add([], 1), RuntimeError),
        (lambda f, a: f.add(a, [1]), RuntimeError),
        (lambda f, a: f.add(a, a[:1]), RuntimeError),
        (lambda f, a: f.add(a, facula.ones(2)), RuntimeError),
        (lambda f, a: f.add(a, 1, alpha=2), TypeError),
        (lambda f, a: f.add(a, "x"), TypeError),
        (lambda f, a: f.abs(a[0]), TypeError),
        (lambda f, a: f.abs(inputs=a), TypeError),
        (lambda f, a: f.norm(a, 1), TypeError),
        (lambda f, a: f.copy_(a, a, True), TypeError),
        (lambda f, a: f.max([facula.ones(0)]), RuntimeError),
        (lambda f, a: f.norm([facula.ones(2, dtype=facula.int64)]), NotImplementedError),
    ],
)
def test_bad_calls(call, error) -> None:
    with pytest.raises(error):
        call(facula.foreach, tensors(1, 2))
