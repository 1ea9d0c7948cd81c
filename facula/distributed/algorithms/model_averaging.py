"""Averages of models of several processes: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "",
    "averagers",
    "process groups are not built",
)
