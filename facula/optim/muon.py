"""Muon (Jordan et al. 2024): momentum whose matrix is orthogonalised by Newton-Schulz steps."""

from __future__ import annotations

import math
from typing import Any

import facula
from facula.optim.optimizer import RuleOptimizer

__all__ = ["Muon"]

_MAX_STEPS = 100
_RATE_RULES = (None, "original", "match_rms_adamw", "spectral_unclamped")


class Muon(RuleOptimizer):
    """SGD with momentum on matrices, stepping along the nearest orthogonal matrix.

    `adjust_lr_fn` scales the rate by the matrix' shape: "original" (the default) by
    `sqrt(max(1, rows / columns))`, "match_rms_adamw" by `0.2 sqrt(max(rows, columns))`,
    "spectral_unclamped" by `sqrt(rows / columns)`.
    """

    _late_defaults = ()
    _rule_is_real = False

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, facula.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not 0.0 <= momentum:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn not in _RATE_RULES:
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(
            params,
            {
                "lr": lr,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "nesterov": nesterov,
                "ns_coefficients": ns_coefficients,
                "eps": eps,
                "ns_steps": ns_steps,
                "adjust_lr_fn": adjust_lr_fn,
            },
        )
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with "
                        f"size: {p.size()}"
                    )

    def _init_state(self, group: dict[str, Any], p: Any, state: dict[str, Any]) -> None:
        if p.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        state["momentum_buffer"] = facula.zeros_like(p, memory_format=facula.preserve_format)

    def _slow_step(self, group: dict[str, Any], p: Any, grad: Any, state: dict[str, Any]) -> None:
        momentum = group["momentum"]
        buf = state["momentum_buffer"]
        buf.lerp_(grad, 1 - momentum)
        update = grad.lerp(buf, momentum) if group["nesterov"] else buf
        update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        p.mul_(1 - group["lr"] * group["weight_decay"])
        p.add_(update, alpha=-_rate(group["lr"], group["adjust_lr_fn"], p.shape))


def _rate(lr: Any, rule: str | None, shape: Any) -> Any:
    rows, cols = shape
    if rule == "match_rms_adamw":
        return lr * 0.2 * math.sqrt(max(rows, cols))
    ratio = rows / cols
    return lr * math.sqrt(ratio if rule == "spectral_unclamped" else max(1, ratio))


def _orthogonal(
    grad: facula.Tensor, coefficients: tuple[float, float, float], steps: int, eps: float
) -> facula.Tensor:
    """Bring the singular values near one by a quintic iteration in bfloat16, the result too."""
    if steps >= _MAX_STEPS:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    x = grad.to(facula.bfloat16)
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.t()
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.t()
        factor = facula.addmm(gram, gram, gram, beta=b, alpha=c)
        x = facula.addmm(x, factor, x, beta=a)
    return x.t() if tall else x
