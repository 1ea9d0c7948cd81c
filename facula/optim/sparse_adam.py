"""SparseAdam: named for programs that look it up; sparse tensors are not built yet."""

from __future__ import annotations

from typing import Any

from facula.optim.optimizer import Optimizer

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam for sparse gradients; making one raises, because there are no sparse tensors yet."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        raise NotImplementedError(
            "SparseAdam needs sparse tensors, which Facula does not have yet; use Adam with dense "
            "gradients"
        )
