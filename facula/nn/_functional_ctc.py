"""ctc_loss: what Python's callers may give as lengths."""

from __future__ import annotations

from typing import Any

import facula
from facula import _C

Tensor = facula.Tensor


def _lengths(lengths: Any, name: str) -> list[int]:
    if not isinstance(lengths, Tensor):
        return list(lengths)
    if lengths.is_floating_point():
        raise RuntimeError(f"{name} must be integral")
    return lengths.reshape(-1).tolist()


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Give the connectionist temporal classification loss of log probabilities (T, N, C) or (T, C).

    The targets are (N, S), or all in a row; the lengths are lists or tensors of integers. The
    gradient is that of logarithms of a softmax. RuntimeError for lengths and targets that do not
    fit.

    Example:
        >>> scores = facula.zeros(4, 1, 3).log_softmax(2)
        >>> facula.nn.functional.ctc_loss(scores, facula.tensor([[1, 2]]), [4], [2])
        tensor(0.8432)
    """
    return _C._nn.ctc_loss(
        log_probs,
        targets,
        _lengths(input_lengths, "input_lengths"),
        _lengths(target_lengths, "target_lengths"),
        blank,
        reduction,
        zero_infinity,
    )
