"""Losses of nn.functional: PyTorch's argument lists, with the deprecated `size_average` and
`reduce`, over the operators.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import facula
from facula._C import _nn
from facula.nn._reduction import check_reduction, chosen_reduction, reduce_loss

Tensor = facula.Tensor


def _warn_where_broadcast(input: Tensor, target: Tensor) -> None:
    """Warn the caller of a loss where its operands have different sizes."""
    if target.shape == input.shape:
        return
    warnings.warn(
        f"Using a target size ({target.size()}) that is different to the input size "
        f"({input.size()}). This will likely lead to "
        "incorrect results due to broadcasting. Please ensure they have the same size.",
        stacklevel=3,
    )


def _weighted(loss: Tensor, weight: Tensor, input: Tensor) -> Tensor:
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    return loss * weight


def _weighted_mean(loss: Tensor, weight: Tensor, input: Tensor, reduction: str) -> Tensor:
    loss = _weighted(loss, weight, input)
    return loss.sum() / weight.sum() if reduction == "mean" else reduce_loss(loss, reduction)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """`|input - target|`."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    _warn_where_broadcast(input, target)
    if weight is not None:
        return _weighted_mean(_nn.l1_loss(input, target, "none"), weight, input, reduction)
    return _nn.l1_loss(input, target, reduction)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """`(input - target)**2`."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    _warn_where_broadcast(input, target)
    if weight is not None:
        return _weighted_mean(_nn.mse_loss(input, target, "none"), weight, input, reduction)
    return _nn.mse_loss(input, target, reduction)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Quadratic where `|input - target| < delta`, linear beyond."""
    _warn_where_broadcast(input, target)
    if weight is not None:
        unreduced = _nn.huber_loss(input, target, "none", delta)
        return reduce_loss(_weighted(unreduced, weight, input), reduction)
    return _nn.huber_loss(input, target, reduction, delta)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Quadratic where `|input - target| < beta`, linear beyond, divided by beta."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    _warn_where_broadcast(input, target)
    return _nn.smooth_l1_loss(input, target, reduction, beta)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """The cross entropy of logits (N, C, ...) with class indices (N, ...) or with probabilities of
    the logits' shape.
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    return _nn.cross_entropy(input, target, weight, ignore_index, reduction, label_smoothing)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood: minus the log probability (N, C, ...) of the class `target` (N,
    ...).
    """
    reduction = chosen_reduction(size_average, reduce, reduction)
    return _nn.nll_loss(input, target, weight, ignore_index, reduction)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The cross entropy of probabilities with targets in [0, 1]."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}) is deprecated. "
            "Please ensure they have the same size."
        )
    return _nn.binary_cross_entropy(input, target, weight, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """The cross entropy of `sigmoid(input)` with targets in [0, 1], computed stably."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    return _nn.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """The Kullback-Leibler divergence of log probabilities `input` from `target`."""
    if size_average is None and reduce is None and reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    reduction = chosen_reduction(size_average, reduce, reduction)
    if reduction == "batchmean":
        total = _nn.kl_div(input, target, "sum", log_target)
        return total / input.size(0) if input.dim() != 0 else total
    return _nn.kl_div(input, target, reduction, log_target)


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of a Poisson distribution with rate `exp(input)` (or `input`)."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    return _nn.poisson_nll_loss(input, target, log_input, full, eps, reduction)


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of a normal distribution with mean `input` and variance `var` (at
    least `eps`).
    """
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * facula.ones_like(input)
    elif not var.is_meta and (var < 0).any():
        raise ValueError("var has negative entry/entries")
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif input.shape[:-1] == var.shape[:-1] and var.shape[-1] == 1:
            pass
        elif len(input.shape) != len(var.shape) or any(
            v not in (i, 1) for v, i in zip(var.shape, input.shape, strict=False)
        ):
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    var = var.clone()
    with facula.no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.9189385332046727  # log(2 pi) / 2
    return reduce_loss(loss, reduction)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`input` where the target is 1, `max(0, margin - input)` where it is -1."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    return _nn.hinge_embedding_loss(input, target, margin, reduction)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`1 - cos` where the target is 1, `max(0, cos - margin)` where it is -1."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    return _nn.cosine_embedding_loss(input1, input2, target, margin, reduction)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`max(0, -target * (input1 - input2) + margin)`."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, "
            f"input2: {input2.size()}, target: {target.size()} "
        )
    return _nn.margin_ranking_loss(input1, input2, target, margin, reduction)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`log(1 + exp(-target * input))`."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    return _nn.soft_margin_loss(input, target, reduction)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The multi-class multi-label hinge loss; a row of `target` ends at its first -1."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    check_reduction(reduction)
    return _nn.multilabel_margin_loss(input, target, reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over classes of the binary cross entropy of `sigmoid(input)`."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    loss = -(target * _nn.logsigmoid(input) + (1 - target) * _nn.logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    class_dim = input.dim() - 1
    return reduce_loss(loss.sum(dim=class_dim) / input.size(class_dim), reduction)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The multi-class hinge loss with power `p`, 1 or 2."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    check_reduction(reduction)
    return _nn.multi_margin_loss(input, target, p, margin, weight, reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """`max(0, d(anchor, positive) - d(anchor, negative) + margin)` with the p-norm distance."""
    reduction = chosen_reduction(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return _nn.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """The triplet margin loss with any distance; the Euclidean one by default."""
    distance = _nn.pairwise_distance if distance_function is None else distance_function
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    dims = {anchor.dim(), positive.dim(), negative.dim()}
    if len(dims) != 1:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            "dimensions, but got: anchor "
            f"{anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )
    d_pos, d_neg = distance(anchor, positive), distance(anchor, negative)
    if swap:
        d_neg = facula.minimum(d_neg, distance(positive, negative))
    return reduce_loss(facula.clamp_min(margin + d_pos - d_neg, 0), reduction)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Tensor:
    """The cross entropy of `linear(input, linear_weight, linear_bias)`, whose rows may be (C, d1,
    ..., dK).
    """
    if options is not None:
        raise NotImplementedError(
            "linear_cross_entropy: the chunked form (options) is not built yet"
        )
    return _nn.linear_cross_entropy(
        input,
        linear_weight,
        target,
        linear_bias=linear_bias,
        weight=weight,
        reduction=reduction,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )
