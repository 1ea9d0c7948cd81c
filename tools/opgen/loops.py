"""Generated loops of pointwise rows and of their fused backward passes, one array of dtypes a row."""
from __future__ import annotations

import ast
from pathlib import Path

from opgen.expressions import ScalarPrinter, names_in, parse
from opgen.rows import Row

KERNELS = Path(__file__).resolve().parents[2] / "src/facula/kernels/cpu"
DTYPES = ["bool", "uint8_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint16_t", "uint32_t", "uint64_t",
          None, None, "float", "double", "Complex64", "Complex128"]
CLASSES = {
    "all": set(range(15)), "number": set(range(1, 15)), "real": set(range(0, 13)),
    "real_number": set(range(1, 13)), "integer": set(range(1, 9)), "bitwise": set(range(0, 9)),
    "inexact": {11, 12, 13, 14}, "floating": {11, 12}, "bool": {0}, "complex": {13, 14},
    "signed": {2, 3, 4, 5, 11, 12, 13, 14}, "signed_real": {2, 3, 4, 5, 11, 12}}
SCALAR_ARGS = ("Scalar", "float", "int", "bool")


def tensor_inputs(row: Row) -> list[str]:
    """Names of the operands of a pointwise row, in order."""
    return [p.name for p in row.sig.params if p.is_tensor]


def scalar_inputs(row: Row) -> list[str]:
    """Names of the numbers of a pointwise row, in order."""
    return [p.name for p in row.sig.params if p.type in SCALAR_ARGS]


def bool_inputs(row: Row) -> list[str]:
    return row.options.get("bool_inputs", "").split()


def dtypes_of(row: Row) -> set[int]:
    return CLASSES[row.options.get("types", "inexact" if row.options.get("result") == "float" else "all")]


def loop_code(name: str, row: Row, inputs: list[str], scalars: list[str], body: str, dtypes: set[int],
              result: str) -> str:
    """One template loop and its array over dtypes."""
    out = {"bool": "bool", "real": "real_of<T>", "real_float": "real_of<T>"}.get(result, "T")
    types = ["bool" if i in bool_inputs(row) else "T" for i in inputs]
    lines = [f"// {row.where}", "template <class T>",
             f"static void {name}_loop(char* const* data_, int64_t count_, const Scalar* numbers_) {{"]
    lines += [f"  const T {s} = scalar_as<T>(numbers_[{i}]);" for i, s in enumerate(scalars)]
    args = ", ".join(f"{t} {i}" for t, i in zip(types, inputs))
    lines.append(f"  loop<{', '.join([out, *types])}>(data_, count_, [=]({args}) -> {out} {{ return {out}({body}); }});")
    lines.append("}")
    cells = ", ".join(f"{name}_loop<{DTYPES[i]}>" if i in dtypes and DTYPES[i] else "nullptr" for i in range(15))
    lines.append(f"extern const LoopFn {name}_loops[kNumDTypes] = {{{cells}}};")
    return "\n".join(lines)


def forward_loops(row: Row) -> str:
    """The loops of a pointwise row."""
    inputs, scalars = tensor_inputs(row), scalar_inputs(row)
    body = ScalarPrinter(row, set(inputs) | set(scalars)).print(parse(row.expr, row.where))
    return loop_code(row.name, row, inputs, scalars, body, dtypes_of(row), row.options.get("result", "same"))


def is_simple(n: ast.expr) -> bool:
    """Whether an expression is one operator, so that a fused loop would gain nothing."""
    leaf = (ast.Name, ast.Constant)
    if isinstance(n, leaf):
        return True
    if isinstance(n, ast.UnaryOp):
        return isinstance(n.operand, leaf)
    if isinstance(n, ast.BinOp):
        return isinstance(n.left, leaf) and isinstance(n.right, leaf)
    return isinstance(n, ast.Call) and all(isinstance(a, leaf) for a in n.args)


class Fused:
    """The fused backward loop of one input of a pointwise row, if there is one."""

    def __init__(self, row: Row, key: str):
        self.row, self.key = row, key
        d = row.options.get("d")
        self.expr = f"grad * m_conj({d[key]})" if d else row.options["grad"][key]
        self.name = f"{row.name}_backward_{key}"
        tree = parse(self.expr, row.where)
        used = names_in(self.expr, row.where)
        self.inputs = ["grad"] + [n for n in [*tensor_inputs(row), "result"] if n in used]
        self.scalars = [n for n in scalar_inputs(row) if n in used]
        self.body = None
        self.dtypes = (dtypes_of(row) | ({11, 12} if row.options.get("result") == "float" else set())) & {11, 12, 13, 14}
        plain = d and is_simple(parse(d[key], row.where)) and not isinstance(parse(d[key], row.where), ast.Call)
        if d and not names_in(d[key], row.where) & ({"result"} | set(tensor_inputs(row))):
            return
        if (plain and isinstance(parse(d[key], row.where), ast.Name)) or (not d and is_simple(tree)):
            return
        if row.options.get("result") in ("real", "real_float", "bool") or set(bool_inputs(row)) & set(self.inputs):
            return
        try:
            self.body = ScalarPrinter(row, set(self.inputs) | set(self.scalars)).print(tree)
        except SyntaxError:
            self.body = None

    def loops(self) -> str:
        return loop_code(self.name, self.row, self.inputs, self.scalars, self.body, self.dtypes, "same")


def fused_loops(row: Row) -> list[Fused]:
    """The fused backward loops of a pointwise row."""
    rules = row.gradients
    found = [Fused(row, key) for key in rules if not isinstance(key, tuple)]
    return [f for f in found if f.body is not None]


def family_loops(family: str, rows: list[Row]) -> str:
    """The source of one family's loops, compiled once per instruction set.

    Primitives that only this family uses stand in kernels/cpu/FAMILY_math.h, if there is one.
    """
    parts = ['#include "facula/kernels/cpu/loops.h"']
    if (KERNELS / f"{family}_math.h").exists():
        parts.append(f'#include "facula/kernels/cpu/{family}_math.h"')
    parts += ["", "namespace facula::kernels::FACULA_ISA {", ""]
    for row in rows:
        if row.kind == "pointwise":
            parts.append(forward_loops(row))
            parts += [f.loops() for f in fused_loops(row)]
    parts += ["", "}  // namespace facula::kernels::FACULA_ISA", ""]
    return "\n".join(parts)
