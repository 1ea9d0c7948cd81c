// Differentiation of recomputed operators.
#include "facula/ops/recompute.h"

#include "facula/autograd/engine.h"
#include "facula/ops/shape_functions.h"

namespace facula {

bool recording_any(std::initializer_list<const Tensor*> tensors) {
  if (!grad_enabled()) return false;
  for (const Tensor* t : tensors) {
    if (requires_grad(*t)) return true;
  }
  return false;
}

std::vector<Tensor> gradients_by_recomputing(Recomputed f, void* context, TensorList inputs,
                                             TensorList grads, uint64_t mask) {
  std::vector<Tensor> x(inputs.begin(), inputs.end()), wanted, roots, seeds;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(mask >> i & 1) || !x[i].defined()) continue;
    // A constant gets a leaf of its own, everything else an alias that continues its graph.
    if (requires_grad(x[i])) {
      x[i] = alias_view(x[i]);
    } else {
      x[i] = alias(x[i]);
      set_requires_grad(x[i], true);
    }
    wanted.push_back(x[i]);
  }
  std::vector<Tensor> outputs = f(context, x);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i >= grads.size() || !grads[i].defined() || !requires_grad(outputs[i])) continue;
    roots.push_back(outputs[i]);
    seeds.push_back(grads[i]);
  }
  std::vector<Tensor> result(inputs.size());
  if (roots.empty() || wanted.empty()) return result;
  BackwardOptions options;
  options.retain_graph = options.create_graph = options.allow_unused = true;
  options.accumulate = false;
  std::vector<Tensor> found = grad(roots, wanted, seeds, options);
  for (size_t i = 0, k = 0; i < inputs.size(); ++i) {
    if ((mask >> i & 1) && inputs[i].defined()) result[i] = found[k++];
  }
  return result;
}

}  // namespace facula
