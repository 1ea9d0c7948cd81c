"""Adagrad (Duchi, Hazan and Singer 2011)."""

from __future__ import annotations

from typing import Any

import facula
from facula import _C
from facula.optim.optimizer import (
    RuleOptimizer,
    check_flags,
    check_lr,
    check_non_negative,
    load,
    new_step,
    number,
    store,
)

__all__ = ["Adagrad"]


class Adagrad(RuleOptimizer):
    """Adagrad: divides the gradient by the root of the sum of its squares so far.

    `p -= lr / (1 + (t - 1) lr_decay) * g / (sqrt(sum) + eps)`.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_non_negative("lr_decay value", lr_decay)
        check_non_negative("weight_decay value", weight_decay)
        check_non_negative("initial_accumulator_value value", initial_accumulator_value)
        check_non_negative("epsilon value", eps)
        check_flags(foreach, fused, differentiable)
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "fused": fused,
            },
        )
        for group in self.param_groups:
            for p in group["params"]:
                self._init_state(group, p, self.state[p])

    _late_defaults = ("maximize", "foreach", "differentiable")
    _takes_sparse = True

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("fused", None)

    def share_memory(self) -> None:
        """Move the sums of all parameters to shared memory."""
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["sum"].share_memory_()

    def _fast_step(self, group: dict[str, Any]) -> list | None:
        return _C._optim.adagrad_step(
            group["params"],
            self.state,
            group["lr"],
            group["lr_decay"],
            group["weight_decay"],
            group["initial_accumulator_value"],
            group["eps"],
            group["maximize"],
        )

    def _init_state(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        first = group["initial_accumulator_value"]
        state["step"] = new_step()
        state["sum"] = facula.full_like(
            p,
            complex(first, first) if p.is_complex() else first,
            memory_format=facula.preserve_format,
        )

    def _slow_step(self, group: dict[str, Any], p: Any, grad: Any, state: dict[str, Any]) -> None:
        state["step"] += 1
        rate = group["lr"] / (1 + (number(state["step"]) - 1) * group["lr_decay"])
        if grad.layout != facula.strided:
            return _sparse_step(group, p, grad, state, rate)
        if group["weight_decay"] != 0:
            grad = grad + group["weight_decay"] * p
        total = load(state, "sum") + grad * grad
        store(group, state, "sum", total)
        p.sub_(rate * grad / (total.sqrt() + group["eps"]))


def _sparse_step(group: dict, p: Any, grad: Any, state: dict, rate: Any) -> None:
    """Step at the rows of a sparse gradient alone."""
    if group["weight_decay"] != 0:
        raise RuntimeError("weight_decay option is not compatible with sparse gradients")
    grad = grad.coalesce()
    at, values, size = grad._indices(), grad._values(), grad.shape

    def like(v: Any) -> Any:
        return facula.sparse_coo_tensor(at, v, size, is_coalesced=True)

    state["sum"].add_(like(values * values.conj() if values.is_complex() else values * values))
    total = state["sum"].sparse_mask(grad)._values()
    p.add_(like(values / (total.sqrt() + group["eps"])), alpha=-rate)
