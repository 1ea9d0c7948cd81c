// AccumulateGrad: the end of the graph, the node that adds gradients to a leaf. RetainGrad: the
// hook that keeps the gradient of a result.
#pragma once
#include <mutex>

#include "facula/autograd/meta.h"
#include "facula/core/intercept.h"

namespace facula {

// AccumulateGrad belongs to the meta of its leaf and lives as long. While edges lead to it, it
// keeps the leaf alive in turn.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(TensorImpl* leaf);
  const char* name() const override { return "AccumulateGrad"; }
  void apply(Gradients& grads, Gradients& grads_in) override;
  // accumulate adds a gradient that fits the leaf to its grad.
  void accumulate(Tensor gradient);
  // leaf_meta gives shape, type and device of the leaf as they are now: they may have changed since
  // the edge was made. Several backward calls may ask at once, so nothing is noted here.
  FACULA_API GradMeta leaf_meta() const;
  // edge gives an edge to this node; the caller holds the leaf.
  Edge edge();
  TensorImpl* leaf() const { return leaf_; }
  bool has_hooks() const { return hooks != nullptr; }

 private:
  friend class Node;
  friend Tensor grad(const Tensor& t);
  friend void set_grad(const Tensor& t, Tensor g);
  class Lock;
  void drop_edge() noexcept;
  Tensor first(Tensor gradient) const;

  // The count of edges while one thread changes it from zero to one or back.
  static constexpr uint32_t kChanging = uint32_t{1} << 31;

  TensorImpl* leaf_;
  Tensor kept_;  // the leaf, while edges lead here
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

// accumulator_of gives the accumulator of a leaf, making it at need.
AccumulateGrad& accumulator_of(TensorImpl* leaf);

// RetainGrad writes gradients to the meta of a tensor for as long as that lives.
class RetainGrad final : public Hook {
 public:
  explicit RetainGrad(AutogradMeta* meta) : meta_(meta) {}
  void call(Gradients& grads, const Gradients* outer) override;
  void forget();

 private:
  std::mutex mutex_;
  AutogradMeta* meta_;
};

// move_retained makes the retained-gradient hook of t follow it to its present node.
void move_retained(TensorImpl* t, Node* from);

// is_unshared says that nobody else sees the tensor or its bytes, so they may be overwritten.
bool is_unshared(const Tensor& t);

// fit_layout_of_gradient turns a gradient of another layout than strided into one that a node can
// take; the layer that has such layouts fills it. Accumulators take all.
extern FACULA_API Tensor (*fit_layout_of_gradient)(const Tensor& gradient, const Node& node);

// fit_gradient makes a gradient look as `meta` says: sums broadcast dimensions, takes the real
// part, casts. RuntimeError naming the node `from` and its output `index` where that is impossible.
void fit_gradient_slow(const GradMeta& meta, Tensor& gradient, const char* from, size_t index);
inline void fit_gradient(const GradMeta& meta, Tensor& gradient, const char* from, size_t index) {
  const TensorImpl* g = gradient.impl();
  bool fits = g->dtype == meta.dtype && g->device.type == meta.device.type &&
              IntList(g->sizes, g->ndim) == IntList(meta.sizes);
  if (!fits) [[unlikely]]
    fit_gradient_slow(meta, gradient, from, index);
}

}  // namespace facula
