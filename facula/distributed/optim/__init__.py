"""Optimisers over several processes: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "",
    "DistributedOptimizer PostLocalSGDOptimizer ZeroRedundancyOptimizer "
    "_apply_optimizer_in_backward",
    "process groups are not built",
)
