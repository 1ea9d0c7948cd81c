"""Calling modules side by side: not built."""

from facula._absent import absent_function

parallel_apply = absent_function("facula.nn.parallel.parallel_apply", "there is at most one device")
