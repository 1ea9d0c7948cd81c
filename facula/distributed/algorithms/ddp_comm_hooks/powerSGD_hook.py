"""Compressed gradients of data parallelism: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "batched_powerSGD_hook powerSGD_hook",
    "PowerSGDState",
    "process groups are not built",
)
