"""Quantisation under its older name: not built."""

from facula.ao.quantization import *
