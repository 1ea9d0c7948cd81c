// backward() and grad(): their arguments, seeds and errors.
#include "facula/autograd/engine.h"
#include "facula/base/error.h"

namespace facula {
namespace {

Tensor make_seed(const Tensor& root, const Tensor& given, size_t i) {
  if (!given.defined()) {
    FACULA_CHECK(root.numel() == 1, kRuntime,
                 "grad can be implicitly created only for scalar outputs");
    FACULA_CHECK(!root.is_complex(), kRuntime,
                 "grad can be implicitly created only for real scalar outputs but got ",
                 dtype_name(root.dtype()));
    return gradient_ops.ones(root.sizes(), root.dtype(), root.device());
  }
  FACULA_CHECK(given.sizes() == root.sizes(), kRuntime, "Mismatch in shape: grad_output[", i,
               "] has a shape of ", list_text(given.sizes()), " and output[", i,
               "] has a shape of ", list_text(root.sizes()), ".");
  FACULA_CHECK(given.is_complex() == root.is_complex(), kRuntime,
               "For complex Tensors, both grad_output and output are required to have the same "
               "dtype. Mismatch in dtype: grad_output[",
               i, "] has a dtype of ", dtype_name(given.dtype()), " and output[", i,
               "] has a dtype of ", dtype_name(root.dtype()), ".");
  return given;
}

// The edges and seeds of the roots.
std::vector<Edge> root_edges(TensorList roots, TensorList seeds, Gradients& gradients) {
  FACULA_CHECK(seeds.empty() || seeds.size() == roots.size(), kRuntime, "got ", roots.size(),
               " tensors and ", seeds.size(), " gradients");
  std::vector<Edge> edges;
  for (size_t i = 0; i < roots.size(); ++i) {
    FACULA_CHECK(roots[i].defined(), kRuntime, "element ", i,
                 " of the tensors to differentiate is undefined");
    FACULA_CHECK(requires_grad(roots[i]), kRuntime, "element ", i,
                 " of tensors does not require grad and does not have a grad_fn");
    gradients.push_back(make_seed(roots[i], seeds.empty() ? Tensor() : seeds[i], i));
    edges.push_back(gradient_edge(roots[i].impl()));
  }
  return edges;
}

std::vector<Edge> input_edges(TensorList inputs) {
  std::vector<Edge> edges;
  for (const Tensor& t : inputs) {
    FACULA_CHECK(requires_grad(t), kRuntime,
                 "One of the differentiated Tensors does not require grad");
    edges.push_back(gradient_edge(t.impl()));
  }
  return edges;
}

}  // namespace

void backward(TensorList roots, TensorList seeds, BackwardOptions options, TensorList inputs) {
  Gradients gradients;
  std::vector<Edge> edges = root_edges(roots, seeds, gradients);
  std::vector<Edge> captures = input_edges(inputs);
  for (const Tensor& t : inputs) retain_grad(t);
  options.accumulate = true;
  run_graph(edges, std::move(gradients), options, captures);
}

std::vector<Tensor> grad(TensorList roots, TensorList inputs, TensorList seeds,
                         BackwardOptions options) {
  FACULA_CHECK(!inputs.empty(), kValue, "grad requires non-empty inputs.");
  Gradients gradients;
  std::vector<Edge> edges = root_edges(roots, seeds, gradients);
  std::vector<Edge> captures = input_edges(inputs);
  options.accumulate = false;
  std::vector<Tensor> out = run_graph(edges, std::move(gradients), options, captures);
  if (options.allow_unused) return out;
  for (size_t i = 0; i < out.size(); ++i) {
    FACULA_CHECK(
        out[i].defined(), kRuntime, "The differentiated Tensor at index ", i,
        " appears to not have been used in the graph. Set allow_unused=True if this is the "
        "desired behavior.");
  }
  return out;
}

}  // namespace facula
