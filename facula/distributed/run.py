"""Starting a program in several processes: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "get_args_parser main run",
    "",
    "launchers are not built",
)
