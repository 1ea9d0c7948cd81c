"""Starting several processes: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "start_processes",
    "Std",
    "launchers are not built",
)
