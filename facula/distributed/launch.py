"""Starting a program in several processes: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "main",
    "",
    "launchers are not built",
)
