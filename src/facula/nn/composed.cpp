// Compositions of operators; gradients come from these.
#include "facula/nn/composed.h"

#include <algorithm>

#include "facula/autograd/meta.h"
#include "facula/nn/options.h"
#include "facula/nn/padding.h"
#include "facula/nn/values.h"

namespace facula {

Tensor pad(const Tensor& input, IntList pads, std::string_view mode, double value) {
  FACULA_CHECK(pads.size() % 2 == 0, kRuntime, "Padding length must be divisible by 2");
  FACULA_CHECK(static_cast<int64_t>(pads.size()) / 2 <= input.dim(), kRuntime,
               "Padding length should be less than or equal to two times the input dimension but "
               "got padding length ",
               static_cast<int64_t>(pads.size()), " and input of dimension ", input.dim());
  nn::check_option("pad", "mode", mode, {"constant", "reflect", "replicate", "circular"},
                   ErrorKind::kNotImplemented);
  if (mode == "constant") return constant_pad_nd(input, pads, value);
  FACULA_CHECK(value == 0, kRuntime, "Padding mode \"", mode, "\" doesn't take in value argument");
  if (mode == "reflect") return nn::pad_edges(input, pads, nn::PadMode::kReflect);
  if (mode == "replicate") return nn::pad_edges(input, pads, nn::PadMode::kReplicate);
  return nn::pad_edges(input, pads, nn::PadMode::kCircular);
}

Tensor interpolate(const Tensor& input, const nn::UpsampleOptions& options) {
  return options.call(input);
}

Tensor normalize(const Tensor& input, double p, int64_t dim, double eps) {
  Tensor size = clamp_min_any(vector_norm(input, p, IntList({dim}), true), eps);
  return input / expand(size, input.sizes());
}

Tensor softmin(const Tensor& input, int64_t dim) { return softmax(-input, dim); }

Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard, int64_t dim) {
  Tensor draws = new_empty(logits.sizes(), logits.dtype());
  exponential_(draws);
  Tensor soft = softmax((logits - log(draws)) / tau, dim);
  if (!hard) return soft;
  Tensor index = argmax(soft, dim, true);
  Tensor one = scatter_value(zeros(logits.sizes(), logits.dtype()), dim, index, 1.0);
  return one - detach(soft) + soft;
}

Sizes broadcast_shapes(const std::vector<Sizes>& shapes) {
  size_t rank = 0;
  for (const Sizes& s : shapes) rank = std::max(rank, s.size());
  Sizes out(rank, 1);
  for (const Sizes& s : shapes) {
    for (size_t i = 0; i < s.size(); ++i) {
      int64_t& have = out[rank - s.size() + i];
      FACULA_CHECK(have == s[i] || have == 1 || s[i] == 1, kRuntime,
                   "Shape mismatch: objects cannot be broadcast to a single shape");
      if (have == 1) have = s[i];
    }
  }
  return out;
}

}  // namespace facula
