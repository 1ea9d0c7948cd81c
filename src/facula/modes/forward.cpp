// The interpreter of forward mode: which tangents are known, and what becomes of them. A call whose
// operator has no rule is differentiated by two reverse passes through its own node.
#include "facula/modes/forward.h"

#include <algorithm>

#include "facula/autograd/accumulate.h"
#include "facula/autograd/engine.h"
#include "facula/autograd/pruning.h"
#include "facula/base/error.h"
#include "facula/modes/batched.h"
#include "facula/ops/create_functions.h"

namespace facula {
namespace {

// The tensors of results, in order; undefined ones stand for other values.
std::vector<Tensor> tensors_of(const Values& results) {
  std::vector<Tensor> out;
  for (const Value& v : results) {
    if (v.is<std::vector<Tensor>>()) {
      for (const Tensor& t : v.as<std::vector<Tensor>>()) out.push_back(t);
    } else {
      out.push_back(v.is<Tensor>() ? v.as<Tensor>() : Tensor());
    }
  }
  return out;
}

// What a write to a tensor changes: the base of a view, with all other views of it.
Tensor whole_of(const Tensor& t) { return t->base ? Tensor::borrow(t->base) : t; }

// The node that recorded all outputs, or null if there is no one such.
Node* common_node(TensorList outputs) {
  Node* node = nullptr;
  for (const Tensor& t : outputs) {
    if (!requires_grad(t)) continue;
    Node* made = grad_fn(t);
    if (!made || (node && made != node)) return nullptr;
    node = made;
  }
  return node;
}

const Tensor* find_tangent(const ForwardInputs& in, const Edge& e) {
  for (const auto& [edge, tangent] : in.edges) {
    if (edge.node.get() == e.node.get() && edge.input_nr == e.input_nr) return &tangent;
  }
  return nullptr;
}

// Zeros in place of the gradients of a node's outputs; those of `outputs` are leaves.
Gradients zero_gradients(const Node& node, TensorList outputs) {
  Gradients grads(node.outputs.size());
  for (size_t i = 0; i < grads.size(); ++i) {
    bool leaf = std::any_of(outputs.begin(), outputs.end(),
                            [&](const Tensor& t) { return requires_grad(t) && t->output_nr == i; });
    if (!leaf && node.takes_undefined()) continue;
    const GradMeta& m = node.outputs[i];
    grads[i] = gradient_ops.zeros(m.sizes, m.dtype, m.device);
    if (leaf) set_requires_grad(grads[i], true);
  }
  return grads;
}

}  // namespace

Forward::Forward() : start_(next_sequence()) {}

void Forward::set(const Tensor& t, Tensor tangent, bool linked) {
  FACULA_CHECK(!tangent.defined() || tangent.sizes() == t.sizes(), kRuntime,
               "Trying to set a forward gradient that has a different size than that of the "
               "original Tensor, this is not supported. Tensor is of size ",
               list_text(t.sizes()), " while the given forward gradient is of size ",
               tangent.defined() ? list_text(tangent.sizes()) : "", ".");
  entries_[t.impl()] = Entry{t, std::move(tangent), linked};
  if (t->grad_fn) histories_[{t->grad_fn, t->output_nr}] = t.impl();
}

const Forward::Entry* Forward::find(const Tensor& t) const {
  auto at = entries_.find(t.impl());
  if (at == entries_.end() && t->grad_fn && !stale_view(t.impl())) {
    auto twin = histories_.find({t->grad_fn, t->output_nr});
    if (twin != histories_.end()) at = entries_.find(twin->second);
    if (at != entries_.end()) {
      const Tensor& other = at->second.tensor;
      bool same = other->grad_fn == t->grad_fn && other->output_nr == t->output_nr;
      if (!same || other.sizes() != t.sizes()) return nullptr;
    }
  }
  return at == entries_.end() ? nullptr : &at->second;
}

Tangent Forward::of(const Tensor& t) {
  if (const Entry* entry = find(t)) return {true, entry->tangent};
  if (is_batched(t)) return {};
  if (!requires_grad(t)) return {true, {}};
  Aside aside(this);
  const Node* node = grad_fn(t);
  if (!node || node->sequence < start_) return {true, {}};
  // A view whose base was written to has a new history, which starts at the base.
  if (!t->base || !entries_.contains(t->base)) return {};
  ForwardInputs in;
  in.tangents.emplace_back();
  look(in, whole_of(t));
  GradMode mode(in.linked && grad_enabled());
  std::vector<Tensor> found(1);
  if (in.any) found = by_reverse({&t, 1}, in);
  if (found.empty()) return {};
  settle({&t, 1}, in, found);
  return {true, found[0]};
}

bool Forward::is_linked(const Tensor& t) const {
  if (!t.defined() || !requires_grad(t)) return false;
  const Entry* entry = find(t);
  return !entry || entry->linked;
}

void Forward::forget(const Tensor& written) {
  const TensorImpl* whole = whole_of(written).impl();
  std::erase_if(entries_, [&](const auto& e) {
    const Tensor& t = e.second.tensor;
    return t.impl() == whole || t->base == whole;
  });
}

void Forward::look(ForwardInputs& in, const Tensor& argument) {
  Tangent found = argument.defined() ? of(argument) : Tangent{true, {}};
  in.known &= found.known;
  in.any |= found.value.defined();
  in.linked |= is_linked(argument);
  if (requires_grad(argument) && !is_batched(argument)) {
    in.edges.emplace_back(gradient_edge(argument.impl()), found.value);
  }
  in.tangents.back().push_back(std::move(found.value));
}

ForwardInputs Forward::look(std::span<const Value> args) {
  ForwardInputs in;
  for (const Value& v : args) {
    in.tangents.emplace_back();
    if (v.is<Tensor>()) look(in, v.as<Tensor>());
    if (!v.is<std::vector<Tensor>>()) continue;
    for (const Tensor& t : v.as<std::vector<Tensor>>()) look(in, t);
  }
  return in;
}

Values Forward::call(const OpInfo& info, std::span<Value> args) {
  const auto& op = static_cast<const BoxedOp&>(info);
  // Without recording results are constants, and a write leaves the history as it was.
  if (!grad_enabled()) return info.call(args);
  ForwardInputs in = look(args);
  if (op.writes) {
    Tensor part = args[0].as<Tensor>(), whole = whole_of(part);
    if (!whole.is_same(part)) {
      bool moves = in.tangents[0][0].defined();
      in.tangents.emplace_back();
      look(in, whole);
      // A view may have been given a tangent that its base knows nothing of.
      in.known &= !moves || in.tangents.back()[0].defined();
    }
    Values results = info.call(args);
    write(whole, in);
    return results;
  }
  Values results = info.call(args);
  std::vector<Tensor> outputs = tensors_of(results), found;
  if (!in.known || !requires_grad(TensorList(outputs))) return results;
  if (in.any) {
    GradMode mode(in.linked);
    if (ForwardRule rule = forward_rule(op)) {
      found = rule(ForwardCall{op, args, results, in.tangents});
    }
    if (found.empty()) found = by_reverse(outputs, in);
    if (found.empty()) return results;
  }
  settle(outputs, in, std::move(found));
  return results;
}

// After a write to a tensor or to a view of it; `in` tells of both before.
void Forward::write(const Tensor& whole, const ForwardInputs& in) {
  if (is_batched(whole)) return;
  forget(whole);
  if (!in.known || !requires_grad(whole)) return;
  std::vector<Tensor> found;
  if (in.any) {
    GradMode mode(in.linked);
    found = by_reverse({&whole, 1}, in);
    if (found.empty()) return;
  }
  settle({&whole, 1}, in, std::move(found));
}

// What a node makes of gradients u of its outputs is linear in u; the gradient of that by u, in the
// direction of the inputs' tangents, is the outputs' tangents.
std::vector<Tensor> Forward::by_reverse(TensorList outputs, const ForwardInputs& in, bool whole) {
  Node* node = common_node(outputs);
  if (!node) return {};
  for (const Edge& e : node->edges) {
    if (e.valid() && !find_tangent(in, e)) return {};
  }
  BackwardOptions options{.retain_graph = grad_enabled(),
                          .create_graph = grad_enabled(),
                          .allow_unused = true,
                          .accumulate = false};
  GradMode record(true);
  Gradients u = zero_gradients(*node, outputs), given = u, back(node->edges.size());
  {
    PruningScope all(nullptr);
    node->apply(given, back);
  }
  std::vector<Tensor> roots, directions, leaves;
  for (size_t i = 0; i < back.size(); ++i) {
    if (!back[i].defined() || !node->edges[i].valid()) continue;
    const Tensor& tangent = *find_tangent(in, node->edges[i]);
    if (!tangent.defined()) continue;
    fit_gradient(GradMeta(tangent), back[i], node->name(), i);
    if (!requires_grad(back[i])) {
      FACULA_CHECK(!whole, kNotImplemented, node->name(), ": forward mode needs a jvp, as what ",
                   "backward gives for argument ", i, " is not computed from its gradients alone");
      continue;
    }
    roots.push_back(back[i]);
    directions.push_back(tangent);
  }
  std::vector<Tensor> found(outputs.size());
  std::vector<size_t> places;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!requires_grad(outputs[i])) continue;
    leaves.push_back(u[outputs[i]->output_nr]);
    places.push_back(i);
  }
  if (roots.empty()) return found;
  std::vector<Tensor> pushed = grad(roots, leaves, directions, options);
  for (size_t i = 0; i < places.size(); ++i) found[places[i]] = std::move(pushed[i]);
  return found;
}

void Forward::settle(TensorList outputs, const ForwardInputs& in, std::vector<Tensor> found) {
  found.resize(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (requires_grad(outputs[i])) set(outputs[i], std::move(found[i]), in.linked);
  }
}

Tensor ForwardCall::filled(size_t i) const {
  Tensor t = tangent(i);
  return t.defined() || !value(i).defined() ? t : zeros_like(value(i));
}

Aside::Aside(const Interpreter* first) {
  InterpreterStack& stack = InterpreterStack::of_thread();
  auto active = stack.active(StackSide::kAbove);
  auto at = std::find_if(active.begin(), active.end(),
                         [&](const auto& each) { return each.get() == first; });
  for (auto n = active.end() - at; n > 0; --n) taken_.push_back(stack.pop(StackSide::kAbove));
}

Aside::~Aside() {
  InterpreterStack& stack = InterpreterStack::of_thread();
  for (; !taken_.empty(); taken_.pop_back()) {
    stack.push(StackSide::kAbove, std::move(taken_.back()));
  }
}

void take_off(const Interpreter* one) {
  InterpreterStack& stack = InterpreterStack::of_thread();
  auto active = stack.active(StackSide::kAbove);
  size_t at = 0;
  while (at < active.size() && active[at].get() != one) ++at;
  FACULA_CHECK(at < active.size(), kRuntime, "the level has ended already");
  Aside others(at + 1 < active.size() ? active[at + 1].get() : nullptr);
  stack.pop(StackSide::kAbove);
}

}  // namespace facula
