// Upsampling and downsampling: each spatial dimension is resampled by itself from a table of taps;
// nearest neighbours are gathers of any dtype.
#include <algorithm>
#include <cmath>
#include <utility>

#include "facula/base/error.h"
#include "facula/base/half.h"
#include "facula/kernels/image.h"
#include "facula/ops/image_functions.h"
#include "facula/ops/rules.h"

namespace facula {
namespace {

// TapTable owns the taps of one dimension.
struct TapTable {
  std::vector<int64_t> index;
  std::vector<double> weight;
  kernels::Taps taps{};
  void finish(int64_t in, int64_t out) {
    int64_t count = out ? static_cast<int64_t>(index.size()) / out : 0;
    taps = {in, out, count, index.data(), weight.data()};
  }
};

double source_position(double ratio, int64_t o, bool align_corners) {
  return align_corners ? ratio * static_cast<double>(o)
                       : ratio * (static_cast<double>(o) + 0.5) - 0.5;
}

void linear_taps(TapTable& t, int64_t in, int64_t out, double ratio, bool align_corners) {
  for (int64_t o = 0; o < out; ++o) {
    double x = std::max(source_position(ratio, o, align_corners), 0.0);
    int64_t i = std::min(static_cast<int64_t>(x), in - 1);
    double f = std::min(std::max(x - static_cast<double>(i), 0.0), 1.0);
    t.index.push_back(i), t.weight.push_back(1 - f);
    t.index.push_back(std::min(i + 1, in - 1)), t.weight.push_back(f);
  }
}

// Cubic convolution.
double cubic(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

void cubic_taps(TapTable& t, int64_t in, int64_t out, double ratio, bool align_corners) {
  for (int64_t o = 0; o < out; ++o) {
    double x = source_position(ratio, o, align_corners), base = std::floor(x);
    for (int64_t k = -1; k <= 2; ++k) {
      double at = base + static_cast<double>(k);
      t.index.push_back(std::clamp<int64_t>(static_cast<int64_t>(at), 0, in - 1));
      t.weight.push_back(cubic(x - at, -0.75));
    }
  }
}

// Antialiased filters: the support grows with the ratio when the image shrinks.
void antialias_taps(TapTable& t, int64_t in, int64_t out, double ratio, bool is_cubic) {
  double widen = std::max(ratio, 1.0), support = (is_cubic ? 2 : 1) * widen;
  int64_t count = static_cast<int64_t>(std::ceil(support)) * 2 + 1;
  for (int64_t o = 0; o < out; ++o) {
    double centre = ratio * (static_cast<double>(o) + 0.5);
    int64_t first = std::max<int64_t>(static_cast<int64_t>(centre - support + 0.5), 0);
    int64_t last = std::min<int64_t>(static_cast<int64_t>(centre + support + 0.5), in);
    double total = 0;
    std::vector<double> w(static_cast<size_t>(count), 0.0);
    for (int64_t i = first; i < last && i - first < count; ++i) {
      double x = (static_cast<double>(i) - centre + 0.5) / widen;
      w[i - first] = is_cubic ? cubic(x, -0.5) : std::max(0.0, 1 - std::fabs(x));
      total += w[i - first];
    }
    for (int64_t k = 0; k < count; ++k) {
      t.index.push_back(std::min(first + k, in - 1));
      t.weight.push_back(total != 0 ? w[k] / total : 0);
    }
  }
}

TapTable taps_of(std::string_view mode, int64_t in, int64_t out, double ratio, bool align_corners) {
  TapTable t;
  if (mode == "linear")
    linear_taps(t, in, out, ratio, align_corners);
  else if (mode == "cubic")
    cubic_taps(t, in, out, ratio, align_corners);
  else
    antialias_taps(t, in, out, ratio, mode == "cubic_aa");
  t.finish(in, out);
  return t;
}

// round_weights rounds the weights of linear taps to half precision, as the larger one of a pair is
// one minus the rounded smaller one.
void round_weights(TapTable& t, DType dtype) {
  auto rounded = [&](double v) {
    auto f = static_cast<float>(v);
    return static_cast<double>(dtype == kFloat16 ? static_cast<float>(Half(f))
                                                 : static_cast<float>(BFloat16(f)));
  };
  for (size_t i = 0; i + 1 < t.weight.size(); i += 2) {
    t.weight[i + 1] = rounded(t.weight[i + 1]);
    t.weight[i] = rounded(1 - t.weight[i + 1]);
  }
}

bool is_nearest(std::string_view mode) { return mode == "nearest" || mode == "nearest_exact"; }

// The gather of nearest neighbours.
struct NearestPlan {
  kernels::IndexMap m{};
  std::vector<int64_t> maps[3];

  NearestPlan(IntList input, IntList output, std::span<const double> ratios, bool exact) {
    int64_t n = output.ssize(), rank = input.ssize();
    m.planes = 1;
    for (int64_t d = 0; d < rank - n; ++d) m.planes *= input[d];
    for (int64_t d = 0; d < 3; ++d) {
      int64_t k = d - (3 - n);
      m.input[d] = k < 0 ? 1 : input[rank - n + k];
      m.output[d] = k < 0 ? 1 : output[k];
      for (int64_t o = 0; o < m.output[d]; ++o) {
        double at = k < 0 ? 0 : ratios[k] * (static_cast<double>(o) + (exact ? 0.5 : 0));
        // PyTorch computes this product in float.
        int64_t i = static_cast<int64_t>(std::floor(static_cast<float>(at)));
        maps[d].push_back(std::min(i, m.input[d] - 1));
      }
      m.map[d] = maps[d].data();
    }
  }
};

// fix_weights rounds weights to fixed point, as PyTorch does for pictures of bytes: with so many
// binary places as leave the largest one below 2^15. Weights of one position are added before.
void fix_weights(TapTable& t) {
  int64_t count = t.taps.count;
  double most = 0;
  for (size_t i = 0; i < t.weight.size(); ++i) {
    size_t into = i;
    while (into % count && t.index[into - 1] == t.index[i]) --into;
    if (into != i) t.weight[into] += std::exchange(t.weight[i], 0.0);
  }
  for (double w : t.weight) most = std::max(most, w);
  int places = 0;
  while (places < 22 && std::trunc(std::ldexp(most, places + 1) + 0.5) < (1 << 15)) ++places;
  for (double& w : t.weight) {
    w = std::ldexp(std::trunc(std::ldexp(w, places) + (w < 0 ? -0.5 : 0.5)), -places);
  }
}

// Applies the taps of one dimension, which becomes `size` long.
Tensor apply_taps(const Tensor& t, const TapTable& table, int64_t d, int64_t size, bool adjoint) {
  Sizes sizes = t.sizes().to_sizes();
  int64_t outer = 1, inner = 1, rank = static_cast<int64_t>(sizes.size());
  for (int64_t j = 0; j < d; ++j) outer *= sizes[j];
  for (int64_t j = d + 1; j < rank; ++j) inner *= sizes[j];
  sizes[d] = size;
  Tensor next = new_empty(sizes, t.dtype(), t.device());
  auto f = adjoint ? kernels::pictures->resample_adjoint : kernels::pictures->resample;
  f(t.dtype(), next.data(), t.data(), outer, inner, table.taps);
  return next;
}

// Pictures of bytes: columns, then rows, each with weights in fixed point and rounded to bytes.
// Sums of such products are exact in double.
Tensor resample_bytes(const Tensor& input, IntList output, std::span<const double> ratios,
                      std::string_view mode, bool align_corners) {
  Tensor t = to_contiguous(to_dtype(input, kFloat64));
  for (int64_t k = 1; k >= 0; --k) {
    int64_t d = input.dim() - 2 + k;
    if (input->sizes[d] == output[k]) continue;
    TapTable table = taps_of(mode, input->sizes[d], output[k], ratios[k], align_corners);
    fix_weights(table);
    t = apply_taps(t, table, d, output[k], false);
    double* p = t.data_as<double>();
    for (int64_t i = 0; i < t.numel(); ++i) p[i] = std::clamp(std::floor(p[i] + 0.5), 0.0, 255.0);
  }
  return to_dtype(t, kUInt8);
}

// Applies the taps of each dimension in turn; `adjoint` goes from the output back to the input.
// `dtype` is that of the images; linear weights of lines and volumes in half precision are rounded
// to it, as PyTorch does (of pictures they are not).
Tensor resample_dims(const Tensor& x, IntList input, IntList output, std::span<const double> ratios,
                     std::string_view mode, bool align_corners, bool adjoint, DType dtype) {
  int64_t n = output.ssize(), rank = input.ssize();
  Tensor t = x;
  for (int64_t i = 0; i < n; ++i) {
    int64_t k = adjoint ? i : n - 1 - i, d = rank - n + k;
    TapTable table = taps_of(mode, input[d], output[k], ratios[k], align_corners);
    if (is_reduced(dtype) && mode == "linear" && n != 2) round_weights(table, dtype);
    t = apply_taps(t, table, d, adjoint ? input[d] : output[k], adjoint);
  }
  return t;
}

}  // namespace

namespace forward {

Tensor resample(const Tensor& input, IntList output_size, std::span<const double> ratios,
                std::string_view mode, bool align_corners) {
  Sizes sizes = input.sizes().to_sizes();
  int64_t n = output_size.ssize();
  for (int64_t k = 0; k < n; ++k) sizes[sizes.size() - n + k] = output_size[k];
  if (input.is_meta() || input.numel() == 0) return new_empty(sizes, input.dtype(), input.device());
  if (is_nearest(mode)) {
    Tensor x = to_contiguous(input), out = new_empty(sizes, input.dtype());
    NearestPlan plan(x.sizes(), output_size, ratios, mode == "nearest_exact");
    kernels::pictures->gather(item_size(x.dtype()), out.data(), x.data(), plan.m);
    return out;
  }
  bool bytes = input.dtype() == kUInt8;
  if (!input.is_floating_point() && !bytes) {
    raise_error(ErrorKind::kNotImplemented, "\"upsample_", mode, "\" not implemented for '",
                dtype_title(input.dtype()), "'");
  }
  if (bytes && n == 2) return resample_bytes(input, output_size, ratios, mode, align_corners);
  DType work = input.dtype() == kFloat64 ? kFloat64 : kFloat32;
  Tensor out = resample_dims(to_contiguous(to_dtype(input, work)), input.sizes(), output_size,
                             ratios, mode, align_corners, false, input.dtype());
  if (!bytes) return to_dtype(out, input.dtype());
  for (int64_t i = 0; i < out.numel(); ++i) {
    float& v = out.data_as<float>()[i];
    v = std::clamp(std::nearbyint(v), 0.0f, 255.0f);
  }
  return to_dtype(out, kUInt8);
}

Tensor resample_backward(const Tensor& grad_output, IntList size, IntList output_size,
                         std::span<const double> ratios, std::string_view mode,
                         bool align_corners) {
  Tensor g = to_contiguous(grad_output);
  Tensor dx = new_empty(size, g.dtype(), g.device());
  if (dx.is_meta() || dx.numel() == 0) return dx;
  if (is_nearest(mode)) {
    NearestPlan plan(size, output_size, ratios, mode == "nearest_exact");
    kernels::pictures->scatter(g.dtype(), dx.data(), g.data(), plan.m);
    return dx;
  }
  DType work = g.dtype() == kFloat64 ? kFloat64 : kFloat32;
  Tensor out = resample_dims(to_dtype(g, work), size, output_size, ratios, mode, align_corners,
                             true, g.dtype());
  return to_dtype(out, g.dtype());
}

}  // namespace forward

Tensor upsample_nd(const Tensor& input, OptIntList output_size,
                   std::optional<std::span<const double>> scale_factors, std::string_view mode,
                   bool align_corners, int64_t spatial) {
  std::string op = str("upsample_", mode, spatial, 'd');
  if (input.dim() != spatial + 2) {
    raise_error(ErrorKind::kRuntime, op, ": expected an input of ", spatial + 2,
                " dimensions, got ", list_text(input.sizes()));
  }
  bool sized = output_size && !output_size->empty();
  bool scaled_by = scale_factors && !scale_factors->empty();
  if (sized == scaled_by) {
    raise_error(ErrorKind::kRuntime, op,
                ": Must specify exactly one of output_size and scale_factors");
  }
  int64_t given = sized ? output_size->ssize() : static_cast<int64_t>(scale_factors->size());
  if (given != spatial) {
    raise_error(ErrorKind::kRuntime, op, ": expected ", spatial,
                " output sizes or scale factors, got ", given);
  }
  Sizes sizes;
  std::vector<double> ratios;
  for (int64_t d = 0; d < spatial; ++d) {
    int64_t in = input->sizes[d + 2];
    double factor = scaled_by ? (*scale_factors)[d] : 0;
    int64_t out = sized ? (*output_size)[d]
                        : static_cast<int64_t>(std::floor(static_cast<double>(in) * factor));
    if (in < 1 || out < 1) {
      raise_error(ErrorKind::kRuntime, op,
                  ": Input and output sizes should be greater than 0, but ", "got input ",
                  list_text(input.sizes()), " and output size ", out, " in spatial dimension ", d);
    }
    sizes.push_back(out);
    if (align_corners) {
      ratios.push_back(out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0);
    } else {
      ratios.push_back(factor > 0 ? 1 / factor
                                  : static_cast<double>(in) / static_cast<double>(out));
    }
  }
  return resample(input, sizes, ratios, mode, align_corners);
}

}  // namespace facula
