"""Pruning by schedules: not built."""

from facula import _absent

_absent.add_absent(
    globals(),
    "",
    "BaseSparsifier WeightNormSparsifier",
    "nn.utils.prune is the way to prune",
)
