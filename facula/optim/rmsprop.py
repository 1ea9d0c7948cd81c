"""RMSprop (Hinton 2012; centred variant of Graves 2013)."""

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

__all__ = ["RMSprop"]


class RMSprop(RuleOptimizer):
    """RMSprop: divides the gradient by the root of its running mean square.

    `s = alpha s + (1 - alpha) g^2`; `centered` subtracts the square of the running mean from `s`;
    with momentum, `buf = momentum buf + g / (sqrt(s) + eps)` and `p -= lr buf`.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_non_negative("epsilon value", eps)
        check_non_negative("momentum value", momentum)
        check_non_negative("weight_decay value", weight_decay)
        check_non_negative("alpha value", alpha)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
                "capturable": capturable,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("momentum", 0)
            group.setdefault("centered", False)

    def _fast_step(self, group: dict[str, Any]) -> list | None:
        return _C._optim.rmsprop_step(
            group["params"],
            self.state,
            group["lr"],
            group["alpha"],
            group["eps"],
            group["weight_decay"],
            group["momentum"],
            group["centered"],
            group["maximize"],
        )

    def _init_state(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        state["step"] = new_step()
        state["square_avg"] = new_slot(p)
        if group["momentum"] > 0:
            state["momentum_buffer"] = new_slot(p)
        if group["centered"]:
            state["grad_avg"] = new_slot(p)

    def _slow_step(self, group: dict[str, Any], p: Any, grad: Any, state: dict[str, Any]) -> None:
        alpha = group["alpha"]
        state["step"] += 1
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * p
        square = alpha * load(state, "square_avg") + (1 - alpha) * grad * grad
        store(group, state, "square_avg", square)
        if group["centered"]:
            mean = alpha * load(state, "grad_avg") + (1 - alpha) * grad
            store(group, state, "grad_avg", mean)
            square = square - mean * mean
        update = grad / (square.sqrt() + group["eps"])
        if group["momentum"] > 0:
            update = group["momentum"] * load(state, "momentum_buffer") + update
            store(group, state, "momentum_buffer", update)
        p.sub_(group["lr"] * update)
