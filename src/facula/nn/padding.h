// Padding of the last dimensions as modules. `padding` is one number, or (before, after) of each
// dimension, the last dimension first.
//
//   nn::ZeroPad2d pad(1);
//   nn::ConstantPad1d ones({.padding = {2, 0}, .value = 1});
//   Tensor framed = pad(rand({1, 3, 4, 4}));
#pragma once
#include "facula/nn/simple.h"

namespace facula::nn {

enum class PadMode : uint8_t { kReflect, kReplicate, kCircular };

// pad_edges pads the last `pad.size() / 2` dimensions with values of the tensor.
FACULA_API Tensor pad_edges(const Tensor& x, IntList pad, PadMode mode);

// kPadNames holds the modules' names, by kind and number of dimensions.
inline constexpr const char* kPadNames[][3] = {
    {"ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d"},
    {"ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d"},
    {"CircularPad1d", "CircularPad2d", "CircularPad3d"},
    {"ConstantPad1d", "ConstantPad2d", "ConstantPad3d"},
    {"ZeroPad1d", "ZeroPad2d", "ZeroPad3d"},
};

template <size_t N, PadMode kMode>
struct EdgePadOptions {
  static constexpr const char* kName = kPadNames[static_cast<int>(kMode)][N - 1];
  Extent<2 * N> padding;
  Tensor call(const Tensor& x) const { return pad_edges(x, padding.list(), kMode); }
  std::string text() const { return tuple_text(padding.list()); }
};
// By reflection at the edge, which is not repeated.
using ReflectionPad1d = Simple<EdgePadOptions<1, PadMode::kReflect>>;
using ReflectionPad2d = Simple<EdgePadOptions<2, PadMode::kReflect>>;
using ReflectionPad3d = Simple<EdgePadOptions<3, PadMode::kReflect>>;
// With the edge's value.
using ReplicationPad1d = Simple<EdgePadOptions<1, PadMode::kReplicate>>;
using ReplicationPad2d = Simple<EdgePadOptions<2, PadMode::kReplicate>>;
using ReplicationPad3d = Simple<EdgePadOptions<3, PadMode::kReplicate>>;
// With values from the other end.
using CircularPad1d = Simple<EdgePadOptions<1, PadMode::kCircular>>;
using CircularPad2d = Simple<EdgePadOptions<2, PadMode::kCircular>>;
using CircularPad3d = Simple<EdgePadOptions<3, PadMode::kCircular>>;

template <size_t N>
struct FACULA_API ConstantPadOptions {
  static constexpr const char* kName = kPadNames[3][N - 1];
  Extent<2 * N> padding;
  double value;
  Tensor call(const Tensor& x) const;
  std::string text() const {
    return "padding=" + tuple_text(padding.list()) + ", value=" + shown(value);
  }
};
using ConstantPad1d = Simple<ConstantPadOptions<1>>;
using ConstantPad2d = Simple<ConstantPadOptions<2>>;
using ConstantPad3d = Simple<ConstantPadOptions<3>>;

template <size_t N>
struct ZeroPadOptions {
  static constexpr const char* kName = kPadNames[4][N - 1];
  Extent<2 * N> padding;
  Tensor call(const Tensor& x) const { return ConstantPadOptions<N>{padding, 0}.call(x); }
  std::string text() const { return tuple_text(padding.list()); }
};
using ZeroPad1d = Simple<ZeroPadOptions<1>>;
using ZeroPad2d = Simple<ZeroPadOptions<2>>;
using ZeroPad3d = Simple<ZeroPadOptions<3>>;

}  // namespace facula::nn
