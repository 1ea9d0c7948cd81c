// Each module calls an operator; the response norms are made of pooling.
#include "facula/nn/reshaping.h"

#include <vector>

#include "facula/nn/options.h"
#include "facula/nn/values.h"

namespace facula::nn {

Tensor UnflattenOptions::call(const Tensor& x) const { return unflatten(x, dim, unflattened_size); }
Tensor FoldOptions::call(const Tensor& x) const {
  return col2im(x, output_size.list(), kernel_size.list(), dilation.list(), padding.list(),
                stride.list());
}
Tensor UnfoldOptions::call(const Tensor& x) const {
  return im2col(x, kernel_size.list(), dilation.list(), padding.list(), stride.list());
}
Tensor PixelShuffleOptions::call(const Tensor& x) const { return pixel_shuffle(x, upscale_factor); }
Tensor PixelUnshuffleOptions::call(const Tensor& x) const {
  return pixel_unshuffle(x, downscale_factor);
}
Tensor ChannelShuffleOptions::call(const Tensor& x) const { return channel_shuffle(x, groups); }

Tensor UpsampleOptions::call(const Tensor& x) const {
  int64_t spatial = x.dim() - 2;
  check_option("Upsample", "mode", mode,
               {"nearest", "nearest-exact", "linear", "bilinear", "bicubic", "trilinear"},
               ErrorKind::kNotImplemented);
  bool nearest = mode == "nearest" || mode == "nearest-exact";
  bool fits = nearest || (mode == "linear" && spatial == 1) ||
              ((mode == "bilinear" || mode == "bicubic") && spatial == 2) ||
              (mode == "trilinear" && spatial == 3);
  FACULA_CHECK(fits && spatial >= 1 && spatial <= 3, kNotImplemented, "Upsample: mode ", mode,
               " does not take an input of ", x.dim(), " dimensions");
  FACULA_CHECK(size.empty() != !scale_factor, kValue,
               "Upsample: expected either a size or a scale_factor");
  Sizes target = size;
  if (target.size() == 1) target = Sizes(static_cast<size_t>(spatial), size[0]);
  std::vector<double> factors(static_cast<size_t>(spatial), scale_factor.value_or(1));
  OptIntList sizes = size.empty() ? OptIntList() : OptIntList(target);
  std::optional<std::span<const double>> scales;
  if (scale_factor) scales = factors;
  const char* kernel = mode == "nearest"         ? "nearest"
                       : mode == "nearest-exact" ? "nearest_exact"
                       : mode == "bicubic"       ? "cubic"
                                                 : "linear";
  return upsample_nd(x, sizes, scales, kernel, align_corners, spatial);
}
std::string UpsampleOptions::text() const {
  std::string what = scale_factor       ? "scale_factor=" + shown(*scale_factor)
                     : size.size() == 1 ? "size=" + shown(size[0])
                                        : "size=" + tuple_text(size);
  return what + ", mode=" + shown(mode);
}

Tensor CosineSimilarityOptions::call(const Tensor& x1, const Tensor& x2) const {
  return cosine_similarity(x1, x2, dim, eps);
}
Tensor PairwiseDistanceOptions::call(const Tensor& x1, const Tensor& x2) const {
  return pairwise_distance(x1, x2, p, eps, keepdim);
}

Tensor LocalResponseNormOptions::call(const Tensor& x) const {
  FACULA_CHECK(x.dim() >= 3, kValue, "Expected 3D or higher dimensionality input (got ", x.dim(),
               " dimensions)");
  if (x.numel() == 0) return x;
  Tensor squares = reshape(x * x, {x.size(0), 1, x.size(1), -1});
  squares = constant_pad_nd(squares, {0, 0, size / 2, (size - 1) / 2});
  Tensor mean = reshape(avg_pool2d(squares, {size, 1}, IntList({1})), x.sizes());
  return x / pow(mean * alpha + k, beta);
}
Tensor CrossMapLRN2dOptions::call(const Tensor& x) const {
  FACULA_CHECK(x.dim() == 4, kValue, "CrossMapLRN2d: Expected input to be 4D, got ", x.dim(),
               "D instead.");
  int64_t before = (size + 1) / 2 - 1, window = 2 * before + 1;
  Tensor squares = constant_pad_nd(unsqueeze(x * x, 1), {0, 0, 0, 0, before, before});
  Tensor sums = squeeze_dim(avg_pool3d(squares, {window, 1, 1}, IntList({1})), {1}) * window;
  return x * pow(sums * (alpha / static_cast<double>(size)) + k, -beta);
}

}  // namespace facula::nn
