// What tensors know of their place in the graph: flags, edges, detaching, hooks. Accumulated
// gradients are in accumulate.cpp, views and in-place writes in view.cpp.
#include "facula/autograd/meta.h"

#include "facula/autograd/detach.h"
#include "facula/autograd/accumulate.h"
#include "facula/base/error.h"
#include "facula/core/interpreter.h"

namespace facula {

AutogradMeta::~AutogradMeta() {
  if (retained) retained->forget();
  delete accumulator.load(std::memory_order_acquire);
}

AutogradMeta& meta_of(TensorImpl* t) {
  auto* present = __atomic_load_n(&t->meta, __ATOMIC_ACQUIRE);
  if (present) [[likely]]
    return *static_cast<AutogradMeta*>(present);
  auto fresh = std::make_unique<AutogradMeta>();
  TensorMeta* value = fresh.get();
  if (__atomic_compare_exchange_n(&t->meta, &present, value, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    return *fresh.release();
  }
  return *static_cast<AutogradMeta*>(present);
}

Node* grad_fn(const Tensor& t) {
  if (stale_view(t.there())) refresh_view(t.impl());
  return t->grad_fn;
}

Edge gradient_edge(TensorImpl* t) {
  if (stale_view(t)) [[unlikely]]
    refresh_view(t);
  if (t->grad_fn) [[likely]]
    return Edge{Ref<Node>::share(t->grad_fn), t->output_nr};
  return accumulator_of(t).edge();
}

void set_requires_grad(const Tensor& t, bool on) {
  if (!is_leaf(t)) {
    FACULA_CHECK(on, kRuntime,
                 "you can only change requires_grad flags of leaf variables. If you want to use a "
                 "computed variable in a subgraph that doesn't require differentiation use "
                 "var_no_grad = var.detach().");
    return;
  }
  if (on) {
    FACULA_CHECK(is_inexact(t.dtype()), kRuntime,
                 "only Tensors of floating point and complex dtype can require gradients");
    FACULA_CHECK(!t->has(kInference) || tls.inference, kRuntime,
                 "Setting requires_grad=True on inference tensor outside InferenceMode is not "
                 "allowed.");
    t->flags |= kRequiresGrad;
  } else {
    t->flags &= static_cast<uint16_t>(~kRequiresGrad);
  }
}

Tensor (*detach_batched)(const Tensor& t) = nullptr;
Tensor (*detach_dispatched)(const Tensor& t) = nullptr;

Tensor detach(const Tensor& t) {
  if ((t.there()->intercept & kInterceptBatched) && detach_batched) return detach_batched(t);
  if ((t->intercept & kInterceptDispatch) && detach_dispatched) return detach_dispatched(t);
  return alias(t);
}

void detach_(const Tensor& t) {
  FACULA_CHECK(!t.there()->base, kRuntime, "Can't detach views in-place. Use detach() instead.");
  Node* node = std::exchange(t->grad_fn, nullptr);
  t->output_nr = 0;
  t->flags &= static_cast<uint16_t>(~kRequiresGrad);
  move_retained(t.impl(), node);
  if (node) node->release();
}

void retain_grad(const Tensor& t) {
  FACULA_CHECK(requires_grad(t), kRuntime,
               "can't retain_grad on Tensor that has requires_grad=False");
  if (is_leaf(t)) return;
  AutogradMeta& meta = meta_of(t.impl());
  if (meta.retained) return;
  meta.retained = std::make_shared<RetainGrad>(&meta);
  move_retained(t.impl(), nullptr);
}

uint64_t add_hook(const Tensor& t, std::shared_ptr<Hook> hook) {
  FACULA_CHECK(requires_grad(t), kRuntime,
               "cannot register a hook on a tensor that doesn't require gradient");
  Node* node = grad_fn(t);
  if (!node) node = &accumulator_of(t.impl());
  uint64_t id = next_hook_id();
  node->make_hooks().tensor_pre.push_back({t->output_nr, id, std::move(hook)});
  return id;
}

uint64_t add_accumulated_hook(const Tensor& t, std::shared_ptr<Hook> hook) {
  FACULA_CHECK(requires_grad(t), kRuntime,
               "cannot register a hook on a tensor that doesn't require gradient");
  FACULA_CHECK(is_leaf(t), kRuntime,
               "post accumulate grad hooks cannot be registered on non-leaf tensors");
  uint64_t id = next_hook_id();
  accumulator_of(t.impl()).make_hooks().accumulated.push_back({id, std::move(hook)});
  return id;
}

void remove_hook(const Tensor& t, uint64_t id) {
  auto drop = [&](Node* node) {
    if (!node || !node->hooks) return;
    auto has_id = [&](const auto& h) { return h.id == id; };
    std::erase_if(node->hooks->tensor_pre, has_id);
    std::erase_if(node->hooks->accumulated, has_id);
  };
  drop(t->grad_fn);
  if (AutogradMeta* meta = find_meta(t.impl())) drop(meta->accumulator.load());
}

}  // namespace facula
