"""Adadelta (Zeiler 2012)."""

from __future__ import annotations

from typing import Any

from facula import _C
from facula.optim.optimizer import (
    RuleOptimizer,
    check_lr,
    check_non_negative,
    load,
    new_slot,
    new_step,
    store,
)

__all__ = ["Adadelta"]


class Adadelta(RuleOptimizer):
    """Adadelta: scales the gradient by the running size of updates over that of gradients.

    `s = rho s + (1 - rho) g^2`, `d = sqrt(a + eps) / sqrt(s + eps) * g`,
    `a = rho a + (1 - rho) d^2`, `p -= lr d`.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_non_negative("epsilon value", eps)
        check_non_negative("weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "capturable": capturable,
                "foreach": foreach,
                "differentiable": differentiable,
            },
        )

    def _fast_step(self, group: dict[str, Any]) -> list | None:
        return _C._optim.adadelta_step(
            group["params"],
            self.state,
            group["lr"],
            group["rho"],
            group["eps"],
            group["weight_decay"],
            group["maximize"],
        )

    def _init_state(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        state["step"] = new_step()
        state["square_avg"] = new_slot(p)
        state["acc_delta"] = new_slot(p)

    def _slow_step(self, group: dict[str, Any], p: Any, grad: Any, state: dict[str, Any]) -> None:
        rho, eps = group["rho"], group["eps"]
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * p
        square = rho * load(state, "square_avg") + (1 - rho) * grad * grad
        size = load(state, "acc_delta")
        delta = (size + eps).sqrt() / (square + eps).sqrt() * grad
        store(group, state, "square_avg", square)
        store(group, state, "acc_delta", rho * size + (1 - rho) * delta * delta)
        p.sub_(group["lr"] * delta)
