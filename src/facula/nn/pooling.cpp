// The operators take lists of any rank; N chooses among them.
#include "facula/nn/pooling.h"

#include "facula/nn/values.h"

namespace facula::nn {
namespace {

// sizes_at fills -1 with the input's own size.
template <size_t N>
Sizes sizes_at(const Extent<N>& wanted, const Tensor& x) {
  Sizes out = wanted.list();
  for (size_t i = 0; i < N; ++i) {
    if (out[i] == -1) out[i] = x.size(static_cast<int64_t>(i) - static_cast<int64_t>(N));
  }
  return out;
}

template <size_t N>
Tensor averages(const Tensor& x, const Extent<N>& kernel, const Sizes& stride, const Sizes& padding,
                bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor) {
  if constexpr (N == 1) {
    return avg_pool1d(x, kernel.list(), stride, padding, ceil_mode, count_include_pad);
  } else if constexpr (N == 2) {
    return avg_pool2d(x, kernel.list(), stride, padding, ceil_mode, count_include_pad, divisor);
  } else {
    return avg_pool3d(x, kernel.list(), stride, padding, ceil_mode, count_include_pad, divisor);
  }
}

}  // namespace

template <size_t N>
Tensor MaxPoolOptions<N>::call(const Tensor& x) const {
  Sizes kernel = kernel_size.list(), step = stride.value_or(kernel_size).list();
  if constexpr (N == 1) {
    return max_pool1d(x, kernel, step, padding.list(), dilation.list(), ceil_mode);
  } else {
    return max_pool3d(x, kernel, step, padding.list(), dilation.list(), ceil_mode);
  }
}
template <size_t N>
std::tuple<Tensor, Tensor> MaxPoolOptions<N>::with_indices(const Tensor& x) const {
  Sizes kernel = kernel_size.list(), step = stride.value_or(kernel_size).list();
  if constexpr (N == 1) {
    return max_pool1d_with_indices(x, kernel, step, padding.list(), dilation.list(), ceil_mode);
  } else {
    return max_pool3d_with_indices(x, kernel, step, padding.list(), dilation.list(), ceil_mode);
  }
}
template struct MaxPoolOptions<1>;
template struct MaxPoolOptions<3>;

template <size_t N>
Tensor AvgPoolOptions<N>::call(const Tensor& x) const {
  return averages<N>(x, kernel_size, stride.value_or(kernel_size).list(), padding.list(), ceil_mode,
                     count_include_pad, divisor_override);
}
template <size_t N>
std::string AvgPoolOptions<N>::text() const {
  Extent<N> step = stride.value_or(kernel_size);
  if constexpr (N == 1) {  // Python prints tuples here
    return "kernel_size=" + tuple_text(kernel_size.list()) + ", stride=" + tuple_text(step.list()) +
           ", padding=" + tuple_text(padding.list());
  }
  return fields("kernel_size", kernel_size, "stride", step, "padding", padding);
}
template struct AvgPoolOptions<1>;
template struct AvgPoolOptions<3>;

template <size_t N>
Tensor AdaptiveAvgPoolOptions<N>::call(const Tensor& x) const {
  Sizes size = sizes_at(output_size, x);
  if constexpr (N == 1) return adaptive_avg_pool1d(x, size);
  if constexpr (N == 2) return adaptive_avg_pool2d(x, size);
  return adaptive_avg_pool3d(x, size);
}
template struct AdaptiveAvgPoolOptions<1>;
template struct AdaptiveAvgPoolOptions<2>;
template struct AdaptiveAvgPoolOptions<3>;

template <size_t N>
std::tuple<Tensor, Tensor> AdaptiveMaxPoolOptions<N>::with_indices(const Tensor& x) const {
  Sizes size = sizes_at(output_size, x);
  if constexpr (N == 1) return adaptive_max_pool1d(x, size);
  if constexpr (N == 2) return adaptive_max_pool2d(x, size);
  return adaptive_max_pool3d(x, size);
}
template <size_t N>
Tensor AdaptiveMaxPoolOptions<N>::call(const Tensor& x) const {
  return std::get<0>(with_indices(x));
}
template struct AdaptiveMaxPoolOptions<1>;
template struct AdaptiveMaxPoolOptions<2>;
template struct AdaptiveMaxPoolOptions<3>;

template <size_t N>
Tensor MaxUnpoolOptions<N>::call(const Tensor& x, const Tensor& indices) const {
  FACULA_CHECK(x.dim() > static_cast<int64_t>(N), kRuntime, kName, ": expected an input of ", N + 1,
               " or ", N + 2, " dimensions, got ", x.dim());
  Extent<N> size = 0, step = stride.value_or(kernel_size);
  for (size_t i = 0; i < N; ++i) {
    int64_t windows = x.size(static_cast<int64_t>(i) - static_cast<int64_t>(N));
    size.values[i] = (windows - 1) * step[i] + kernel_size[i] - 2 * padding[i];
  }
  return call(x, indices, size);
}
template <size_t N>
Tensor MaxUnpoolOptions<N>::call(const Tensor& x, const Tensor& indices,
                                 const Extent<N>& size) const {
  if constexpr (N == 1) {
    Tensor column =
        max_unpool2d(unsqueeze(x, -1), unsqueeze(indices, -1), Sizes{size[0], int64_t{1}});
    return squeeze_dim(column, {-1});
  } else if constexpr (N == 2) {
    return max_unpool2d(x, indices, size.list());
  } else {
    return max_unpool3d(x, indices, size.list(), stride.value_or(kernel_size).list(),
                        padding.list());
  }
}
template struct MaxUnpoolOptions<1>;
template struct MaxUnpoolOptions<2>;
template struct MaxUnpoolOptions<3>;

template <size_t N>
Tensor LPPoolOptions<N>::call(const Tensor& x) const {
  Tensor mean = averages<N>(pow(x, norm_type), kernel_size, stride.value_or(kernel_size).list(),
                            Extent<N>(int64_t{0}).list(), ceil_mode, true, std::nullopt);
  Tensor sums = sign(mean) * relu(abs(mean)) * kernel_size.product();
  return pow(sums, 1 / norm_type);
}
template struct LPPoolOptions<1>;
template struct LPPoolOptions<2>;
template struct LPPoolOptions<3>;

template <size_t N>
Tensor FractionalMaxPoolOptions<N>::call(const Tensor& x) const {
  constexpr int64_t kSpatial = N;
  FACULA_CHECK(x.dim() > kSpatial, kRuntime, kName, ": expected an input of ", N + 1, " or ", N + 2,
               " dimensions, got ", x.dim());
  int64_t batch = x.dim() == kSpatial + 1 ? 1 : x.size(0);
  Tensor samples = rand({batch, x.size(-kSpatial - 1), kSpatial}, nullptr, x.dtype());
  if constexpr (N == 2) {
    return std::get<0>(fractional_max_pool2d(x, kernel_size.list(), output_size.list(), samples));
  } else {
    return std::get<0>(fractional_max_pool3d(x, kernel_size.list(), output_size.list(), samples));
  }
}
template struct FractionalMaxPoolOptions<2>;
template struct FractionalMaxPoolOptions<3>;

}  // namespace facula::nn
