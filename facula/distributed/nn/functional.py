"""Collective functions with gradients: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "all_gather all_reduce all_to_all broadcast gather reduce reduce_scatter scatter",
    "",
    "process groups are not built",
)
