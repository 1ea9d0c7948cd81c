"""Adamax (Kingma and Ba 2014, section 7.1): Adam with the infinity norm."""

from __future__ import annotations

from typing import Any

import facula
from facula import _C
from facula.optim.optimizer import (
    RuleOptimizer,
    check_moments,
    load,
    new_slot,
    new_step,
    number,
    store,
)

__all__ = ["Adamax"]


class Adamax(RuleOptimizer):
    """Adam with the largest recent gradient in place of the mean square.

    `m = b1 m + (1 - b1) g`, `u = max(b2 u, |g| + eps)`, `p -= lr / (1 - b1^t) * m / u`.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_moments(lr, betas, eps, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _fast_step(self, group: dict[str, Any]) -> list | None:
        beta1, beta2 = group["betas"]
        return _C._optim.adamax_step(
            group["params"],
            self.state,
            group["lr"],
            beta1,
            beta2,
            group["eps"],
            group["weight_decay"],
            group["maximize"],
        )

    def _init_state(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        state["step"] = new_step()
        state["exp_avg"] = new_slot(p)
        state["exp_inf"] = new_slot(p)

    def _slow_step(self, group: dict[str, Any], p: Any, grad: Any, state: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * p
        m = beta1 * load(state, "exp_avg") + (1 - beta1) * grad
        u = facula.maximum(beta2 * load(state, "exp_inf"), grad.abs() + group["eps"])
        store(group, state, "exp_avg", m)
        store(group, state, "exp_inf", u)
        p.sub_(group["lr"] / (1 - beta1 ** number(state["step"])) * (m / u))
