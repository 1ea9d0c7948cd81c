"""ctc_loss by the forward recursion of Graves et al. (2006), all samples of a batch at once."""

from __future__ import annotations

from typing import Any

import facula
from facula.nn._reduction import reduce_loss

Tensor = facula.Tensor

_NEVER = -1e30  # the logarithm of nothing; finite, so that differences of two are no NaN


def _lengths(lengths: Any, batch: int, name: str) -> list[int]:
    values = lengths.reshape(-1).tolist() if isinstance(lengths, Tensor) else list(lengths)
    if isinstance(lengths, Tensor) and lengths.is_floating_point():
        raise RuntimeError(f"{name} must be integral")
    if len(values) != batch:
        raise RuntimeError(f"{name} must be of size batch_size")
    return values


def _extended(targets: Tensor, lengths: list[int], blank: int) -> Tensor:
    """Give the labels with blanks between and around them, (batch, 2 * longest + 1)."""
    flat = targets.tolist()
    if targets.dim() == 1:
        starts = [sum(lengths[:i]) for i in range(len(lengths))]
        if len(flat) != sum(lengths):
            raise RuntimeError(
                f"Expected target_lengths to have sum of {len(flat)}, but got {sum(lengths)}"
            )
        rows = [flat[s : s + n] for s, n in zip(starts, lengths, strict=True)]
    else:
        if lengths and max(lengths) > targets.size(1):
            raise RuntimeError(
                f"Expected tensor to have size at least {max(lengths)} at dimension 1, but got "
                f"size {tuple(targets.shape)} for argument #2 'targets'"
            )
        rows = [row[:n] for row, n in zip(flat, lengths, strict=True)]
    width = max((len(r) for r in rows), default=0)
    labels = []
    for row in rows:
        line = [blank]
        for label in [*row, *[blank] * (width - len(row))]:
            line += [label, blank]
        labels.append(line)
    return facula.tensor(labels, dtype=facula.int64, device=targets.device)


def _log_add(parts: list[Tensor]) -> Tensor:
    return facula.logsumexp(facula.stack(parts), 0)


def _paths(log_probs: Tensor, labels: Tensor, inputs: list[int], lengths: list[int]) -> Tensor:
    """Give the logarithm of the probability of each target, about _NEVER where it has none."""
    steps, batch, _ = log_probs.shape
    width = labels.size(1)
    never = facula.full((batch, width), _NEVER, dtype=log_probs.dtype, device=log_probs.device)
    at = log_probs.gather(2, labels.unsqueeze(0).expand(steps, -1, -1))
    # A label may follow the one before the last blank unless it repeats it.
    skips = facula.zeros((batch, width), dtype=facula.bool, device=labels.device)
    if width > 2:
        skips[:, 2:] = labels[:, 2:] != labels[:, :-2]
        skips[:, ::2] = False
    first = facula.arange(width, device=labels.device).unsqueeze(0) < 2
    alpha = facula.where(first, at[0], never)
    ends = facula.tensor(inputs, device=labels.device).unsqueeze(1)
    for t in range(1, steps):
        one = facula.cat([never[:, :1], alpha[:, :-1]], 1)
        two = facula.cat([never[:, :2], alpha[:, :-2]], 1) if width > 2 else never
        moved = _log_add([alpha, one, facula.where(skips, two, never)]) + at[t]
        alpha = facula.where(ends > t, moved.clamp(min=2 * _NEVER), alpha)
    last = facula.tensor([2 * n for n in lengths], device=labels.device).unsqueeze(1)
    final = alpha.gather(1, last)
    before = alpha.gather(1, (last - 1).clamp(min=0))
    before = facula.where(last > 0, before, never[:, :1])
    return _log_add([final, before]).reshape(-1)


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

    The targets are (N, S), or all in a row. The gradient is that of logarithms of a softmax.
    """
    batched = log_probs.dim() == 3
    if not batched:
        log_probs = log_probs.unsqueeze(1)
        targets = targets.reshape(1, -1)
    steps, batch, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    inputs = _lengths(input_lengths, batch, "input_lengths")
    lengths = _lengths(target_lengths, batch, "target_lengths")
    for n in inputs:
        if not 0 <= n <= steps:
            raise RuntimeError(f"Expected input_lengths to have value at most {steps}, but got {n}")
    labels = _extended(targets, lengths, blank)
    loss = -_paths(log_probs, labels, inputs, lengths)
    # exp(log_probs) enters the gradient but not the value.
    times = facula.arange(steps, device=log_probs.device).unsqueeze(1)
    alive = times < facula.tensor(inputs, device=log_probs.device).unsqueeze(0)
    mass = facula.where(alive.unsqueeze(2), log_probs.exp(), 0.0).sum((0, 2))
    loss = loss + (mass - mass.detach())
    impossible = loss > -0.1 * _NEVER
    loss = facula.where(impossible, 0.0 if zero_infinity else float("inf"), loss)
    if reduction == "mean":
        counts = facula.tensor([max(n, 1) for n in lengths], device=loss.device).to(loss.dtype)
        return (loss / counts).mean()
    loss = reduce_loss(loss, reduction)
    return loss.squeeze(0) if not batched and reduction == "none" else loss
