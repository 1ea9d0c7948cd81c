// grid_sample from parts that have derivatives: the taps of each dimension as tensors. It serves
// the second derivative only.
#include "facula/autograd/meta.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/clamp_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/grid_parts.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

// The taps along one dimension for all positions [batch, out]: indices inside the image, and
// weights that are 0 for taps outside.
struct TensorTaps {
  std::vector<Tensor> index, weight;
};

Tensor grid_pixels(const Tensor& x, int64_t size, bool align_corners) {
  double n = static_cast<double>(size);
  if (align_corners) return mul(add(x, 1), (n - 1) / 2);
  return div(sub(mul(add(x, 1), n), 1), 2);
}

Tensor reflect_pixels(const Tensor& x, double low, double high) {
  if (low == high) return mul(x, 0);
  double least = low / 2, span = (high - low) / 2;
  Tensor away = abs(sub(x, least));
  Tensor flips = detach(floor(div(away, span)));
  Tensor extra = sub(away, mul(flips, span));
  Tensor odd = ne(sub(flips, mul(floor(div(flips, 2)), 2)), 0);
  return where(odd, sub(span + least, extra), add(extra, least));
}

Tensor pad_pixels(const Tensor& x, int64_t size, int padding, bool align_corners) {
  double top = static_cast<double>(size - 1);
  if (padding == 0) return x;
  Tensor p = x;
  if (padding == 2) {
    p = align_corners ? reflect_pixels(x, 0, 2 * top) : reflect_pixels(x, -1, 2 * top + 1);
  }
  return clamp(p, 0.0, top);
}

// Notes a tap at whole pixels `at`, which may lie outside.
void add_tap(TensorTaps& t, const Tensor& at, const Tensor& weight, int64_t size) {
  double top = static_cast<double>(size - 1);
  Tensor inside = logical_and(ge(at, 0), le(at, top));
  t.index.push_back(cast(clamp(detach(at), 0.0, top), kInt64));
  t.weight.push_back(mul(weight, inside));
}

// The weights of cubic convolution with a = -0.75 at distances t + 1, t, 1 - t, 2 - t.
Tensor cubic_weight(const Tensor& distance, bool far) {
  const double a = -0.75;
  if (far) {
    Tensor p = add(mul(sub(mul(distance, a), 5 * a), distance), 8 * a);
    return sub(mul(p, distance), 4 * a);
  }
  return add(mul(mul(sub(mul(distance, a + 2), a + 3), distance), distance), 1);
}

TensorTaps taps_along(const Tensor& coordinate, int64_t size, int mode, int padding,
                      bool align_corners) {
  TensorTaps t;
  Tensor x = grid_pixels(coordinate, size, align_corners);
  if (mode == 2) {
    Tensor base = detach(floor(x)), f = sub(x, base);
    for (int i = 0; i < 4; ++i) {
      Tensor distance = i < 2 ? add(f, 1 - i) : sub(i - 1, f);
      Tensor at = pad_pixels(add(base, i - 1), size, padding, align_corners);
      add_tap(t, at, cubic_weight(distance, i == 0 || i == 3), size);
    }
    return t;
  }
  x = pad_pixels(x, size, padding, align_corners);
  if (mode == 1) {
    Tensor at = detach(round(x));
    add_tap(t, at, add(mul(at, 0), 1), size);
    return t;
  }
  Tensor base = detach(floor(x)), f = sub(x, base);
  add_tap(t, base, sub(1, f), size);
  add_tap(t, add(base, 1), f, size);
  return t;
}

}  // namespace

Tensor grid_sample_from_parts(const Tensor& input, const Tensor& grid, int mode, int padding,
                              bool align_corners) {
  int64_t n = input.dim() - 2, batch = input->sizes[0], channels = input->sizes[1];
  Tensor places = reshape(grid, IntList({batch, -1, n}));
  int64_t count = places->sizes[1];
  // Partial sums over the dimensions so far: flat indices and weights.
  TensorTaps all;
  for (int64_t d = 0; d < n; ++d) {
    TensorTaps t =
        taps_along(select(places, 2, n - 1 - d), input->sizes[d + 2], mode, padding, align_corners);
    TensorTaps next;
    for (size_t i = 0; i < (d ? all.index.size() : 1); ++i) {
      for (size_t j = 0; j < t.index.size(); ++j) {
        next.index.push_back(d ? add(mul(all.index[i], input->sizes[d + 2]), t.index[j])
                               : t.index[j]);
        next.weight.push_back(d ? mul(all.weight[i], t.weight[j]) : t.weight[j]);
      }
    }
    all = next;
  }
  Tensor flat = reshape(input, IntList({batch, channels, -1})), result;
  for (size_t i = 0; i < all.index.size(); ++i) {
    Tensor index = expand(unsqueeze(all.index[i], 1), IntList({batch, channels, count}));
    Tensor part = mul(gather(flat, 2, index), unsqueeze(all.weight[i], 1));
    result = result.defined() ? add(result, part) : part;
  }
  Sizes shape = {batch, channels};
  for (int64_t d = 1; d + 1 < grid.dim(); ++d) shape.push_back(grid->sizes[d]);
  return reshape(result, shape);
}

}  // namespace facula
