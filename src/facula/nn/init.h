// Initialisers: functions that fill a tensor in place without recording. They draw in the order of
// Python's facula.nn.init, so a seed gives the same weights in both languages.
//
//   Tensor weight = rand({4, 3});
//   nn::init::orthogonal_(weight);
#pragma once
#include <cmath>
#include <string_view>
#include <utility>

#include "facula/core/generator.h"
#include "facula/core/tensor.h"

namespace facula::nn::init {

// calculate_gain gives the factor that keeps variances through a nonlinearity; ValueError for an
// unknown name. `param` is the slope of leaky_relu.
FACULA_API double calculate_gain(std::string_view nonlinearity, double param = 0.01);
// fan_in_and_fan_out counts the inputs and outputs of a weight; ValueError below two dimensions.
FACULA_API std::pair<int64_t, int64_t> fan_in_and_fan_out(const Tensor& weight);

FACULA_API void uniform_(const Tensor& t, double a = 0, double b = 1, Generator* g = nullptr);
FACULA_API void normal_(const Tensor& t, double mean = 0, double std = 1, Generator* g = nullptr);
FACULA_API void constant_(const Tensor& t, double value);
inline void ones_(const Tensor& t) { constant_(t, 1); }
inline void zeros_(const Tensor& t) { constant_(t, 0); }

// FanMode says which fan of a weight sets the scale.
enum class FanMode : uint8_t { kFanIn, kFanOut };
// Glorot and Bengio 2010.
FACULA_API void xavier_uniform_(const Tensor& t, double gain = 1, Generator* g = nullptr);
FACULA_API void xavier_normal_(const Tensor& t, double gain = 1, Generator* g = nullptr);
// He et al. 2015.
FACULA_API void kaiming_uniform_(const Tensor& t, double a = 0, FanMode mode = FanMode::kFanIn,
                                 std::string_view nonlinearity = "leaky_relu",
                                 Generator* g = nullptr);
FACULA_API void kaiming_normal_(const Tensor& t, double a = 0, FanMode mode = FanMode::kFanIn,
                                std::string_view nonlinearity = "leaky_relu",
                                Generator* g = nullptr);

// trunc_normal_ draws from the normal distribution cut off outside [a, b], by rejection.
FACULA_API void trunc_normal_(const Tensor& t, double mean = 0, double std = 1, double a = -2,
                              double b = 2, Generator* g = nullptr);
// eye_ fills a matrix with the identity.
FACULA_API void eye_(const Tensor& t);
// dirac_ fills a convolution's weight so that, in each group, it hands its input channels through.
FACULA_API void dirac_(const Tensor& t, int64_t groups = 1);
// orthogonal_ fills with a (semi-)orthogonal matrix, the trailing dimensions flattened.
FACULA_API void orthogonal_(const Tensor& t, double gain = 1, Generator* g = nullptr);
// sparse_ draws a matrix from N(0, std) and sets the share `sparsity` of each column to zero.
FACULA_API void sparse_(const Tensor& t, double sparsity, double std = 0.01,
                        Generator* g = nullptr);

// default_weight_and_bias_ is how linear maps and convolutions start: both from
// U(-1/sqrt(fan_in), 1/sqrt(fan_in)), the weight first. The bias may be undefined.
FACULA_API void default_weight_and_bias_(const Tensor& weight, const Tensor& bias);

}  // namespace facula::nn::init
