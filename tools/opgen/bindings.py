"""Python bindings of rows: signatures for the shared parser, callers, and the rows that register them."""
from __future__ import annotations

import json

from opgen.functions import params_of
from opgen.rows import FACTORY_PARAMS, Row
from opgen.signature import Param


def python_params(row: Row, path: str = "") -> list[Param]:
    """Parameters as Python sees them under a public path: factory keywords and, last, out= included.

    Methods and in-place forms have no out=. Methods share the Signature of their function, whose out= the parser refuses there.
    """
    params = list(row.sig.params)
    if row.options.get("factory"):
        params += FACTORY_PARAMS
    if row.out and not path.startswith("Tensor.") and not path.endswith("_"):
        params.append(Param("Out", "out", "None", True))
    return params


def shown(p: Param) -> str:
    return "input" if p.name == "self" else p.name


def python_default(p: Param) -> str:
    d = p.default
    if p.type in ("str", "str?") and d != "None":
        return "'" + d.strip("'\"") + "'"
    return {"inf": "1e999", "-inf": "-1e999", "nan": "None"}.get(d, d)


def text_signature(row: Row, path: str) -> str:
    """The parameter list for inspect.signature."""
    parts, star = [], False
    method = path.startswith("Tensor.")
    for i, p in enumerate(python_params(row, path)):
        if p.keyword and not star:
            parts.append("*")
            star = True
        if p.type == "int..." and not p.keyword:
            parts.append(f"*{shown(p)}")
            star = True
            continue
        name = "$self" if method and i == 0 else shown(p)
        parts.append(name if p.default is None else f"{name}={python_default(p)}")
    if method:
        parts.insert(1, "/")
    return "(" + ", ".join(parts) + ")"


def error_text(params: list[Param]) -> str:
    """The signature as TypeErrors show it."""
    parts, star = [], False
    for p in params:
        if p.keyword and not star:
            parts.append("*")
            star = True
        kind = {"Tensor|Scalar": "Tensor or Number", "Out": "Tensor", "Scalar": "Number"}.get(p.type, p.type)
        parts.append(f"{kind} {shown(p)}" + ("" if p.default is None else f"={p.default}"))
    return "(" + ", ".join(parts) + ")"


def signature_code(row: Row) -> str:
    """The static parameter array and signature."""
    params = python_params(row)
    cells = []
    for p in params:
        arg = "kOut" if p.type == "Out" else p.info.arg
        cells.append(f'{{"{p.name}", ArgType::{arg}, {str(p.keyword).lower()}, '
                     f"{str(p.default is not None).lower()}, nullptr}}")
    positional = sum(not p.keyword for p in params)
    array = f"{row.name}_params" if params else "nullptr"
    lines = [f"static Param {row.name}_params[] = {{{', '.join(cells)}}};"] if params else []
    sharing = f", Sharing::k{row.overlap.title()}" if row.out and row.overlap != "any" else ""
    for mark in ("", "_") if row.inplace else ("",):  # overrides are given the form that was called
        name, own = public_name(row) + mark, python_params(row, mark)
        lines.append(f'static Signature {row.name}{mark}_signature{{"{name}", {json.dumps(error_text(own))}, {array}, {len(own)}, '
                     f"{positional}{sharing}}};")
    return "\n".join(lines)


def public_name(row: Row) -> str:
    return row.names[0].rsplit(".", 1)[-1] if row.names else row.name


def argument(p: Param, i: int) -> str:
    """The conversion of argument i."""
    code = f"b.{p.info.get}({i})"
    if p.default in (None, "None"):
        return code
    if p.type in ("int[]", "int..."):
        return f"(b.has({i}) ? {code} : ints_of({p.cpp_default()}))"
    if p.type in ("str",):
        return f"(b.has({i}) ? {code} : std::string_view({p.cpp_default()}))"
    if p.type.endswith("?") and p.type not in ("Tensor?", "Generator?"):
        if p.type == "int[]?":
            return f"(b.has({i}) ? {code} : ints_of({p.cpp_default()}))"
        return f"(b.has({i}) ? {code} : {p.info.cpp}({p.cpp_default()}))"
    return f"(b.has({i}) ? {code} : {p.cpp_default()})"


def caller_code(row: Row, inplace: bool = False) -> str:
    """The function that converts arguments, calls the row and wraps its result."""
    params = python_params(row)
    index = {p.name: i for i, p in enumerate(params)}
    args = []
    for p in params_of(row):
        if inplace and p.name == "self":
            args.append("b.tensor(0)")
        else:
            args.append(argument(p, index[p.name]))
    name = row.name + ("_" if inplace else "")
    call = f"facula::{name}({', '.join(args)})"
    lines = [f"static PyObject* call_{name}(Bound& b) {{"]
    if row.out is True and not inplace and row.sig.returns == "Tensor" and "dtype" in index and "out" in index:
        rule = str(bool(row.options.get("factory"))).lower()
        lines.append(f"  if (b.has({index['out']})) follow_out(b, {index['out']}, {index['dtype']}, {rule});")
    if inplace or row.mutates:
        return "\n".join([*lines, f"  {call};", "  return wrap_self(b, 0);", "}"])
    if row.sig.returns == "None":
        return "\n".join([*lines, f"  {call};", "  Py_RETURN_NONE;", "}"])
    lines.append(f"  auto result = {call};")
    if row.options.get("factory"):
        lines.append(f"  apply_factory(b, {index['layout']}, {index['pin_memory']}, {index['requires_grad']}, result);")
    exact = ", true" if row.out == "exact" else ""
    if row.sig.returns == "tuple":
        n = len(row.sig.outputs)
        items = ", ".join(f"std::move(std::get<{i}>(result))" for i in range(n))
        lines.append(f"  Tensor items[] = {{{items}}};")
        fields = ", ".join(f'"{o.name}"' for o in row.sig.outputs)
        named = row.options.get("tuple_name", public_name(row))
        shown_as = f'"{named}", fields' if named else "nullptr, nullptr"
        if named:
            lines.append(f"  static const char* const fields[] = {{{fields}}};")
        if row.out:
            flag = str(row.out == "exact").lower()
            lines.append(f"  if (b.has({index['out']})) return write_out(b, {index['out']}, items, {flag}, {shown_as});")
        lines.append(f"  return wrap_tuple(items, {shown_as});")
    else:
        if row.out:
            results = "{&result, 1}" if row.sig.returns == "Tensor" else "result"
            lines.append(f"  if (b.has({index['out']})) return write_out(b, {index['out']}, {results}{exact});")
        lines.append("  return wrap(std::move(result));" if row.sig.returns == "Tensor" else "  return wrap(result);")
    return "\n".join([*lines, "}"])


def paths_of(row: Row) -> list[tuple[str, str]]:
    """(public path, caller) pairs of a row."""
    out = [(n, row.name) for n in row.names]
    methods = [n for n in row.names if "." not in n] or [public_name(row)]
    if row.method:
        out += [(f"Tensor.{n}", row.name) for n in methods]
    if row.inplace and row.names:
        out += [(n + "_", row.name + "_") for n in row.names if n.split(".")[0] not in ("linalg", "fft")]
        if row.method:
            out += [(f"Tensor.{n}_", row.name + "_") for n in methods]
    for alias in row.options.get("aliases", "").split():
        out.append((alias, row.name))
    return out


def family_bindings(family: str, rows: list[Row]) -> str:
    """The source of one family's bindings."""
    parts = [f'#include "facula/ops/{family}_functions.h"', '#include "facula/python/bound.h"',
             '#include "facula/python/bind_helpers.h"', "", "namespace facula::python {", ""]
    groups: dict[str, list[tuple[Row, str]]] = {}
    for row in rows:
        if not row.names and not row.method:
            continue
        parts += [f"// {row.where}", signature_code(row), caller_code(row)]
        if row.inplace:
            parts.append(caller_code(row, inplace=True))
        for path, caller in paths_of(row):
            groups.setdefault(path, []).append((row, caller))
    table, entry_sets = [], {}
    for path, members in groups.items():
        key = "_".join(dict.fromkeys(c for _, c in members))
        if key not in entry_sets:
            entry_sets[key] = f"enter_{key}"
            cells = ", ".join(f"{{&{c}_signature, call_{c}}}" for _, c in members)
            parts.append(f"static PyObject* enter_{key}(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kw) {{\n"
                         f"  static const Entry entries[] = {{{cells}}};\n"
                         f"  return dispatch(entries, {len(members)}, self, args, n, kw);\n}}")
        row = members[0][0]
        name = path.rsplit(".", 1)[-1]
        doc = name + text_signature(row, path) + "\n--\n\n" + documentation(row)
        table.append(f'    {{"{path}", {{"{name}", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>({entry_sets[key]})), '
                     f"METH_FASTCALL | METH_KEYWORDS, {json.dumps(doc)}}}}},")
    parts.append(f"BindingRow {family}_bindings[] = {{")
    parts += [*table, "    {nullptr, {}}};", "", "}  // namespace facula::python", ""]
    return "\n".join(parts)


def documentation(row: Row) -> str:
    """The docstring of a row: its sentence, then types and errors that follow from the row."""
    kinds = row.options.get("types")
    text = row.doc or f"See the reference page of {public_name(row)}."
    if kinds:
        text += f"\n\nElement types: {kinds.replace('_', ' ')}."
    return text


def all_bindings(families: dict[str, list[Row]]) -> str:
    """The function that registers every family, and the names of all rows, of hidden ones too."""
    decl = "\n".join(f"extern BindingRow {f}_bindings[];" for f in families)
    calls = "\n".join(f"  register_bindings(module, {f}_bindings);" for f in families)
    names = ",\n".join(f'    "{row.name}"' for members in families.values() for row in members)
    return ('#include "facula/python/bound.h"\n\nnamespace facula::python {\n\n'
            f"{decl}\n\nvoid register_operators(PyObject* module) {{\n{calls}\n}}\n\n"
            "extern const char* const row_names[];\n"
            f"const char* const row_names[] = {{\n{names},\n    nullptr,\n}};\n\n}}  // namespace facula::python\n")
