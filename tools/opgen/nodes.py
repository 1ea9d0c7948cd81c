"""Autograd nodes of rows: what they save, how they apply the row's rules."""
from __future__ import annotations

from dataclasses import dataclass

from opgen.expressions import (
    METADATA,
    METADATA_MEMBER,
    OpPrinter,
    is_gradient,
    metadata_in,
    names_in,
)
from opgen.loops import Fused, fused_loops
from opgen.rows import Row
from opgen.signature import TENSORS, Param


@dataclass
class NodePlan:
    """What a node of a row has to keep. `inplace` selects the rules of the in-place form."""

    row: Row
    inplace: bool = False

    def __post_init__(self):
        row = self.row
        self.rules = dict(row.gradients)
        if self.inplace and "inplace_grad" in row.options:
            self.rules.update(row.options["inplace_grad"])
        self.is_d = "d" in row.options
        self.where = row.where
        self.differentiable = self._differentiable_outputs()
        used: dict[str, set] = {}
        self.metadata: set[tuple[str, str]] = set()
        for key, expr in self.rules.items():
            for name in names_in(expr, self.where):
                used.setdefault(name, set()).add(key)
            self.metadata |= {(n, h) for n, h in metadata_in(expr, self.where) if not is_gradient(self.row, n)}
        self.used = used
        self.params = [p for p in row.sig.params if p.name in used]
        self.results = [o for o in row.sig.outputs if o.name in used]
        self.class_name = row.class_name + ("Inplace" if self.inplace and "inplace_grad" in row.options else "")

    def _differentiable_outputs(self):
        outs = self.row.sig.outputs
        if len(outs) == 1 or self.row.mutates:
            return outs[:1]
        text = " ".join(self.rules.values())
        return [o for o in outs if f"grad_{o.name}" in text]

    def keys_needing(self, name: str) -> list:
        return [k for k in self.rules if k in self.used.get(name, ())]

    def edge_index(self, name: str) -> str:
        """Index of the first edge of an input, as C++."""
        number, lists = 0, []
        for p in self.row.sig.tensor_params:
            if p.name == name:
                break
            if p.is_list:
                lists.append(f"{p.name}_count_")
            else:
                number += 1
        return " + ".join([str(number), *lists])

    def member(self, p: Param) -> str:
        return p.name + "_"


def members(plan: NodePlan) -> list[str]:
    """Member declarations of a node."""
    out = [f"{p.info.stored} {p.name}_{{}};" for p in plan.params]
    out += [f"SavedTensor{'s' if o.type == 'Tensor[]' else ''} {o.name}_;" for o in plan.results]
    out += [f"{METADATA_MEMBER[h]} {n}_{METADATA[h][0]}_{{}};" for n, h in sorted(plan.metadata)]
    out += [f"size_t {p.name}_count_ = 0;" for p in plan.row.sig.tensor_params if p.is_list]
    return out


def environment(plan: NodePlan) -> dict[str, tuple[str, str]]:
    """Names that the rules may use."""
    env = {}
    for p in plan.row.sig.params:
        t = {"Dim": "int", "int...": "int[]", "Tensor?[]": "Tensor[]", "Tensor?": "Tensor"}.get(p.type, p.type)
        code = p.name
        env[p.name] = (t, code)
    for o in plan.row.sig.outputs:
        env[o.name] = (o.type, o.name)
    single = len(plan.row.sig.outputs) == 1 or plan.row.mutates
    if single:
        kind = plan.row.sig.outputs[0].type if plan.row.sig.outputs else "Tensor"
        env["grad"] = ("Tensor[]", "grads") if kind == "Tensor[]" else ("Tensor", "grads[0]")
    for i, o in enumerate(plan.differentiable):
        env[f"grad_{o.name}"] = ("Tensor", f"grads[{i}]")
    env["mask"] = ("bool[]", "mask")
    if plan.row.mutates:
        env["result"] = ("Tensor", "result")
    return env


def unpack_lines(plan: NodePlan, names: set[str], indent: str) -> list[str]:
    """Bring saved values back under their own names."""
    lines = []
    for p in plan.params:
        if p.name not in names:
            continue
        if p.type in TENSORS or p.is_list:
            lines.append(f"{indent}auto {p.name} = {p.name}_.unpack(this);")
        elif p.type in ("int[]?", "float[]?"):
            lines.append(f"{indent}auto {p.name} = {p.name}_.get();")
        else:
            lines.append(f"{indent}const auto& {p.name} = {p.name}_;")
    lines += [f"{indent}auto {o.name} = {o.name}_.unpack(this);" for o in plan.results if o.name in names]
    return lines


def rule_lines(plan: NodePlan, key, fused: dict[str, Fused]) -> list[str]:
    """The lines that compute the gradients of one key."""
    expr = plan.rules[key]
    names = names_in(expr, plan.where)
    printer = OpPrinter(plan.row, environment(plan), live=False)
    if isinstance(key, tuple):
        bits = [plan.edge_index(k) for k in key]
        lines = ["    {", "      uint64_t mask = " + " | ".join(
            f"(uint64_t(needs({b})) << {i})" for i, b in enumerate(bits)) + ";", "      if (mask) {"]
        lines += unpack_lines(plan, names, "        ")
        lines.append(f"        auto all = {printer.text(expr)[1]};")
        lines += [f"        if (needs({b})) grads_in[{b}] = std::get<{i}>(all);" for i, b in enumerate(bits)]
        return [*lines, "      }", "    }"]
    index = plan.edge_index(key)
    param = plan.row.sig.param(key)
    if param.is_list:
        lines = [f"    if (needs_any({index}, {key}_count_)) {{"]
        lines += unpack_lines(plan, names, "      ")
        lines.append(f"      auto all = {printer.text(expr)[1]};")
        lines.append(f"      for (size_t i = 0; i < {key}_count_; ++i) grads_in[{index} + i] = all[i];")
        return [*lines, "    }"]
    lines = [f"    if (needs({index})) {{"]
    lines += unpack_lines(plan, names, "      ")
    value = product(printer, expr) if plan.is_d and key in plan.row.options["d"] \
        and expr is plan.row.options["d"].get(key) else printer.text(expr)[1]
    f = fused.get(key) if not plan.inplace or expr is plan.row.gradients.get(key) else None
    if f is None:
        lines.append(f"      grads_in[{index}] = {value};")
    else:
        operands = ", ".join("grads[0]" if n == "grad" else n for n in f.inputs)
        lines.append(f"      if (grad_enabled() || watched({{{operands}}})) {{")
        lines.append(f"        grads_in[{index}] = {value};")
        lines.append("      } else {")
        if f.scalars:
            lines.append(f"        const Scalar scalars[] = {{{', '.join(f'Scalar({s})' for s in f.scalars)}}};")
        lines.append(f"        grads_in[{index}] = pointwise({f.name}_row, {{{operands}}}"
                     f"{', scalars' if f.scalars else ''});")
        lines.append("      }")
    return [*lines, "    }"]


def product(printer: OpPrinter, d: str) -> str:
    """grad times the derivative's conjugate."""
    kind, code = printer.text(d)
    if d.strip() == "1":
        return "grads[0]"
    if d.strip() == "-1":
        return "facula::neg(grads[0])"
    if kind in ("int", "float"):
        return f"facula::mul(grads[0], {code})"
    if kind in ("Scalar",):
        return f"facula::mul(grads[0], ({code}).conj())"
    return f"facula::mul(grads[0], conj_operand({code}))"


def node_code(plan: NodePlan) -> str:
    """The struct of a node."""
    row = plan.row
    fused = {f.key: f for f in fused_loops(row)} if row.kind == "pointwise" else {}
    saved = [p.name for p in plan.params if p.type in TENSORS or p.is_list] + [o.name for o in plan.results]
    lines = [f"struct {plan.class_name}Backward final : OperatorNode {{"]
    lines += ["  " + m for m in members(plan)]
    lines.append(f'  const char* name() const override {{ return "{plan.class_name}Backward0"; }}')
    if saved:
        lines.append("  void release_saved() override { released = true; " + " ".join(f"{n}_.reset();" for n in saved) + " }")
        lines.append("  void visit_saved(void (*f)(void*, TensorImpl*), void* c) const override { "
                     + " ".join(f"visit({n}_, f, c);" for n in saved) + " }")
    if len(plan.differentiable) > 1 and any("defined(grad" in e for e in plan.rules.values()):
        lines.append("  bool takes_undefined() const override { return true; }")
    lines.append("  void apply(Gradients& grads, Gradients& grads_in) override {")
    for key in plan.rules:
        lines += rule_lines(plan, key, fused)
    return "\n".join([*lines, "  }", "};"])


def record_lines(plan: NodePlan, inplace: bool) -> tuple[list[str], list[str]]:
    """Lines that make a node and save inputs (before the call when in place), and those after it."""
    row = plan.row
    before = [f"    node = make_ref<{plan.class_name}Backward>();"]
    for p in row.sig.tensor_params:
        if p.is_list:
            before.append(f"    node->{p.name}_count_ = {p.name}.size();")
            before.append(f"    node->add_edges({p.name});")
        else:
            plain = p.type != "Tensor|Scalar" or (inplace and p.name == "self")
            target = p.name if plain else f"{p.name}.tensor"
            before.append(f"    node->add_edge({target});")
    for p in plan.params:
        before.append("    " + save_line(plan, p, inplace))
    for n, h in sorted(plan.metadata):
        if row.sig.param(n):
            before.append(f"    node->{n}_{METADATA[h][0]}_ = {METADATA_MEMBER[h]}({METADATA[h][2].format(n)});")
    after = []
    for n, h in sorted(plan.metadata):
        if not row.sig.param(n):
            after.append(f"    node->{n}_{METADATA[h][0]}_ = {METADATA_MEMBER[h]}({METADATA[h][2].format(n)});")
    return before, after


def save_line(plan: NodePlan, p: Param, inplace: bool) -> str:
    """Save one input, if a gradient whose rule names it is wanted."""
    keys = plan.keys_needing(p.name)
    conditions = []
    for key in keys:
        for k in key if isinstance(key, tuple) else (key,):
            target = plan.row.sig.param(k)
            index = plan.edge_index(k)
            index = " + ".join(f"node->{x}" if x.endswith("_count_") else x for x in index.split(" + "))
            conditions.append(f"node->needs_any({index}, node->{k}_count_)" if target.is_list
                              else f"node->needs({index})")
    if p.type in TENSORS or p.is_list:
        call = f"save_input({p.name})"
        if inplace and p.name == "self":
            call = "save_before_write(self)"
        elif inplace and not p.is_list:
            call = f"save_input({p.name}, self)"
        return f"if ({' || '.join(dict.fromkeys(conditions))}) node->{p.name}_.{call};"
    if p.type in ("int[]", "int..."):
        return f"node->{p.name}_ = {p.name}.to_sizes();"
    if p.type == "float[]":
        return f"node->{p.name}_.assign({p.name}.begin(), {p.name}.end());"
    return f"node->{p.name}_ = {p.name};"
