"""Boxed calls: how a row is offered to the interpreters above autograd, and called again from boxed arguments.

A function of a row asks `intercepted_above` once; only if that says yes does it call `boxed_NAME`, which is compiled here, apart
from the function, packs the arguments, and reports whether an interpreter took the call.
"""
from __future__ import annotations

import json

from opgen.loops import bool_inputs, tensor_inputs
from opgen.rows import Row
from opgen.signature import Param

ACCESS = {"int[]?": "opt_ints", "float[]?": "opt_reals", "Tensor?": "tensor", "bool[]": "mask"}


def has_boxed(row: Row) -> bool:
    """Whether a row is offered to interpreters: composites are seen through, by their parts, unless they say batch="boxed"."""
    return row.sig.returns != "None" and (row.kind != "composite" or row.options.get("batch") == "boxed")


def batch_rule(row: Row) -> str:
    """The rule of a row for all samples of a vmap: BoxedOp's enumerator, and where its `dim` stands."""
    rule = row.options.get("batch", "")
    places = [i for i, p in enumerate(row.cpp_params) if p.name == "dim"]
    if not rule and row.kind == "view" and places and row.cpp_params[places[0]].type == "int":
        rule = "along"
    if rule == "along" and not places:
        raise SyntaxError(f'{row.where}: batch="along" needs a parameter `dim`')
    known = {"": "kNoRule", "boxed": "kNoRule", "along": "kAlong", "leading": "kLeading", "matrices": "kMatrices"}
    if rule not in known:
        raise SyntaxError(f"{row.where}: batch={rule!r} is none of {', '.join(filter(None, known))}")
    return f"BoxedOp::{known[rule]}, {places[0] if rule == 'along' else 0}"


def derivative_facts(row: Row) -> str:
    """Which parameters are tensors (in the order of a node's edges), which have gradients, and whether it is linear in them."""
    params = row.cpp_params
    keys = {k for key in row.gradients for k in (key if isinstance(key, tuple) else (key,))}
    tensors = {p.name for p in row.sig.tensor_params}
    masks = [sum(1 << i for i, p in enumerate(params) if p.name in names) for names in (tensors, keys)]
    return f"{masks[0]}, {masks[1]}, {str(bool(row.options.get('linear'))).lower()}"


def access(p: Param) -> str:
    return ACCESS.get(p.type, p.info.get)


def parameters(row: Row, inplace: bool) -> str:
    text = ", ".join(f"{p.info.cpp} {p.name}" for p in row.cpp_params)
    return text.replace("const TensorOrScalar& self", "const Tensor& self") if inplace else text


def result_type(row: Row, inplace: bool) -> str:
    return "Tensor" if inplace or row.mutates else row.sig.cpp_return


def declaration(row: Row, inplace: bool = False) -> str:
    """The line that a source needs before it asks."""
    params = ", ".join(["", parameters(row, inplace)]) if row.cpp_params else ""
    return f"bool boxed_{row.name}{'_' if inplace else ''}({result_type(row, inplace)}& out{params});"


def question(row: Row, inplace: bool = False) -> list[str]:
    """The lines that offer a call to an interpreter, at the start of a row's function."""
    name = row.name + ("_" if inplace else "")
    operands = ", ".join(p.name for p in row.sig.tensor_params)
    arguments = "".join(f", {p.name}" for p in row.cpp_params)
    return [f"  if (intercepted_above({operands})) [[unlikely]] {{",
            f"    {result_type(row, inplace)} out{{}};",
            f"    if (boxed_{name}(out{arguments})) return out;", "  }"]


def boxed_code(row: Row, inplace: bool = False) -> str:
    """The packing function of a row, its way back, and its description."""
    name = row.name + ("_" if inplace else "")
    params = row.cpp_params
    kinds = [("tensor" if inplace and p.name == "self" and p.type == "Tensor|Scalar" else access(p)) for p in params]
    args = ", ".join(f"unbox_{k}(a[{i}])" for i, k in enumerate(kinds))
    kind = {"pointwise": "kPointwise", "view": "kView"}.get(row.kind, "kOther")
    inputs = tensor_inputs(row)
    mask = sum(1 << i for i, n in enumerate(inputs) if n in bool_inputs(row)) if row.kind == "pointwise" else 0
    writes = str(inplace or row.mutates).lower()
    schema = json.dumps(row.sig.text.replace(row.name + "(", name + "(", 1))
    lines = [f"// {row.where}",
             f"static Values call_{name}(std::span<Value>{' a' if params else ''}) {{ return results_of(facula::{name}({args})); }}",
             f'static const BoxedOp {name}_op{{{{"{name}", {schema}, call_{name}}}, BoxedOp::{kind}, {mask}, {writes}, {batch_rule(row)}, '
             f'{derivative_facts(row)}}};',
             declaration(row, inplace).rstrip(";") + " {",
             f"  Box box({name}_op, {len(params)});"]
    lines += [f"  box.{k}({p.name});" for k, p in zip(kinds, params)]
    return "\n".join([*lines, "  return box.take(out);", "}"])


def family_boxed(family: str, rows: list[Row]) -> str:
    """The source of one family's boxed calls."""
    parts = [f'#include "facula/ops/{family}_functions.h"', '#include "facula/ops/boxed.h"', "", "namespace facula {", "",
             "namespace {", f"struct {family}_boxed_unit {{}};", "}", ""]
    for row in rows:
        if has_boxed(row):
            parts.append(boxed_code(row))
            if row.inplace:
                parts.append(boxed_code(row, inplace=True))
    return "\n".join([*parts, "", "}  // namespace facula", ""])
