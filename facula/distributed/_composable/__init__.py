"""Parallelism by functions over modules: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "checkpoint replicate",
    "",
    "process groups are not built",
)
