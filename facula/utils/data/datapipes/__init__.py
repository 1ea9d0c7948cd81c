"""Datasets as chains of steps: the classes to build on, and batching."""

from facula.utils.data.datapipes import datapipe
