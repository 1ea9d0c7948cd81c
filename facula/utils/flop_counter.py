"""Counting floating-point operations: not built."""

from facula._absent import absent_class, absent_function

FlopCounterMode = absent_class("facula.utils.flop_counter.FlopCounterMode")
register_flop_formula = absent_function("facula.utils.flop_counter.register_flop_formula")
