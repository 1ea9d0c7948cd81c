// The interpreter of forward mode: which tangents are known, and what becomes of them.
#include "facula/modes/forward.h"

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/modes/batched.h"
#include "facula/ops/create_functions.h"

namespace facula {
namespace {

// The tangents of one argument; false if one is not known.
bool find_tangents(const Forward& level, const Value& v, std::vector<Tensor>& out, bool& any) {
  auto find = [&](const Tensor& t) {
    Tangent found = t.defined() ? level.of(t) : Tangent{true, {}};
    any |= found.value.defined();
    out.push_back(std::move(found.value));
    return found.known;
  };
  if (v.is<Tensor>()) return find(v.as<Tensor>());
  bool known = true;
  if (v.is<std::vector<Tensor>>()) {
    for (const Tensor& t : v.as<std::vector<Tensor>>()) known &= find(t);
  }
  return known;
}

// Calls f with the tensors of a value, in order; an undefined one stands for other values.
template <class F>
void each_tensor(const Value& v, F&& f) {
  if (v.is<std::vector<Tensor>>()) {
    for (const Tensor& t : v.as<std::vector<Tensor>>()) f(t);
  } else {
    f(v.is<Tensor>() ? v.as<Tensor>() : Tensor());
  }
}

template <class F>
void each_result(const Values& results, F&& f) {
  for (const Value& v : results) each_tensor(v, f);
}

}  // namespace

Forward::Forward() : start_(next_sequence()) {}

void Forward::set(const Tensor& t, Tensor tangent, bool linked) {
  FACULA_CHECK(!tangent.defined() || tangent.sizes() == t.sizes(), kRuntime,
               "forward mode: expected a tangent of shape ", list_text(t.sizes()), ", got ",
               tangent.defined() ? list_text(tangent.sizes()) : "");
  entries_[t.impl()] = Entry{t, std::move(tangent), linked};
}

Tangent Forward::of(const Tensor& t) const {
  if (auto at = entries_.find(t.impl()); at != entries_.end()) return {true, at->second.tangent};
  if (is_batched(t)) return {};
  if (!requires_grad(t)) return {true, {}};
  const Node* node = grad_fn(t);
  return {!node || node->sequence < start_, {}};
}

bool Forward::is_linked(const Tensor& t) const {
  if (!t.defined() || !requires_grad(t)) return false;
  auto at = entries_.find(t.impl());
  return at == entries_.end() || at->second.linked;
}

void Forward::forget(const Storage* storage) {
  std::erase_if(entries_, [&](const auto& e) { return e.second.tensor->storage == storage; });
}

Values Forward::call(const OpInfo& info, std::span<Value> args) {
  const auto& op = static_cast<const BoxedOp&>(info);
  Values results = info.call(args);
  if (op.writes) {
    forget(args[0].as<Tensor>()->storage);
    return results;
  }
  bool wanted = false;
  each_result(results, [&](const Tensor& t) { wanted |= t.defined() && requires_grad(t); });
  if (!wanted) return results;
  bool any = false;
  std::vector<std::vector<Tensor>> tangents(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    if (!find_tangents(*this, args[i], tangents[i], any)) return results;
  }
  bool linked = false;
  for (const Value& v : args) each_tensor(v, [&](const Tensor& t) { linked |= is_linked(t); });
  std::vector<Tensor> found;
  if (any) {
    GradMode mode(linked && grad_enabled());
    ForwardRule rule = forward_rule(op);
    if (!rule) return results;
    found = rule(ForwardCall{op, args, results, tangents});
    if (found.empty()) return results;
  }
  size_t i = 0;
  each_result(results, [&](const Tensor& t) {
    if (t.defined() && requires_grad(t))
      set(t, any && i < found.size() ? found[i] : Tensor(), linked);
    ++i;
  });
  return results;
}

Tensor ForwardCall::filled(size_t i) const {
  Tensor t = tangent(i);
  return t.defined() || !value(i).defined() ? t : zeros_like(value(i));
}

}  // namespace facula
