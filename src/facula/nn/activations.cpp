// Each activation calls the operator of its name.
#include "facula/nn/activations.h"

#include "facula/nn/init.h"
#include "facula/ops/activation_functions.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/random_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/softmax_functions.h"

namespace facula::nn {
namespace {

void check_probability(double p) {
  FACULA_CHECK(p >= 0 && p <= 1, kValue, "dropout probability has to be between 0 and 1, but got ",
               p);
}

// with_batch runs f with a batch dimension in front, which `missing` says has to be added.
template <class F>
Tensor with_batch(const Tensor& x, bool missing, F f) {
  return missing ? squeeze_dim(f(unsqueeze(x, 0)), {0}) : f(x);
}

}  // namespace

std::string tuple_text(IntList values) {
  std::string text;
  for (int64_t v : values) text += (text.empty() ? "" : ", ") + std::to_string(v);
  return "(" + text + (values.size() == 1 ? ",)" : ")");
}

Tensor ELUOptions::call(const Tensor& x) const { return elu(x, alpha); }
Tensor CELUOptions::call(const Tensor& x) const { return celu(x, alpha); }
Tensor SELUOptions::call(const Tensor& x) const { return selu(x); }
Tensor ReLU6Options::call(const Tensor& x) const { return relu6(x); }
Tensor HardtanhOptions::call(const Tensor& x) const { return hardtanh(x, min_val, max_val); }
void HardtanhOptions::check() const {
  FACULA_CHECK(max_val > min_val, kValue, "Hardtanh: max_val must be larger than min_val");
}
Tensor HardsigmoidOptions::call(const Tensor& x) const { return hardsigmoid(x); }
Tensor HardswishOptions::call(const Tensor& x) const { return hardswish(x); }
Tensor HardshrinkOptions::call(const Tensor& x) const { return hardshrink(x, lambd); }
Tensor SoftshrinkOptions::call(const Tensor& x) const { return softshrink(x, lambd); }
Tensor TanhshrinkOptions::call(const Tensor& x) const { return tanhshrink(x); }
Tensor SoftplusOptions::call(const Tensor& x) const { return softplus(x, beta, threshold); }
Tensor SoftsignOptions::call(const Tensor& x) const { return softsign(x); }
Tensor SiLUOptions::call(const Tensor& x) const { return silu(x); }
Tensor MishOptions::call(const Tensor& x) const { return mish(x); }
Tensor LogSigmoidOptions::call(const Tensor& x) const { return logsigmoid(x); }
Tensor GLUOptions::call(const Tensor& x) const { return glu(x, dim); }
Tensor RReLUOptions::call(const Tensor& x, bool training) const {
  return rrelu(x, lower, upper, training);
}
Tensor ThresholdOptions::call(const Tensor& x) const {
  return facula::threshold(x, threshold, value);
}
Tensor SoftmaxOptions::call(const Tensor& x) const { return softmax(x, dim); }
Tensor SoftminOptions::call(const Tensor& x) const { return softmax(neg(x), dim); }
Tensor LogSoftmaxOptions::call(const Tensor& x) const { return log_softmax(x, dim); }
Tensor Softmax2dOptions::call(const Tensor& x) const {
  FACULA_CHECK(x.dim() == 3 || x.dim() == 4, kValue,
               "Softmax2d: expected input to be 3D or 4D, got ", x.dim(), "D instead");
  return softmax(x, -3);
}

template <size_t N>
void FeatureDropoutOptions<N>::check() const {
  check_probability(p);
}
template <size_t N>
Tensor FeatureDropoutOptions<N>::call(const Tensor& x, bool training) const {
  // A 3-d input of Dropout2d is (N, C, L), as in Python.
  bool known = x.dim() == N + 2 || x.dim() == N + 1;
  if (N == 1) {
    FACULA_CHECK(known, kRuntime, "dropout1d: Expected 2D or 3D input, but received a ", x.dim(),
                 "D input");
  }
  bool missing = N != 2 && x.dim() == N + 1;
  return with_batch(x, missing, [&](const Tensor& t) { return feature_dropout(t, p, training); });
}
template struct FeatureDropoutOptions<1>;
template struct FeatureDropoutOptions<2>;
template struct FeatureDropoutOptions<3>;

void AlphaDropoutOptions::check() const { check_probability(p); }
Tensor AlphaDropoutOptions::call(const Tensor& x, bool training) const {
  return alpha_dropout(x, p, training);
}
void FeatureAlphaDropoutOptions::check() const { check_probability(p); }
Tensor FeatureAlphaDropoutOptions::call(const Tensor& x, bool training) const {
  return feature_alpha_dropout(x, p, training);
}

PReLU::PReLU(int64_t num_parameters, const PReLUOptions& options) : Module("PReLU") {
  weight = register_parameter("weight", new_empty({num_parameters}, options.dtype));
  init::constant_(weight, options.init);
}
Tensor PReLU::forward(const Tensor& input) { return prelu(input, weight); }

}  // namespace facula::nn
