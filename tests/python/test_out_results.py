"""Several results that are written to out=: the tuple that comes back, and who takes out=."""

import pickle
import warnings

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


def _square(base):
    return base[:16].view(4, 4)


LONG = facula.zeros(4, 4, dtype=facula.int64)
OVERLAPS = {
    "add": (lambda x, o: facula.add(x, x, out=o), True),
    "cumsum": (lambda x, o: facula.cumsum(x, 0, out=o), True),
    "sort": (lambda x, o: facula.sort(x, 0, out=(o, LONG.clone())), True),
    "where": (lambda x, o: facula.where(x > 1, x, x, out=o), True),
    "addmm": (lambda x, o: facula.addmm(x, x, x, out=o), True),
    "gather": (lambda x, o: facula.gather(x, 0, LONG, out=o), False),
    "take": (lambda x, o: facula.take(x, LONG, out=o), False),
    "index_select": (lambda x, o: facula.index_select(x, 0, LONG[0], out=o), False),
    "cat": (lambda x, o: facula.cat([x], out=o), False),
}


@pytest.mark.parametrize("name", sorted(OVERLAPS))
def test_out_that_overlaps_an_input_is_refused(name):
    call, whole = OVERLAPS[name]
    base = facula.arange(20.0)
    with pytest.raises(RuntimeError, match="single memory location"):
        call(_square(base), base[2:18].view(4, 4))
    if whole:
        call(_square(base), _square(base))
    else:
        with pytest.raises(RuntimeError, match="single memory location"):
            call(_square(base), _square(base))
    call(_square(base), facula.empty(4, 4))


def test_out_of_reductions_and_products_may_overlap():
    x = facula.arange(16.0).view(4, 4)
    wanted = x.sum(0).tolist()
    assert facula.sum(x, 0, out=x[1]).tolist() == wanted
    x = facula.arange(16.0).view(4, 4)
    wanted = (x @ x).tolist()
    assert facula.mm(x, x, out=x).tolist() == wanted


@pytest.mark.parametrize(
    "call",
    [
        lambda x, o: facula.any(x, 0, out=o),
        lambda x, o: facula.amax(x, 0, out=o),
        lambda x, o: facula.linalg.norm(x, out=o[0]),
    ],
)
def test_out_may_be_part_of_what_is_reduced(call):
    x = facula.arange(16.0).view(4, 4)
    wanted = call(x.clone(), facula.empty(4)).tolist()
    assert call(x, x[1]).tolist() == wanted


def test_positions_may_be_part_of_what_is_searched():
    x = facula.arange(16).view(4, 4)
    wanted = facula.argmax(x, 1).tolist()
    assert facula.argmax(x, 1, out=x[1]).tolist() == wanted


def test_a_refused_result_leaves_the_others_alone():
    base, values = facula.arange(20), facula.zeros(4, 4, dtype=facula.int64)
    with pytest.raises(RuntimeError, match="single memory location"):
        facula.sort(_square(base), 0, out=(values, base[2:18].view(4, 4)))
    assert not values.any() and base.equal(facula.arange(20))


def test_two_results_do_not_share_memory():
    x, out = facula.rand(4, 4), facula.empty(4)
    with pytest.raises(ValueError, match="overlap"):
        facula.aminmax(x, dim=0, out=(out, out))
    with pytest.raises(RuntimeError, match="single memory location"):
        facula.max(x, 0, out=(x[0], facula.empty(4, dtype=facula.int64)))
    assert facula.max(x, x, out=x) is x


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "nansum", "cumsum", "cumprod"])
def test_a_dtype_that_out_does_not_have_is_refused(name):
    out = facula.zeros(3) if name in ("sum", "prod", "mean", "nansum") else facula.zeros(2, 3)
    f, x = getattr(facula, name), facula.ones(2, 3)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float64"):
        f(x, 0, dtype=facula.float64, out=out)
    assert not out.any()
    assert f(x, 0, dtype=facula.float32, out=out) is out and out.any()


@pytest.mark.parametrize("name", ["var_mean", "std_mean"])
def test_moments_come_as_a_plain_tuple(name):
    x = facula.arange(6.0).reshape(2, 3)
    call = getattr(facula, name)
    for found in (call(x), call(x, 1), call(x, False), call(x, dim=0, correction=0)):
        assert type(found) is tuple and len(found) == 2
    pooled = facula.nn.functional.max_pool2d(x[None], 2, return_indices=True)
    assert type(pooled) is tuple


@pytest.mark.parametrize(
    ("copies", "sizes"),
    [
        (lambda x, **out: facula.unbind_copy(x, 1, **out), [(3,)] * 4),
        (lambda x, **out: facula.split_copy(x, 3, 1, **out), [(3, 3), (3, 1)]),
        (lambda x, **out: facula.split_with_sizes_copy(x, [1, 3], 1, **out), [(3, 1), (3, 3)]),
    ],
)
def test_lists_of_copies_are_written_into_lists(copies, sizes):
    x = facula.rand(3, 4)
    for shapes in (sizes, [(0,)] * len(sizes)):
        outs = [facula.empty(s) for s in shapes]
        given = copies(x, out=outs)
        assert all(a is b for a, b in zip(given, outs, strict=True))
        for got, want in zip(outs, copies(x), strict=True):
            assert facula.equal(got, want)
    with pytest.raises(TypeError, match="argument 'out' must be tuple of"):
        copies(x, out=[facula.empty(0)])
    with pytest.raises(RuntimeError, match="can't be cast"):
        copies(x, out=[facula.empty(0, dtype=facula.int64) for _ in sizes])
@pytest.mark.parametrize(
    "call", [lambda out: facula.max(ROWS, 1, out=out), lambda out: facula.aminmax(ROWS, out=out),
             lambda out: facula.linalg.eigh(SQUARE, out=out)]
)  # fmt: skip
def test_results_are_what_was_given_when_the_call_began(monkeypatch, call):
    kinds = [t.dtype for t in call(None)]
    given = [facula.empty(5, dtype=kind) for kind in kinds]
    out = list(given)
    shown = []

    def emptied(*args, **kwargs):
        shown.append(args)
        out.clear()

    monkeypatch.setattr("warnings.showwarning", emptied)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = emptied
        found = call(out)
    assert shown and not out and len(found) == len(given)
    assert all(a is b for a, b in zip(found, given, strict=True))
