// Pooling as modules, in one to three dimensions; MaxPool2d and AvgPool2d are in functions.h.
//
//   nn::MaxPool1d pool(2);
//   nn::MaxUnpool1d back(2);
//   auto [values, indices] = pool.options().with_indices(rand({1, 3, 8}));
//   Tensor sparse_signal = back(values, indices);
#pragma once
#include <tuple>

#include "facula/nn/simple.h"

namespace facula::nn {

// MaxPoolOptions: the largest value of each window. `stride` is the kernel's size unless given.
template <size_t N>
struct FACULA_API MaxPoolOptions {
  static constexpr const char* kName = N == 1 ? "MaxPool1d" : "MaxPool3d";
  Extent<N> kernel_size;
  std::optional<Extent<N>> stride = std::nullopt;
  Extent<N> padding = 0, dilation = 1;
  bool ceil_mode = false;
  Tensor call(const Tensor& x) const;
  // with_indices also gives where each value was, as MaxUnpool wants it.
  std::tuple<Tensor, Tensor> with_indices(const Tensor& x) const;
  std::string text() const {
    return fields("kernel_size", kernel_size, "stride", stride.value_or(kernel_size), "padding",
                  padding, "dilation", dilation, "ceil_mode", ceil_mode);
  }
};
using MaxPool1d = Simple<MaxPoolOptions<1>>;
using MaxPool3d = Simple<MaxPoolOptions<3>>;

// AvgPoolOptions: the mean of each window.
template <size_t N>
struct FACULA_API AvgPoolOptions {
  static constexpr const char* kName = N == 1 ? "AvgPool1d" : "AvgPool3d";
  Extent<N> kernel_size;
  std::optional<Extent<N>> stride = std::nullopt;
  Extent<N> padding = 0;
  bool ceil_mode = false, count_include_pad = true;
  std::optional<int64_t> divisor_override = std::nullopt;  // of AvgPool3d
  Tensor call(const Tensor& x) const;
  std::string text() const;
};
using AvgPool1d = Simple<AvgPoolOptions<1>>;
using AvgPool3d = Simple<AvgPoolOptions<3>>;

// AdaptiveAvgPoolOptions: means over output_size windows; -1 keeps the input's size.
template <size_t N>
struct FACULA_API AdaptiveAvgPoolOptions {
  static constexpr const char* kName = N == 1   ? "AdaptiveAvgPool1d"
                                       : N == 2 ? "AdaptiveAvgPool2d"
                                                : "AdaptiveAvgPool3d";
  Extent<N> output_size;
  Tensor call(const Tensor& x) const;
  std::string text() const { return fields("output_size", output_size); }
};
using AdaptiveAvgPool1d = Simple<AdaptiveAvgPoolOptions<1>>;
using AdaptiveAvgPool2d = Simple<AdaptiveAvgPoolOptions<2>>;
using AdaptiveAvgPool3d = Simple<AdaptiveAvgPoolOptions<3>>;

// AdaptiveMaxPoolOptions: maxima over output_size windows; -1 keeps the input's size.
template <size_t N>
struct FACULA_API AdaptiveMaxPoolOptions {
  static constexpr const char* kName = N == 1   ? "AdaptiveMaxPool1d"
                                       : N == 2 ? "AdaptiveMaxPool2d"
                                                : "AdaptiveMaxPool3d";
  Extent<N> output_size;
  Tensor call(const Tensor& x) const;
  std::tuple<Tensor, Tensor> with_indices(const Tensor& x) const;
  std::string text() const { return fields("output_size", output_size); }
};
using AdaptiveMaxPool1d = Simple<AdaptiveMaxPoolOptions<1>>;
using AdaptiveMaxPool2d = Simple<AdaptiveMaxPoolOptions<2>>;
using AdaptiveMaxPool3d = Simple<AdaptiveMaxPoolOptions<3>>;

// MaxUnpoolOptions: puts each maximum back to where max-pooling found it; zero elsewhere. Called
// with values and indices, and a size of the output's spatial dimensions where it is not the
// smallest one.
template <size_t N>
struct FACULA_API MaxUnpoolOptions {
  static constexpr const char* kName = N == 1   ? "MaxUnpool1d"
                                       : N == 2 ? "MaxUnpool2d"
                                                : "MaxUnpool3d";
  Extent<N> kernel_size;
  std::optional<Extent<N>> stride = std::nullopt;
  Extent<N> padding = 0;
  Tensor call(const Tensor& x, const Tensor& indices) const;
  Tensor call(const Tensor& x, const Tensor& indices, const Extent<N>& output_size) const;
  std::string text() const {
    return fields("kernel_size", kernel_size, "stride", stride.value_or(kernel_size), "padding",
                  padding);
  }
};
using MaxUnpool1d = Simple<MaxUnpoolOptions<1>>;
using MaxUnpool2d = Simple<MaxUnpoolOptions<2>>;
using MaxUnpool3d = Simple<MaxUnpoolOptions<3>>;

// LPPoolOptions: the p-norm of each window.
template <size_t N>
struct FACULA_API LPPoolOptions {
  static constexpr const char* kName = N == 1 ? "LPPool1d" : N == 2 ? "LPPool2d" : "LPPool3d";
  double norm_type;
  Extent<N> kernel_size;
  std::optional<Extent<N>> stride = std::nullopt;
  bool ceil_mode = false;
  Tensor call(const Tensor& x) const;
  std::string text() const {
    return fields("norm_type", norm_type, "kernel_size", kernel_size, "stride", stride, "ceil_mode",
                  ceil_mode);
  }
};
using LPPool1d = Simple<LPPoolOptions<1>>;
using LPPool2d = Simple<LPPoolOptions<2>>;
using LPPool3d = Simple<LPPoolOptions<3>>;

// FractionalMaxPoolOptions: maxima over windows of random position (Graham 2014).
template <size_t N>
struct FACULA_API FractionalMaxPoolOptions {
  static constexpr const char* kName = N == 2 ? "FractionalMaxPool2d" : "FractionalMaxPool3d";
  Extent<N> kernel_size, output_size;
  Tensor call(const Tensor& x) const;
};
using FractionalMaxPool2d = Simple<FractionalMaxPoolOptions<2>>;
using FractionalMaxPool3d = Simple<FractionalMaxPoolOptions<3>>;

}  // namespace facula::nn
