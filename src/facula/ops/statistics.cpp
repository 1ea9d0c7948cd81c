// Covariances, histograms, distances between points, cross products and combinations, made of other
// rows.
#include <algorithm>
#include <cmath>

#include "facula/autograd/detach.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/clamp_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/scatter_mode.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/sort_functions.h"
#include "facula/ops/statistics_functions.h"
#include "facula/ops/warn.h"

namespace facula {
namespace {

// rotated shifts the three entries of a dimension.
Tensor rotated(const Tensor& t, int64_t by, int64_t dim) { return roll(t, {-by}, {dim}); }

Tensor cross_along(const Tensor& a, const Tensor& b, int64_t dim, const char* op) {
  FACULA_CHECK(a.dim() == b.dim(), kRuntime, op,
               ": inputs must have the same number of dimensions, got ", a.dim(), " and ", b.dim());
  int64_t d = wrap_dim(dim, a.dim(), op);
  FACULA_CHECK(a.dim() > 0 && a.size(d) == 3 && b.size(d) == 3, kRuntime, op, ": inputs dimension ",
               dim, " must have length 3. Got ", a.dim() ? a.size(d) : 0, " and ",
               b.dim() ? b.size(d) : 0);
  return sub(mul(rotated(a, 1, d), rotated(b, 2, d)), mul(rotated(a, 2, d), rotated(b, 1, d)));
}

// check_weights refuses weights of observations that do not fit.
void check_weights(const Tensor& w, int64_t observations, const char* what) {
  FACULA_CHECK(w.dim() <= 1, kRuntime, "cov(): expected ", what,
               " to have one or fewer dimensions but got ", w.dim());
  FACULA_CHECK(w.numel() == observations, kRuntime, "cov(): expected ", what,
               " to have the same numel as there are observations in the input but got ", w.numel(),
               " != ", observations);
  FACULA_CHECK(!any_true(lt(w, Scalar(0))), kRuntime, "cov(): ", what, " cannot be negative");
}

Tensor observation_weights(const Tensor& fweights, const Tensor& aweights, int64_t observations) {
  Tensor w;
  if (fweights.defined()) {
    FACULA_CHECK(is_integral(fweights.dtype()), kRuntime,
                 "cov(): expected fweights to have integral dtype but got fweights with ",
                 dtype_title(fweights.dtype()), " dtype");
    check_weights(fweights, observations, "fweights");
    w = fweights;
  }
  if (aweights.defined()) {
    FACULA_CHECK(is_floating(aweights.dtype()), kRuntime,
                 "cov(): expected aweights to have floating point dtype but got aweights with ",
                 dtype_title(aweights.dtype()), " dtype");
    check_weights(aweights, observations, "aweights");
    w = w.defined() ? mul(w, aweights) : aweights;
  }
  return w;
}

// number_of reads a 0-d tensor.
double number_of(const Tensor& t) { return scalar_of(t).to_double(); }

// bin_of gives the number of each element's bin between sorted edges, -1 or more than all outside;
// the last bin includes its right edge.
Tensor bin_of(const Tensor& x, const Tensor& edges) {
  int64_t bins = edges.numel() - 1;
  Tensor right = searchsorted(edges, contiguous(x), false, true, std::nullopt, Tensor());
  Tensor at = sub(right, Scalar(1));
  return where(eq(x, select(edges, 0, bins)), Scalar(bins - 1), at);
}

// counted fills the histogram of bins between sorted edges.
Tensor counted(const Tensor& self, const Tensor& edges, const Tensor& weight) {
  int64_t bins = edges.numel() - 1;
  Tensor flat = reshape(self, {-1});
  Tensor at = bin_of(flat, edges);
  Tensor inside = logical_and(ge(at, Scalar(0)), lt(at, Scalar(bins)));
  Tensor w = weight.defined() ? reshape(weight, {-1}) : ones_like(flat);
  w = where(inside, w, Scalar(0));
  at = where(inside, at, Scalar(0));
  return scatter_add(zeros({bins}, self.dtype()), 0, at, cast(w, self.dtype()));
}

std::tuple<Tensor, Tensor> finished(const Tensor& hist, const Tensor& edges, bool density) {
  if (!density) return {hist, edges};
  return {div(hist, mul(sum(hist), diff(edges))), edges};
}

void check_histogram(const Tensor& self, const Tensor& weight) {
  require_data("histogram", self);
  if (!is_floating(self.dtype())) {
    raise_error(ErrorKind::kNotImplemented, "\"histogram_cpu\" not implemented for '",
                dtype_title(self.dtype()), "'");
  }
  if (!weight.defined()) return;
  FACULA_CHECK(weight.sizes() == self.sizes(), kRuntime,
               "histogram(): if weight tensor is provided it should have the same shape as the "
               "input tensor, got ",
               list_text(weight.sizes()), " and ", list_text(self.sizes()));
  FACULA_CHECK(weight.dtype() == self.dtype(), kRuntime,
               "histogram(): if weight tensor is provided, input tensor and weight tensor should "
               "have the same dtype");
}

// equal_edges gives the edges of equal bins over a range, by default that of the elements.
Tensor equal_edges(const Tensor& self, int64_t bins, std::optional<std::span<const double>> range,
                   const char* op) {
  double low = 0, high = self.numel() > 0 ? 0 : 1;
  if (range) {
    FACULA_CHECK(range->size() == 2, kRuntime, op, "(): range should have 2 elements, got ",
                 range->size());
    low = (*range)[0];
    high = (*range)[1];
  } else if (self.numel() > 0) {
    low = number_of(min(self));
    high = number_of(max(self));
  }
  FACULA_CHECK(std::isfinite(low) && std::isfinite(high), kRuntime, op, "(): range [", low, ", ",
               high, "] is not finite");
  FACULA_CHECK(low <= high, kRuntime, op, "(): min should not exceed max, but got min ", low,
               " max ", high);
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  return linspace(Scalar(low), Scalar(high), bins + 1, self.dtype());
}

// histogram_points checks the points of a histogram over several dimensions: a row each.
Tensor histogram_points(const Tensor& self, size_t dims, const Tensor& weight) {
  require_data("histogramdd", self);
  FACULA_CHECK(self.dim() >= 2, kRuntime,
               "histogramdd: input tensor should have at least 2 dimensions");
  FACULA_CHECK(static_cast<int64_t>(dims) == self.size(-1), kRuntime, "histogramdd: expected ",
               self.size(-1), " sequences of bin edges for a ", self.size(-1),
               "-dimensional histogram but got ", dims);
  if (!is_floating(self.dtype())) {
    raise_error(ErrorKind::kNotImplemented, "\"histogramdd\" not implemented for '",
                dtype_title(self.dtype()), "'");
  }
  Tensor points = reshape(
      self, {count_elements(self.sizes(), "histogramdd") / std::max<int64_t>(self.size(-1), 1),
             self.size(-1)});
  if (weight.defined()) {
    FACULA_CHECK(weight.numel() == points.size(0), kRuntime,
                 "histogramdd: if weight tensor is provided it should have the same shape as the "
                 "input tensor excluding its innermost dimension");
    FACULA_CHECK(weight.dtype() == self.dtype(), kRuntime,
                 "histogramdd: if weight tensor is provided, input tensor and weight tensor should "
                 "have the same dtype");
  }
  return points;
}

// counted_cells counts points in the cells between edges and gives the counts and the edges.
std::vector<Tensor> counted_cells(const Tensor& points, const std::vector<Tensor>& edges,
                                  const Tensor& weight, bool density) {
  Sizes shape;
  Tensor cell = zeros({points.size(0)}, kInt64), inside = ones({points.size(0)}, kBool);
  int64_t cells = 1;
  for (size_t d = 0; d < edges.size(); ++d) {
    int64_t bins = edges[d].numel() - 1;
    Tensor x = contiguous(select(points, 1, static_cast<int64_t>(d)));
    Tensor at = bin_of(x, edges[d]);
    inside = logical_and(inside, logical_and(ge(at, Scalar(0)), lt(at, Scalar(bins))));
    cell = add(mul(cell, Scalar(bins)), at);
    shape.push_back(bins);
    cells *= bins;
  }
  Tensor w = weight.defined() ? reshape(weight, {-1}) : ones({points.size(0)}, points.dtype());
  Tensor hist = scatter_add(zeros({cells}, points.dtype()), 0, where(inside, cell, Scalar(0)),
                            cast(where(inside, w, Scalar(0)), points.dtype()));
  hist = reshape(hist, shape);
  if (density) {
    hist = div(hist, sum(hist));
    for (size_t d = 0; d < edges.size(); ++d) {
      Sizes line(edges.size(), int64_t{1});
      line[d] = shape[d];
      hist = div(hist, reshape(diff(edges[d]), line));
    }
  }
  std::vector<Tensor> out{hist};
  out.insert(out.end(), edges.begin(), edges.end());
  return out;
}

void add_combinations(std::vector<int64_t>& out, std::vector<int64_t>& now, int64_t n, int64_t r,
                      bool with_replacement) {
  if (static_cast<int64_t>(now.size()) == r) {
    out.insert(out.end(), now.begin(), now.end());
    return;
  }
  int64_t start = now.empty() ? 0 : with_replacement ? now.back() : now.back() + 1;
  for (int64_t i = start; i < n; ++i) {
    now.push_back(i);
    add_combinations(out, now, n, r, with_replacement);
    now.pop_back();
  }
}

// has_combinations says whether there is one at all; throws when there are more than memory holds.
bool has_combinations(int64_t n, int64_t r, bool with_replacement) {
  if (with_replacement ? n == 0 : n < r) return false;
  constexpr double kMost = 1LL << 31;  // numbers in the result
  constexpr int64_t kLongest = 10000;  // of one combination
  double pool = with_replacement ? static_cast<double>(n) + r - 1 : n;
  double logarithm = std::lgamma(pool + 1) - std::lgamma(r + 1.0) - std::lgamma(pool - r + 1);
  FACULA_CHECK(r <= kLongest && logarithm + std::log(r) < std::log(kMost), kRuntime,
               "combinations: of ", n, " elements taken ", r,
               " at a time there are more than memory holds");
  return true;
}

}  // namespace

Tensor cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  if (dim) return cross_along(self, other, *dim, "cross");
  static std::atomic<bool> said{false};
  warn_once(said,
            "Using facula.cross without specifying the dim arg is deprecated: it takes the first "
            "dimension of size 3, where linalg.cross takes the last one; give dim.");
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.sizes()[d] == 3) return cross_along(self, other, d, "cross");
  }
  raise_error(ErrorKind::kRuntime, "cross: no dimension of size 3 in input");
}

Tensor linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  return cross_along(self, other, dim, "linalg.cross");
}

Tensor cov(const Tensor& self, int64_t correction, const Tensor& fweights, const Tensor& aweights) {
  FACULA_CHECK(self.dim() <= 2, kRuntime,
               "cov(): expected input to have two or fewer dimensions but got an input with ",
               self.dim(), " dimensions");
  FACULA_CHECK(self.dtype() != kBool, kRuntime, "cov(): bool dtype is not supported for input");
  Tensor in = self.dim() < 2 ? reshape(self, {1, -1}) : self;
  int64_t n = in.size(1);
  Tensor w = observation_weights(fweights, aweights, n);
  if (!is_inexact(in.dtype())) in = cast(in, default_dtype());
  Tensor average, total, norm;
  if (!w.defined()) {
    average = mean(in, IntList(1), true);
    if (n <= correction) warn_of_no_freedom("cov", static_cast<double>(correction), "observations");
    norm = full({}, Scalar(static_cast<double>(std::max<int64_t>(0, n - correction))));
  } else {
    total = sum(w);
    average = div(sum(mul(in, w), IntList(1), true), total);
    if (aweights.defined() && correction != 0) {
      norm = sub(total, mul(div(sum(mul(w, aweights)), total), Scalar(correction)));
    } else {
      norm = sub(total, Scalar(correction));
    }
    bool known = !norm.is_meta() && !(norm->intercept & kInterceptHidden);
    if (known && number_of(norm) <= 0) {
      warn_of_no_freedom("cov", static_cast<double>(correction), "observations");
    }
    norm = clamp_min(norm, Scalar(0));
  }
  Tensor centred = sub(in, average);
  Tensor weighted = w.defined() ? mul(centred, w) : centred;
  Tensor product = matmul(centred, conj(transpose(cast(weighted, centred.dtype()), 0, 1)));
  Tensor r = div(product, norm);
  return in.size(0) == 1 ? reshape(r, IntList()) : r;
}

Tensor corrcoef(const Tensor& self) {
  FACULA_CHECK(self.dim() <= 2, kRuntime,
               "corrcoef(): expected input to have two or fewer dimensions but got an input with ",
               self.dim(), " dimensions");
  Tensor c = cov(self);
  if (c.dim() == 0) return div(c, c);
  Tensor deviation = sqrt(real(diagonal(c, 0, 0, 1)));
  return div(div(c, unsqueeze(deviation, 1)), unsqueeze(deviation, 0));
}

Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<std::string_view>) {
  FACULA_CHECK(x1.dim() >= 2 && x2.dim() >= 2, kRuntime,
               "cdist only supports at least 2D tensors, X1 got: ", x1.dim(),
               "D, X2 got: ", x2.dim(), "D");
  FACULA_CHECK(x1.size(-1) == x2.size(-1), kRuntime,
               "X1 and X2 must have the same number of columns. X1: ", x1.size(-1),
               " X2: ", x2.size(-1));
  FACULA_CHECK(p >= 0, kRuntime, "cdist only supports non-negative p values");
  Tensor difference = sub(unsqueeze(x1, -2), unsqueeze(x2, -3));
  return vector_norm(difference, Scalar(p), IntList(-1));
}

Tensor pdist(const Tensor& self, double p) {
  FACULA_CHECK(self.dim() == 2, kRuntime, "pdist only supports 2D tensors, got: ", self.dim(), "D");
  FACULA_CHECK(is_floating(self.dtype()), kRuntime, "pdist only supports floating-point dtypes");
  FACULA_CHECK(p >= 0, kRuntime, "pdist only supports non-negative p values");
  int64_t n = self.size(0);
  Tensor pairs = triu_indices(n, n, 1, kInt64, self.device());
  Tensor a = index_select(self, 0, select(pairs, 0, 0));
  Tensor b = index_select(self, 0, select(pairs, 0, 1));
  return vector_norm(sub(a, b), Scalar(p), IntList(1));
}

Tensor cartesian_prod_list(TensorList tensors) {
  for (const Tensor& t : tensors) {
    FACULA_CHECK(t.dim() == 1, kRuntime, "cartesian_prod: expect a 1D vector, but got shape ",
                 list_text(t.sizes()));
  }
  FACULA_CHECK(!tensors.empty(), kRuntime, "cartesian_prod: expected at least one tensor");
  if (tensors.size() == 1) return tensors[0];
  std::vector<Tensor> grids = meshgrid_list(tensors, "ij");
  for (Tensor& g : grids) g = reshape(g, {-1});
  return stack(TensorList(grids), 1);
}

Tensor combinations(const Tensor& self, int64_t r, bool with_replacement) {
  FACULA_CHECK(self.dim() == 1, kRuntime, "Expect a 1D vector, but got shape ",
               list_text(self.sizes()));
  FACULA_CHECK(r >= 0, kRuntime, "Expect a non-negative number, but got ", r);
  if (r == 0) return zeros({0}, self.dtype(), self.device());
  std::vector<int64_t> chosen, now;
  if (has_combinations(self.numel(), r, with_replacement)) {
    add_combinations(chosen, now, self.numel(), r, with_replacement);
  }
  Tensor at = new_empty({static_cast<int64_t>(chosen.size())}, kInt64);
  std::copy(chosen.begin(), chosen.end(), at.data_as<int64_t>());
  return reshape(index_select(self, 0, at), {-1, r});
}

std::vector<Tensor> histogramdd(const Tensor& self, IntList bins,
                                std::optional<std::span<const double>> range, const Tensor& weight,
                                bool density) {
  Tensor points = histogram_points(self, bins.size(), weight);
  FACULA_CHECK(!range || range->size() == 2 * bins.size(), kRuntime, "histogramdd: for a ",
               bins.size(), "-dimensional histogram range should have ", 2 * bins.size(),
               " elements, but got ", range ? range->size() : 0);
  std::vector<Tensor> edges;
  for (int64_t d = 0; d < bins.ssize(); ++d) {
    FACULA_CHECK(bins[d] > 0, kRuntime, "histogramdd: bins must be > 0, but got ", bins[d],
                 " for dimension ", d);
    std::optional<std::span<const double>> own;
    if (range) own = range->subspan(static_cast<size_t>(2 * d), 2);
    edges.push_back(equal_edges(select(points, 1, d), bins[d], own, "histogramdd"));
  }
  return counted_cells(points, edges, weight, density);
}

std::vector<Tensor> histogramdd_edges(const Tensor& self, TensorList bins, const Tensor& weight,
                                      bool density) {
  Tensor points = histogram_points(self, bins.size(), weight);
  std::vector<Tensor> edges;
  for (const Tensor& b : bins) {
    FACULA_CHECK(b.dim() == 1 && b.numel() > 0, kRuntime,
                 "histogramdd: bins tensor should have one dimension, but got ", b.dim());
    FACULA_CHECK(b.dtype() == self.dtype(), kRuntime,
                 "histogramdd: input tensor and bins tensors should have the same dtype");
    edges.push_back(contiguous(b));
  }
  return counted_cells(points, edges, weight, density);
}

std::tuple<Tensor, Tensor> histogram(const Tensor& self, int64_t bins,
                                     std::optional<std::span<const double>> range,
                                     const Tensor& weight, bool density) {
  check_histogram(self, weight);
  FACULA_CHECK(bins > 0, kRuntime, "histogram(): bins must be > 0, but got ", bins);
  Tensor edges = equal_edges(self, bins, range, "histogram");
  return finished(counted(self, edges, weight), edges, density);
}

std::tuple<Tensor, Tensor> histogram_edges(const Tensor& self, const Tensor& bins,
                                           const Tensor& weight, bool density) {
  check_histogram(self, weight);
  FACULA_CHECK(bins.dim() == 1 && bins.numel() > 0, kRuntime,
               "histogram(): bins tensor should have one dimension, but got ", bins.dim());
  FACULA_CHECK(bins.dtype() == self.dtype(), kRuntime,
               "histogram(): input tensor and bins tensor should have the same dtype");
  Tensor edges = contiguous(bins);
  return finished(counted(self, edges, weight), edges, density);
}

}  // namespace facula
