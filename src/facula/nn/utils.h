// Clipping of gradients, and parameters as one vector.
//
//   nn::Linear model(3, 2);
//   double before = item(nn::utils::clip_grad_norm_(model.parameters(), 1.0));
//   Tensor all = nn::utils::parameters_to_vector(model.parameters());
#pragma once
#include <vector>

#include "facula/core/tensor.h"

namespace facula::nn::utils {

// get_total_norm gives the norm of all elements of the tensors together; RuntimeError for one that
// is not finite, if wanted.
FACULA_API Tensor get_total_norm(const std::vector<Tensor>& tensors, double norm_type = 2,
                                 bool error_if_nonfinite = false);
// clip_grads_with_norm_ scales the gradients by max_norm / total_norm where that is below 1.
FACULA_API void clip_grads_with_norm_(const std::vector<Tensor>& parameters, double max_norm,
                                      const Tensor& total_norm);
// clip_grad_norm_ scales the gradients so that their total norm is at most max_norm, and gives the
// norm before.
FACULA_API Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                                  double norm_type = 2, bool error_if_nonfinite = false);
// clip_grad_value_ clamps the gradients to [-clip_value, clip_value].
FACULA_API void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);

// parameters_to_vector joins the parameters, flattened; vector_to_parameters writes them back, and
// raises ValueError for a vector of another length.
FACULA_API Tensor parameters_to_vector(const std::vector<Tensor>& parameters);
FACULA_API void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters);

}  // namespace facula::nn::utils
