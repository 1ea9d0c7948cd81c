"""Stochastic gradient descent with momentum, dampening and Nesterov's variant."""

from __future__ import annotations

from typing import Any

from facula import _C
from facula.optim.optimizer import (
    RuleOptimizer,
    check_flags,
    check_lr,
    check_non_negative,
)

__all__ = ["SGD"]


class SGD(RuleOptimizer):
    """Stochastic gradient descent.

    With momentum, `buf = momentum * buf + (1 - dampening) * grad` (the first gradient as it is)
    and `p -= lr * buf`; Nesterov's variant steps along `grad + momentum * buf`
    (Sutskever et al. 2013).
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_non_negative("momentum value", momentum)
        check_non_negative("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        check_flags(foreach, fused, differentiable)
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    _rule_is_real = False
    _takes_sparse = True
    _late_defaults = ("maximize", "foreach", "differentiable")

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("nesterov", False)
            group.setdefault("fused", False)

    def _fast_step(self, group: dict[str, Any]) -> list | None:
        return _C._optim.sgd_step(
            group["params"],
            self.state,
            group["lr"],
            group["momentum"],
            group["dampening"],
            group["weight_decay"],
            group["nesterov"],
            group["maximize"],
        )

    def _init_state(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        pass

    def _slow_step(self, group: dict[str, Any], p: Any, grad: Any, state: dict[str, Any]) -> None:
        momentum = group["momentum"]
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * p
        if momentum != 0:
            buf = state.get("momentum_buffer")
            if buf is None:
                buf = state["momentum_buffer"] = grad.clone()
            elif group["differentiable"]:
                buf = state["momentum_buffer"] = momentum * buf + (1 - group["dampening"]) * grad
            else:
                buf.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad + momentum * buf if group["nesterov"] else buf
        p.sub_(group["lr"] * grad)
