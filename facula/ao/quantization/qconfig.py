"""Quantisation (`qconfig`): not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "default_dynamic_qconfig default_qconfig default_observer",
    "QConfig",
    "models are not quantised",
)
