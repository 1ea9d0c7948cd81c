// backward() and grad(), from and to tensors or edges: their arguments, seeds and errors.
#include "facula/autograd/accumulate.h"
#include "facula/autograd/engine.h"
#include "facula/base/error.h"

namespace facula {
namespace {

// The leaf's own numbers where an edge leads to one: its accumulator learns them late.
GradMeta meta_of_edge(const Edge& e) {
  if (e.node->is_accumulator()) return static_cast<AccumulateGrad*>(e.node.get())->leaf_meta();
  return e.node->outputs[e.input_nr];
}

Tensor make_seed(const GradMeta& root, const Tensor& given, size_t i) {
  if (!given.defined()) {
    int64_t numel = 1;
    for (int64_t n : root.sizes) numel *= n;
    FACULA_CHECK(numel == 1, kRuntime, "grad can be implicitly created only for scalar outputs");
    FACULA_CHECK(!is_complex(root.dtype), kRuntime,
                 "grad can be implicitly created only for real scalar outputs but got ",
                 dtype_name(root.dtype));
    return gradient_ops.ones(root.sizes, root.dtype, root.device);
  }
  FACULA_CHECK(given.sizes() == IntList(root.sizes), kRuntime, "Mismatch in shape: grad_output[", i,
               "] has a shape of ", list_text(given.sizes()), " and output[", i,
               "] has a shape of ", list_text(root.sizes), ".");
  FACULA_CHECK(given.is_complex() == is_complex(root.dtype), kRuntime,
               "For complex Tensors, both grad_output and output are required to have the same "
               "dtype. Mismatch in dtype: grad_output[",
               i, "] has a dtype of ", dtype_name(given.dtype()), " and output[", i,
               "] has a dtype of ", dtype_name(root.dtype), ".");
  return given;
}

// The edges and seeds of the roots.
std::vector<Edge> root_edges(const std::vector<BackwardEnd>& roots, TensorList seeds,
                             Gradients& gradients) {
  FACULA_CHECK(seeds.empty() || seeds.size() == roots.size(), kRuntime, "got ", roots.size(),
               " tensors and ", seeds.size(), " gradients");
  std::vector<Edge> edges;
  for (size_t i = 0; i < roots.size(); ++i) {
    const auto& [t, edge] = roots[i];
    FACULA_CHECK(t.defined() || edge.valid(), kRuntime, "element ", i,
                 " of the tensors to differentiate is undefined");
    FACULA_CHECK(!t.defined() || requires_grad(t), kRuntime, "element ", i,
                 " of tensors does not require grad and does not have a grad_fn");
    gradients.push_back(make_seed(t.defined() ? GradMeta(t) : meta_of_edge(edge),
                                  seeds.empty() ? Tensor() : seeds[i], i));
    edges.push_back(t.defined() ? gradient_edge(t.impl()) : edge);
  }
  return edges;
}

std::vector<Edge> input_edges(const std::vector<BackwardEnd>& inputs) {
  std::vector<Edge> edges;
  for (const auto& [t, edge] : inputs) {
    FACULA_CHECK(t.defined() ? requires_grad(t) : edge.valid(), kRuntime,
                 "One of the differentiated Tensors does not require grad");
    edges.push_back(t.defined() ? gradient_edge(t.impl()) : edge);
  }
  return edges;
}

std::vector<BackwardEnd> ends_of(TensorList tensors) {
  std::vector<BackwardEnd> out;
  for (const Tensor& t : tensors) out.push_back({t, {}});
  return out;
}

}  // namespace

std::vector<Tensor> differentiate(const std::vector<BackwardEnd>& roots, TensorList seeds,
                                  const BackwardOptions& options,
                                  const std::vector<BackwardEnd>& inputs) {
  FACULA_CHECK(options.accumulate || !inputs.empty(), kValue, "grad requires non-empty inputs.");
  Gradients gradients;
  std::vector<Edge> edges = root_edges(roots, seeds, gradients);
  std::vector<Edge> captures = input_edges(inputs);
  if (options.accumulate) {
    for (const BackwardEnd& end : inputs) {
      if (end.tensor.defined()) retain_grad(end.tensor);
    }
  }
  std::vector<Tensor> out = run_graph(edges, std::move(gradients), options, captures);
  if (options.allow_unused || options.accumulate) return out;
  for (size_t i = 0; i < out.size(); ++i) {
    FACULA_CHECK(
        out[i].defined(), kRuntime, "The differentiated Tensor at index ", i,
        " appears to not have been used in the graph. Set allow_unused=True if this is the "
        "desired behavior.");
  }
  return out;
}

void backward(TensorList roots, TensorList seeds, BackwardOptions options, TensorList inputs) {
  options.accumulate = true;
  differentiate(ends_of(roots), seeds, options, ends_of(inputs));
}

std::vector<Tensor> grad(TensorList roots, TensorList inputs, TensorList seeds,
                         BackwardOptions options) {
  options.accumulate = false;
  return differentiate(ends_of(roots), seeds, options, ends_of(inputs));
}

}  // namespace facula
