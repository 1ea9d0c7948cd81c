// Modules without weights that move, resize, compare or scale: Unflatten, Fold, PixelShuffle,
// Upsample, distances, local response normalisation. Flatten is in functions.h.
//
//   nn::Upsample twice({.scale_factor = 2.0, .mode = "bilinear"});
//   Tensor larger = twice(rand({1, 3, 8, 8}));
//   nn::PairwiseDistance distance;
//   Tensor apart = distance(rand({4, 3}), rand({4, 3}));
#pragma once
#include "facula/nn/simple.h"

namespace facula::nn {

struct IdentityOptions {
  static constexpr const char* kName = "Identity";
  Tensor call(const Tensor& x) const { return x; }
};
using Identity = Simple<IdentityOptions>;  // its input

struct FACULA_API UnflattenOptions {
  static constexpr const char* kName = "Unflatten";
  int64_t dim;
  Sizes unflattened_size;
  Tensor call(const Tensor& x) const;
  std::string text() const {
    return "dim=" + shown(dim) + ", unflattened_size=" + tuple_text(unflattened_size);
  }
};
using Unflatten = Simple<UnflattenOptions>;  // splits a dimension

struct FACULA_API FoldOptions {
  static constexpr const char* kName = "Fold";
  Extent<2> output_size, kernel_size;
  Extent<2> dilation = 1, padding = 0, stride = 1;
  Tensor call(const Tensor& x) const;
  std::string text() const {
    return fields("output_size", output_size, "kernel_size", kernel_size, "dilation", dilation,
                  "padding", padding, "stride", stride);
  }
};
using Fold = Simple<FoldOptions>;  // adds up columns of blocks into images

struct FACULA_API UnfoldOptions {
  static constexpr const char* kName = "Unfold";
  Extent<2> kernel_size;
  Extent<2> dilation = 1, padding = 0, stride = 1;
  Tensor call(const Tensor& x) const;
  std::string text() const {
    return fields("kernel_size", kernel_size, "dilation", dilation, "padding", padding, "stride",
                  stride);
  }
};
using Unfold = Simple<UnfoldOptions>;  // gives the blocks of images as columns

struct FACULA_API PixelShuffleOptions {
  static constexpr const char* kName = "PixelShuffle";
  int64_t upscale_factor;
  Tensor call(const Tensor& x) const;
  std::string text() const { return fields("upscale_factor", upscale_factor); }
};
using PixelShuffle = Simple<PixelShuffleOptions>;  // channels become pixels

struct FACULA_API PixelUnshuffleOptions {
  static constexpr const char* kName = "PixelUnshuffle";
  int64_t downscale_factor;
  Tensor call(const Tensor& x) const;
  std::string text() const { return fields("downscale_factor", downscale_factor); }
};
using PixelUnshuffle = Simple<PixelUnshuffleOptions>;  // pixels become channels

struct FACULA_API ChannelShuffleOptions {
  static constexpr const char* kName = "ChannelShuffle";
  int64_t groups;
  Tensor call(const Tensor& x) const;
  std::string text() const { return fields("groups", groups); }
};
using ChannelShuffle = Simple<ChannelShuffleOptions>;  // interleaves groups of channels

// UpsampleOptions: either a size or a factor of the spatial dimensions of (N, C, ...). Modes are
// "nearest", "linear" (3-D), "bilinear" and "bicubic" (4-D), "trilinear" (5-D).
struct FACULA_API UpsampleOptions {
  static constexpr const char* kName = "Upsample";
  Sizes size = {};
  std::optional<double> scale_factor = std::nullopt;
  std::string mode = "nearest";
  bool align_corners = false;
  Tensor call(const Tensor& x) const;
  std::string text() const;
};
using Upsample = Simple<UpsampleOptions>;

struct UpsamplingNearest2dOptions {
  static constexpr const char* kName = "UpsamplingNearest2d";
  Sizes size = {};
  std::optional<double> scale_factor = std::nullopt;
  UpsampleOptions all() const { return {size, scale_factor, "nearest", false}; }
  Tensor call(const Tensor& x) const { return all().call(x); }
  std::string text() const { return all().text(); }
};
using UpsamplingNearest2d = Simple<UpsamplingNearest2dOptions>;

struct UpsamplingBilinear2dOptions {
  static constexpr const char* kName = "UpsamplingBilinear2d";
  Sizes size = {};
  std::optional<double> scale_factor = std::nullopt;
  UpsampleOptions all() const { return {size, scale_factor, "bilinear", true}; }
  Tensor call(const Tensor& x) const { return all().call(x); }
  std::string text() const { return all().text(); }
};
using UpsamplingBilinear2d = Simple<UpsamplingBilinear2dOptions>;  // with aligned corners

struct FACULA_API CosineSimilarityOptions {
  static constexpr const char* kName = "CosineSimilarity";
  int64_t dim = 1;
  double eps = 1e-8;
  Tensor call(const Tensor& x1, const Tensor& x2) const;
};
using CosineSimilarity = Simple<CosineSimilarityOptions>;  // the cosine of the angle along dim

struct FACULA_API PairwiseDistanceOptions {
  static constexpr const char* kName = "PairwiseDistance";
  double p = 2, eps = 1e-6;
  bool keepdim = false;
  Tensor call(const Tensor& x1, const Tensor& x2) const;
};
using PairwiseDistance = Simple<PairwiseDistanceOptions>;  // the p-norm of the difference

// LocalResponseNormOptions divides by (k + alpha * mean of squares over size channels) ^ beta.
struct FACULA_API LocalResponseNormOptions {
  static constexpr const char* kName = "LocalResponseNorm";
  int64_t size;
  double alpha = 1e-4, beta = 0.75, k = 1;
  Tensor call(const Tensor& x) const;
  std::string text() const {
    return shown(size) + ", " + fields("alpha", alpha, "beta", beta, "k", k);
  }
};
using LocalResponseNorm = Simple<LocalResponseNormOptions>;

// CrossMapLRN2dOptions does the same for (N, C, H, W) with windows cut at the first and last
// channel.
struct FACULA_API CrossMapLRN2dOptions {
  static constexpr const char* kName = "CrossMapLRN2d";
  int64_t size;
  double alpha = 1e-4, beta = 0.75, k = 1;
  Tensor call(const Tensor& x) const;
  std::string text() const {
    return shown(size) + ", " + fields("alpha", alpha, "beta", beta, "k", k);
  }
};
using CrossMapLRN2d = Simple<CrossMapLRN2dOptions>;

}  // namespace facula::nn
