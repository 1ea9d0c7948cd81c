"""Values of a program that is being traced: not built."""

from facula._absent import absent_class

_WHY = "programs are not traced"
Proxy = absent_class("facula.fx.proxy.Proxy", _WHY)
Attribute = absent_class("facula.fx.proxy.Attribute", _WHY, (Proxy,))
TracerBase = absent_class("facula.fx.proxy.TracerBase", _WHY)
GraphAppendingTracer = absent_class("facula.fx.proxy.GraphAppendingTracer", _WHY, (TracerBase,))


class TraceError(ValueError):
    """A program that cannot be traced."""
