"""Names of the tracer under its private module."""

from facula.fx import wrap
from facula.fx.tracer import ProxyableClassMeta, Tracer, symbolic_trace

__all__ = ["ProxyableClassMeta", "Tracer", "is_fx_tracing", "symbolic_trace", "wrap"]


def is_fx_tracing() -> bool:
    """Say that nothing is being traced."""
    return False
