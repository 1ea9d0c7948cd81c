// Batching rules of operators over the last dimensions, as those of linear algebra and transforms
// of Fourier: the samples are one more leading dimension.
#include <algorithm>

#include "facula/base/error.h"
#include "facula/modes/vmap.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace batch_matrix {

// Several operands, in arguments K; their samples are brought to one rank.
template <size_t... K>
Values aligned(BatchCall& call) {
  std::vector<Value> args(call.args.begin(), call.args.end());
  int64_t rank = std::max({call.rank(K)...});
  if (std::min({call.rank(K)...}) < 2) return {};
  for (size_t k : {K...}) args[k] = Value(with_rank(call.front(k), rank));
  return call.done(call.again(std::move(args)));
}

// Operands of kRank dimensions fewer than a matrix has: factors, pivots and matrices of one batch.
template <size_t kMatrix, size_t kVector, size_t kOther = kMatrix>
Values with_vectors(BatchCall& call) {
  if (call.rank(kVector) + 1 != call.rank(kMatrix) || call.rank(kOther) != call.rank(kMatrix)) {
    return {};
  }
  std::vector<Value> args(call.args.begin(), call.args.end());
  for (size_t k : {kMatrix, kVector, kOther}) args[k] = Value(call.front(k));
  return call.done(call.again(std::move(args)));
}

// Positions in a sorted sequence that all samples share, or in one of each sample. Sorters, in
// argument 5, are shaped as the sequences.
Values searchsorted_rule(BatchCall& call) {
  std::vector<Value> args(call.args.begin(), call.args.end());
  bool sorter = !args[5].is_none(), line = call.rank(0) == 1;
  if (call.size == 0 || (sorter && call.rank(5) != call.rank(0))) return {};
  if (line && !call.batched(0) && !call.batched(5)) {
    args[1] = Value(contiguous(call.value(1)));
    return call.done(call.again(std::move(args)));
  }
  Tensor values = call.front(1);
  if ((!line && call.rank(0) != call.rank(1)) || values.numel() == 0) return {};
  args[0] = Value(contiguous(call.front(0)));
  args[1] = Value(line ? reshape(contiguous(values), {call.size, -1}) : contiguous(values));
  if (sorter) args[5] = Value(contiguous(call.front(5)));
  Tensor at = call.again(std::move(args))[0].as<Tensor>();
  return call.hide(reshape(at, values.sizes()));
}

// Whether there are residuals depends on the ranks of all matrices: without any, the samples are
// asked one by one.
Values lstsq_rule(BatchCall& call) {
  if (call.size == 0 || call.rank(0) < 2 || call.rank(1) < 2) return {};
  std::vector<Value> args(call.args.begin(), call.args.end());
  int64_t rank = std::max(call.rank(0), call.rank(1));
  for (size_t k : {0, 1}) args[k] = Value(with_rank(call.front(k), rank));
  Values out = call.again(std::move(args));
  auto nothing = [](const Tensor& t) { return t.dim() == 1 && t.size(0) == 0; };
  const Tensor& a = call.args[0].as<Tensor>();
  bool kept = call.args[3].as<std::string>() != "gelsy" && a.size(-2) > a.size(-1);
  if (kept && nothing(out[1].as<Tensor>())) return {};
  for (Value& v : out) {
    if (nothing(v.as<Tensor>())) v = Value(call.front(v.as<Tensor>()));
  }
  return call.hide(std::move(out));
}

// The geometry that such an operator writes is not that of all samples.
Values refused(BatchCall& call) {
  raise_error(ErrorKind::kRuntime, "vmap: ", call.op.name,
              " changes the shape of a tensor in place, which vmap does not support; use the ",
              "operator that gives a new tensor");
}

constexpr NamedRule kRules[] = {
    {"solve_factors", aligned<0, 1>},
    {"cholesky_solve", aligned<0, 1>},
    {"linalg_solve_triangular", aligned<0, 1>},
    {"sylvester", aligned<0, 1>},
    {"linalg_ldl_solve", with_vectors<0, 1, 2>},
    {"linalg_householder_product", with_vectors<0, 1>},
    {"ormqr", with_vectors<0, 1, 2>},
    {"view_dtype", [](BatchCall& c) { return c.rank(0) < 1 ? Values() : leading_rule(c); }},
    {"searchsorted", searchsorted_rule},
    {"lstsq_parts", lstsq_rule},
    {"set_geometry_", refused},
    {"resize_", refused},
};

__attribute__((constructor)) static void register_rules() { add_batch_rules(kRules); }

}  // namespace batch_matrix
}  // namespace facula
