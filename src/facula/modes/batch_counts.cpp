// Batching rules of counts and of shapes that depend on data: where all samples give one shape,
// the bins of sample i lie behind those of the samples before it.
#include <optional>

#include "facula/modes/vmap.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/clamp_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/sort_functions.h"

namespace facula {
namespace batch_counts {

// classes_of gives one more than the largest number in a sample, at least `least`; nothing where
// samples differ in that or have negative numbers, so that the operator itself tells what is wrong.
std::optional<int64_t> classes_of(const BatchCall& call, const Tensor& numbers, int64_t least) {
  if (call.size == 0 || numbers.numel() == 0 || numbers.is_meta()) return {};
  NoGrad no_grad;
  Tensor all = reshape(all_samples(numbers), {-1, call.args[0].as<Tensor>().numel()});
  Tensor top = amax(all, IntList({1}), false);
  auto read = [](const Tensor& t) { return t.data_as<int64_t>()[0]; };
  int64_t most = read(amax(top, IntList({0}), false));
  int64_t fewest = read(amin(top, IntList({0}), false));
  if (read(amin(reshape(all, {-1}), IntList({0}), false)) < 0 || most == INT64_MAX) return {};
  most = std::max(most + 1, least);
  if (most != std::max(fewest + 1, least) || most > INT64_MAX / call.size) return {};
  return most;
}

// The numbers [B, n] with `bins` of each sample one after the other, as one list.
Tensor in_one_row(const BatchCall& call, const Tensor& numbers, int64_t bins) {
  Tensor start = arange(Scalar(int64_t{0}), Scalar(call.size * bins), Scalar(bins));
  return reshape(add(numbers, unsqueeze(start, 1)), {-1});
}

Values bincount_rule(BatchCall& call) {
  Tensor x = call.front(0), weights = call.args[1].is_none() ? Tensor() : call.front(1);
  if (call.rank(0) != 1 || !is_integral(x.dtype())) return {};
  if (weights.defined() && !(weights.sizes() == x.sizes())) return {};
  x = cast(x, kInt64);
  int64_t least = call.args[2].integer();
  std::optional<int64_t> bins = least < 0 ? std::nullopt : classes_of(call, x, least);
  if (!bins || *bins == 0) return {};
  if (weights.defined()) weights = reshape(weights, {-1});
  Tensor r = bincount(in_one_row(call, x, *bins), weights, *bins * call.size);
  return call.hide(view(r, {call.size, *bins}));
}

// The bins of all samples, found as the operator does; elements outside go into one bin more.
Values histc_rule(BatchCall& call) {
  int64_t bins = call.args[1].integer(), count = call.args[0].as<Tensor>().numel();
  DType type = call.args[0].as<Tensor>().dtype();
  bool exact = (type == kFloat32 && count < (1 << 24)) || type == kFloat64;
  if (bins <= 0 || count == 0 || !exact || call.size == 0 || call.value(0).is_meta()) return {};
  NoGrad no_grad;
  Tensor x = reshape(cast(call.value(0), kFloat64), {call.size, count});
  double first = call.args[2].scalar().to_double(), last = call.args[3].scalar().to_double();
  Tensor low = full({1, 1}, Scalar(first), kFloat64), high = full({1, 1}, Scalar(last), kFloat64);
  if (first == last) {
    low = amin(x, IntList({1}), true);
    high = amax(x, IntList({1}), true);
    Tensor none = eq(low, high);
    low = where(none, sub(low, Scalar(1.0)), low);
    high = where(none, add(high, Scalar(1.0)), high);
  }
  Tensor width = sub(high, low);
  Tensor fine = logical_and(isfinite(width), lt(low, high));
  if (!all(all_samples(fine)).data_as<bool>()[0]) return {};
  Tensor bin = cast(mul(div(sub(x, low), width), Scalar(static_cast<double>(bins))), kInt64);
  Tensor inside = logical_and(ge(x, low), le(x, high));
  bin = where(inside, clamp_max(bin, Scalar(bins - 1)), Scalar(bins));
  Tensor counts = bincount(in_one_row(call, bin, bins + 1), Tensor(), (bins + 1) * call.size);
  return call.hide(cast(narrow(view(counts, {call.size, bins + 1}), 1, 0, bins), type));
}

Values one_hot_rule(BatchCall& call) {
  Tensor x = call.value(0);
  int64_t classes = call.args[1].integer();
  if (classes == -1 && x.dtype() == kInt64) classes = classes_of(call, x, 0).value_or(0);
  if (classes <= 0) return {};
  return call.hide(call.again({Value(x), Value(classes)}));
}

constexpr NamedRule kRules[] = {
    {"bincount", bincount_rule},
    {"histc", histc_rule},
    {"one_hot", one_hot_rule},
};

__attribute__((constructor)) static void register_rules() { add_batch_rules(kRules); }

}  // namespace batch_counts
}  // namespace facula
