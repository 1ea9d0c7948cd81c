"""The graph of a traced program: not built."""

from facula._absent import absent_class

_WHY = "programs are not traced"
Graph = absent_class("facula.fx.graph.Graph", _WHY)
CodeGen = absent_class("facula.fx.graph.CodeGen", _WHY)
PythonCode = absent_class("facula.fx.graph.PythonCode", _WHY)
