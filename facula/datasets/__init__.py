"""Data sets that ship with the package."""

from facula.datasets.digits import digits

__all__ = ["digits"]
