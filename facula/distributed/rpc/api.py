"""Calls of functions in other processes, under the name of their module: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "_require_initialized _wait_all",
    "RRef",
    "calls to other processes are not built",
)
