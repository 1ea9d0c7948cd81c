"""Datasets as chains of steps: the classes to build on, and batching."""

from facula._submodules import lazy_submodules
from facula.utils.data.datapipes import datapipe

__getattr__ = lazy_submodules(__name__, "iter")
