"""SparseAdam: Adam that moves only the rows that a sparse gradient names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import facula
from facula.optim.optimizer import Optimizer

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for sparse gradients (lazy Adam): moments and parameters change at the gradient's rows.

    Raises RuntimeError in `step` for gradients that are strided.

    Example:
        >>> table = facula.nn.Embedding(10, 4, sparse=True)
        >>> optimizer = facula.optim.SparseAdam(table.parameters(), lr=0.1)
        >>> table(facula.tensor([1, 2])).sum().backward()
        >>> optimizer.step()
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, facula.Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {beta}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        wrong = [
            [g, i]
            for g, group in enumerate(self.param_groups)
            for i, p in enumerate(group["params"])
            if p.layout != facula.strided
        ]
        if wrong:
            raise ValueError(
                f"Sparse params at indices {wrong}: SparseAdam requires dense parameter tensors"
            )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Perform one step; `closure` re-evaluates the model and returns the loss."""
        loss = None
        if closure is not None:
            with facula.enable_grad():
                loss = closure()
        with facula.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self._step_one(group, p)
        return loss

    def _step_one(self, group: dict[str, Any], p: Any) -> None:
        grad = p.grad
        if grad.layout != facula.sparse_coo:
            raise RuntimeError(
                "SparseAdam does not support dense gradients, please consider Adam instead"
            )
        state = self.state[p]
        if not state:
            state["step"] = 0
            state["exp_avg"] = facula.zeros_like(p, memory_format=facula.preserve_format)
            state["exp_avg_sq"] = facula.zeros_like(p, memory_format=facula.preserve_format)
        first, second = group["betas"]
        facula._C._sparse_adam(
            p, grad, state["exp_avg"], state["exp_avg_sq"], state["step"], float(group["lr"]),
            first, second, group["eps"], group["maximize"],
        )  # fmt: skip
        state["step"] += 1
