"""Several results that are written to out=: the tuple that comes back, and who takes out=."""

import pickle

import pytest

import facula
import facula.nn.functional as F

SQUARE = facula.tensor([[4.0, 1.0], [1.0, 3.0]])
ROWS = facula.tensor([[3.0, 1.0, 2.0], [0.5, 9.0, 4.0]])


@pytest.mark.parametrize(
    ("name", "call", "fields"),
    [
        ("max", lambda **k: facula.max(ROWS, 1, **k), ("values", "indices")),
        ("min", lambda **k: facula.min(ROWS, 1, **k), ("values", "indices")),
        ("sort", lambda **k: facula.sort(ROWS, 1, **k), ("values", "indices")),
        ("topk", lambda **k: facula.topk(ROWS, 2, **k), ("values", "indices")),
        ("kthvalue", lambda **k: facula.kthvalue(ROWS, 2, **k), ("values", "indices")),
        ("mode", lambda **k: facula.mode(ROWS, 1, **k), ("values", "indices")),
        ("median", lambda **k: facula.median(ROWS, 1, **k), ("values", "indices")),
        ("cummax", lambda **k: facula.cummax(ROWS, 1, **k), ("values", "indices")),
        ("aminmax", lambda **k: facula.aminmax(ROWS, dim=1, **k), ("min", "max")),
        ("svd", lambda **k: facula.svd(SQUARE, **k), ("U", "S", "V")),
        ("slogdet", lambda **k: facula.slogdet(SQUARE, **k), ("sign", "logabsdet")),
        (
            "linalg_eigh",
            lambda **k: facula.linalg.eigh(SQUARE, **k),
            ("eigenvalues", "eigenvectors"),
        ),
        ("linalg_qr", lambda **k: facula.linalg.qr(SQUARE, **k), ("Q", "R")),
        ("linalg_svd", lambda **k: facula.linalg.svd(SQUARE, **k), ("U", "S", "Vh")),
        ("linalg_slogdet", lambda **k: facula.linalg.slogdet(SQUARE, **k), ("sign", "logabsdet")),
    ],
)
def test_results_in_out_are_named(name, call, fields):
    wanted = call()
    out = tuple(facula.empty(0, dtype=w.dtype) for w in wanted)
    for given in (out, list(out)):
        result = call(out=given)
        kind = getattr(facula.return_types, name + "_out")
        assert type(result) is kind and kind.__name__ == name + "_out"
        assert type(wanted) is getattr(facula.return_types, name) is not kind
        assert all(getattr(result, f) is o for f, o in zip(fields, out, strict=True))
        assert all(facula.equal(r, w) for r, w in zip(result, wanted, strict=True))
    assert repr(result).startswith(f"facula.return_types.{name}_out(\n{fields[0]}=tensor(")
    assert facula.equal(pickle.loads(pickle.dumps(result))[0], wanted[0])


def test_types_of_named_results_exist_before_a_call():
    assert facula.return_types.cummin_out.__match_args__ == ("values", "indices")
    with pytest.raises(AttributeError):
        _ = facula.return_types.add_out


def test_functions_without_out():
    x = facula.ones(2, 2)
    for f in (F.sigmoid, F.tanh):
        assert facula.equal(f(x), getattr(facula, f.__name__)(x))
        with pytest.raises(TypeError):
            f(x, out=facula.empty(2, 2))
    for f in (facula.special.softmax, facula.special.log_softmax):
        assert f(x, 1, dtype=facula.float64).dtype == facula.float64
        with pytest.raises(TypeError):
            f(x, 1, out=facula.empty(2, 2))
    out = facula.empty(2, 2)
    assert facula.softmax(x, 1, out=out) is out
