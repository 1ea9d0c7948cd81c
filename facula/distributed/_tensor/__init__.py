"""The older name of `facula.distributed.tensor`: the same names and the same submodules."""

import sys
from typing import Any

from facula.distributed import tensor as _tensor
from facula.distributed.device_mesh import DeviceMesh, init_device_mesh
from facula.distributed.tensor import experimental, placement_types

__all__ = ["DeviceMesh", "experimental", "init_device_mesh", "placement_types"]

for _name, _module in (("experimental", experimental), ("placement_types", placement_types)):
    sys.modules[f"{__name__}.{_name}"] = _module


def __getattr__(name: str) -> Any:
    return getattr(_tensor, name)
