"""Objects with state in checkpoints of several processes: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "",
    "Stateful",
    "process groups are not built",
)
