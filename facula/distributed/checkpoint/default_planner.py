"""Plans of checkpoints of several processes: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "",
    "DefaultLoadPlanner DefaultSavePlanner _EmptyStateDictLoadPlanner",
    "process groups are not built",
)
