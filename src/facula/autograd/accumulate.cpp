// Adding gradients to leaves, and keeping those of results.
#include "facula/autograd/accumulate.h"

#include <sched.h>

#include "facula/autograd/detach.h"
#include "facula/autograd/engine.h"
#include "facula/base/error.h"

namespace facula {

Tensor (*fit_layout_of_gradient)(const Tensor& gradient, const Node& node) = nullptr;

// Lock guards the grad of one leaf for a few instructions; no operator and no Python
// code runs under it.
class AccumulateGrad::Lock {
 public:
  explicit Lock(AccumulateGrad& node) : node_(node) {
    while (node_.busy_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  ~Lock() { node_.busy_.clear(std::memory_order_release); }
  Lock(const Lock&) = delete;

 private:
  AccumulateGrad& node_;
};

namespace {

// Says whether a gradient may become the grad of a leaf as it is laid out: like a dense leaf, or
// row-major.
bool fits_layout(const Tensor& gradient, const TensorImpl* leaf) {
  if (!is_dense(Tensor::borrow(const_cast<TensorImpl*>(leaf)))) return gradient.is_contiguous();
  for (int d = 0; d < leaf->ndim; ++d) {
    if (leaf->sizes[d] != 1 && gradient->strides[d] != leaf->strides[d]) return false;
  }
  return true;
}

Tensor add_gradients(const Tensor& present, const Tensor& gradient) {
  constexpr uint8_t kOwn = kInterceptSparse | kInterceptDispatch;
  if (grad_enabled() || (present->intercept & kOwn) || (gradient->intercept & kInterceptDispatch)) {
    return gradient_ops.add(present, gradient);
  }
  gradient_ops.add_inplace(present, gradient);
  return present;
}

bool expandable(IntList from, IntList to) {
  if (from.size() > to.size()) return false;
  size_t lead = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1 && from[i] != to[lead + i]) return false;
  }
  return true;
}

}  // namespace

AccumulateGrad::AccumulateGrad(TensorImpl* leaf) : Node(AccumulatorTag()), leaf_(leaf) {
  outputs.resize(1);
}

GradMeta AccumulateGrad::leaf_meta() const { return GradMeta(Tensor::borrow(leaf_)); }

Edge AccumulateGrad::edge() {
  uint32_t count = count_.load(std::memory_order_acquire);
  while (true) {
    if (count == 0) {
      if (!count_.compare_exchange_weak(count, kChanging, std::memory_order_acq_rel)) continue;
      kept_ = Tensor::borrow(leaf_);
      outputs[0] = leaf_meta();
      count_.store(1, std::memory_order_release);
      break;
    }
    if (count == kChanging) {
      sched_yield();
      count = count_.load(std::memory_order_acquire);
      continue;
    }
    if (count_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) break;
  }
  return Edge{Ref<Node>::adopt(this), 0};
}

void AccumulateGrad::drop_edge() noexcept {
  // This edge is counted, so the count is at least one; another thread that holds the leaf may make
  // edges meanwhile.
  uint32_t count = count_.load(std::memory_order_acquire);
  while (true) {
    uint32_t next = count > 1 ? count - 1 : kChanging;
    if (count_.compare_exchange_weak(count, next, std::memory_order_acq_rel)) {
      if (next != kChanging) return;
      break;
    }
  }
  Tensor leaf = std::move(kept_);  // dies after the count is zero, and perhaps this node with it
  count_.store(0, std::memory_order_release);
}

Tensor AccumulateGrad::first(Tensor gradient) const {
  if (gradient->intercept & kInterceptSparse) [[unlikely]]
    return gradient->refs.load() == 1 ? gradient : gradient_ops.clone(gradient);
  if (gradient->intercept & kInterceptDispatch) [[unlikely]]
    return grad_enabled() || !fits_layout(gradient, leaf_) ? gradient_ops.clone(gradient)
                                                           : detach(gradient);
  if (fits_layout(gradient, leaf_)) {
    if (is_unshared(gradient)) return gradient;
    if (is_dense(gradient)) return gradient_ops.clone(gradient);
  }
  Tensor leaf = Tensor::borrow(leaf_);
  Tensor out = is_dense(leaf) ? new_empty_as(leaf, gradient.dtype())
                              : new_empty(gradient.sizes(), gradient.dtype(), gradient.device());
  gradient_ops.copy_inplace(out, gradient);
  return out;
}

void AccumulateGrad::accumulate(Tensor gradient) {
  AutogradMeta& meta = meta_of(leaf_);
  // The grad is taken away, added to and put back, so that no lock is held while an operator runs
  // and gradients of two passes cannot get lost.
  bool ready = false;
  while (true) {
    Tensor present;
    {
      Lock lock(*this);
      if (meta.grad.defined()) {
        present = std::move(meta.grad);
      } else if (ready) {
        meta.grad = std::move(gradient);
        return;
      }
    }
    if (!present.defined()) {
      gradient = first(std::move(gradient));
    } else {
      try {
        gradient = add_gradients(present, gradient);
      } catch (...) {
        Lock lock(*this);
        if (!meta.grad.defined()) meta.grad = std::move(present);
        throw;
      }
    }
    ready = true;
  }
}

void AccumulateGrad::apply(Gradients& grads, Gradients&) {
  if (grads[0].defined()) accumulate(std::move(grads[0]));
}

AccumulateGrad& accumulator_of(TensorImpl* leaf) {
  AutogradMeta& meta = meta_of(leaf);
  AccumulateGrad* present = meta.accumulator.load(std::memory_order_acquire);
  if (present) [[likely]]
    return *present;
  auto fresh = std::make_unique<AccumulateGrad>(leaf);
  if (meta.accumulator.compare_exchange_strong(present, fresh.get(), std::memory_order_acq_rel)) {
    return *fresh.release();
  }
  return *present;
}

Tensor grad(const Tensor& t) {
  AutogradMeta* meta = find_meta(t.there());
  if (!meta) return Tensor();
  AccumulateGrad* node = meta->accumulator.load(std::memory_order_acquire);
  if (!node) return meta->grad;
  AccumulateGrad::Lock lock(*node);
  return meta->grad;
}

void set_grad(const Tensor& t, Tensor g) {
  if (!g.defined() && !find_meta(t.there())) return;
  if (g.defined()) {
    FACULA_CHECK(!g.is_same(t), kRuntime, "can't assign Variable as its own grad");
    FACULA_CHECK(g.dtype() == t.dtype(), kRuntime, "attempting to assign a gradient with dtype '",
                 dtype_name(g.dtype()), "' to a tensor with dtype '", dtype_name(t.dtype()),
                 "'. Please ensure that the gradient and the tensor have the same dtype");
    FACULA_CHECK(g.device().type == t.device().type, kRuntime,
                 "attempting to assign a gradient located on device '", device_text(g.device()),
                 "' to a tensor located on device '", device_text(t.device()),
                 "'. Please ensure that the gradient and the tensor are on the same device");
    FACULA_CHECK(g.sizes() == t.sizes(), kRuntime, "attempting to assign a gradient of size '",
                 list_text(g.sizes()), "' to a tensor of size '", list_text(t.sizes()),
                 "'. Please ensure that the gradient and the tensor are the same size");
  }
  AutogradMeta& meta = meta_of(t.there());
  AccumulateGrad* node = meta.accumulator.load(std::memory_order_acquire);
  if (!node) {
    meta.grad = std::move(g);
    return;
  }
  AccumulateGrad::Lock lock(*node);
  std::swap(meta.grad, g);  // the old one dies after the lock is free
}

void RetainGrad::call(Gradients& grads, const Gradients*) {
  Tensor kept = gradient_ops.clone(grads[0]);
  std::lock_guard lock(mutex_);
  if (!meta_) return;
  meta_->grad = meta_->grad.defined() ? gradient_ops.add(meta_->grad, kept) : std::move(kept);
}

void RetainGrad::forget() {
  std::lock_guard lock(mutex_);
  meta_ = nullptr;
}

void move_retained(TensorImpl* t, Node* from) {
  AutogradMeta* meta = find_meta(t);
  if (!meta || !meta->retained || from == t->grad_fn) return;
  uint64_t id = next_hook_id();
  if (from && from->hooks) {
    std::erase_if(from->hooks->retain_grad,
                  [&](const NodeHooks::TensorHook& h) { return h.hook == meta->retained; });
  }
  if (t->grad_fn) {
    t->grad_fn->make_hooks().retain_grad.push_back({t->output_nr, id, meta->retained});
  }
}

bool is_unshared(const Tensor& t) {
  return t->refs.load(std::memory_order_acquire) == 1 && t->storage->use_count() == 1 &&
         !t->storage->is_external();
}

void fit_gradient_slow(const GradMeta& meta, Tensor& gradient, const char* from, size_t index) {
  FACULA_CHECK(gradient.device().type == meta.device.type, kRuntime, "Function ", from,
               " returned an invalid gradient at index ", index, " - expected device ",
               device_text(meta.device), " but got ", device_text(gradient.device()));
  if (!(gradient.sizes() == IntList(meta.sizes))) {
    FACULA_CHECK(expandable(meta.sizes, gradient.sizes()), kRuntime, "Function ", from,
                 " returned an invalid gradient at index ", index, " - got ",
                 list_text(gradient.sizes()), " but expected shape compatible with ",
                 list_text(meta.sizes));
    gradient = gradient_ops.sum_to(gradient, meta.sizes);
  }
  if (gradient.is_complex() && !is_complex(meta.dtype)) gradient = gradient_ops.real(gradient);
  if (gradient.dtype() != meta.dtype) gradient = gradient_ops.cast(gradient, meta.dtype);
}

}  // namespace facula
