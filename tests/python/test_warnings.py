"""Warnings that operators give, as PyTorch gives them: the category, and how often."""

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
        (lambda: facula.lu(facula.eye(2)), UserWarning),
        (lambda: facula.chain_matmul(facula.eye(2), facula.eye(2)), UserWarning),
        (lambda: facula.set_default_tensor_type(facula.FloatTensor), UserWarning),
        (lambda: facula.nested.nested_tensor([facula.ones(2)]), UserWarning),
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
