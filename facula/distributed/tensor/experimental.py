"""Experiments with distributed tensors: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "context_parallel implicit_replication local_map register_sharding",
    "",
    "process groups are not built",
)
