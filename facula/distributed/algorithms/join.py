"""Training with inputs of different lengths: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "",
    "Join Joinable JoinHook",
    "process groups are not built",
)
