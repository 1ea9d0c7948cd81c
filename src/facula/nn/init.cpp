// Bounds are computed in the same steps as in Python, so that they have the same bits.
#include "facula/nn/init.h"

#include <algorithm>

#include "facula/base/error.h"
#include "facula/core/thread_state.h"
#include "facula/nn/options.h"
#include "facula/nn/values.h"

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
  check_option("calculate_gain", "nonlinearity", nonlinearity,
               {"linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
                "conv_transpose3d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"});
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

namespace {

// orthonormal gives the factor Q of A = QR whose R has a positive diagonal, by Gram-Schmidt done
// twice, in float64.
Tensor orthonormal(const Tensor& a) {
  Tensor wide = to(a, std::nullopt, kFloat64), q = zeros(wide.sizes(), kFloat64);
  for (int64_t j = 0; j < wide.size(1); ++j) {
    Tensor column = select(wide, 1, j), before = narrow(q, 1, 0, j);
    for (int twice = 0; twice < 2 && j > 0; ++twice) {
      column = column - mv(before, mv(transpose(before, 0, 1), column));
    }
    copy_(select(q, 1, j), column / sqrt(sum(column * column)));
  }
  return to(q, std::nullopt, a.dtype());
}

}  // namespace

void trunc_normal_(const Tensor& t, double mean, double std, double a, double b, Generator* g) {
  FACULA_CHECK(std::isfinite(mean) && std::isfinite(std) && std >= 0 && a <= b, kValue,
               "trunc_normal_: expected a finite mean, a finite std of at least 0 and a <= b, got "
               "mean=",
               mean, ", std=", std, ", a=", a, ", b=", b);
  auto share_below = [&](double x) {
    return (1 + std::erf((x - mean) / (std * std::sqrt(2.0)))) / 2;
  };
  NoGrad off;
  bool common = share_below(b) - share_below(a) > 0.3;
  double peak = std::min(std::max(mean, a), b);
  // draw gives values, and where they are accepted.
  auto draw = [&]() -> std::pair<Tensor, Tensor> {
    Tensor x = new_empty(t.sizes(), t.dtype());
    if (common) {
      facula::normal_(x, mean, std, g);
      return {x, logical_and(ge(x, a), le(x, b))};
    }
    facula::uniform_(x, a, b, g);
    Tensor u = new_empty(t.sizes(), t.dtype());
    facula::uniform_(u, 0, 1, g);
    Tensor z = (x - mean) / std;
    double top = (peak - mean) / std;
    return {x, le(log(u), top * top / 2 - z * z / 2)};
  };
  auto [x, good] = draw();
  while (!item_int(all(good))) {
    auto [next, accepted] = draw();
    x = where(good, x, next);
    good = logical_or(good, accepted);
  }
  copy_(t, x);
}

void eye_(const Tensor& t) {
  FACULA_CHECK(t.dim() == 2, kValue, "Only tensors with 2 dimensions are supported");
  NoGrad off;
  zero_(t);
  fill_(diagonal(t), 1);
}

void dirac_(const Tensor& t, int64_t groups) {
  FACULA_CHECK(t.dim() >= 3 && t.dim() <= 5, kValue,
               "Only tensors with 3, 4, or 5 dimensions are supported");
  FACULA_CHECK(groups > 0 && t.size(0) % groups == 0, kValue, "dim 0 must be divisible by groups");
  NoGrad off;
  zero_(t);
  int64_t rows = t.size(0) / groups;
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t d = 0; d < std::min(rows, t.size(1)); ++d) {
      Tensor at = select(select(t, 0, g * rows + d), 0, d);
      while (at.dim() > 0) at = select(at, 0, at.size(0) / 2);
      fill_(at, 1);
    }
  }
}

void orthogonal_(const Tensor& t, double gain, Generator* g) {
  FACULA_CHECK(t.dim() >= 2, kValue, "Only tensors with 2 or more dimensions are supported");
  if (t.numel() == 0) return;
  NoGrad off;
  int64_t rows = t.size(0), columns = t.numel() / rows;
  Tensor flat = new_empty({rows, columns}, t.dtype());
  facula::normal_(flat, 0, 1, g);
  Tensor q =
      rows < columns ? transpose(orthonormal(transpose(flat, 0, 1)), 0, 1) : orthonormal(flat);
  copy_(t, reshape(q, t.sizes()) * gain);
}

void sparse_(const Tensor& t, double sparsity, double std, Generator* g) {
  FACULA_CHECK(t.dim() == 2, kValue, "Only tensors with 2 dimensions are supported");
  NoGrad off;
  int64_t zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(t.size(0))));
  facula::normal_(t, 0, std, g);
  for (int64_t column = 0; column < t.size(1); ++column) {
    Tensor rows = narrow(randperm(t.size(0)), 0, 0, zeros);
    index_fill_(select(t, 1, column), 0, rows, 0);
  }
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
