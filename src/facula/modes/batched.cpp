// Batched tensors are tensors over a storage without bytes; a node in place of their history holds
// the value. Operators never see them, as their intercept bit sends every call to vmap.
#include "facula/modes/batched.h"

#include "facula/autograd/detach.h"
#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/shape_functions.h"

namespace facula {

namespace {

// BatchedNode holds the value. The graph ends here: gradients flow through the value's own history.
struct BatchedNode final : Node {
  BatchedNode(Tensor v, int64_t l) : value(std::move(v)), level(l) {}
  const char* name() const override { return "Batched"; }
  void apply(Gradients&, Gradients&) override {
    fail(ErrorKind::kRuntime,
         "backward: the gradient of a tensor inside vmap was asked for by the engine of the outer "
         "program; use facula.func.grad or vjp inside the function that is mapped");
  }
  void visit_saved(void (*f)(void*, TensorImpl*), void* context) const override {
    f(context, value.impl());
  }
  Tensor value;
  int64_t level;
};

// A storage that no element lies in, however large the offset.
Storage* no_bytes() {
  static Storage* storage = Storage::external(nullptr, SIZE_MAX / 4, [](void*) {}, nullptr, false);
  return storage;
}

const BatchedNode& node_of(const Tensor& t) {
  auto* node = dynamic_cast<const BatchedNode*>(t->grad_fn);
  FACULA_CHECK(node, kRuntime, "vmap: an alias of a tensor inside vmap cannot be used");
  return *node;
}

Tensor detach_samples(const Tensor& t) {
  const BatchedNode& node = node_of(t);
  return make_batched(detach(node.value), node.level);
}

Tensor plain_samples(const Tensor& t) {
  Tensor value = node_of(t).value;
  while (is_batched(value)) value = Tensor(node_of(value).value);
  return value;
}

// EscapedHandler takes the calls that no running vmap does.
struct EscapedHandler final : Interpreter {
  const char* name() const override { return "escaped"; }
  Values call(const OpInfo& op, std::span<Value>) override {
    raise_error(ErrorKind::kRuntime, op.name,
                ": a tensor from inside vmap is used after the vmap has ended; return it instead");
  }
};

__attribute__((constructor)) void register_batched() {
  detach_batched = detach_samples;
  samples_behind = plain_samples;
  InterpreterStack::set_handler(kInterceptBatched, std::make_shared<EscapedHandler>());
}

}  // namespace

Tensor make_batched(const Tensor& value, int64_t level) {
  FACULA_CHECK(value.dim() > 0, kRuntime,
               "vmap: a tensor without dimensions cannot be mapped over");
  FACULA_CHECK(!(value->intercept & ~kInterceptBatched), kNotImplemented,
               "vmap: only strided tensors can be mapped over");
  IntList sizes = value.sizes(), strides = value.strides();
  Sizes inner(sizes.begin() + 1, sizes.end()), steps(strides.begin() + 1, strides.end());
  for (int64_t& s : steps) s = s < 0 ? 0 : s;
  auto node = make_ref<BatchedNode>(value, level);
  Tensor t = tensor_over(no_bytes(), inner, steps, value.storage_offset(), value.dtype());
  t->device = value.device();
  t->intercept = kInterceptBatched;
  node->retain();
  t->grad_fn = node.get();
  if (requires_grad(value)) t->flags |= kRequiresGrad;
  return t;
}

int64_t batch_level(const Tensor& t) { return is_batched(t) ? node_of(t).level : 0; }
const Tensor& batch_value(const Tensor& t) { return node_of(t).value; }

bool is_batched_at(const Tensor& t, int64_t level) {
  if (!is_batched(t)) return false;
  const BatchedNode& node = node_of(t);
  return node.level == level || (node.level > level && is_batched_at(node.value, level));
}

Tensor hide_batch(const Tensor& t, int64_t level) {
  int64_t top = batch_level(t);
  FACULA_CHECK(top != level, kRuntime, "vmap: the tensor is batched at this level already");
  if (top < level) return make_batched(t, level);
  Tensor value = transpose(batch_value(t), 0, 1);
  return make_batched(hide_batch(value, level), top);
}

Tensor show_batch(const Tensor& t, int64_t level, int64_t size) {
  if (!is_batched_at(t, level)) {
    Sizes sizes = t.sizes().to_sizes();
    sizes.insert(sizes.begin(), size);
    return expand(unsqueeze(t, 0), sizes);
  }
  int64_t top = batch_level(t);
  if (top == level) return batch_value(t);
  return make_batched(transpose(show_batch(batch_value(t), level, size), 0, 1), top);
}

}  // namespace facula
