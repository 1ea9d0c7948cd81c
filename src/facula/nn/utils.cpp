// All functions write in place without recording.
#include "facula/nn/utils.h"

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/core/thread_state.h"
#include "facula/nn/values.h"

namespace facula::nn::utils {
namespace {

std::vector<Tensor> grads_of(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> out;
  for (const Tensor& p : parameters) {
    Tensor g = grad(p);
    if (g.defined()) out.push_back(g);
  }
  return out;
}

}  // namespace

Tensor get_total_norm(const std::vector<Tensor>& tensors, double norm_type,
                      bool error_if_nonfinite) {
  if (tensors.empty()) return zeros({});
  NoGrad off;
  std::vector<Tensor> norms;
  for (const Tensor& t : tensors) norms.push_back(vector_norm(t, norm_type));
  Tensor total = vector_norm(stack(norms), norm_type);
  if (error_if_nonfinite) {
    FACULA_CHECK(item_int(isfinite(total)), kRuntime, "The total norm of order ", norm_type,
                 " for gradients from `parameters` is non-finite, so it cannot be clipped.");
  }
  return total;
}

void clip_grads_with_norm_(const std::vector<Tensor>& parameters, double max_norm,
                           const Tensor& total_norm) {
  NoGrad off;
  Tensor factor = clamp_max(max_norm / (total_norm + 1e-6), 1.0);
  for (const Tensor& g : grads_of(parameters)) mul_(g, factor);
}

Tensor clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  Tensor total = get_total_norm(grads_of(parameters), norm_type, error_if_nonfinite);
  clip_grads_with_norm_(parameters, max_norm, total);
  return total;
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  NoGrad off;
  for (const Tensor& g : grads_of(parameters)) clamp_(g, Scalar(-clip_value), Scalar(clip_value));
}

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> flat;
  for (const Tensor& p : parameters) flat.push_back(reshape(p, {-1}));
  return cat(flat);
}

void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters) {
  int64_t at = 0, total = 0;
  for (const Tensor& p : parameters) total += p.numel();
  FACULA_CHECK(vector.dim() == 1 && vector.numel() == total, kValue,
               "vector_to_parameters: expected a vector of ", total, " elements, got shape ",
               list_text(vector.sizes()));
  NoGrad off;
  for (const Tensor& p : parameters) {
    copy_(p, reshape(narrow(vector, 0, at, p.numel()), p.sizes()));
    at += p.numel();
  }
}

}  // namespace facula::nn::utils
