"""Adam (Kingma and Ba 2014) with AMSGrad and decoupled weight decay."""

from __future__ import annotations

from typing import Any

import facula
from facula import _C
from facula.optim.optimizer import (
    RuleOptimizer,
    check_flags,
    check_moments,
    load,
    new_slot,
    new_step,
    number,
    store,
)

__all__ = ["Adam"]


class Adam(RuleOptimizer):
    """Adam: steps along the mean of the gradient over the root of its mean square.

    `m = b1 m + (1 - b1) g`, `v = b2 v + (1 - b2) g^2`,
    `p -= lr / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + eps)`. With `amsgrad` the largest `v`
    so far takes its place; `decoupled_weight_decay` shrinks `p` by `lr * weight_decay` instead of
    adding the decay to the gradient.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if isinstance(lr, facula.Tensor) and foreach and not capturable:
            raise ValueError(
                "lr as a Tensor is not supported for capturable=False and foreach=True"
            )
        check_moments(lr, betas, eps, weight_decay)
        _check_tensor_betas(betas, foreach, capturable)
        check_flags(foreach, fused, differentiable)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("amsgrad", False)
            group.setdefault("fused", None)
            group.setdefault("decoupled_weight_decay", False)

    def _fast_step(self, group: dict[str, Any]) -> list | None:
        beta1, beta2 = group["betas"]
        return _C._optim.adam_step(
            group["params"],
            self.state,
            group["lr"],
            beta1,
            beta2,
            group["eps"],
            group["weight_decay"],
            group["amsgrad"],
            group["maximize"],
            group["decoupled_weight_decay"],
        )

    def _init_state(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        state["step"] = new_step()
        state["exp_avg"] = new_slot(p)
        state["exp_avg_sq"] = new_slot(p)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = new_slot(p)

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
        if group["amsgrad"]:
            v = facula.maximum(load(state, "max_exp_avg_sq"), v)
            store(group, state, "max_exp_avg_sq", v)
        denom = v.sqrt() / (1 - beta2**t) ** 0.5 + group["eps"]
        p.sub_(lr / (1 - beta1**t) * (m / denom))


def _check_tensor_betas(betas: Any, foreach: bool | None, capturable: bool) -> None:
    is_tensor = [isinstance(b, facula.Tensor) for b in betas]
    if is_tensor[0] != is_tensor[1] or not (
        is_tensor[0] or all(isinstance(b, (int, float)) for b in betas)
    ):
        raise ValueError("betas must be either both floats or both Tensors")
    for i, b in enumerate(betas):
        if is_tensor[i]:
            if foreach and not capturable:
                raise ValueError(
                    f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True"
                )
            if b.numel() != 1:
                raise ValueError(f"Tensor betas[{i}] must be 1-element")
