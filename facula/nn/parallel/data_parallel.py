"""DataParallel under the name of its module."""

from __future__ import annotations

from typing import Any

from facula.nn.parallel import DataParallel

__all__ = ["DataParallel", "data_parallel"]


def data_parallel(
    module: Any, inputs: Any, device_ids: Any = None, output_device: Any = None,
    dim: int = 0, module_kwargs: dict | None = None,
) -> Any:
    """Call a module; with at most one device nothing is split."""
    if not isinstance(inputs, tuple):
        inputs = (inputs,)
    return DataParallel(module, device_ids, output_device, dim)(*inputs, **(module_kwargs or {}))
