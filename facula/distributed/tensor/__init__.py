"""Tensors over several devices: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "distribute_module distribute_tensor empty full ones rand randn zeros",
    "DTensor Partial Placement Replicate Shard",
    "process groups are not built",
)
