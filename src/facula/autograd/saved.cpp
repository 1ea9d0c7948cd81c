// What nodes save for their backward pass, and the errors about it.
#include <algorithm>

#include "facula/autograd/engine.h"
#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/core/intercept.h"

namespace facula {

struct SavedHookStack {
  std::vector<std::shared_ptr<SavedTensorHooks>> items;
};

namespace {

uint32_t version_of(const Tensor& t) { return t->version->value.load(std::memory_order_acquire); }

void check_saveable(const Tensor& t) {
  FACULA_CHECK(
      !t->has(kInference), kRuntime,
      "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
      "inference mode in computation tracked by autograd. To work around this, you can make "
      "a clone to get a normal tensor and use it in autograd, or use `no_grad()` instead of "
      "`inference_mode()`.");
}

[[noreturn]] FACULA_COLD void fail_released() {
  fail(ErrorKind::kRuntime,
       "Trying to backward through the graph a second time (or directly access saved tensors after "
       "they have already been freed). Saved intermediate values of the graph are freed when you "
       "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
       "through the graph a second time or if you need to access saved tensors after calling "
       "backward.");
}

// "LogSoftmax" as its caller writes it: "log_softmax".
std::string call_name(const Node& node) {
  std::string out;
  for (char c : operator_name(node)) {
    bool capital = c >= 'A' && c <= 'Z';
    if (capital && !out.empty() && out.back() != '_') out += '_';
    out += capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::string at(const SourceLocation& where) {
  std::string text = where.text();
  return text.empty() ? text : " at " + text;
}

void set_edge(const Tensor& t, const Edge& edge) {
  if (!edge.valid()) return;
  t->grad_fn = Ref<Node>(edge.node).detach();
  t->output_nr = edge.input_nr;
  t->flags |= kRequiresGrad;
}

}  // namespace

void push_saved_hooks(std::shared_ptr<SavedTensorHooks> hooks) {
  if (!tls.saved_hooks) tls.saved_hooks = new SavedHookStack;
  tls.saved_hooks->items.push_back(std::move(hooks));
}

void pop_saved_hooks() {
  SavedHookStack* stack = tls.saved_hooks;
  FACULA_CHECK(stack, kRuntime, "pop_saved_hooks: there are no hooks of saved tensors");
  stack->items.pop_back();
  if (!stack->items.empty()) return;
  tls.saved_hooks = nullptr;
  delete stack;
}

void SavedTensor::pack(const Tensor& t, bool with_history) {
  auto extra = std::make_unique<Extra>();
  if (with_history && requires_grad(t)) extra->edge = gradient_edge(t.impl());
  extra->hooks = tls.saved_hooks->items.back();
  // The hooks run without themselves, and without recording.
  SavedHookStack* stack = std::exchange(tls.saved_hooks, nullptr);
  try {
    NoGrad off;
    // A result is handed over without its node, which would hold itself through it.
    extra->packed = extra->hooks->pack(with_history ? t : detach(t));
  } catch (...) {
    tls.saved_hooks = stack;
    throw;
  }
  tls.saved_hooks = stack;
  extra_ = std::move(extra);
}

void SavedTensor::save_input(const Tensor& t) {
  if (!t.defined()) return;
  check_saveable(t);
  was_set_ = true;
  if (tls.saved_hooks) [[unlikely]]
    return pack(t, true);
  tensor_ = t;
  version_ = version_of(t);
}

void SavedTensor::save_before_write(const Tensor& t) {
  check_saveable(t);
  was_set_ = true;
  if (tls.saved_hooks) [[unlikely]] {
    NoGrad off;
    Tensor copy = gradient_ops.clone(t);
    pack(copy, false);
  } else {
    NoGrad off;
    tensor_ = gradient_ops.clone(t);
    version_ = version_of(tensor_);
    extra_ = std::make_unique<Extra>();
  }
  if (requires_grad(t)) extra_->edge = gradient_edge(t.impl());
}

void SavedTensor::save_output(const Tensor& t) {
  if (!t.defined()) return;
  check_saveable(t);
  was_set_ = true;
  is_output_ = true;
  // After an in-place write to a view, its own number is stale: the node has one output.
  output_nr_ = stale_view(t.impl()) ? 0 : static_cast<uint16_t>(t->output_nr);
  if (tls.saved_hooks) [[unlikely]]
    return pack(t, false);
  tensor_ = detach(t);
  version_ = version_of(tensor_);
}

void SavedTensor::reset() {
  tensor_ = Tensor();
  extra_.reset();
}

Tensor SavedTensor::unpack(const Node* node) const {
  if (!tensor_.defined() && !extra_) {
    if (was_set_) fail_released();
    return Tensor();
  }
  if (tensor_.defined() && version_of(tensor_) != version_) [[unlikely]]
    fail_modified(node);
  if (!extra_ && (!is_output_ || !grad_enabled())) [[likely]]
    return tensor_;
  return restore(node);
}

Tensor SavedTensor::restore(const Node* node) const {
  Tensor kept = extra_ && extra_->hooks ? extra_->hooks->unpack(extra_->packed) : tensor_;
  FACULA_CHECK(kept.defined(), kType, "the unpack hook of a saved tensor must give a Tensor");
  // An input of a class with a __torch_dispatch__ is the object that was given, history and all.
  bool own = (kept->intercept & kInterceptDispatch) && !is_output_;
  if (own && requires_grad(kept) == (extra_ && extra_->edge.valid())) return kept;
  Tensor out = detach(kept);
  if (is_output_) {
    set_edge(out, Edge{Ref<Node>::share(const_cast<Node*>(node)), output_nr_});
  } else {
    set_edge(out, extra_->edge);
  }
  return out;
}

void SavedTensor::fail_modified(const Node* node) const {
  std::string text =
      str("one of the variables needed for gradient computation has been modified by an inplace "
          "operation: [facula.",
          dtype_title(tensor_.dtype()), "Tensor ", list_text(tensor_.sizes()), "]");
  const Node* maker = is_output_ ? node : tensor_->grad_fn;
  if (maker) {
    uint32_t number = is_output_ ? output_nr_ : tensor_->output_nr;
    text += str(", which is output ", number, " of ", operator_name(*maker), ",");
  }
  const VersionCounter& version = *tensor_->version;
  text +=
      str(" is at version ", version_of(tensor_), "; expected version ", version_,
          " instead. It was saved by ", call_name(*node), at(node->where), " and overwritten by ",
          version.writer ? version.writer : "an unknown operation", at(version.where), ".");
  fail(ErrorKind::kRuntime, std::move(text));
}

}  // namespace facula
