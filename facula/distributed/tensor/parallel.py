"""Modules over several devices: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "loss_parallel parallelize_module",
    "ColwiseParallel ParallelStyle PrepareModuleInput PrepareModuleInputOutput "
    "PrepareModuleOutput RowwiseParallel SequenceParallel",
    "process groups are not built",
)
