"""C++ functions of rows: functional and in-place forms, with the recording of nodes."""
from __future__ import annotations

from opgen import boxed
from opgen.expressions import OpPrinter
from opgen.loops import bool_inputs, fused_loops, scalar_inputs, tensor_inputs
from opgen.nodes import NodePlan, node_code, record_lines
from opgen.rows import Row
from opgen.signature import Param

RULES = {"same": "kSame", "float": "kFloat", "bool": "kBool", "real": "kReal", "real_float": "kRealFloat"}


def params_of(row: Row) -> list[Param]:
    return row.cpp_params


def parameter_list(params: list[Param], defaults: bool) -> str:
    """C++ parameters, with their defaults in declarations."""
    parts = []
    for i, p in enumerate(params):
        tail_has_defaults = all(q.default is not None for q in params[i:])
        d = f" = {p.cpp_default()}" if defaults and p.default is not None and tail_has_defaults else ""
        parts.append(f"{p.info.cpp} {p.name}{d}")
    return ", ".join(parts)


def arguments(params: list[Param]) -> str:
    return ", ".join(p.name for p in params)


def declaration(row: Row) -> str:
    """The public declarations of a row."""
    doc = f"// {row.name} {row.doc}" if row.doc else f"// {row.name}"
    lines = [f"// {row.where}", wrap_comment(doc)]
    lines.append(f"FACULA_API {row.sig.cpp_return} {row.name}({parameter_list(params_of(row), True)});")
    if row.inplace:
        params = parameter_list(params_of(row), True).replace("const TensorOrScalar& self", "const Tensor& self")
        lines.append(f"FACULA_API Tensor {row.name}_({params});")
    if row.kind in ("manual",) or row.inplace == "direct":
        lines.append("namespace forward {")
        if row.kind == "manual":
            returns = "void" if row.mutates else row.sig.cpp_return
            lines.append(f"{returns} {row.name}({parameter_list(params_of(row), False)});")
        if row.inplace == "direct":
            lines.append(f"void {row.name}_({parameter_list(params_of(row), False)});")
        lines.append("}")
    return "\n".join(lines)


def wrap_comment(text: str) -> str:
    """Break a // comment at 100 columns."""
    words, lines, line = text.split(), [], ""
    for w in words:
        if len(line) + len(w) + 1 > 100:
            lines.append(line)
            line = "//"
        line = f"{line} {w}" if line else w
    return "\n".join([*lines, line])


def row_constants(row: Row) -> str:
    """Declarations of the loops of a pointwise row and its descriptor constants."""
    names = [(row.name, len(tensor_inputs(row)), row.options.get("result", "same"), bool_inputs(row))]
    names += [(f.name, len(f.inputs), "same", []) for f in fused_loops(row)]
    cost = row.options.get("cost", 4 if "m_exp" in row.expr or "m_log" in row.expr else 1)
    out = []
    for name, inputs, result, booleans in names:
        mask = sum(1 << i for i, n in enumerate(tensor_inputs(row)) if n in booleans)
        out.append(f"FACULA_LOOPS({name}_loops)")
        out.append(f'static constexpr kernels::Pointwise {name}_row{{"{row.name}", {inputs}, {mask}, '
                   f"kernels::ResultRule::{RULES[result]}, {cost}, FACULA_LOOP_TABLE({name}_loops)}};")
    return "\n".join(out)


def composite_inplace(row: Row) -> str:
    """The in-place form of a composite: the value, copied into self as a recorded operator.

    What the rows of the value save of self must outlive the write, so they are given a copy, also where self is another
    argument as well.
    """
    params = parameter_list(params_of(row), False).replace("const TensorOrScalar& self", "const Tensor& self")
    names, before = arguments(params_of(row)), []
    if row.options.get("saves_self"):
        others = [p.name for p in row.sig.params if p.type == "Tensor" and p.name != "self"]
        given = {"self": "before", **{n: f"{n}.is_same(self) ? before : {n}" for n in others}}
        names = ", ".join(given.get(p.name, p.name) for p in params_of(row))
        inputs = ", ".join(p.name for p in row.sig.params if p.is_tensor)
        before = [f"  Tensor before = recording({inputs}) ? clone(self) : self;"]
    return "\n".join([f"Tensor {row.name}_({params}) {{", *checks(row), *before,
                      f"  return copy_checked(self, {row.name}({names}), \"{row.name}_\");", "}"])


def recording_condition(row: Row, plan: NodePlan) -> str:
    names = []
    for key in plan.rules:
        names += [k for k in (key if isinstance(key, tuple) else (key,))]
    return f"recording({', '.join(dict.fromkeys(names))})"


def result_names(row: Row) -> str:
    outs = row.sig.outputs
    return f"[{', '.join(o.name for o in outs)}]" if row.sig.returns == "tuple" else "result"


def forward_expression(row: Row) -> list[str]:
    """The lines that compute the result without recording."""
    sig = row.sig
    if row.kind == "pointwise":
        scalars = scalar_inputs(row)
        lines = []
        if scalars:
            lines.append(f"  const Scalar scalars[] = {{{', '.join(f'Scalar({s})' for s in scalars)}}};")
        inputs = ", ".join(tensor_inputs(row))
        return [*lines, f"  Tensor result = pointwise({row.name}_row, {{{inputs}}}{', scalars' if scalars else ''});"]
    if row.kind == "view":
        source = sig.params[0].name
        return [f"  Tensor result = view_of({source}, {row.expr});"]
    if row.kind == "manual":
        return [f"  auto {result_names(row)} = forward::{row.name}({arguments(params_of(row))});"]
    return kernel_lines(row)


def kernel_lines(row: Row) -> list[str]:
    """Allocate by the shape and dtype rules and call the family's kernel."""
    opts, first = row.options, row.sig.tensor_params[0].name
    shapes, dtypes = opts["shape"], opts.get("dtype", f"{first}.dtype()")
    shapes = shapes if isinstance(shapes, (list, tuple)) else [shapes]
    dtypes = dtypes if isinstance(dtypes, (list, tuple)) else [dtypes]
    lines, views = [], []
    for i, o in enumerate(row.sig.outputs):
        dtype = dtypes[min(i, len(dtypes) - 1)]
        lines.append(f"  Tensor {o.name} = new_empty({shapes[min(i, len(shapes) - 1)]}, {dtype}, {first}.device());")
        views.append(f"kernels::view({o.name})")
    for p in row.sig.params:
        views.append(f"kernels::view({p.name})" if p.is_tensor else p.name)
    fault = ["  kernels::Fault fault;"] if opts.get("faults") else []
    call = f"kernels::{opts['family']}->{row.name}({', '.join(views + (['&fault'] if fault else []))});"
    lines += fault + [f"  if (!{first}.is_meta()) {call}"]
    if fault:
        lines.append(f'  kernels::check_fault(fault, "{row.name}");')
    return lines


def return_line(row: Row) -> str:
    if row.sig.returns == "tuple":
        return f"  return {{{', '.join(o.name for o in row.sig.outputs)}}};"
    return "  return result;"


def checks(row: Row) -> list[str]:
    """Refuse undefined tensors and those of different devices. Pointwise rows see to the devices themselves: there a 0-d
    tensor of the CPU may stand for a number.
    """
    names = [p.name for p in row.sig.params if p.type == "Tensor"]
    lines = [f'  check_defined("{row.name}", {", ".join(names)});'] if names else []
    placed = [p for p in row.sig.params if p.is_tensor or p.is_list]
    if row.kind != "pointwise" and row.options.get("devices") != "any" and (len(placed) > 1 or any(p.is_list for p in placed)):
        lines.append(f'  check_devices("{row.name}", {", ".join(p.name for p in placed)});')
    return lines + ([f"  {row.options['check']};"] if "check" in row.options else [])


def function_code(row: Row) -> str:
    """The node and functions of a row."""
    parts = [f"// {row.where}"]
    if row.kind == "pointwise":
        parts.append(row_constants(row))
    if row.kind == "composite":
        if row.inplace:
            parts.append(composite_inplace(row))
        if row.expr is None:
            return "\n".join(parts) if row.inplace else ""
        env = {p.name: ("int" if p.type == "Dim" else p.type, p.name) for p in row.sig.params}
        code = OpPrinter(row, env).text(row.expr)[1]
        parts.append(f"{row.sig.cpp_return} {row.name}({parameter_list(params_of(row), False)}) {{")
        parts += checks(row)
        parts.append(f"  return {code};\n}}")
        return "\n".join(parts)
    plan = NodePlan(row) if row.has_node else None
    if plan:
        parts.append(node_code(plan))
    parts.append(mutating_function(row, plan) if row.mutates else functional(row, plan))
    if row.inplace:
        own = NodePlan(row, inplace=True) if row.has_node else None
        if own and "inplace_grad" in row.options:
            parts.append(node_code(own))
        parts.append(inplace_function(row, own))
    return "\n".join(parts)


def functional(row: Row, plan: NodePlan | None) -> str:
    out = [f"{row.sig.cpp_return} {row.name}({parameter_list(params_of(row), False)}) {{", *checks(row)]
    if row.sig.returns == "None":
        return "\n".join([*out, f"  forward::{row.name}({arguments(params_of(row))});", "}"])
    out = [boxed.declaration(row), *out, *boxed.question(row)]
    out += forward_expression(row)
    if plan:
        before, after = record_lines(plan, False)
        out.append(f"  if ({recording_condition(row, plan)}) [[unlikely]] {{")
        out.append(before[0].replace("node = ", "auto node = "))
        out += before[1:] + after
        out += [f"    node->set_history({o.name});" for o in plan.differentiable]
        # An output without gradients is saved as a constant: it has no place in the node's history.
        names = {o.name for o in plan.differentiable}
        out += [f"    node->{o.name}_.save_{'output' if o.name in names else 'input'}({o.name});"
                for o in plan.results]
        out.append("  }")
    return "\n".join([*out, return_line(row), "}"])


def inplace_body(row: Row, plan: NodePlan | None, write: list[str], name: str) -> list[str]:
    """check, record, write, note the version, connect."""
    if plan is None:
        out = [f'  check_inplace(self, "{name}");']
    else:
        before, after = record_lines(plan, True)
        out = [f"  const bool recorded = {recording_condition(row, plan)};"]
        out.append(f'  check_inplace(self, "{name}", recorded);')
        out.append(f"  Ref<{plan.class_name}Backward> node;")
        out.append("  if (recorded) [[unlikely]] {")
        out += [*before, "  }"]
    out += write
    out.append(f'  bump_version(self, "{name}");')
    if plan:
        out.append("  if (node) [[unlikely]] {")
        if after:
            out.append("    const Tensor& result = self;")
            out += after
        out.append("    set_history_inplace(self, node);")
        out += [f"    node->{o.name}_.save_output(self);" for o in plan.results]
        out.append("  }")
    return [*out, "  return self;", "}"]


def mutating_function(row: Row, plan: NodePlan | None) -> str:
    head = f"Tensor {row.name}({parameter_list(params_of(row), False)}) {{"
    write = [f"  forward::{row.name}({arguments(params_of(row))});"]
    return "\n".join([boxed.declaration(row), head, *checks(row), *boxed.question(row),
                      *inplace_body(row, plan, write, row.name)])


def inplace_function(row: Row, plan: NodePlan | None) -> str:
    name = row.name + "_"
    head = f"Tensor {name}({parameter_list(params_of(row), False)}) {{"
    if row.kind == "pointwise":
        first = row.sig.params[0]
        scalars = scalar_inputs(row)
        write = []
        if scalars:
            write.append(f"  const Scalar scalars[] = {{{', '.join(f'Scalar({s})' for s in scalars)}}};")
        write.append(f"  pointwise_into({row.name}_row, self, {{{', '.join(tensor_inputs(row))}}}"
                     f"{', scalars' if scalars else ''});")
        if first.type == "Tensor|Scalar":
            head = head.replace("const TensorOrScalar& self", "const Tensor& self")
    elif row.inplace == "direct":
        write = [f"  forward::{row.name}_({arguments(params_of(row))});"]
    else:
        write = ["  Tensor value = [&] {", "    NoGrad no_grad;",
                 f"    return {row.name}({arguments(params_of(row))});", "  }();",
                 f'  store_into(self, value, "{name}");']
    return "\n".join([boxed.declaration(row, True), head, *checks(row), *boxed.question(row, True),
                      *inplace_body(row, plan, write, name)])
