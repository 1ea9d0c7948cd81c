// AutogradMeta: the gradient and hooks of a tensor, and the questions that operators ask about
// history: requires_grad, gradient_edge, recording, in-place checks.
#pragma once
#include <string>

#include "facula/autograd/node.h"

namespace facula {

class AccumulateGrad;
class RetainGrad;

// AutogradMeta is made for tensors that have a gradient, hooks or a retained gradient.
struct AutogradMeta final : TensorMeta {
  Tensor grad;  // under the lock of the accumulator while a backward pass may run
  std::atomic<AccumulateGrad*> accumulator{nullptr};  // of a leaf, once its gradient was wanted
  std::shared_ptr<RetainGrad> retained;               // the hook of retain_grad
  std::string name;
  bool retains_grad() const { return retained != nullptr; }
  ~AutogradMeta() override;
};

// meta_of gives the tensor's meta, making it at need; find_meta gives null instead.
FACULA_API AutogradMeta& meta_of(TensorImpl* t);
inline AutogradMeta* find_meta(const TensorImpl* t) { return static_cast<AutogradMeta*>(t->meta); }

// refresh_view rebuilds the history of a view whose base was written to; raises for views that
// refuse that (of several outputs, made under no_grad or by a custom Function).
FACULA_API void refresh_view(TensorImpl* t);
inline bool stale_view(const TensorImpl* t) {
  return t->base && t->view_version != t->version->value.load(std::memory_order_relaxed);
}

// requires_grad says whether gradients flow to t: a leaf that asked, a recorded result, or a view
// of either.
inline bool requires_grad(const TensorImpl* t) {
  return (t->flags | (t->base ? t->base->flags : 0)) & kRequiresGrad;
}
inline bool requires_grad(const Tensor& t) { return t.defined() && requires_grad(t.impl()); }
inline bool requires_grad(const TensorOrScalar& v) { return v.tensor && requires_grad(v.tensor); }
inline bool requires_grad(TensorList list) {
  for (const Tensor& t : list) {
    if (requires_grad(t)) return true;
  }
  return false;
}

// recording says whether a call with these inputs must make a node.
template <class... T>
inline bool recording(const T&... inputs) {
  return grad_enabled() && (requires_grad(inputs) || ...);
}

// set_requires_grad marks a leaf; RuntimeError for other tensors and for types without gradients.
FACULA_API void set_requires_grad(const Tensor& t, bool on);
inline bool is_leaf(const Tensor& t) {
  if (stale_view(t.there())) refresh_view(t.impl());
  return t->grad_fn == nullptr;
}
// grad_fn gives the node of a tensor, or null for leaves.
FACULA_API Node* grad_fn(const Tensor& t);
// gradient_edge gives the edge that gradients of t flow along; makes the accumulator of a leaf.
FACULA_API Edge gradient_edge(TensorImpl* t);

// grad and set_grad read and write the accumulated gradient of a leaf (or a retaining tensor).
FACULA_API Tensor grad(const Tensor& t);
FACULA_API void set_grad(const Tensor& t, Tensor g);
// retain_grad keeps the gradient of a recorded result in grad(t) too.
FACULA_API void retain_grad(const Tensor& t);

// detach gives a tensor over the same data without history; it shares the version counter.
FACULA_API Tensor detach(const Tensor& t);
// detach_ drops the history of the tensor itself; RuntimeError for views.
FACULA_API void detach_(const Tensor& t);

// check_inplace raises where an in-place write to t is not allowed: a leaf that requires grad, a
// view of one, an expanded tensor, an inference tensor, a read-only buffer. `recorded` says that
// the call will be recorded because of its other inputs.
FACULA_API void check_inplace(const Tensor& t, const char* op, bool recorded = false);
// set_history_inplace makes `node`, whose first edge is that of the old t, the history of t after
// an in-place write; for views it rebases the base's history so that all views of it see the write.
FACULA_API void set_history_inplace(const Tensor& t, Ref<Node> node);

// add_hook registers a gradient hook of a tensor; remove_hook takes it away by the id given. Hooks
// stay with the value for which they were registered: an in-place write does not move them.
FACULA_API uint64_t add_hook(const Tensor& t, std::shared_ptr<Hook> hook);
FACULA_API void remove_hook(const Tensor& t, uint64_t id);
// add_accumulated_hook registers a hook of a leaf that runs after its gradient was accumulated.
FACULA_API uint64_t add_accumulated_hook(const Tensor& t, std::shared_ptr<Hook> hook);

}  // namespace facula
