"""Adafactor (Shazeer and Stern 2018): a factored estimate of the mean square."""

from __future__ import annotations

from typing import Any

import facula
from facula.optim.optimizer import (
    RuleOptimizer,
    new_slot,
    new_step,
    number,
)

__all__ = ["Adafactor"]


class Adafactor(RuleOptimizer):
    """Adam's rate from one vector a row and one a column of each matrix.

    Matrices (the last two dimensions) keep the mean squares of rows and columns, whose outer
    product stands for the full estimate; vectors keep all. The step is
    `max(eps[1], rms(p)) * min(lr, 1 / sqrt(t))` along the scaled gradient, whose size is cut to
    `d`.
    """

    _late_defaults = ("maximize", "foreach")
    _rule_is_real = False

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, facula.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not 0.0 >= beta2_decay:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not 0.0 <= eps[0]:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not 0.0 <= eps[1]:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(
            params,
            {
                "lr": lr,
                "beta2_decay": beta2_decay,
                "eps": eps,
                "d": d,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
            },
        )

    def _init_state(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        if p.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        state["step"] = new_step()
        if p.dim() > 1:
            state["row_var"] = p.new_zeros((*p.shape[:-1], 1))
            state["col_var"] = p.new_zeros((*p.shape[:-2], 1, p.shape[-1]))
        else:
            state["variance"] = new_slot(p)

    def _slow_step(self, group: dict[str, Any], p: Any, grad: Any, state: dict[str, Any]) -> None:
        state["step"] += 1
        t = number(state["step"])
        eps1, eps2 = group["eps"]
        if eps1 is None:
            eps1 = facula.finfo(p.dtype).eps
        weight = t ** group["beta2_decay"]
        lr = number(group["lr"])
        alpha = max(eps2, _rms(p)) * min(lr, 1 / t**0.5)
        if group["weight_decay"] != 0:
            p.mul_(1 - lr * group["weight_decay"])
        square = grad * grad
        if p.dim() > 1:
            row, col = state["row_var"], state["col_var"]
            row.lerp_(square.mean(-1, keepdim=True), weight)
            col.lerp_(square.mean(-2, keepdim=True), weight)
            estimate = row @ col / row.mean(-2, keepdim=True).clamp(min=eps1)
        else:
            estimate = state["variance"].lerp_(square, weight)
        update = estimate.clamp(min=eps1 * eps1).rsqrt() * grad
        p.sub_(alpha / max(1.0, _rms(update) / group["d"]) * update)


def _rms(t: facula.Tensor) -> float:
    """Return the root of the mean square of all elements."""
    return t.norm(2).item() / max(t.numel(), 1) ** 0.5
