"""Tracing a program: not built."""

from facula._absent import absent_class, absent_function
from facula.fx.proxy import TracerBase

_WHY = "programs are not traced"
Tracer = absent_class("facula.fx.Tracer", _WHY, (TracerBase,))
symbolic_trace = absent_function("facula.fx.symbolic_trace", _WHY)
replace_pattern = absent_function("facula.fx.replace_pattern", _WHY)


class ProxyableClassMeta(type):
    """A metaclass for classes that may be made while tracing; nothing is traced."""
