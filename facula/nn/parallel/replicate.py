"""Copies of a module for several devices: not built."""

from facula._absent import absent_function

replicate = absent_function("facula.nn.parallel.replicate", "there is at most one device")
