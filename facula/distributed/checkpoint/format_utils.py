"""Conversion of checkpoints of several processes: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "dcp_to_torch_save torch_save_to_dcp",
    "",
    "process groups are not built",
)
