// Second derivatives of fused operators: the operator is computed again from parts that have
// derivatives, and the graph of that is differentiated. Used only while gradients are recorded.
#pragma once
#include <vector>

#include "facula/core/tensor.h"

namespace facula {

// recording_any says whether gradients are recorded and one of the tensors wants one; undefined
// tensors do not count.
FACULA_API bool recording_any(std::initializer_list<const Tensor*> tensors);

// Recomputed is an operator built from differentiable parts: inputs to outputs.
using Recomputed = std::vector<Tensor> (*)(void* context, const std::vector<Tensor>& inputs);

// gradients_by_recomputing gives the gradients of f's outputs with respect to the inputs whose bit
// in `mask` is set, for the given output gradients (undefined ones count as zero); they depend
// differentiably on inputs and output gradients.
FACULA_API std::vector<Tensor> gradients_by_recomputing(Recomputed f, void* context,
                                                        TensorList inputs, TensorList grads,
                                                        uint64_t mask);

template <class F>
std::vector<Tensor> gradients_by_recomputing(TensorList inputs, TensorList grads, uint64_t mask,
                                             F&& f) {
  auto call = [](void* context, const std::vector<Tensor>& x) {
    return (*static_cast<std::remove_reference_t<F>*>(context))(x);
  };
  return gradients_by_recomputing(call, &f, inputs, grads, mask);
}

}  // namespace facula
