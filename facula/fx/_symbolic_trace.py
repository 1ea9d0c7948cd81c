"""Names of the tracer under its private module."""

from facula.fx import wrap
from facula.fx._compatibility import compatibility
from facula.fx.tracer import ProxyableClassMeta, Tracer, symbolic_trace

__all__ = [
    "ProxyableClassMeta", "Tracer", "compatibility", "is_fx_tracing", "symbolic_trace", "wrap",
]  # fmt: skip


def is_fx_tracing() -> bool:
    """Say that nothing is being traced."""
    return False
