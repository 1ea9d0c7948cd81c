"""Sums of counts that are data do not wrap around to small ones."""

import pytest

import facula
from facula.nn import functional as F

QUARTER, MOST = 2**62, 2**63 - 1
WRAPPING = [[QUARTER] * 4, [MOST, MOST, 2], [MOST, MOST, 2, 4]]
ROWS = facula.ones(6)


@pytest.mark.parametrize("counts", WRAPPING)
def test_repeats(counts):
    total = sum(counts) % 2**64
    repeats = facula.tensor(counts)
    for call in (
        lambda: facula.repeat_interleave(repeats),
        lambda: facula.repeat_interleave(repeats, output_size=total),
        lambda: facula.ones(len(counts)).repeat_interleave(repeats),
        lambda: facula.ones(len(counts), 2).repeat_interleave(repeats, 0, output_size=total),
    ):
        with pytest.raises(RuntimeError, match="add up"):
            call()


@pytest.mark.parametrize("counts", [[MOST, MOST, 8], [QUARTER, QUARTER, QUARTER, QUARTER, 6]])
def test_lengths_of_segments(counts):
    assert sum(counts) % 2**64 == 6
    with pytest.raises(RuntimeError, match="sum to data.size"):
        facula.segment_reduce(ROWS, "sum", lengths=facula.tensor(counts))


def test_lengths_of_targets():
    logits = facula.zeros(5, 4, 3).log_softmax(-1)
    with pytest.raises(RuntimeError, match="add up"):
        F.ctc_loss(logits, facula.zeros(0, dtype=facula.long), (5,) * 4, (QUARTER,) * 4)


@pytest.mark.parametrize("counts", [[QUARTER] * 4, [MOST, MOST, 8]])
def test_sizes_of_pieces(counts):
    with pytest.raises(RuntimeError, match="sum exactly"):
        ROWS.split(counts)
