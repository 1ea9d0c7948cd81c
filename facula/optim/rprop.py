"""Resilient backpropagation (Riedmiller and Braun 1993)."""

from __future__ import annotations

from typing import Any

import facula
from facula import _C
from facula.optim.optimizer import (
    RuleOptimizer,
    check_lr,
    load,
    new_slot,
    new_step,
    number,
    store,
)

__all__ = ["Rprop"]


class Rprop(RuleOptimizer):
    """Rprop: each element has a step size of its own, and only the gradient's sign counts.

    The size grows by `etas[1]` while the sign stays, and shrinks by `etas[0]` when it changes,
    in which case the element does not move; sizes stay inside `step_sizes`.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(
            params,
            {
                "lr": lr,
                "etas": etas,
                "step_sizes": step_sizes,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _fast_step(self, group: dict[str, Any]) -> list | None:
        (eta_minus, eta_plus), (smallest, largest) = group["etas"], group["step_sizes"]
        return _C._optim.rprop_step(
            group["params"],
            self.state,
            group["lr"],
            eta_minus,
            eta_plus,
            smallest,
            largest,
            group["maximize"],
        )

    def _init_state(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        lr = float(number(group["lr"]))
        state["step"] = new_step()
        state["prev"] = new_slot(p)
        state["step_size"] = facula.full_like(
            p,
            complex(lr, lr) if p.is_complex() else lr,
            memory_format=facula.preserve_format,
        )

    def _slow_step(self, group: dict[str, Any], p: Any, grad: Any, state: dict[str, Any]) -> None:
        (eta_minus, eta_plus), (smallest, largest) = group["etas"], group["step_sizes"]
        state["step"] += 1
        sign = (grad * load(state, "prev")).sign()
        turned, kept = sign.lt(0), sign.gt(0)
        size = load(state, "step_size")
        size = facula.where(kept, size * eta_plus, facula.where(turned, size * eta_minus, size))
        size = size.clamp(smallest, largest)
        grad = grad.masked_fill(turned, 0)
        p.sub_(grad.sign() * size)
        store(group, state, "prev", grad)
        store(group, state, "step_size", size)
