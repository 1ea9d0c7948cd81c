// gradient, by differences of neighbours, and hash_tensor.
#include "facula/base/error.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/statistics_functions.h"

namespace facula {
namespace {

// checked_dims wraps the dimensions of gradient and checks that there is something to differ.
Sizes checked_dims(const Tensor& self, OptIntList dim, int64_t edge_order) {
  FACULA_CHECK(edge_order == 1 || edge_order == 2, kRuntime,
               "gradient: only edge_order=1 and edge_order=2 are supported");
  Sizes dims;
  int64_t count = dim ? dim->ssize() : self.dim();
  for (int64_t i = 0; i < count; ++i) {
    int64_t d = dim ? (*dim)[i] : i;
    FACULA_CHECK(d >= -self.dim() && d < self.dim(), kIndex,
                 "gradient: dimension out of range of a ", self.dim(), "-d tensor: ", d);
    d = wrap_dim(d, self.dim(), "gradient");
    for (int64_t other : dims) {
      FACULA_CHECK(d != other, kRuntime, "dim ", d, " appears multiple times in the list of dims");
    }
    FACULA_CHECK(self.size(d) > edge_order, kRuntime,
                 "gradient: expected each dimension size to be at least edge_order+1, got ",
                 self.size(d), " for dimension ", d);
    dims.push_back(d);
  }
  return dims;
}

void check_count(size_t given, size_t dims) {
  FACULA_CHECK(given == dims, kRuntime,
               "gradient: expected spacing to be unspecified, a scalar, or of length ", dims,
               ", but got length ", given);
}

// evenly differentiates along a dimension of even steps.
Tensor evenly(const Tensor& t, double step, int64_t dim, int64_t edge_order) {
  int64_t n = t.size(dim);
  auto at = [&](int64_t i) { return narrow(t, dim, i, 1); };
  auto edge = [&](int64_t i, int64_t way) {
    Tensor near = at(i), next = at(i + way);
    if (edge_order == 1) return div(sub(next, near), Scalar(static_cast<double>(way) * step));
    Tensor bend = sub(sub(mul(next, Scalar(4)), mul(near, Scalar(3))), at(i + 2 * way));
    return div(bend, Scalar(static_cast<double>(2 * way) * step));
  };
  Tensor inner = div(sub(narrow(t, dim, 2, n - 2), narrow(t, dim, 0, n - 2)), Scalar(2 * step));
  return cat(std::vector<Tensor>{edge(0, 1), inner, edge(n - 1, -1)}, dim);
}

// unevenly differentiates along a dimension of given coordinates: the slopes on both sides of a
// point, each weighted by the length of the other side.
Tensor unevenly(const Tensor& t, const Tensor& places, int64_t dim, int64_t edge_order) {
  int64_t n = t.size(dim);
  FACULA_CHECK(places.dim() == 1 && places.numel() == n, kRuntime, "gradient: expected ", n,
               " coordinates for dimension ", dim, ", got shape ", list_text(places.sizes()));
  Sizes shape(static_cast<size_t>(t.dim()), int64_t{1});
  shape[static_cast<size_t>(dim)] = n - 1;
  Tensor gaps = reshape(sub(narrow(places, 0, 1, n - 1), narrow(places, 0, 0, n - 1)), shape);
  Tensor slopes = div(sub(narrow(t, dim, 1, n - 1), narrow(t, dim, 0, n - 1)), gaps);
  auto part = [&](const Tensor& of, int64_t from) { return narrow(of, dim, from, n - 2); };
  auto edge = [&](int64_t near, int64_t next) {
    Tensor slope = narrow(slopes, dim, near, 1);
    if (edge_order == 1) return slope;
    Tensor own = narrow(gaps, dim, near, 1), other = narrow(gaps, dim, next, 1);
    Tensor bend = sub(slope, narrow(slopes, dim, next, 1));
    return add(slope, div(mul(bend, own), add(own, other)));
  };
  Tensor before = part(gaps, 0), after = part(gaps, 1);
  Tensor inner =
      div(add(mul(part(slopes, 0), after), mul(part(slopes, 1), before)), add(before, after));
  return cat(std::vector<Tensor>{edge(0, 1), inner, edge(n - 2, n - 3)}, dim);
}

// fold combines all elements along a dimension, which keeps one.
Tensor fold(Tensor bits, int64_t dim) {
  while (bits.size(dim) > 1) {
    int64_t n = bits.size(dim), half = n / 2;
    Tensor pairs = bitwise_xor(narrow(bits, dim, 0, half), narrow(bits, dim, half, half));
    bits = n % 2 ? cat(std::vector<Tensor>{pairs, narrow(bits, dim, n - 1, 1)}, dim) : pairs;
  }
  return bits;
}

}  // namespace

std::vector<Tensor> gradient(const Tensor& self, std::optional<std::span<const double>> spacing,
                             OptIntList dim, int64_t edge_order) {
  Sizes dims = checked_dims(self, dim, edge_order);
  if (spacing) check_count(spacing->size(), dims.size());
  std::vector<Tensor> out;
  for (size_t i = 0; i < dims.size(); ++i) {
    out.push_back(evenly(self, spacing ? (*spacing)[i] : 1.0, dims[i], edge_order));
  }
  return out;
}

std::vector<Tensor> gradient_coordinates(const Tensor& self, TensorList spacing, OptIntList dim,
                                         int64_t edge_order) {
  Sizes dims = checked_dims(self, dim, edge_order);
  check_count(spacing.size(), dims.size());
  std::vector<Tensor> out;
  for (size_t i = 0; i < dims.size(); ++i) {
    out.push_back(unevenly(self, spacing[i], dims[i], edge_order));
  }
  return out;
}

Tensor hash_tensor(const Tensor& self, IntList dim, bool keepdim, int64_t mode) {
  FACULA_CHECK(mode == 0, kRuntime, "Unknown hash_tensor mode: ", mode);
  FACULA_CHECK(self.numel() > 0 || !dim.empty(), kRuntime,
               "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. ",
               "Specify the reduction dim with the 'dim' argument.");
  Tensor wide = facula::cast(self, is_floating(self.dtype()) ? kFloat64 : kInt64);
  Tensor bits = view_dtype(self.dim() ? wide : unsqueeze(wide, 0), kInt64);
  std::vector<bool> folded(static_cast<size_t>(bits.dim()), dim.empty());
  for (int64_t d : dim) folded[static_cast<size_t>(wrap_dim(d, self.dim(), "hash_tensor"))] = true;
  Sizes kept;
  for (int64_t d = 0; d < bits.dim(); ++d) {
    bool fold_it = folded[static_cast<size_t>(d)];
    FACULA_CHECK(!fold_it || bits.size(d) > 0, kIndex, "hash_tensor: Expected reduction dim ", d,
                 " to have non-zero size.");
    if (fold_it) bits = fold(bits, d);
    if (!fold_it || (keepdim && self.dim())) kept.push_back(bits.size(d));
  }
  if (!self.dim()) kept.clear();
  return reshape(view_dtype(bits, kUInt64), kept);
}

}  // namespace facula
