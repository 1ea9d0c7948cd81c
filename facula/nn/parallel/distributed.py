"""DistributedDataParallel: training of one module in several processes."""

from __future__ import annotations

from typing import Any

from facula.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Trains one module in several processes; not built yet."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "DistributedDataParallel needs process groups, which are not built yet"
        )
