"""Modules over several devices. DataParallel runs its module directly where there is at most one;
DistributedDataParallel waits for process groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from facula.nn.modules.module import Module
from facula.nn.parallel.distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel"]


class DataParallel(Module):
    """Splits a batch over GPUs. With no GPU, or one, it is the module itself."""

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        if device_ids is not None and len(device_ids) > 1:
            raise NotImplementedError("DataParallel: more than one device is not built yet")
        self.module = module
        self.device_ids = list(device_ids or [])
        self.output_device = output_device
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)
