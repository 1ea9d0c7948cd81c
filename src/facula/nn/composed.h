// Functions that Python makes of operators, in C++: padding by mode, resizing, normalisation,
// broadcasting.
//
//   Tensor framed = pad(rand({1, 3, 4, 4}), {1, 1, 1, 1}, "reflect");
//   Tensor unit = normalize(rand({2, 5}));
//   Sizes common = broadcast_shapes({Sizes{2, 1}, Sizes{1, 3}});
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "facula/nn/reshaping.h"

namespace facula {

// pad pads the last dimensions; `pads` lists (before, after), the last dimension first. Modes are
// "constant", "reflect", "replicate" and "circular".
FACULA_API Tensor pad(const Tensor& input, IntList pads, std::string_view mode = "constant",
                      double value = 0);
// interpolate resizes the spatial dimensions of (N, C, ...); UpsampleOptions has the modes.
FACULA_API Tensor interpolate(const Tensor& input, const nn::UpsampleOptions& options);
// normalize divides by the p-norm along dim, or by eps where that is larger.
FACULA_API Tensor normalize(const Tensor& input, double p = 2, int64_t dim = 1, double eps = 1e-12);
// softmin is softmax of -input.
FACULA_API Tensor softmin(const Tensor& input, int64_t dim);
// gumbel_softmax draws from the relaxed categorical distribution; hard gives one-hot vectors with
// the gradient of the soft ones.
FACULA_API Tensor gumbel_softmax(const Tensor& logits, double tau = 1, bool hard = false,
                                 int64_t dim = -1);

// broadcast_shapes gives the common shape; RuntimeError where there is none.
FACULA_API Sizes broadcast_shapes(const std::vector<Sizes>& shapes);

}  // namespace facula
