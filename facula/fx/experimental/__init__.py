"""Experimental parts of tracing: questions about it, answered for a program that runs eagerly."""

from facula._submodules import lazy_submodules

__getattr__ = lazy_submodules(__name__, "proxy_tensor symbolic_shapes")
