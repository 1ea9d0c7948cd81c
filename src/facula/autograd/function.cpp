// Connecting the outputs of custom functions, and the node of those written in C++.
#include "facula/autograd/function.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <typeinfo>

#include "facula/autograd/accumulate.h"
#include "facula/autograd/engine.h"
#include "facula/base/error.h"

namespace facula {
namespace {

bool contains(const std::vector<const TensorImpl*>& list, const Tensor& t) {
  return std::find(list.begin(), list.end(), t.impl()) != list.end();
}

bool is_among(TensorList list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& x) { return x.is_same(t); });
}

// A view of the same elements, to stand for an input that was returned as it is.
Tensor same_view(const Tensor& t) {
  return make_view(t, t.sizes(), t.strides(), t.storage_offset());
}

void connect_one(const Ref<Node>& node, TensorList inputs, Tensor& out, const OutputRules& rules,
                 size_t count) {
  bool is_input = is_among(inputs, out);
  if (contains(rules.dirty, out)) {
    FACULA_CHECK(is_input, kRuntime, kDirtyNotReturned);
    return set_history_inplace(out, node);
  }
  if (is_input) out = same_view(out);
  bool is_view = out->base != nullptr;
  node->set_history(out);
  if (!is_view) return;
  // Views that forward made without recording take part in the graph through this node alone.
  out->flags &= static_cast<uint16_t>(~kNoGradView);
  out->flags |= kCustomView;
  if (count > 1) out->flags |= kMultiOutputView;
}

}  // namespace

void connect_outputs(const Ref<Node>& node, TensorList inputs, std::span<Tensor> outputs,
                     const OutputRules& rules, bool recorded) {
  for (const TensorImpl* dirty : rules.dirty) {
    bool returned = std::any_of(outputs.begin(), outputs.end(),
                                [&](const Tensor& t) { return t.impl() == dirty; });
    FACULA_CHECK(returned, kRuntime, kDirtyNotReturned);
  }
  for (Tensor& out : outputs) {
    if (!out.defined()) {
      if (recorded) node->set_history(out);
      continue;
    }
    bool differentiable = is_inexact(out.dtype()) && !contains(rules.non_differentiable, out);
    if (!recorded) {
      if (is_among(inputs, out) && !contains(rules.dirty, out)) out = same_view(out);
      continue;
    }
    if (differentiable) {
      connect_one(node, inputs, out, rules, outputs.size());
      continue;
    }
    node->outputs.push_back(GradMeta(out));  // counted, so that gradients keep their places
    if (is_among(inputs, out) || requires_grad(out)) out = detach(out);
  }
}

void check_kind(const Node& node, size_t index, const Tensor& gradient) {
  const Edge& edge = node.edges[index];
  if (!gradient.is_complex() || !edge.valid()) return;
  const Node* to = edge.node.get();
  DType expected = to->is_accumulator() ? static_cast<const AccumulateGrad*>(to)->leaf_meta().dtype
                                        : to->outputs[edge.input_nr].dtype;
  FACULA_CHECK(is_complex(expected), kRuntime, "Function ", node.name(),
               " returned an invalid gradient at index ", index, " - expected type ",
               dtype_name(expected), " but got ", dtype_name(gradient.dtype()));
}

std::vector<Tensor> Context::saved_tensors() const {
  std::vector<Tensor> out;
  out.reserve(saved_.size());
  for (const SavedTensor& s : saved_) out.push_back(s.unpack(node_));
  return out;
}

void Context::mark_dirty(TensorList inputs) {
  rules_.dirty.clear();
  for (const Tensor& t : inputs) rules_.dirty.push_back(t.impl());
}

void Context::mark_non_differentiable(TensorList outputs) {
  rules_.non_differentiable.clear();
  for (const Tensor& t : outputs) rules_.non_differentiable.push_back(t.impl());
}

CustomNode::CustomNode(std::string name, Backward backward)
    : name_(std::move(name)), backward_(backward) {
  ctx.node_ = this;
}

void CustomNode::finish(TensorList inputs, std::span<Tensor> outputs, bool recorded) {
  connect_outputs(Ref<Node>::share(this), inputs, outputs, ctx.rules_, recorded);
  std::vector<Tensor> to_save = std::move(ctx.to_save_);
  if (!recorded) return;
  ctx.saved_.resize(to_save.size());
  for (size_t i = 0; i < to_save.size(); ++i) {
    const Tensor& t = to_save[i];
    if (!t.defined()) continue;
    if (t->grad_fn == this || contains(ctx.rules_.dirty, t))
      ctx.saved_[i].save_output(t);
    else
      ctx.saved_[i].save_input(t);
  }
}

void CustomNode::apply(Gradients& grads, Gradients& grads_in) {
  std::vector<Tensor> given(grads.begin(), grads.end());
  std::vector<Tensor> out = backward_(ctx, given);
  // Undefined gradients beyond the inputs are allowed: programs return one for each argument.
  while (out.size() > edges.size() && !out.back().defined()) out.pop_back();
  FACULA_CHECK(out.size() == edges.size(), kRuntime, "function ", name_,
               " returned an incorrect number of gradients (expected ", edges.size(), ", got ",
               out.size(), ")");
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].defined()) check_kind(*this, i, out[i]);
    grads_in[i] = std::move(out[i]);
  }
}

void CustomNode::release_saved() {
  for (SavedTensor& s : ctx.saved_) s.reset();
}

void CustomNode::visit_saved(void (*f)(void*, TensorImpl*), void* context) const {
  for (const SavedTensor& s : ctx.saved_) {
    if (s.peek()) f(context, s.peek());
  }
}

std::string function_name(const char* type_name) {
  int status = 0;
  char* text = abi::__cxa_demangle(type_name, nullptr, nullptr, &status);
  std::string name = status == 0 && text ? text : type_name;
  std::free(text);
  size_t colon = name.rfind("::");
  if (colon != std::string::npos) name.erase(0, colon + 2);
  return name + "Backward";
}

}  // namespace facula
