// A few operators on float64 tensors, written with plain loops, for tests of autograd: autograd
// knows no operator, so its tests bring their own. SmallOps puts them into the table of gradient
// operators for its lifetime.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "facula/autograd/engine.h"
#include "facula/base/error.h"

namespace facula::small {

// Calls f(offset in elements) for each element in row-major order.
template <class F>
void each(const Tensor& t, F f) {
  std::vector<int64_t> index(t->ndim, 0);
  int64_t at = t->offset;
  for (int64_t i = 0; i < t.numel(); ++i) {
    f(at);
    for (int d = t->ndim - 1; d >= 0; --d) {
      at += t->strides[d];
      if (++index[d] < t->sizes[d]) break;
      at -= t->strides[d] * t->sizes[d];
      index[d] = 0;
    }
  }
}

inline double* raw(const Tensor& t) { return reinterpret_cast<double*>(t->storage->data()); }

inline std::vector<double> values(const Tensor& t) {
  std::vector<double> out;
  if (!t.defined()) return out;
  each(t, [&](int64_t at) { out.push_back(raw(t)[at]); });
  return out;
}

inline Tensor of(IntList sizes, const std::vector<double>& v) {
  Tensor t = new_empty(sizes, kFloat64);
  for (int64_t i = 0; i < t.numel(); ++i) raw(t)[i] = v[v.size() == 1 ? 0 : i];
  return t;
}
inline Tensor vec(const std::vector<double>& v) { return of({static_cast<int64_t>(v.size())}, v); }

inline Tensor leaf(const std::vector<double>& v) {
  Tensor t = vec(v);
  set_requires_grad(t, true);
  return t;
}

// Expands with stride 0, without history.
inline Tensor expanded(const Tensor& t, IntList sizes) {
  Sizes strides(sizes.size(), 0);
  size_t lead = sizes.size() - t.sizes().size();
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    strides[lead + d] = t->sizes[d] == 1 ? 0 : t->strides[d];
  }
  return alias_storage(t, sizes, strides, t->offset);
}

template <class F>
Tensor zip(const Tensor& a, const Tensor& b, F f) {
  Sizes sizes = broadcast_sizes(a.sizes(), b.sizes(), "zip");
  Tensor out = new_empty(sizes, kFloat64);
  std::vector<double> x = values(expanded(a, sizes)), y = values(expanded(b, sizes));
  for (size_t i = 0; i < x.size(); ++i) raw(out)[i] = f(x[i], y[i]);
  return out;
}

inline void write(const Tensor& to, const Tensor& from) {
  std::vector<double> v = values(expanded(from, to.sizes()));
  size_t i = 0;
  each(to, [&](int64_t at) { raw(to)[at] = v[i++]; });
}

inline Tensor clone(const Tensor& t);
inline Tensor mul(const Tensor& a, const Tensor& b);
inline Tensor add(const Tensor& a, const Tensor& b);
inline Tensor as_strided(const Tensor& t, IntList sizes, IntList strides, int64_t offset);
inline Tensor copy_(const Tensor& to, const Tensor& from);

struct MulNode final : Node {
  SavedTensor a, b;
  const char* name() const override { return "MulBackward0"; }
  void apply(Gradients& grads, Gradients& grads_in) override {
    if (needs(0)) grads_in[0] = mul(grads[0], b.unpack(this));
    if (needs(1)) grads_in[1] = mul(grads[0], a.unpack(this));
  }
  void release_saved() override {
    a.reset();
    b.reset();
  }
};

inline Ref<MulNode> record_mul(const Tensor& a, const Tensor& b, bool inplace) {
  auto node = make_ref<MulNode>();
  node->add_edge(a);
  node->add_edge(b);
  if (node->needs(1)) inplace ? node->a.save_before_write(a) : node->a.save_input(a);
  if (node->needs(0)) inplace ? node->b.save_input(b, a) : node->b.save_input(b);
  return node;
}

inline Tensor mul(const Tensor& a, const Tensor& b) {
  Tensor out = zip(a, b, [](double x, double y) { return x * y; });
  if (recording(a, b)) record_mul(a, b, false)->set_history(out);
  return out;
}

inline Tensor mul_(const Tensor& a, const Tensor& b) {
  check_inplace(a, "mul_", recording(b));
  Ref<Node> node;
  if (recording(a, b)) node = record_mul(a, b, true);
  write(a, zip(a, b, [](double x, double y) { return x * y; }));
  bump_version(a, "mul_");
  if (node) set_history_inplace(a, node);
  return a;
}

struct AddNode final : Node {
  const char* name() const override { return "AddBackward0"; }
  void apply(Gradients& grads, Gradients& grads_in) override {
    if (needs(0)) grads_in[0] = grads[0];
    if (needs(1)) grads_in[1] = grads[0];
  }
};

inline Tensor add(const Tensor& a, const Tensor& b) {
  Tensor out = zip(a, b, [](double x, double y) { return x + y; });
  if (recording(a, b)) {
    auto node = make_ref<AddNode>();
    node->add_edge(a);
    node->add_edge(b);
    node->set_history(out);
  }
  return out;
}

inline Tensor add_(const Tensor& a, const Tensor& b) {
  check_inplace(a, "add_", recording(b));
  Ref<AddNode> node;
  if (recording(a, b)) {
    node = make_ref<AddNode>();
    node->add_edge(a);
    node->add_edge(b);
  }
  write(a, zip(a, b, [](double x, double y) { return x + y; }));
  bump_version(a, "add_");
  if (node) set_history_inplace(a, node);
  return a;
}

// Saves its result.
struct SigmoidNode final : Node {
  SavedTensor result;
  const char* name() const override { return "SigmoidBackward0"; }
  void apply(Gradients& grads, Gradients& grads_in) override {
    Tensor y = result.unpack(this), one = of({}, {1}), minus = of({}, {-1});
    grads_in[0] = mul(grads[0], mul(y, add(one, mul(minus, y))));
  }
  void release_saved() override { result.reset(); }
};

inline double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

inline Tensor sigmoid(const Tensor& t) {
  Tensor out = zip(t, t, [](double x, double) { return sigmoid_of(x); });
  if (recording(t)) {
    auto node = make_ref<SigmoidNode>();
    node->add_edge(t);
    node->set_history(out);
    node->result.save_output(out);
  }
  return out;
}

inline Tensor sigmoid_(const Tensor& t) {
  check_inplace(t, "sigmoid_");
  Ref<SigmoidNode> node;
  if (recording(t)) {
    node = make_ref<SigmoidNode>();
    node->add_edge(t);
  }
  write(t, zip(t, t, [](double x, double) { return sigmoid_of(x); }));
  bump_version(t, "sigmoid_");
  if (node) {
    set_history_inplace(t, node);
    node->result.save_output(t);
  }
  return t;
}

// Sums everything; its backward expands with stride 0.
struct SumNode final : Node {
  Sizes sizes;
  const char* name() const override { return "SumBackward0"; }
  void apply(Gradients& grads, Gradients& grads_in) override {
    grads_in[0] = grad_enabled() ? mul(grads[0], of(sizes, {1})) : expanded(grads[0], sizes);
  }
};

inline Tensor sum(const Tensor& t) {
  double s = 0;
  for (double v : values(t)) s += v;
  Tensor out = of({}, {s});
  if (recording(t)) {
    auto node = make_ref<SumNode>();
    node->sizes = t.sizes().to_sizes();
    node->add_edge(t);
    node->set_history(out);
  }
  return out;
}

// The gradient of as_strided adds to a block like the base's storage and reads the base from it.
struct AsStridedNode final : Node {
  Sizes base_sizes, base_strides, sizes, strides;
  int64_t base_offset = 0, offset = 0;
  const char* name() const override { return "AsStridedBackward0"; }
  void apply(Gradients& grads, Gradients& grads_in) override;
};

inline Tensor as_strided(const Tensor& t, IntList sizes, IntList strides, int64_t offset) {
  Tensor out = make_view(t, sizes, strides, offset);
  if (recording(t)) {
    auto node = make_ref<AsStridedNode>();
    node->base_sizes = t.sizes().to_sizes();
    node->base_strides = t.strides().to_sizes();
    node->base_offset = t->offset;
    node->sizes = sizes.to_sizes();
    node->strides = strides.to_sizes();
    node->offset = offset;
    node->add_edge(t);
    node->set_history(out);
  }
  return out;
}

// Scatter-adds values at the places of a view into zeros of the base; linear, so its own gradient
// takes the view again.
struct ScatterNode final : Node {
  Sizes sizes, strides;
  int64_t offset = 0;
  const char* name() const override { return "ScatterBackward0"; }
  void apply(Gradients& grads, Gradients& grads_in) override {
    grads_in[0] = as_strided(clone(grads[0]), sizes, strides, offset);
  }
};

inline void AsStridedNode::apply(Gradients& grads, Gradients& grads_in) {
  Tensor block = new_strided(base_sizes, base_strides, kFloat64);
  std::memset(block->storage->data(), 0, block->storage->bytes());
  Tensor places = alias_storage(block, sizes, strides, offset - base_offset);
  std::vector<double> v = values(grads[0]);
  size_t i = 0;
  each(places, [&](int64_t at) { raw(places)[at] += v[i++]; });
  if (recording(grads[0])) {
    auto node = make_ref<ScatterNode>();
    node->sizes = sizes;
    node->strides = strides;
    node->offset = offset - base_offset;
    node->add_edge(grads[0]);
    node->set_history(block);
  }
  grads_in[0] = block;
}

// select of the first dimension, as a view.
inline Tensor select(const Tensor& t, int64_t i) {
  IntList sizes{t->sizes + 1, t.sizes().size() - 1}, strides{t->strides + 1, sizes.size()};
  return as_strided(t, sizes, strides, t->offset + i * t->strides[0]);
}

// unbind, as views of one node.
struct UnbindNode final : Node {
  Sizes sizes;
  const char* name() const override { return "UnbindBackward0"; }
  void apply(Gradients& grads, Gradients& grads_in) override {
    Tensor out = new_empty(sizes, kFloat64);
    NoGrad off;
    for (size_t i = 0; i < grads.size(); ++i) {
      write(alias_storage(out, {}, {}, static_cast<int64_t>(i)), grads[i]);
    }
    grads_in[0] = out;
  }
};

inline std::vector<Tensor> unbind(const Tensor& t) {
  std::vector<Tensor> out;
  for (int64_t i = 0; i < t.size(0); ++i) {
    out.push_back(make_view(t, {}, {}, t->offset + i * t->strides[0]));
  }
  if (recording(t)) {
    auto node = make_ref<UnbindNode>();
    node->sizes = t.sizes().to_sizes();
    node->add_edge(t);
    node->set_history(TensorList(out));
  }
  return out;
}

struct CopyNode final : Node {
  const char* name() const override { return "CopyBackward0"; }
  void apply(Gradients& grads, Gradients& grads_in) override {
    if (needs(1)) grads_in[1] = grads[0];
  }
};

inline Tensor copy_(const Tensor& to, const Tensor& from) {
  check_inplace(to, "copy_", recording(from));
  Ref<CopyNode> node;
  if (recording(to, from)) {
    node = make_ref<CopyNode>();
    node->add_edge(to);
    node->add_edge(from);
  }
  write(to, from);
  bump_version(to, "copy_");
  if (node) set_history_inplace(to, node);
  return to;
}

struct CloneNode final : Node {
  const char* name() const override { return "CloneBackward0"; }
  void apply(Gradients& grads, Gradients& grads_in) override { grads_in[0] = grads[0]; }
};

inline Tensor clone(const Tensor& t) {
  Tensor out = new_empty_as(t, kFloat64);
  write(out, t);
  if (recording(t)) {
    auto node = make_ref<CloneNode>();
    node->add_edge(t);
    node->set_history(out);
  }
  return out;
}

inline Tensor sum_to(const Tensor& t, IntList sizes) {
  FACULA_CHECK(sizes.empty() || sizes.size() == 1, kRuntime, "sum_to: small shapes only");
  if (sizes.empty()) return sum(t);
  Tensor out = of(sizes, {0});
  std::vector<double> v = values(t);
  for (size_t i = 0; i < v.size(); ++i) raw(out)[sizes[0] == 1 ? 0 : i % sizes[0]] += v[i];
  return out;
}

inline bool has_nan(const Tensor& t) {
  for (double v : values(t)) {
    if (std::isnan(v)) return true;
  }
  return false;
}

// SmallOps installs the operators above for its lifetime.
struct SmallOps {
  GradientOps before = gradient_ops;
  SmallOps() {
    gradient_ops = {};
    gradient_ops.add = add;
    gradient_ops.add_inplace = [](const Tensor& a, const Tensor& b) { add_(a, b); };
    gradient_ops.zeros = [](IntList s, DType, Device) { return of(s, {0}); };
    gradient_ops.ones = [](IntList s, DType, Device) { return of(s, {1}); };
    gradient_ops.clone = clone;
    gradient_ops.sum_to = sum_to;
    gradient_ops.as_strided = as_strided;
    gradient_ops.copy_inplace = [](const Tensor& to, const Tensor& from) { copy_(to, from); };
    gradient_ops.has_nan = has_nan;
  }
  ~SmallOps() { gradient_ops = before; }
};

inline std::string message_of(auto&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.message();
  }
  return "no error";
}

inline bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// A hook made of a lambda.
template <class F>
struct LambdaHook final : Hook {
  F f;
  explicit LambdaHook(F g) : f(std::move(g)) {}
  void call(Gradients& grads, const Gradients* outer) override { f(grads, outer); }
};
template <class F>
std::shared_ptr<Hook> hook(F f) {
  return std::make_shared<LambdaHook<F>>(std::move(f));
}

using Numbers = std::vector<double>;

}  // namespace facula::small
