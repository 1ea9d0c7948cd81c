// Each layer makes its parameters, draws them and calls one operator.
#include "facula/nn/layers.h"

#include "facula/base/error.h"
#include "facula/core/thread_state.h"
#include "facula/nn/init.h"
#include "facula/ops/conv_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/random_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula::nn {
namespace {

std::string pair_text(const Pair& p) { return str("(", p.height, ", ", p.width, ")"); }

void check_channels(int64_t in, int64_t out, int64_t groups) {
  FACULA_CHECK(groups > 0, kValue, "groups must be a positive integer");
  FACULA_CHECK(in % groups == 0, kValue, "in_channels must be divisible by groups");
  FACULA_CHECK(out % groups == 0, kValue, "out_channels must be divisible by groups");
}

Tensor bias_of(bool wanted, int64_t size, DType dtype) {
  return wanted ? new_empty({size}, dtype) : Tensor();
}

}  // namespace

Linear::Linear(int64_t in_features, int64_t out_features, const LinearOptions& options)
    : Module("Linear") {
  weight = register_parameter("weight", new_empty({out_features, in_features}, options.dtype));
  bias = register_parameter("bias", bias_of(options.bias, out_features, options.dtype));
  reset_parameters();
}
void Linear::reset_parameters() { init::default_weight_and_bias_(weight, bias); }
Tensor Linear::forward(const Tensor& input) { return linear(input, weight, bias); }
std::string Linear::extra_repr() const {
  return str("in_features=", weight.size(1), ", out_features=", weight.size(0),
             ", bias=", bias.defined());
}

Conv2d::Conv2d(int64_t in_channels, int64_t out_channels, Pair kernel_size,
               const Conv2dOptions& options)
    : Module("Conv2d"),
      in_channels_(in_channels),
      out_channels_(out_channels),
      kernel_size_(kernel_size),
      options_(options) {
  check_channels(in_channels, out_channels, options.groups);
  Tensor made =
      new_empty({out_channels, in_channels / options.groups, kernel_size.height, kernel_size.width},
                options.dtype);
  weight = register_parameter("weight", made);
  bias = register_parameter("bias", bias_of(options.bias, out_channels, options.dtype));
  reset_parameters();
}
void Conv2d::reset_parameters() { init::default_weight_and_bias_(weight, bias); }
Tensor Conv2d::forward(const Tensor& input) {
  return conv2d(input, weight, bias, options_.stride.list(), options_.padding.list(),
                options_.dilation.list(), options_.groups);
}
std::string Conv2d::extra_repr() const {
  std::string s = str(in_channels_, ", ", out_channels_, ", kernel_size=", pair_text(kernel_size_),
                      ", stride=", pair_text(options_.stride));
  if (options_.padding != Pair(0)) s += ", padding=" + pair_text(options_.padding);
  if (options_.dilation != Pair(1)) s += ", dilation=" + pair_text(options_.dilation);
  if (options_.groups != 1) s += str(", groups=", options_.groups);
  if (!bias.defined()) s += ", bias=False";
  return s;
}

ConvTranspose2d::ConvTranspose2d(int64_t in_channels, int64_t out_channels, Pair kernel_size,
                                 const ConvTranspose2dOptions& options)
    : Module("ConvTranspose2d"),
      in_channels_(in_channels),
      out_channels_(out_channels),
      kernel_size_(kernel_size),
      options_(options) {
  check_channels(in_channels, out_channels, options.groups);
  Tensor made =
      new_empty({in_channels, out_channels / options.groups, kernel_size.height, kernel_size.width},
                options.dtype);
  weight = register_parameter("weight", made);
  bias = register_parameter("bias", bias_of(options.bias, out_channels, options.dtype));
  reset_parameters();
}
void ConvTranspose2d::reset_parameters() { init::default_weight_and_bias_(weight, bias); }
Tensor ConvTranspose2d::forward(const Tensor& input) {
  return conv_transpose2d(input, weight, bias, options_.stride.list(), options_.padding.list(),
                          options_.output_padding.list(), options_.groups,
                          options_.dilation.list());
}
std::string ConvTranspose2d::extra_repr() const {
  std::string s = str(in_channels_, ", ", out_channels_, ", kernel_size=", pair_text(kernel_size_),
                      ", stride=", pair_text(options_.stride));
  if (options_.padding != Pair(0)) s += ", padding=" + pair_text(options_.padding);
  if (options_.dilation != Pair(1)) s += ", dilation=" + pair_text(options_.dilation);
  if (options_.output_padding != Pair(0)) {
    s += ", output_padding=" + pair_text(options_.output_padding);
  }
  if (options_.groups != 1) s += str(", groups=", options_.groups);
  if (!bias.defined()) s += ", bias=False";
  return s;
}

Embedding::Embedding(int64_t num_embeddings, int64_t embedding_dim, const EmbeddingOptions& options)
    : Module("Embedding"), options_(options) {
  if (options_.padding_idx) {
    int64_t& row = *options_.padding_idx;
    FACULA_CHECK(row >= -num_embeddings && row < num_embeddings, kValue, "Embedding: padding_idx ",
                 row, " is not one of ", num_embeddings, " rows");
    if (row < 0) row += num_embeddings;
  }
  weight = register_parameter("weight", new_empty({num_embeddings, embedding_dim}, options.dtype));
  reset_parameters();
}
void Embedding::reset_parameters() {
  init::normal_(weight);
  if (!options_.padding_idx) return;
  NoGrad off;
  zero_(select(weight, 0, *options_.padding_idx));
}
Tensor Embedding::forward(const Tensor& input) {
  return embedding(weight, input, options_.padding_idx.value_or(-1), options_.scale_grad_by_freq);
}
std::string Embedding::extra_repr() const {
  std::string s = str(weight.size(0), ", ", weight.size(1));
  if (options_.padding_idx) s += str(", padding_idx=", *options_.padding_idx);
  if (options_.scale_grad_by_freq) s += ", scale_grad_by_freq=True";
  return s;
}

}  // namespace facula::nn
