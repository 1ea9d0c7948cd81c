"""Functions that answer other processes later: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "async_execution",
    "",
    "calls to other processes are not built",
)
