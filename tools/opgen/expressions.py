"""The formula language of the table: Python expressions, checked against the rows and printed as C++.

`ScalarPrinter` prints an expression of one element for a loop; `OpPrinter` prints calls of operators. Both raise SyntaxError with
the row's file and line for unknown names and wrong arity.
"""
from __future__ import annotations

import ast
import functools

from opgen.rows import TABLE, Row
from opgen.signature import Param

BINARY = {ast.Add: ("add", "+"), ast.Sub: ("sub", "-"), ast.Mult: ("mul", "*"), ast.Div: ("div", "/")}
COMPARE = {ast.Gt: ("gt", ">"), ast.Lt: ("lt", "<"), ast.GtE: ("ge", ">="), ast.LtE: ("le", "<="),
           ast.Eq: ("eq", "=="), ast.NotEq: ("ne", "!=")}
# metadata helper -> (member suffix, type, C++ of a live tensor)
METADATA = {"shape": ("shape", "int[]", "shape_of({})"), "dtype": ("dtype", "DType", "dtype_of({})"),
            "dim": ("dim", "int", "dim_of({})"), "numel": ("numel", "int", "numel_of({})"),
            "strides": ("strides", "int[]", "strides_of({})"), "offset": ("offset", "int", "offset_of({})"),
            "shapes": ("shapes", "int[]", "shapes_of({})"), "device": ("device", "Device", "device_of({})"), "defined": ("defined", "bool", "defined_of({})")}
METADATA_MEMBER = {"shape": "Sizes", "dtype": "DType", "dim": "int64_t", "numel": "int64_t",
                   "strides": "Sizes", "shapes": "Sizes", "offset": "int64_t", "device": "Device", "defined": "bool"}
# functions of numbers that formulas may use: name -> (result type, C++ function)
NUMBER_FUNCTIONS = {"len": ("int", "length_of"), "list_prod": ("int", "list_prod"),
                    "reduced_numel": ("int", "reduced_numel"),
                    "inverse_permutation": ("int[]", "inverse_permutation")}
# primitives of one element that are not rows of their own name
PRIMITIVES = {"sqrt", "exp", "log", "sin", "cos", "tanh", "abs", "conj", "real", "imag", "where_nan",
              "floor", "trunc", "fma", "square", "cdf", "pdf"}


@functools.lru_cache(maxsize=None)
def parse(text: str, where: str) -> ast.expr:
    """Parse an expression."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as e:
        raise SyntaxError(f"{where}: {e.msg} in {text!r}") from e


def names_in(text: str, where: str) -> set[str]:
    """Names whose values an expression needs (names inside metadata helpers do not count)."""
    found: set[str] = set()

    def visit(node):
        if isinstance(node, ast.Call):
            if node.func.id not in METADATA:
                for child in [*node.args, *[k.value for k in node.keywords]]:
                    visit(child)
                if node.func.id in ("size", "is_complex"):
                    found.difference_update({getattr(node.args[0], "id", "")} - visit_names(node.args[1:]))
            return
        if isinstance(node, ast.Name):
            found.add(node.id)
        for child in ast.iter_child_nodes(node):
            visit(child)

    def visit_names(nodes):
        return {n.id for x in nodes for n in ast.walk(x) if isinstance(n, ast.Name)}
    visit(rewrite_metadata(parse(text, where)))
    return found


def metadata_in(text: str, where: str) -> set[tuple[str, str]]:
    """(name, helper) pairs of the metadata an expression needs."""
    tree = rewrite_metadata(parse(text, where))
    return {(n.args[0].id, n.func.id) for n in ast.walk(tree)
            if isinstance(n, ast.Call) and n.func.id in METADATA and isinstance(n.args[0], ast.Name)}


def is_gradient(row: Row, name: str) -> bool:
    """Whether a name in a rule means an incoming gradient (or the mask of wanted ones)."""
    return name in ("grad", "mask") or (name.startswith("grad_") and row.sig.param(name) is None)


class _Rewrite(ast.NodeTransformer):
    """size(x, d) is shape(x)[d]; is_complex(x) asks dtype(x)."""

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "size" and len(node.args) == 2:
            shape = ast.Call(ast.Name("shape", ast.Load()), [node.args[0]], [])
            return ast.Subscript(shape, node.args[1], ast.Load())
        return node


@functools.lru_cache(maxsize=None)
def _rewrite_cached(dump: str, tree_holder: tuple) -> ast.expr:
    import copy
    return _Rewrite().visit(copy.deepcopy(tree_holder[0]))


def rewrite_metadata(tree: ast.expr) -> ast.expr:
    """Bring metadata helpers into their basic form."""
    return _rewrite_cached(ast.dump(tree), (tree,))


class ScalarPrinter:
    """Prints an expression of one element; T is the type of the loop."""

    def __init__(self, row: Row, names: set[str]):
        self.row, self.names = row, names

    def fail(self, what: str):
        raise SyntaxError(f"{self.row.where}: {what}")

    def print(self, n: ast.expr) -> str:
        p = self.print
        if isinstance(n, ast.BinOp):
            if isinstance(n.op, ast.Pow):
                return f"m_pow({p(n.left)}, {p(n.right)})"
            if type(n.op) not in BINARY:
                self.fail(f"operator {type(n.op).__name__}")
            return f"({p(n.left)} {BINARY[type(n.op)][1]} {p(n.right)})"
        if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.USub):
            if isinstance(n.operand, ast.Constant):
                return f"T(-{n.operand.value})"
            return f"(-{p(n.operand)})"
        if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.Not):
            return f"(!m_truth({p(n.operand)}))"
        if isinstance(n, ast.BoolOp):
            op = " && " if isinstance(n.op, ast.And) else " || "
            return "(" + op.join(map(p, n.values)) + ")"
        if isinstance(n, ast.Compare) and len(n.ops) == 1:
            return f"({p(n.left)} {COMPARE[type(n.ops[0])][1]} {p(n.comparators[0])})"
        if isinstance(n, ast.IfExp):
            return f"({p(n.test)} ? T({p(n.body)}) : T({p(n.orelse)}))"
        if isinstance(n, ast.Constant) and isinstance(n.value, (int, float)):
            return f"T({n.value!r})" if not isinstance(n.value, bool) else str(n.value).lower()
        if isinstance(n, ast.Name):
            if n.id in ("pi", "inf", "nan", "eps"):
                return f"k_{n.id}<T>"
            if n.id not in self.names:
                self.fail(f"unknown name {n.id!r} in the scalar expression")
            return n.id
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name):
            return self.call(n)
        return self.fail(f"not in the formula language: {ast.unparse(n)}")

    def call(self, n: ast.Call) -> str:
        name = n.func.id
        row = TABLE.get(name)
        if row is not None and row.kind == "pointwise" and not row.options.get("static"):
            inner = parse(row.expr, row.where)
            opaque = (isinstance(inner, ast.Call) and inner.func.id.startswith("m_")
                      and [getattr(a, "id", "") for a in inner.args] == [p.name for p in row.sig.params])
            if not opaque:
                return self.inline(row, inner, n)
            return f"{inner.func.id}({', '.join(map(self.print, n.args))})"
        if name == "conj_number":
            return f"m_conj({self.print(n.args[0])})"
        if name.startswith("m_"):
            return f"{name}({', '.join(map(self.print, n.args))})"
        return self.fail(f"unknown function {name!r} in the scalar expression")

    def inline(self, row: Row, inner: ast.expr, call: ast.Call) -> str:
        values = bind(row, call, self.row.where)
        table = {}
        for p in row.sig.params:
            v = values.get(p.name)
            if v is None and p.default is not None:
                v = parse(p.default, row.where)
            table[p.name] = v

        class Substitute(ast.NodeTransformer):
            def visit_Name(self, node):
                return table.get(node.id, node)
        import copy
        return self.print(Substitute().visit(copy.deepcopy(inner)))


def bind(row: Row, call: ast.Call, where: str) -> dict[str, ast.expr]:
    """Match the arguments of a call to a row's parameters."""
    params = row.sig.params
    if len(call.args) > len(params):
        raise SyntaxError(f"{where}: {row.name} takes {len(params)} arguments, got {len(call.args)}")
    values = {p.name: a for p, a in zip(params, call.args)}
    for k in call.keywords:
        if row.sig.param(k.arg) is None or k.arg in values:
            raise SyntaxError(f"{where}: {row.name} has no argument {k.arg!r} left")
        values[k.arg] = k.value
    for p in params:
        if p.name not in values and p.default is None:
            raise SyntaxError(f"{where}: {row.name} needs {p.name!r}")
    return values


class OpPrinter:
    """Prints an expression as calls of operators. `env` maps names to (type, C++ code)."""

    def __init__(self, row: Row, env: dict[str, tuple[str, str]], live: bool = True):
        self.row, self.env, self.live = row, env, live

    def fail(self, what: str):
        raise SyntaxError(f"{self.row.where}: {what}")

    def text(self, source: str) -> tuple[str, str]:
        return self.print(rewrite_metadata(parse(source, self.row.where)))

    def print(self, n: ast.expr) -> tuple[str, str]:
        method = getattr(self, "on_" + type(n).__name__, None)
        if method is None:
            self.fail(f"not in the formula language: {ast.unparse(n)}")
        return method(n)

    def on_Name(self, n):
        if n.id in ("pi", "inf", "nan"):
            return "float", {"pi": "M_PI", "inf": "INFINITY", "nan": "NAN"}[n.id]
        if n.id not in self.env:
            self.fail(f"unknown name {n.id!r}")
        return self.env[n.id]

    def on_Constant(self, n):
        v = n.value
        if v is None:
            return "None", "std::nullopt"
        if isinstance(v, bool):
            return "bool", str(v).lower()
        if isinstance(v, int):
            return "int", f"int64_t{{{v}}}"
        if isinstance(v, float):
            return "float", repr(v)
        return "str", f'"{v}"'

    def on_BinOp(self, n):
        (lt, l), (rt, r) = self.print(n.left), self.print(n.right)
        if isinstance(n.op, ast.Pow):
            if "Tensor" in (lt, rt) or "Tensor|Scalar" in (lt, rt):
                return "Tensor", f"facula::pow({l}, {r})"
            return "float", f"number_pow({l}, {r})"
        name, op = BINARY[type(n.op)]
        if lt in ("Tensor", "Tensor?") or rt in ("Tensor", "Tensor?"):
            return "Tensor", f"facula::{name}({l}, {r})"
        if "Tensor|Scalar" in (lt, rt):
            return "Tensor|Scalar", f"operand_{name}({l}, {r})"
        kind = "Scalar" if "Scalar" in (lt, rt) else "float" if "float" in (lt, rt) or op == "/" else "int"
        if kind == "float" and op == "/":
            return kind, f"(double({l}) / double({r}))"
        return kind, f"({l} {op} {r})"

    def on_UnaryOp(self, n):
        t, v = self.print(n.operand)
        if isinstance(n.op, ast.Not):
            return "bool", f"!({v})"
        if t == "Tensor|Scalar":
            return t, f"operand_sub(int64_t{{0}}, {v})"
        return (t, f"facula::neg({v})") if t == "Tensor" else (t, f"(-{v})")

    def on_BoolOp(self, n):
        op = " && " if isinstance(n.op, ast.And) else " || "
        return "bool", "(" + op.join(self.print(v)[1] for v in n.values) + ")"

    def on_Compare(self, n):
        if isinstance(n.ops[0], (ast.Is, ast.IsNot)):
            t, v = self.print(n.left)
            there = f"({v}).defined()" if t.startswith("Tensor") else f"({v}).has_value()"
            return "bool", there if isinstance(n.ops[0], ast.IsNot) else f"!{there}"
        (lt, l), (rt, r) = self.print(n.left), self.print(n.comparators[0])
        name, op = COMPARE[type(n.ops[0])]
        if "Tensor" in (lt, rt):
            return "Tensor", f"facula::{name}({l}, {r})"
        return "bool", f"({l} {op} {r})"

    def on_IfExp(self, n):
        (_, c), (t, a), (u, b) = self.print(n.test), self.print(n.body), self.print(n.orelse)
        kind = t if t != "None" else u
        if kind in ("Tensor", "Tensor?"):
            a = f"Tensor({a})" if t != "None" else "Tensor()"
            b = f"Tensor({b})" if u != "None" else "Tensor()"
            kind = "Tensor"
        return kind, f"({c} ? {a} : {b})"

    def on_Tuple(self, n):
        items = [self.print(e) for e in n.elts]
        if any(t.startswith("Tensor") for t, _ in items):
            return "Tensor[]", "std::vector<Tensor>{" + ", ".join(v for _, v in items) + "}"
        return "int{}", "{" + ", ".join(v for _, v in items) + "}"

    on_List = on_Tuple

    def on_Subscript(self, n):
        t, v = self.print(n.value)
        _, i = self.print(n.slice)
        if t == "int[]":
            return "int", f"list_at({v}, {i})"
        if t == "Tensor[]":
            return "Tensor", f"({v})[{i}]"
        if t.startswith("("):
            return "Tensor", f"std::get<{n.slice.value}>({v})"
        return self.fail(f"{ast.unparse(n)} cannot be indexed")

    def on_Call(self, n):
        name = n.func.id if isinstance(n.func, ast.Name) else self.fail("only plain calls")
        if name == "conj_number":
            kind, value = self.print(n.args[0])
            return kind, f"conj_operand({value})"
        if name == "is_complex":
            return "bool", f"is_complex({self.metadata('dtype', n.args[0])[1]})"
        if name in METADATA:
            return self.metadata(name, n.args[0])
        if name in NUMBER_FUNCTIONS:
            kind, cpp = NUMBER_FUNCTIONS[name]
            return kind, f"{cpp}({', '.join(self.print(a)[1] for a in n.args)})"
        row = TABLE.get(name)
        if row is None:
            self.fail(f"unknown operator {name!r}")
        values = bind(row, n, self.row.where)
        args = [self.argument(p, values.get(p.name)) for p in row.sig.params]
        while args and args[-1] is None:
            args.pop()
        args = [a if a is not None else p.cpp_default() for a, p in zip(args, row.sig.params)]
        kind = row.sig.returns if row.sig.returns != "tuple" else f"({len(row.sig.outputs)})"
        return kind, f"facula::{name}({', '.join(args)})"

    def metadata(self, helper: str, arg: ast.expr) -> tuple[str, str]:
        suffix, kind, live = METADATA[helper]
        if isinstance(arg, ast.Name) and not self.live and not is_gradient(self.row, arg.id):
            return kind, f"{arg.id}_{suffix}_"
        return kind, live.format(self.print(arg)[1])

    def argument(self, p: Param, value: ast.expr | None) -> str | None:
        """An argument as the parameter's C++ type wants it; None for a default."""
        if value is None:
            return None
        t, v = self.print(value)
        if t == "None":
            return "Tensor()" if p.type in ("Tensor?", "Tensor") else \
                "nullptr" if p.type == "Generator?" else "std::nullopt"
        if p.type in ("int[]", "int...") and t == "int":
            return "{" + v + "}"
        if p.type == "int[]?" and t in ("int{}", "int"):
            return f"OptIntList(IntList({v if t == 'int{}' else '{' + v + '}'}))"
        if p.type in ("Tensor", "Tensor?") and t in ("int", "float", "Scalar", "bool"):
            self.fail(f"{p.name} wants a Tensor, got the number {v}")
        if p.type in ("Tensor", "Tensor?") and t == "Tensor|Scalar":
            return f"Tensor::borrow(({v}).tensor)" if self.live else f"({v}).tensor"
        if p.type == "bool[]" and t == "int{}":
            self.fail("bool[] takes `mask`")
        return v
