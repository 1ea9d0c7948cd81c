// N chooses among the operators; weights are made and drawn as in layers.cpp.
#include "facula/nn/convolutions.h"

#include <cmath>

#include "facula/core/thread_state.h"
#include "facula/nn/init.h"
#include "facula/nn/options.h"
#include "facula/ops/conv_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/embedding_bag_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula::nn {
namespace {

void check_groups(int64_t in, int64_t out, int64_t groups) {
  FACULA_CHECK(groups > 0, kValue, "groups must be a positive integer");
  FACULA_CHECK(in % groups == 0, kValue, "in_channels must be divisible by groups");
  FACULA_CHECK(out % groups == 0, kValue, "out_channels must be divisible by groups");
}

template <size_t N>
Sizes weight_shape(int64_t first, int64_t second, const Extent<N>& kernel) {
  Sizes shape{first, second};
  for (int64_t k : kernel.values) shape.push_back(k);
  return shape;
}

// option_text writes what differs from the default, as Python's convolutions print it.
template <size_t N>
std::string option_text(const char* name, const Extent<N>& value, int64_t usual) {
  return value == Extent<N>(usual) ? "" : str(", ", name, "=", tuple_text(value.list()));
}

template <class O, size_t N>
std::string conv_text(int64_t in, int64_t out, const Extent<N>& kernel, const O& o) {
  std::string s = str(in, ", ", out, ", kernel_size=", tuple_text(kernel.list()),
                      ", stride=", tuple_text(o.stride.list()));
  s += option_text("padding", o.padding, 0) + option_text("dilation", o.dilation, 1);
  if constexpr (requires { o.output_padding; }) {
    s += option_text("output_padding", o.output_padding, 0);
  }
  if (o.groups != 1) s += str(", groups=", o.groups);
  return o.bias ? s : s + ", bias=False";
}

}  // namespace

template <size_t N>
ConvNd<N>::ConvNd(int64_t in_channels, int64_t out_channels, Extent<N> kernel_size,
                  const ConvOptions<N>& options)
    : Module(N == 1 ? "Conv1d" : "Conv3d"),
      in_channels_(in_channels),
      out_channels_(out_channels),
      kernel_size_(kernel_size),
      options_(options) {
  check_groups(in_channels, out_channels, options.groups);
  Sizes shape = weight_shape(out_channels, in_channels / options.groups, kernel_size);
  weight = register_parameter("weight", new_empty(shape, options.dtype));
  bias = register_parameter("bias",
                            options.bias ? new_empty({out_channels}, options.dtype) : Tensor());
  reset_parameters();
}
template <size_t N>
void ConvNd<N>::reset_parameters() {
  init::default_weight_and_bias_(weight, bias);
}
template <size_t N>
Tensor ConvNd<N>::forward(const Tensor& input) {
  Sizes stride = options_.stride.list(), padding = options_.padding.list();
  Sizes dilation = options_.dilation.list();
  if constexpr (N == 1) {
    return conv1d(input, weight, bias, stride, padding, dilation, options_.groups);
  } else {
    return conv3d(input, weight, bias, stride, padding, dilation, options_.groups);
  }
}
template <size_t N>
std::string ConvNd<N>::extra_repr() const {
  return conv_text(in_channels_, out_channels_, kernel_size_, options_);
}
template class ConvNd<1>;
template class ConvNd<3>;

template <size_t N>
ConvTransposeNd<N>::ConvTransposeNd(int64_t in_channels, int64_t out_channels,
                                    Extent<N> kernel_size, const ConvTransposeOptions<N>& options)
    : Module(N == 1 ? "ConvTranspose1d" : "ConvTranspose3d"),
      in_channels_(in_channels),
      out_channels_(out_channels),
      kernel_size_(kernel_size),
      options_(options) {
  check_groups(in_channels, out_channels, options.groups);
  Sizes shape = weight_shape(in_channels, out_channels / options.groups, kernel_size);
  weight = register_parameter("weight", new_empty(shape, options.dtype));
  bias = register_parameter("bias",
                            options.bias ? new_empty({out_channels}, options.dtype) : Tensor());
  reset_parameters();
}
template <size_t N>
void ConvTransposeNd<N>::reset_parameters() {
  init::default_weight_and_bias_(weight, bias);
}
template <size_t N>
Tensor ConvTransposeNd<N>::forward(const Tensor& input) {
  Sizes stride = options_.stride.list(), padding = options_.padding.list();
  Sizes more = options_.output_padding.list(), dilation = options_.dilation.list();
  if constexpr (N == 1) {
    return conv_transpose1d(input, weight, bias, stride, padding, more, options_.groups, dilation);
  } else {
    return conv_transpose3d(input, weight, bias, stride, padding, more, options_.groups, dilation);
  }
}
template <size_t N>
std::string ConvTransposeNd<N>::extra_repr() const {
  return conv_text(in_channels_, out_channels_, kernel_size_, options_);
}
template class ConvTransposeNd<1>;
template class ConvTransposeNd<3>;

Bilinear::Bilinear(int64_t in1_features, int64_t in2_features, int64_t out_features,
                   const BilinearOptions& options)
    : Module("Bilinear") {
  FACULA_CHECK(in1_features > 0, kValue,
               "in1_features must be > 0, but got (in1_features=", in1_features, ")");
  weight = register_parameter("weight",
                              new_empty({out_features, in1_features, in2_features}, options.dtype));
  bias = register_parameter("bias",
                            options.bias ? new_empty({out_features}, options.dtype) : Tensor());
  reset_parameters();
}
void Bilinear::reset_parameters() {
  double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}
Tensor Bilinear::operator()(const Tensor& x1, const Tensor& x2) const {
  return bilinear(x1, x2, weight, bias);
}
std::string Bilinear::extra_repr() const {
  return fields("in1_features", weight.size(1), "in2_features", weight.size(2), "out_features",
                weight.size(0), "bias", bias.defined());
}

EmbeddingBag::EmbeddingBag(int64_t num_embeddings, int64_t embedding_dim,
                           const EmbeddingBagOptions& options)
    : Module("EmbeddingBag"), options_(options) {
  check_option("EmbeddingBag", "mode", options.mode, {"sum", "mean", "max"});
  if (options_.padding_idx) {
    int64_t& row = *options_.padding_idx;
    FACULA_CHECK(row >= -num_embeddings && row < num_embeddings, kValue,
                 "EmbeddingBag: padding_idx ", row, " is not one of ", num_embeddings, " rows");
    if (row < 0) row += num_embeddings;
  }
  weight = register_parameter("weight", new_empty({num_embeddings, embedding_dim}, options.dtype));
  reset_parameters();
}
void EmbeddingBag::reset_parameters() {
  init::normal_(weight);
  if (!options_.padding_idx) return;
  NoGrad off;
  zero_(select(weight, 0, *options_.padding_idx));
}
Tensor EmbeddingBag::bags(const Tensor& input, const Tensor& offsets, const Tensor& weights) const {
  Tensor flat = input, starts = offsets, each = weights;
  if (input.dim() == 2) {
    FACULA_CHECK(!offsets.defined(), kValue,
                 "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                 "of fixed length sequences.");
    flat = reshape(input, {-1});
    starts = arange(0, input.numel(), std::max<int64_t>(input.size(1), 1), input.dtype());
    if (each.defined()) each = reshape(each, {-1});
  } else {
    FACULA_CHECK(input.dim() == 1, kValue, "input has to be 1D or 2D Tensor, but got Tensor of ",
                 "dimension ", input.dim());
    FACULA_CHECK(offsets.defined(), kValue, "offsets has to be a 1D Tensor but got None");
  }
  int64_t mode = options_.mode == "sum" ? 0 : options_.mode == "mean" ? 1 : 2;
  return std::get<0>(embedding_bag(weight, flat, starts, options_.scale_grad_by_freq, mode, false,
                                   each, options_.include_last_offset, options_.padding_idx));
}
std::string EmbeddingBag::extra_repr() const {
  std::string s = str(weight.size(0), ", ", weight.size(1));
  if (options_.scale_grad_by_freq) s += ", scale_grad_by_freq=True";
  s += ", mode='" + options_.mode + "'";
  if (options_.padding_idx) s += str(", padding_idx=", *options_.padding_idx);
  return s;
}

}  // namespace facula::nn
