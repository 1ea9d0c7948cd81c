"""NAdam (Dozat 2016): Adam with Nesterov momentum."""

from __future__ import annotations

from typing import Any

import facula
from facula import _C
from facula.optim.optimizer import (
    RuleOptimizer,
    check_moments,
    check_non_negative,
    load,
    new_slot,
    new_step,
    number,
    store,
)

__all__ = ["NAdam"]


class NAdam(RuleOptimizer):
    """Adam with Nesterov momentum and a momentum schedule.

    `mu_t = b1 (1 - 0.5 * 0.96^(t * momentum_decay))`; the step mixes the gradient, weighted by
    `(1 - mu_t) / (1 - prod mu)`, with the mean, weighted by `mu_{t+1} / (1 - prod mu mu_{t+1})`.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_moments(lr, betas, eps, weight_decay)
        check_non_negative("momentum_decay value", momentum_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
            },
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("decoupled_weight_decay", False)
        for entry in self.state.values():
            product = entry.get("mu_product")
            if product is not None and not isinstance(product, facula.Tensor):
                entry["mu_product"] = facula.tensor(float(product), dtype=facula.float32)

    def _fast_step(self, group: dict[str, Any]) -> list | None:
        beta1, beta2 = group["betas"]
        return _C._optim.nadam_step(
            group["params"],
            self.state,
            group["lr"],
            beta1,
            beta2,
            group["eps"],
            group["weight_decay"],
            group["momentum_decay"],
            group["decoupled_weight_decay"],
            group["maximize"],
        )

    def _init_state(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        state["step"] = new_step()
        state["mu_product"] = facula.ones((), dtype=facula.float32)
        state["exp_avg"] = new_slot(p)
        state["exp_avg_sq"] = new_slot(p)

    def _slow_step(self, group: dict[str, Any], p: Any, grad: Any, state: dict[str, Any]) -> None:
        lr, (beta1, beta2) = group["lr"], group["betas"]
        decay = group["momentum_decay"]
        state["step"] += 1
        t = number(state["step"])
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                p.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad + group["weight_decay"] * p
        mu = beta1 * (1 - 0.5 * 0.96 ** (t * decay))
        mu_next = beta1 * (1 - 0.5 * 0.96 ** ((t + 1) * decay))
        state["mu_product"] *= mu
        product = number(state["mu_product"])
        m = beta1 * load(state, "exp_avg") + (1 - beta1) * grad
        v = beta2 * load(state, "exp_avg_sq") + (1 - beta2) * grad * grad
        store(group, state, "exp_avg", m)
        store(group, state, "exp_avg_sq", v)
        denom = (v / (1 - beta2**t)).sqrt() + group["eps"]
        p.sub_(lr * (1 - mu) / (1 - product) * (grad / denom))
        p.sub_(lr * mu_next / (1 - product * mu_next) * (m / denom))
