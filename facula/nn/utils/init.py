"""skip_init: modules without first values."""

from __future__ import annotations

from typing import Any

import facula

__all__ = ["skip_init"]


def skip_init(module_cls: type, *args: Any, **kwargs: Any) -> Any:
    """Make a module whose parameters are uninitialised memory; the class must take `device`.

    Raises RuntimeError unless `module_cls` is a Module class with a parameter `device`.

    Example::

        >>> facula.nn.utils.skip_init(facula.nn.Linear, 3, 2).weight.shape
        facula.Size([2, 3])
    """
    import inspect

    if not issubclass(module_cls, facula.nn.Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    final_device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=final_device)
