"""The `reduction` argument of losses: its old spelling `size_average`, `reduce`, and its checks."""

from __future__ import annotations

import warnings

import facula


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """Translate the deprecated pair into a `reduction`; None stands for True."""
    size_average = True if size_average is None else size_average
    reduce = True if reduce is None else reduce
    ret = "none" if not reduce else "mean" if size_average else "sum"
    if emit_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{ret}' "
            "instead.",
            stacklevel=3,
        )
    return ret


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
