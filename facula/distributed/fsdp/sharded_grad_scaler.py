"""Scaling of sharded gradients: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "",
    "ShardedGradScaler",
    "process groups are not built",
)
