// A number for both directions prints as one number, as in Python.
#include "facula/nn/functions.h"

#include "facula/base/error.h"
#include "facula/ops/activation_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/pool_functions.h"
#include "facula/ops/random_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula::nn {
namespace {

std::string short_text(const Pair& p) {
  return p.height == p.width ? str(p.height) : str("(", p.height, ", ", p.width, ")");
}

}  // namespace

Tensor ReLU::forward(const Tensor& input) { return relu(input); }
Tensor Tanh::forward(const Tensor& input) { return tanh(input); }
Tensor Sigmoid::forward(const Tensor& input) { return sigmoid(input); }

Tensor LeakyReLU::forward(const Tensor& input) { return leaky_relu(input, slope_); }
std::string LeakyReLU::extra_repr() const { return "negative_slope=" + float_text(slope_); }

Tensor GELU::forward(const Tensor& input) { return gelu(input, approximate_); }
std::string GELU::extra_repr() const { return "approximate='" + approximate_ + "'"; }

Dropout::Dropout(double p) : Module("Dropout"), p_(p) {
  FACULA_CHECK(p >= 0 && p <= 1, kValue, "dropout probability has to be between 0 and 1, but got ",
               p);
}
Tensor Dropout::forward(const Tensor& input) { return dropout(input, p_, is_training()); }
std::string Dropout::extra_repr() const { return "p=" + float_text(p_) + ", inplace=False"; }

Tensor Flatten::forward(const Tensor& input) { return flatten(input, start_, end_); }
std::string Flatten::extra_repr() const { return str("start_dim=", start_, ", end_dim=", end_); }

Tensor MaxPool2d::forward(const Tensor& input) {
  return max_pool2d(input, kernel_size_.list(), options_.stride.value_or(kernel_size_).list(),
                    options_.padding.list(), options_.dilation.list(), options_.ceil_mode);
}
std::string MaxPool2d::extra_repr() const {
  return str("kernel_size=", short_text(kernel_size_),
             ", stride=", short_text(options_.stride.value_or(kernel_size_)),
             ", padding=", short_text(options_.padding),
             ", dilation=", short_text(options_.dilation), ", ceil_mode=", options_.ceil_mode);
}

Tensor AvgPool2d::forward(const Tensor& input) {
  return avg_pool2d(input, kernel_size_.list(), options_.stride.value_or(kernel_size_).list(),
                    options_.padding.list(), options_.ceil_mode, options_.count_include_pad,
                    options_.divisor_override);
}
std::string AvgPool2d::extra_repr() const {
  return str("kernel_size=", short_text(kernel_size_),
             ", stride=", short_text(options_.stride.value_or(kernel_size_)),
             ", padding=", short_text(options_.padding));
}

}  // namespace facula::nn
