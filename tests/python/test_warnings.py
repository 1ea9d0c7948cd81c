"""Warnings that operators give, as PyTorch gives them: the category, and how often."""

import re
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


# Calls and how their one warning begins: as in PyTorch, once the package has the name torch, since
# filterwarnings(message=...) matches from the start.
DEPRECATED = {
    r"Using facula\.cross without specifying the dim arg is deprecated": lambda: facula.cross(
        X3, X3
    ),
    r"facula\.triangular_solve is deprecated in favor of facula\.linalg\.solve": lambda: (
        facula.triangular_solve(X3, EYE)
    ),
    r"The reduce argument of facula\.scatter with Tensor src is deprecated": lambda: facula.ones(
        3
    ).scatter_(0, facula.tensor([0]), facula.ones(1), reduce="add"),
    "TypedStorage is deprecated": lambda: facula.ones(2).storage(),
    "volatile was removed": lambda: facula.ones(2).volatile,
    "volatile was removed and now": lambda: facula.autograd.Variable(EYE, volatile=True),
    "The argument 'device' of Tensor.is_pinned": lambda: EYE.is_pinned(device="cuda"),
    r"facula\.sparse\.SparseTensor\(": lambda: facula.sparse.FloatTensor(2, 2),
}
DOUBTFUL = {
    r"cov\(\): degrees of freedom is <= 0": lambda: facula.cov(facula.ones(2, 1)),
    r"cov\(\): degrees": lambda: facula.cov(X3, fweights=facula.tensor([1, 0, 0])),
    "A window was not provided. A rectangular window": lambda: facula.stft(
        facula.ones(64), 16, return_complex=True
    ),
    "A window was not provided": lambda: facula.istft(facula.ones(9, 20, dtype=facula.cfloat), 16),
    r"facula\.searchsorted\(\): boundary tensor is non-contiguous": lambda: facula.searchsorted(
        facula.arange(6.0).view(3, 2).t(), X3
    ),
    r"facula\.searchsorted\(\): input value tensor is non-cont": lambda: facula.bucketize(
        X3.t(), X3[0]
    ),
    "Using padding='same' with even kernel": lambda: facula.nn.functional.conv1d(
        facula.ones(1, 1, 8), facula.ones(1, 1, 4), padding="same"
    ),
    r"to - 1 is out of bounds \[-\(2\^24\), 2\^24\]": lambda: X3.clone().random_(0, 2**25),
    "Since version 1.3.0, affine_grid": lambda: facula.nn.functional.affine_grid(
        facula.ones(1, 2, 3), [1, 1, 1, 2], align_corners=True
    ),
    "In CPU autocast, but the target dtype": lambda: facula.autocast("cpu", dtype=facula.float32),
}
X3, EYE = facula.ones(2, 3), facula.eye(2)


@pytest.mark.parametrize("text", [*DEPRECATED, *DOUBTFUL])
def test_calls_that_are_deprecated_or_doubtful_warn(text):
    ((kind, said, where),) = given({**DEPRECATED, **DOUBTFUL}[text])
    assert re.match(text, said) and where == __file__
    assert kind is (DeprecationWarning if "is_pinned" in text else UserWarning)


def test_their_better_forms_are_silent():
    window = facula.hann_window(16)
    for call in (
        lambda: facula.cross(X3, X3, dim=1),
        lambda: facula.cov(X3),
        lambda: facula.stft(facula.ones(64), 16, window=window, return_complex=True),
        lambda: facula.searchsorted(X3, X3),
        lambda: facula.isin(X3.t(), EYE.t()),
        lambda: facula.histogram(facula.ones(3, 2).t(), bins=3),
        lambda: facula.nn.functional.conv1d(
            facula.ones(1, 1, 8), facula.ones(1, 1, 4), padding="same", dilation=2
        ),
        lambda: X3.clone().random_(0, 2**24),
        lambda: X3.double().random_(0, 2**25),
        lambda: facula.ones(2).untyped_storage(),
        lambda: EYE.is_pinned(),
    ):
        assert given(call) == []


def test_the_gradient_of_a_tensor_that_keeps_none():
    x = facula.ones(2, requires_grad=True)
    inner, kept = x * 2, x * 2
    kept.retain_grad()
    (inner + kept).sum().backward()
    ((kind, said, where),) = given(lambda: inner.grad)
    assert kind is UserWarning and where == __file__
    assert said.startswith("The .grad attribute of a Tensor that is not a leaf Tensor")
    assert given(lambda: (x.grad, kept.grad, x.detach().grad)) == []
