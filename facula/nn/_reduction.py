"""The `reduction` argument of losses: its old spelling `size_average`, `reduce`, and its checks."""

from __future__ import annotations

import warnings

import facula


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """Translate the deprecated pair into a `reduction`; None stands for True."""
    reduction = _translated(size_average, reduce)
    if emit_warning:
        _warn(reduction)
    return reduction


def chosen_reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """Give a loss its `reduction`, or what the deprecated pair says where one of it is given; then
    warn the caller of the loss.
    """
    if size_average is None and reduce is None:
        return reduction
    reduction = _translated(size_average, reduce)
    _warn(reduction)
    return reduction


def _translated(size_average: bool | None, reduce: bool | None) -> str:
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    return "none" if not reduce else "mean" if size_average else "sum"


def _warn(reduction: str) -> None:
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{reduction}' "
        "instead.",
        stacklevel=4,  # the caller of the loss
    )


def reduce_loss(loss: facula.Tensor, reduction: str) -> facula.Tensor:
    """Apply a reduction; ValueError for an unknown one."""
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction == "none":
        return loss
    raise ValueError(f"{reduction} is not a valid value for reduction")


def check_reduction(reduction: str) -> None:
    """Refuse an unknown reduction with ValueError, before anything else is looked at."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
