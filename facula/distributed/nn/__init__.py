"""Collective functions with gradients: not built."""

from facula.distributed.nn import functional
from facula.distributed.nn.functional import all_gather, all_reduce  # noqa: F401
