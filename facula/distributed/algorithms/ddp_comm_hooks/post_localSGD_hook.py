"""Local steps of data parallelism: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "post_localSGD_hook",
    "PostLocalSGDState",
    "process groups are not built",
)
