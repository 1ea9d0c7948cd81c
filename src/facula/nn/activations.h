// Activations and dropouts as modules; PReLU has a weight. ReLU, LeakyReLU, GELU, Tanh, Sigmoid and
// Dropout are in functions.h.
//
//   nn::Softmax layer(-1);
//   Tensor rows = layer(rand({2, 3}));
#pragma once
#include "facula/nn/simple.h"

namespace facula::nn {

struct FACULA_API ELUOptions {
  static constexpr const char* kName = "ELU";
  double alpha = 1;
  Tensor call(const Tensor& x) const;
  std::string text() const { return fields("alpha", alpha); }
};
using ELU = Simple<ELUOptions>;  // x above 0, alpha * (exp(x) - 1) below

struct FACULA_API CELUOptions {
  static constexpr const char* kName = "CELU";
  double alpha = 1;
  Tensor call(const Tensor& x) const;
  std::string text() const { return fields("alpha", alpha); }
};
using CELU = Simple<CELUOptions>;  // x above 0, alpha * (exp(x / alpha) - 1) below

struct FACULA_API SELUOptions {
  static constexpr const char* kName = "SELU";
  Tensor call(const Tensor& x) const;
};
using SELU = Simple<SELUOptions>;  // a scaled ELU that keeps mean 0 and variance 1

struct FACULA_API ReLU6Options {
  static constexpr const char* kName = "ReLU6";
  Tensor call(const Tensor& x) const;
};
using ReLU6 = Simple<ReLU6Options>;  // x between 0 and 6

struct FACULA_API HardtanhOptions {
  static constexpr const char* kName = "Hardtanh";
  double min_val = -1, max_val = 1;
  Tensor call(const Tensor& x) const;
  void check() const;
  std::string text() const { return fields("min_val", min_val, "max_val", max_val); }
};
using Hardtanh = Simple<HardtanhOptions>;  // x between min_val and max_val

struct FACULA_API HardsigmoidOptions {
  static constexpr const char* kName = "Hardsigmoid";
  Tensor call(const Tensor& x) const;
};
using Hardsigmoid = Simple<HardsigmoidOptions>;  // relu6(x + 3) / 6

struct FACULA_API HardswishOptions {
  static constexpr const char* kName = "Hardswish";
  Tensor call(const Tensor& x) const;
};
using Hardswish = Simple<HardswishOptions>;  // x * relu6(x + 3) / 6

struct FACULA_API HardshrinkOptions {
  static constexpr const char* kName = "Hardshrink";
  double lambd = 0.5;
  Tensor call(const Tensor& x) const;
  std::string text() const { return shown(lambd); }
};
using Hardshrink = Simple<HardshrinkOptions>;  // 0 between -lambd and lambd

struct FACULA_API SoftshrinkOptions {
  static constexpr const char* kName = "Softshrink";
  double lambd = 0.5;
  Tensor call(const Tensor& x) const;
  std::string text() const { return shown(lambd); }
};
using Softshrink = Simple<SoftshrinkOptions>;  // x moved by lambd towards 0

struct FACULA_API TanhshrinkOptions {
  static constexpr const char* kName = "Tanhshrink";
  Tensor call(const Tensor& x) const;
};
using Tanhshrink = Simple<TanhshrinkOptions>;  // x - tanh(x)

struct FACULA_API SoftplusOptions {
  static constexpr const char* kName = "Softplus";
  double beta = 1, threshold = 20;
  Tensor call(const Tensor& x) const;
  std::string text() const { return fields("beta", beta, "threshold", threshold); }
};
using Softplus = Simple<SoftplusOptions>;  // log(1 + exp(beta * x)) / beta

struct FACULA_API SoftsignOptions {
  static constexpr const char* kName = "Softsign";
  Tensor call(const Tensor& x) const;
};
using Softsign = Simple<SoftsignOptions>;  // x / (1 + |x|)

struct FACULA_API SiLUOptions {
  static constexpr const char* kName = "SiLU";
  Tensor call(const Tensor& x) const;
};
using SiLU = Simple<SiLUOptions>;  // x * sigmoid(x)

struct FACULA_API MishOptions {
  static constexpr const char* kName = "Mish";
  Tensor call(const Tensor& x) const;
};
using Mish = Simple<MishOptions>;  // x * tanh(softplus(x))

struct FACULA_API LogSigmoidOptions {
  static constexpr const char* kName = "LogSigmoid";
  Tensor call(const Tensor& x) const;
};
using LogSigmoid = Simple<LogSigmoidOptions>;  // log(sigmoid(x))

struct FACULA_API GLUOptions {
  static constexpr const char* kName = "GLU";
  int64_t dim = -1;
  Tensor call(const Tensor& x) const;
  std::string text() const { return fields("dim", dim); }
};
using GLU = Simple<GLUOptions>;  // the first half along dim times sigmoid of the second

struct FACULA_API RReLUOptions {
  static constexpr const char* kName = "RReLU";
  double lower = 1.0 / 8, upper = 1.0 / 3;
  Tensor call(const Tensor& x, bool training) const;
  std::string text() const { return fields("lower", lower, "upper", upper); }
};
using RReLU = Simple<RReLUOptions>;  // a leaky ReLU whose slope is drawn in training

struct FACULA_API ThresholdOptions {
  static constexpr const char* kName = "Threshold";
  double threshold, value;
  Tensor call(const Tensor& x) const;
  std::string text() const { return fields("threshold", threshold, "value", value); }
};
using Threshold = Simple<ThresholdOptions>;  // x above the threshold, the value elsewhere

struct FACULA_API SoftmaxOptions {
  static constexpr const char* kName = "Softmax";
  int64_t dim;
  Tensor call(const Tensor& x) const;
  std::string text() const { return fields("dim", dim); }
};
using Softmax = Simple<SoftmaxOptions>;  // exp(x) over its sum along dim

struct FACULA_API SoftminOptions {
  static constexpr const char* kName = "Softmin";
  int64_t dim;
  Tensor call(const Tensor& x) const;
  std::string text() const { return fields("dim", dim); }
};
using Softmin = Simple<SoftminOptions>;  // softmax of -x

struct FACULA_API LogSoftmaxOptions {
  static constexpr const char* kName = "LogSoftmax";
  int64_t dim;
  Tensor call(const Tensor& x) const;
  std::string text() const { return fields("dim", dim); }
};
using LogSoftmax = Simple<LogSoftmaxOptions>;  // the logarithm of softmax

struct FACULA_API Softmax2dOptions {
  static constexpr const char* kName = "Softmax2d";
  Tensor call(const Tensor& x) const;
};
using Softmax2d = Simple<Softmax2dOptions>;  // softmax over the channels of (N, C, H, W)

// FeatureDropout drops whole channels of inputs with N spatial dimensions.
template <size_t N>
struct FACULA_API FeatureDropoutOptions {
  static constexpr const char* kName = N == 1 ? "Dropout1d" : N == 2 ? "Dropout2d" : "Dropout3d";
  double p = 0.5;
  Tensor call(const Tensor& x, bool training) const;
  void check() const;
  std::string text() const { return fields("p", p, "inplace", false); }
};
using Dropout1d = Simple<FeatureDropoutOptions<1>>;
using Dropout2d = Simple<FeatureDropoutOptions<2>>;
using Dropout3d = Simple<FeatureDropoutOptions<3>>;

struct FACULA_API AlphaDropoutOptions {
  static constexpr const char* kName = "AlphaDropout";
  double p = 0.5;
  Tensor call(const Tensor& x, bool training) const;
  void check() const;
  std::string text() const { return fields("p", p, "inplace", false); }
};
using AlphaDropout = Simple<AlphaDropoutOptions>;  // keeps mean and variance of SELU's outputs

struct FACULA_API FeatureAlphaDropoutOptions {
  static constexpr const char* kName = "FeatureAlphaDropout";
  double p = 0.5;
  Tensor call(const Tensor& x, bool training) const;
  void check() const;
  std::string text() const { return fields("p", p, "inplace", false); }
};
using FeatureAlphaDropout = Simple<FeatureAlphaDropoutOptions>;  // the same for whole channels

struct PReLUOptions {
  double init = 0.25;
  DType dtype = kFloat32;
};

// PReLU: x above 0, weight * x below; the weight is one number or one for each channel.
class FACULA_API PReLU : public Module {
 public:
  explicit PReLU(int64_t num_parameters = 1, const PReLUOptions& options = {});
  Tensor forward(const Tensor& input) override;

  Tensor weight;

 protected:
  std::string extra_repr() const override { return fields("num_parameters", weight.size(0)); }
};

}  // namespace facula::nn
