"""Averaged stochastic gradient descent (Polyak and Juditsky 1992)."""

from __future__ import annotations

from typing import Any

import facula
from facula import _C
from facula.optim.optimizer import (
    RuleOptimizer,
    check_lr,
    check_non_negative,
    load,
    new_slot,
    new_step,
    number,
    store,
)

__all__ = ["ASGD"]


class ASGD(RuleOptimizer):
    """Averaged SGD: keeps in `ax` the average of the parameter after `t0` steps.

    `p -= eta (g + lambd p)` with `eta = lr / (1 + lambd lr t)^alpha`.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_non_negative("lambd value", lambd)
        check_non_negative("alpha value", alpha)
        check_non_negative("weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "lambd": lambd,
                "alpha": alpha,
                "t0": t0,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for entry in self.state.values():
            for key in ("eta", "mu"):
                if key in entry and not isinstance(entry[key], facula.Tensor):
                    entry[key] = facula.tensor(float(entry[key]), dtype=facula.float32)

    def _fast_step(self, group: dict[str, Any]) -> list | None:
        return _C._optim.asgd_step(
            group["params"],
            self.state,
            group["lr"],
            group["lambd"],
            group["alpha"],
            group["t0"],
            group["weight_decay"],
            group["maximize"],
        )

    def _init_state(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        state["step"] = new_step()
        state["eta"] = facula.tensor(float(number(group["lr"])), dtype=facula.float32)
        state["mu"] = facula.ones((), dtype=facula.float32)
        state["ax"] = new_slot(p)

    def _slow_step(self, group: dict[str, Any], p: Any, grad: Any, state: dict[str, Any]) -> None:
        lr, lambd = number(group["lr"]), group["lambd"]
        state["step"] += 1
        t = number(state["step"])
        eta, mu = number(state["eta"]), number(state["mu"])
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * p
        p.mul_(1 - lambd * eta)
        p.sub_(eta * grad)
        ax = load(state, "ax")
        store(group, state, "ax", p if mu == 1 else ax + (p - ax) * mu)
        state["eta"].fill_(lr / (1 + lambd * lr * t) ** group["alpha"])
        state["mu"].fill_(1 / max(1.0, t - group["t0"]))
