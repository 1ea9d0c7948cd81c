// segment_reduce: reductions of stretches of a dimension whose lengths are data.
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/clamp_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/legacy_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/sort_functions.h"

namespace facula {
namespace {

// checked_lengths gives the lengths of the segments, int64, once they fit the data.
Tensor checked_lengths(const Tensor& data, const Tensor& lengths, const Tensor& offsets,
                       int64_t axis, bool unsafe) {
  FACULA_CHECK(lengths.defined() || offsets.defined(), kRuntime,
               "segment_reduce(): Either lengths or offsets must be defined.");
  Tensor n = lengths.defined() ? lengths : diff(offsets);
  FACULA_CHECK(is_integral(n.dtype()), kRuntime,
               "segment_reduce(): expected lengths of type int64, ", "got ",
               dtype_title(n.dtype()));
  FACULA_CHECK(n.dim() >= 1 && data.dim() >= n.dim(), kRuntime,
               "segment_reduce(): Expected data to have at least as many dimensions as lengths");
  FACULA_CHECK(axis == n.dim() - 1, kRuntime,
               "segment_reduce(): Expected axis to be the last dimension of lengths but got ",
               axis);
  for (int64_t d = 0; d < axis; ++d) {
    FACULA_CHECK(n.size(d) == data.size(d), kRuntime,
                 "segment_reduce(): Expected all dimensions of ",
                 "lengths except the last to be those of data");
  }
  n = to_dtype(n, kInt64);
  if (unsafe || n.is_meta() || n.numel() == 0) return n;
  FACULA_CHECK(!any_true(lt(n, Scalar(0))), kRuntime,
               "segment_reduce(): lengths contains negative value!");
  // Each length is compared too: the sum of long ones may wrap to the size.
  Tensor size = full({}, Scalar(data.size(axis)), kInt64);
  FACULA_CHECK(
      !any_true(gt(n, size)) && !any_true(ne(sum(n, IntList(-1)), size)), kRuntime,
      "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(axis) ",
      "when !unsafe.");
  return n;
}

// first_value is what a segment without elements gives.
Scalar first_value(std::string_view reduce, const std::optional<Scalar>& initial) {
  if (initial) return *initial;
  if (reduce == "max") return Scalar(-INFINITY);
  if (reduce == "min") return Scalar(INFINITY);
  return Scalar(reduce == "prod" ? 1.0 : 0.0);
}

}  // namespace

Tensor segment_reduce(const Tensor& data, std::string_view reduce, const Tensor& lengths,
                      const Tensor& indices, const Tensor& offsets, int64_t axis, bool unsafe,
                      std::optional<Scalar> initial) {
  if (reduce == "amax" || reduce == "amin") reduce.remove_prefix(1);
  bool mean = reduce == "mean", sums = mean || reduce == "sum";
  FACULA_CHECK(sums || reduce == "max" || reduce == "min" || reduce == "prod", kRuntime,
               "reduce argument must be either sum, prod, mean, max or min, got ", reduce);
  FACULA_CHECK(!indices.defined(), kRuntime,
               "segment_reduce(): indices based reduction is not supported yet.");
  if (!is_floating(data.dtype())) {
    raise_error(ErrorKind::kNotImplemented, "\"segment_reduce\" not implemented for '",
                dtype_title(data.dtype()), "'");
  }
  axis = wrap_dim(axis, data.dim(), "segment_reduce");
  Tensor n = checked_lengths(data, lengths, offsets, axis, unsafe);
  int64_t count = n.size(-1), size = data.size(axis);
  // The segment of each position; one more takes what lies behind all segments.
  Sizes lines = n.sizes().to_sizes();
  lines.back() = size;
  Tensor places = contiguous(expand(arange(Scalar(0), Scalar(size), Scalar(1), kInt64), lines));
  Tensor segment =
      searchsorted(contiguous(cumsum(n, -1)), places, false, true, std::nullopt, Tensor());
  for (int64_t d = axis + 1; d < data.dim(); ++d) {
    segment = unsqueeze(segment, -1);
    n = unsqueeze(n, -1);
  }
  Sizes shape = data.sizes().to_sizes();
  shape[axis] = count + 1;
  Tensor start = full(shape, first_value(reduce, initial), data.dtype(), data.device());
  segment = expand(segment, data.sizes());
  std::string_view name = reduce == "max" ? "amax" : reduce == "min" ? "amin" : "prod";
  Tensor out = sums ? scatter_add(start, axis, segment, data)
                    : scatter_reduce(start, axis, segment, data, name, true);
  out = narrow(out, axis, 0, count);
  if (!mean) return out;
  // An empty segment keeps the initial value, and is NaN without one.
  Tensor by = initial ? clamp_min(n, Scalar(1)) : n;
  return div(out, cast(by, data.dtype()));
}

}  // namespace facula
