"""RAdam (Liu et al. 2019): Adam with a rectified adaptive rate."""

from __future__ import annotations

from typing import Any

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

__all__ = ["RAdam"]


class RAdam(RuleOptimizer):
    """Adam whose adaptive rate is scaled by the rectification term of its variance.

    While the length of the approximated average, `rho_t`, is at most 5 the step is plain momentum.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_moments(lr, betas, eps, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("decoupled_weight_decay", False)

    def _fast_step(self, group: dict[str, Any]) -> list | None:
        beta1, beta2 = group["betas"]
        return _C._optim.radam_step(
            group["params"],
            self.state,
            group["lr"],
            beta1,
            beta2,
            group["eps"],
            group["weight_decay"],
            group["decoupled_weight_decay"],
            group["maximize"],
        )

    def _init_state(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        state["step"] = new_step()
        state["exp_avg"] = new_slot(p)
        state["exp_avg_sq"] = new_slot(p)

    def _slow_step(self, group: dict[str, Any], p: Any, grad: Any, state: dict[str, Any]) -> None:
        lr, (beta1, beta2) = group["lr"], group["betas"]
        state["step"] += 1
        t = number(state["step"])
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                p.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad + group["weight_decay"] * p
        m = beta1 * load(state, "exp_avg") + (1 - beta1) * grad
        v = beta2 * load(state, "exp_avg_sq") + (1 - beta2) * grad * grad
        store(group, state, "exp_avg", m)
        store(group, state, "exp_avg_sq", v)
        correction2 = 1 - beta2**t
        step = lr / (1 - beta1**t) * m
        rho_inf = 2 / (1 - beta2) - 1
        rho = rho_inf - 2 * t * beta2**t / correction2
        if rho > 5.0:
            rect = (rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho)
            step = step * (rect**0.5 * correction2**0.5 / (v.sqrt() + group["eps"]))
        p.sub_(step)
