"""einsum of several operands: the same result in every order, and the order that is asked for."""

import itertools

import numpy as np
import pytest

import facula
from facula.backends import opt_einsum

EQUATIONS = [
    ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)]),
    ("ij,jk,kl,lm", [(3, 4), (4, 5), (5, 2), (2, 6)]),
    ("bij,bjk,kl,b->il", [(2, 3, 4), (2, 4, 5), (5, 2), (2,)]),
    ("i,i,i,i->", [(7,)] * 4),
    ("i,j,k->kji", [(2,), (3,), (4,)]),
    ("ij,ij,jk,ki->j", [(3, 4), (3, 4), (4, 2), (2, 3)]),
    ("...i,...ij,j->...", [(2, 1, 3), (5, 3, 4), (4,)]),
    ("ii,ij,jj->i", [(3, 3), (3, 4), (4, 4)]),
    ("ab,bc,cd,de,ef,fa->", [(2, 3), (3, 4), (4, 2), (2, 3), (3, 5), (5, 2)]),
    ("ij,ij,ij->ij", [(1, 4), (3, 1), (3, 4)]),
]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("equation, shapes", EQUATIONS)
@pytest.mark.parametrize("strategy", ["auto", "greedy", "optimal", "auto-hq", None])
def test_orders_agree(rng, equation, shapes, strategy):
    arrays = [rng.standard_normal(s) for s in shapes]
    ours = [facula.tensor(a).requires_grad_(True) for a in arrays]
    with opt_einsum.flags(strategy is not None, strategy):
        got = facula.einsum(equation, *ours)
        grads = facula.autograd.grad(got.sin().sum(), ours)
    if (1, 4) in shapes:  # NumPy does not repeat sizes of one
        arrays = np.broadcast_arrays(*arrays)
    want = np.einsum(equation, *arrays)
    np.testing.assert_allclose(got.detach().numpy(), want, rtol=1e-10, atol=1e-12)
    with opt_einsum.flags(False):
        left = facula.autograd.grad(facula.einsum(equation, *ours).sin().sum(), ours)
    for a, b in zip(grads, left, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def peak_of(strategy, equation, operands):
    facula.cpu.reset_peak_memory_stats()
    before = facula.cpu.memory_allocated()
    with opt_einsum.flags(strategy is not None, strategy):
        facula.einsum(equation, *operands)
    return facula.cpu.max_memory_allocated() - before


@pytest.mark.parametrize("strategy", ["auto", "greedy", "optimal"])
def test_order_keeps_intermediates_small(strategy):
    """From the left a 1000 x 1000 product is formed, which the other end makes needless."""
    operands = [facula.ones(1000, 2), facula.ones(2, 1000), facula.ones(1000, 1)]
    left = peak_of(None, "ij,jk,kl->il", operands)
    assert left > 4_000_000 > 100_000 > peak_of(strategy, "ij,jk,kl->il", operands)


@pytest.mark.parametrize("permutation", list(itertools.permutations(range(4))))
def test_place_of_operands_does_not_matter(permutation):
    facula.manual_seed(0)
    terms = ["ij", "jk", "kl", "l"]
    operands = [facula.randn(s, dtype=facula.float64) for s in [(3, 4), (4, 5), (5, 2), (2,)]]
    want = operands[0] @ operands[1] @ operands[2] @ operands[3]
    equation = ",".join(terms[p] for p in permutation) + "->i"
    got = facula.einsum(equation, *(operands[p] for p in permutation))
    facula.testing.assert_close(got, want)


def test_settings():
    assert opt_einsum.is_available() and opt_einsum.enabled and opt_einsum.strategy == "auto"
    with opt_einsum.flags(strategy="greedy"):
        assert opt_einsum.strategy == "greedy" and opt_einsum.enabled
    assert opt_einsum.strategy == "auto"
    with pytest.raises(ValueError, match="strategy"):
        opt_einsum.strategy = "best"
    assert opt_einsum.set_flags(False) == (True, "auto")
    assert opt_einsum.set_flags(True, "auto") == (False, "auto")


@pytest.mark.parametrize(
    ("numbers", "error"),
    [
        ([-1, 0], ValueError),
        ([0, 52], ValueError),
        ([2**70, 0], ValueError),
        ([0.5, 0], TypeError),
        (["a", 0], TypeError),
        ([[0], 0], TypeError),
        (None, TypeError),
        ([..., ...], RuntimeError),
        ([0], RuntimeError),
    ],
)
def test_malformed_lists(numbers, error):
    a = facula.eye(2)
    with pytest.raises(error):
        facula.einsum(a, numbers, [0])
    if numbers != [0]:
        with pytest.raises(error):
            facula.einsum(a, [0, 1], numbers)


@pytest.mark.parametrize(
    ("equation", "shapes", "text"),
    [
        ("ij,jk->ik", [(2, 3), (4, 5)], "subscript j has size 4 for operand 1 which does not "),
        ("i,ij,j->", [(2,), (2, 1), (3,)], None),
        ("i,ij,j->", [(2,), (2, 4), (3,)], "subscript j has size 3 for operand 2 .* seen size 4"),
        ("...,...->", [(2,), (3,)], "dimension 0 covered by ellipsis in operand 1 has size 3"),
        ("ii->i", [(2, 3)], "subscript i is repeated for operand 0 .* don't match, 3 != 2"),
        ("ij,jk->ik", [(2, 3)], "fewer operands were provided than specified in the equation"),
        ("ij->ij", [(2, 3), (2, 3)], "more operands were provided than specified"),
        ("i.->i", [(2, 3)], "found '.' that is not part of any ellipsis"),
    ],
)
def test_messages_name_subscript_and_operand(equation, shapes, text):
    operands = [facula.ones(s) for s in shapes]
    if text is None:
        assert facula.einsum(equation, *operands).item() == 6
        return
    with pytest.raises(RuntimeError, match=r"einsum\(\): " + text):
        facula.einsum(equation, *operands)
