// Bounds are computed in the same steps as in Python, so that they have the same bits.
#include "facula/nn/init.h"

#include "facula/base/error.h"
#include "facula/core/thread_state.h"
#include "facula/ops/random_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula::nn::init {
namespace {

double fan_std(const Tensor& t) {
  auto [in, out] = fan_in_and_fan_out(t);
  return std::sqrt(2.0 / static_cast<double>(in + out));
}

double kaiming_std(const Tensor& t, double a, FanMode mode, std::string_view nonlinearity) {
  auto [in, out] = fan_in_and_fan_out(t);
  double fan = static_cast<double>(mode == FanMode::kFanIn ? in : out);
  return calculate_gain(nonlinearity, a) / std::sqrt(fan);
}

}  // namespace

double calculate_gain(std::string_view nonlinearity, double param) {
  if (nonlinearity == "tanh") return 5.0 / 3;
  if (nonlinearity == "relu") return std::sqrt(2.0);
  if (nonlinearity == "leaky_relu") return std::sqrt(2.0 / (1 + param * param));
  if (nonlinearity == "selu") return 3.0 / 4;
  bool linear =
      nonlinearity == "linear" || nonlinearity == "sigmoid" || nonlinearity.starts_with("conv");
  FACULA_CHECK(linear, kValue, "Unsupported nonlinearity ", nonlinearity);
  return 1;
}

std::pair<int64_t, int64_t> fan_in_and_fan_out(const Tensor& weight) {
  FACULA_CHECK(weight.dim() >= 2, kValue,
               "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions");
  int64_t receptive = 1;
  for (int64_t d = 2; d < weight.dim(); ++d) receptive *= weight.size(d);
  return {weight.size(1) * receptive, weight.size(0) * receptive};
}

void uniform_(const Tensor& t, double a, double b, Generator* g) {
  NoGrad off;
  facula::uniform_(t, a, b, g);
}
void normal_(const Tensor& t, double mean, double std, Generator* g) {
  NoGrad off;
  facula::normal_(t, mean, std, g);
}
void constant_(const Tensor& t, double value) {
  NoGrad off;
  fill_(t, value);
}

void xavier_uniform_(const Tensor& t, double gain, Generator* g) {
  double bound = std::sqrt(3.0) * (gain * fan_std(t));
  init::uniform_(t, -bound, bound, g);
}
void xavier_normal_(const Tensor& t, double gain, Generator* g) {
  init::normal_(t, 0, gain * fan_std(t), g);
}

void kaiming_uniform_(const Tensor& t, double a, FanMode mode, std::string_view nonlinearity,
                      Generator* g) {
  if (t.numel() == 0) return;
  double bound = std::sqrt(3.0) * kaiming_std(t, a, mode, nonlinearity);
  init::uniform_(t, -bound, bound, g);
}
void kaiming_normal_(const Tensor& t, double a, FanMode mode, std::string_view nonlinearity,
                     Generator* g) {
  if (t.numel() == 0) return;
  init::normal_(t, 0, kaiming_std(t, a, mode, nonlinearity), g);
}

void default_weight_and_bias_(const Tensor& weight, const Tensor& bias) {
  kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  double fan_in = static_cast<double>(fan_in_and_fan_out(weight).first);
  if (fan_in == 0) return init::zeros_(bias);
  double bound = 1 / std::sqrt(fan_in);
  init::uniform_(bias, -bound, bound);
}

}  // namespace facula::nn::init
