// In-place writes: what they refuse, how they change the history of a tensor, and, for views, that
// of the base and so of all its other views.
#include <mutex>
#include <string_view>

#include "facula/autograd/accumulate.h"
#include "facula/autograd/engine.h"
#include "facula/base/error.h"
#include "facula/core/intercept.h"
#include "facula/core/writable.h"

namespace facula {
namespace {

constexpr uint16_t kRefusing = kMultiOutputView | kNoGradView | kCustomView | kInferenceView;

// Where a view lies in the storage, in elements of its own type.
struct ViewLayout {
  DType dtype;
  Sizes sizes, strides;
  int64_t offset;
  explicit ViewLayout(const TensorImpl* t) : dtype(t->dtype), offset(t->offset) {
    sizes.assign(t->sizes, t->sizes + t->ndim);
    strides.assign(t->strides, t->strides + t->ndim);
  }
};

// Takes a view by layout, recorded if recording is on; `t` has the layout of the view's base.
Tensor replay(const Tensor& t, const ViewLayout& view) {
  if (t.dtype() == view.dtype) {
    return gradient_ops.as_strided(t, view.sizes, view.strides, view.offset);
  }
  if (is_complex(t.dtype()) && real_type(t.dtype()) == view.dtype) {
    return gradient_ops.as_strided(gradient_ops.view_as_real(t), view.sizes, view.strides,
                                   view.offset);
  }
  if (is_complex(view.dtype) && real_type(view.dtype) == t.dtype()) {
    Sizes sizes = view.sizes, strides = view.strides;
    for (int64_t& s : strides) s *= 2;
    sizes.push_back(2);
    strides.push_back(1);
    return gradient_ops.view_as_complex(
        gradient_ops.as_strided(t, sizes, strides, 2 * view.offset));
  }
  raise_error(ErrorKind::kRuntime, "cannot differentiate an in-place write through a view of type ",
              dtype_name(view.dtype), " of a tensor of type ", dtype_name(t.dtype()));
}

[[noreturn]] FACULA_COLD void fail_view(const TensorImpl* t, bool indirect) {
  const char* what = indirect ? "its base or another view of its base has been" : "is being";
  std::string text;
  bool no_grad = t->flags & kNoGradView, inference = t->flags & kInferenceView;
  if (t->grad_fn) {
    text = str("Output ", t->output_nr, " of ", operator_name(*t->grad_fn), " is a view and ", what,
               " modified inplace.");
  } else if (inference) {
    text =
        str("A view was created in inference mode and ", what, " modified inplace in normal mode.");
  } else {
    text = str("A view was created in no_grad mode and ", what,
               " modified inplace with grad mode enabled.");
  }
  bool several = t->flags & kMultiOutputView, custom = t->flags & kCustomView;
  if ((no_grad || inference) && !custom) {
    text +=
        str(" Given that this use case is ambiguous and error-prone, it is forbidden. You can "
            "clarify your code by moving both the view and the inplace either both inside the ",
            inference ? "inference_mode" : "no_grad",
            " block (if you don't want the inplace to be tracked) or both outside (if you want "
            "the inplace to be tracked).");
  } else if (several) {
    text +=
        " This view is the output of a function that returns multiple views. Such functions do not "
        "allow the output views to be modified inplace. You should replace the inplace operation "
        "by "
        "an out-of-place one.";
  } else {
    text +=
        " This view was created inside a custom Function (or because an input was returned as-is) "
        "and the autograd logic to handle view+inplace would override the custom backward "
        "associated with the custom Function, leading to incorrect gradients. This behavior is "
        "forbidden. You can fix this by cloning the output of the custom Function.";
  }
  fail(ErrorKind::kRuntime, std::move(text));
}

void check_recorded_write(const Tensor& t) {
  if (t->flags & kRefusing) fail_view(t.impl(), false);
  if (t->base) {
    FACULA_CHECK(!requires_grad(t) || t->base->grad_fn, kRuntime,
                 "a view of a leaf Variable that requires grad is being used in an in-place "
                 "operation.");
  }
  FACULA_CHECK(!requires_grad(t) || !is_leaf(t), kRuntime,
               "a leaf Variable that requires grad is being used in an in-place operation.");
}

// CopySlices is the history of a base after an in-place write to one of its views: the gradient of
// the part that was written goes through the node of the write, the rest passes by.
class CopySlices final : public Node {
 public:
  CopySlices(TensorImpl* base, TensorImpl* view, Ref<Node> write)
      : base_(base), view_(view), write_(std::move(write)) {
    Edge to_base;
    if (requires_grad(base)) to_base = gradient_edge(base);
    edges.push_back(std::move(to_base));
    for (size_t i = 1; i < write_->edges.size(); ++i) edges.push_back(write_->edges[i]);
    shift_ = base->offset * item_size(base->dtype) / item_size(view->dtype);
    view_.offset -= shift_;
  }
  const char* name() const override { return "CopySlices"; }

  void apply(Gradients& grads, Gradients& grads_in) override {
    Tensor whole = whole_gradient(std::move(grads[0]));
    Tensor part = part_of(whole);
    Gradients inner(1), inner_in(write_->edges.size());
    inner[0] = needs(0) ? gradient_ops.clone(part) : part;
    write_->apply(inner, inner_in);
    for (size_t i = 1; i < inner_in.size(); ++i) grads_in[i] = std::move(inner_in[i]);
    if (!needs(0)) return;
    Tensor& replaced = inner_in[0];
    if (!replaced.defined()) {
      replaced = gradient_ops.zeros(part.sizes(), part.dtype(), part.device());
    }
    fit_gradient(write_->outputs[0], replaced, write_->name(), 0);
    gradient_ops.copy_inplace(part, replaced);
    grads_in[0] = std::move(whole);
  }
  void release_saved() override {
    write_->release_saved();
    write_->released = true;
  }
  void visit_saved(void (*f)(void*, TensorImpl*), void* context) const override {
    write_->visit_saved(f, context);
  }

 private:
  // A gradient of the base that this pass may write to, with the base's strides.
  Tensor whole_gradient(Tensor grad) const {
    if ((grad->intercept & kInterceptBatched) && grad.numel()) [[unlikely]]
      return hidden_copy(grad);
    bool same_layout = grad.strides() == IntList(base_.strides);
    if (!grad_enabled() && same_layout && grad->offset == 0 && (!needs(0) || is_unshared(grad))) {
      return grad;
    }
    Tensor own = new_strided(base_.sizes, base_.strides, grad.dtype(), grad.device());
    gradient_ops.copy_inplace(own, grad);
    return own;
  }

  // The same for a gradient that an interpreter stands behind: memory that is made by operators, so
  // that it is the interpreter's too. Every element of the base is written over.
  Tensor hidden_copy(const Tensor& grad) const {
    int64_t extent = 1;
    for (size_t d = 0; d < base_.sizes.size(); ++d)
      extent += (base_.sizes[d] - 1) * base_.strides[d];
    Tensor first = gradient_ops.as_strided(grad, {}, {}, grad.storage_offset());
    Tensor line =
        gradient_ops.add(gradient_ops.zeros({extent}, grad.dtype(), grad.device()), first);
    Tensor own = gradient_ops.as_strided(line, base_.sizes, base_.strides, 0);
    gradient_ops.copy_inplace(own, grad);
    return own;
  }

  Tensor part_of(const Tensor& whole) const {
    bool plain =
        !grad_enabled() && !(whole->intercept & kInterceptBatched) && whole.dtype() == view_.dtype;
    if (!plain) return replay(whole, view_);
    return alias_storage(whole, view_.sizes, view_.strides, view_.offset);
  }

  ViewLayout base_, view_;  // the view's offset is relative to the base
  Ref<Node> write_;
  int64_t shift_ = 0;
};

std::mutex refresh_mutex;

// Makes `node` the history of t, which holds a share; gives back the old one.
void replace_history(TensorImpl* t, Node* node, uint32_t output_nr) {
  Node* before = std::exchange(t->grad_fn, node);
  t->output_nr = output_nr;
  if (node) t->flags |= kRequiresGrad;
  move_retained(t, before);
  if (before) before->release();
}

}  // namespace

void refresh_view(TensorImpl* t) {
  uint32_t now = t->version->value.load(std::memory_order_acquire);
  TensorImpl* base = t->base;
  if (!t->grad_fn && !(base->flags & kRequiresGrad)) {
    t->view_version = now;
    return;
  }
  if (t->flags & kRefusing) fail_view(t, true);
  Tensor fresh;
  {
    GradMode on(true);
    fresh = replay(Tensor::borrow(base), ViewLayout(t));
  }
  std::lock_guard lock(refresh_mutex);
  if (t->view_version == now) return;  // another thread was faster
  t->view_version = now;
  if (!fresh->grad_fn) t->flags &= static_cast<uint16_t>(~kRequiresGrad);
  if (fresh->grad_fn) fresh->grad_fn->retain();
  replace_history(t, fresh->grad_fn, fresh->output_nr);
}

namespace {

// takes_overlap tells the operators that give all elements one value, or only change the geometry
// of a tensor: elements that share memory do not keep them from anything.
[[gnu::cold]] bool takes_overlap(std::string_view op) {
  constexpr std::string_view kThese[] = {"zero_",      "fill_",       "resize_",
                                         "resize_as_", "as_strided_", "set_",
                                         "squeeze_",   "unsqueeze_",  "transpose_"};
  for (std::string_view each : kThese) {
    if (op == each) return true;
  }
  return false;
}

// warns_of_overlap tells those that write into such elements with a warning, unrecorded.
[[gnu::cold]] bool warns_of_overlap(std::string_view op) {
  return op == "masked_fill_" || op == "index_fill_" || op == "index_fill_tensor_" ||
         op == "index_put_";
}

}  // namespace

void check_inplace(const Tensor& t, const char* op, bool recorded) {
  const TensorImpl* p = t.impl();
  FACULA_CHECK(!p->has(kInference) || tls.inference, kRuntime,
               "Inplace update to inference tensor outside InferenceMode is not allowed. You can "
               "make a clone to get a normal tensor before doing inplace update.");
  bool writes_history = grad_enabled() && (recorded || requires_grad(t));
  if (writes_history) check_recorded_write(t);
  FACULA_CHECK(
      !overlaps_itself(t) || takes_overlap(op) || (!writes_history && warns_of_overlap(op)),
      kRuntime, op,
      ": unsupported operation: more than one element of the written-to tensor refers to a "
      "single memory location. Please clone() the tensor before performing the operation.");
  check_writable(*p->storage, op);
}

void set_history_inplace(const Tensor& t, Ref<Node> node) {
  check_recorded_write(t);
  TensorImpl* p = t.impl();
  if (node->outputs.empty()) node->outputs.push_back(GradMeta(t));
  if (!p->base) {
    replace_history(p, node.detach(), 0);
    return;
  }
  TensorImpl* base = p->base;
  FACULA_CHECK(is_inexact(base->dtype), kRuntime,
               "cannot record an in-place write to a view of a tensor of type ",
               dtype_name(base->dtype));
  auto slices = make_ref<CopySlices>(base, p, std::move(node));
  slices->outputs.push_back(GradMeta(Tensor::borrow(base)));
  replace_history(base, slices.detach(), 0);
  // Its history is made again when somebody asks for it.
  p->view_version = p->version->value.load(std::memory_order_acquire) - 1;
}

}  // namespace facula
