"""Running a traced program node by node: not built."""

from facula._absent import absent_class

_WHY = "programs are not traced"
Interpreter = absent_class("facula.fx.interpreter.Interpreter", _WHY)
Transformer = absent_class("facula.fx.interpreter.Transformer", _WHY, (Interpreter,))
