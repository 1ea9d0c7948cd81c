// Initialisers: functions that fill a tensor in place without recording. They draw in the order of
// Python's facula.nn.init, so a seed gives the same weights in both languages.
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

// default_weight_and_bias_ is how linear maps and convolutions start: both from
// U(-1/sqrt(fan_in), 1/sqrt(fan_in)), the weight first. The bias may be undefined.
FACULA_API void default_weight_and_bias_(const Tensor& weight, const Tensor& bias);

}  // namespace facula::nn::init
