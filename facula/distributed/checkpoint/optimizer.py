"""State of sharded optimisers: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "load_sharded_optimizer_state_dict",
    "",
    "process groups are not built",
)
