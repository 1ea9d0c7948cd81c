"""Names of symbolic tracing. Nothing is traced: `wrap` changes nothing, the classes are there for
isinstance(), annotations and subclasses, and calling what they promise raises NotImplementedError.
"""

from __future__ import annotations

from typing import Any

from facula._submodules import lazy_submodules
from facula.fx.graph import Graph
from facula.fx.graph_module import GraphModule
from facula.fx.interpreter import Interpreter, Transformer
from facula.fx.node import Node, has_side_effect, map_arg
from facula.fx.proxy import Proxy
from facula.fx.tracer import (
    ProxyableClassMeta,
    Tracer,
    replace_pattern,
    symbolic_trace,
)

__all__ = [
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "ProxyableClassMeta",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]


def wrap(fn_or_name: Any) -> Any:
    """Return what was given: a function, or its name, that tracing should not look into."""
    return fn_or_name


__getattr__ = lazy_submodules(__name__, "_symbolic_trace experimental")
