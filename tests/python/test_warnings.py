"""Warnings that operators give, as PyTorch gives them: the category, and how often."""

import subprocess
import sys
import warnings

import pytest

import facula


def given(call):
    """Give category, text and file of the warnings of a call, each as if it were the first."""
    facula.set_warn_always(True)
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            call()
    finally:
        facula.set_warn_always(False)
    return [(w.category, str(w.message), w.filename) for w in found]


@pytest.mark.parametrize(
    "call",
    [
        lambda z: z.float(),
        lambda z: z.to(facula.int64),
        lambda z: facula.zeros(2).copy_(z),
        lambda z: facula.zeros(2).__setitem__(slice(None), z),
    ],
)
def test_conversions_that_drop_imaginary_parts_warn(call):
    ((kind, text, where),) = given(lambda: call(facula.ones(2, dtype=facula.complex64)))
    assert kind is UserWarning and "discards the imaginary part" in text and where == __file__


def test_conversion_by_type_warns():
    z = facula.ones(2, dtype=facula.complex64)
    ((kind, text, _),) = given(lambda: z.type(facula.float64))
    assert kind is UserWarning and "discards the imaginary part" in text


def test_conversions_that_drop_nothing_are_silent():
    z = facula.ones(2, dtype=facula.complex64)
    x = facula.ones(2, requires_grad=True)
    for call in (
        lambda: z.to(facula.complex128),
        lambda: z.bool(),
        lambda: z.real.to(facula.float64),
        lambda: (x.to(facula.complex64) * 2j).abs().sum().backward(),
        lambda: facula.zeros(2, dtype=facula.complex64).copy_(facula.ones(2)),
    ):
        assert given(call) == []


def test_what_is_said_once_is_said_once():
    program = (
        "import warnings, facula\n"
        "warnings.simplefilter('always')\n"
        "with warnings.catch_warnings(record=True) as found:\n"
        "    z = facula.ones(2, dtype=facula.complex64)\n"
        "    z.float(); z.float()\n"
        "    one = len(found)\n"
        "    facula.set_warn_always(True); z.float(); z.float()\n"
        "print(one, len(found))\n"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert out.stdout == "1 3\n"


@pytest.mark.parametrize("name", ["std", "var"])
def test_no_degrees_of_freedom(name):
    f = getattr(facula, name)
    x = facula.ones(2, 3)
    for call in (
        lambda: f(facula.ones(1)),
        lambda: f(x, dim=1, correction=3),
        lambda: f(x, dim=1, correction=5),
        lambda: getattr(facula.ones(4, 1), name)(1),
        lambda: f(facula.ones(0)),
    ):
        ((kind, text, where),) = given(call)
        assert kind is UserWarning and text.startswith(f"{name}(): degrees of freedom is <= 0")
        assert where == __file__
    for call in (
        lambda: f(x),
        lambda: f(x, dim=1, correction=2),
        lambda: f(facula.ones(1), unbiased=False),
    ):
        assert given(call) == []


def test_a_warning_that_is_made_an_error_stops_the_call():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="degrees of freedom"):
            facula.std(facula.ones(1))


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: facula.cuda.amp.autocast(enabled=False), FutureWarning),
        (lambda: facula.cpu.amp.autocast(), FutureWarning),
        (lambda: facula.cpu.amp.GradScaler(), FutureWarning),
        (lambda: facula.cuda.amp.custom_fwd(lambda ctx: ctx), FutureWarning),
        (lambda: facula.cuda.amp.custom_bwd(lambda ctx: ctx), FutureWarning),
        (lambda: facula.utils.data.ConcatDataset([[1]]).cummulative_sizes, FutureWarning),
        (lambda: facula.nn.Linear(1, 1).to(facula.complex64), UserWarning),
        (lambda: facula.ones(6).resize(2, 3), UserWarning),
        (lambda: facula.ones(6).resize_as(facula.ones(2, 3)), UserWarning),
        (lambda: facula.meshgrid(facula.ones(1), facula.ones(1)), UserWarning),
        (lambda: facula.ones(2)[facula.tensor([1, 0], dtype=facula.uint8)], UserWarning),
        (lambda: facula.ones(2, 2)[[slice(0, 1), 0]], UserWarning),
        (lambda: facula.tensor(1.0).T, UserWarning),
        (lambda: facula.tensor(1.0).H, UserWarning),
        (lambda: float(facula.tensor(1.0, requires_grad=True)), UserWarning),
        (lambda: facula.range(0, 3), UserWarning),
        (lambda: facula.lu(facula.eye(2)), UserWarning),
        (lambda: facula.chain_matmul(facula.eye(2), facula.eye(2)), UserWarning),
        (lambda: facula.set_default_tensor_type(facula.FloatTensor), UserWarning),
        (lambda: facula.nested.nested_tensor([facula.ones(2)]), UserWarning),
        (
            lambda: facula.tensor(1.0, requires_grad=True).mul(2).backward(create_graph=True),
            UserWarning,
        ),
    ],
)
def test_old_ways_warn_where_they_are_used(call, kind):
    found = given(call)
    assert [(k, where) for k, _, where in found] == [(kind, __file__)]


def test_present_ways_are_silent():
    t = facula.tensor(1.0, requires_grad=True)
    for call in (
        lambda: facula.autocast("cpu"),
        lambda: facula.meshgrid(facula.ones(1), facula.ones(1), indexing="ij"),
        lambda: facula.ones(2)[facula.tensor([True, False])],
        lambda: facula.nn.Linear(1, 1).to(facula.float64),
        lambda: facula.autograd.grad(t * 2, t, create_graph=True),
        lambda: (t * 2).backward(),
        lambda: t.item(),
        lambda: int(t),
        lambda: float(t.detach()),
        lambda: f"{t:.2f}",
        lambda: facula.ones(2, 2)[slice(0, 1), 0],
        lambda: facula.ones(2, 2)[[0, 1]],
        lambda: facula.ones(2, 2).T,
    ):
        assert given(call) == []
