// Batching rules of operators with index tensors: shared indices move their dimension up, indices
// of each sample get the number of the sample as a further index.
#include "facula/base/error.h"
#include "facula/modes/vmap.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/clamp_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace batch_index {

// A tensor of 0 dimensions as one element along a dimension.
Tensor as_line(const BatchCall& call, const Tensor& t) {
  if (t.dim() > 0) return t;
  return call.has_samples(t) ? make_batched(unsqueeze(batch_value(t), 1), call.level)
                             : unsqueeze(t, 0);
}

// A rule for samples of one dimension or more, where tensors in arguments K may have none: those
// count as lines of one element. The result has the dimensions of argument L; where that has none,
// a result of another length than one is refused by the operator itself.
template <BatchRule kRule, size_t L, size_t... K>
Values of_lines(BatchCall& call) {
  if (((call.rank(K) > 0) && ...)) return kRule(call);
  std::vector<Value> args(call.args.begin(), call.args.end());
  for (size_t k : {K...}) args[k] = Value(as_line(call, call.args[k].as<Tensor>()));
  BatchCall lines{call.op, args, call.level, call.size};
  Values out = kRule(lines);
  if (out.empty()) return out;
  if (call.op.writes) return Values{call.args[0]};
  if (call.rank(L) > 0) return out;
  Tensor line = batch_value(out[0].as<Tensor>());
  if (line.size(1) != 1) return {};
  return call.hide(select(line, 1, 0));
}

// The tensors of a call, all with samples in front (the first itself, where it is written to), and
// the dimension in argument 1 moved up.
template <size_t... K>
Values with_front(BatchCall& call) {
  std::vector<Value> args(call.args.begin(), call.args.end());
  for (size_t k : {K...}) {
    if (call.rank(k) != call.rank(0)) return {};
    args[k] = Value(call.front(k));
  }
  args[1] = Value(wrap_dim(args[1].integer(), call.rank(0), call.op.name) + 1);
  return call.done(call.again(std::move(args)));
}

// Refuses positions outside [first, rows) in any sample; in one long table they would be rows of
// others.
void check_positions(const BatchCall& call, const Tensor& index, int64_t rows, int64_t first = 0) {
  if (index.is_meta() || index.numel() == 0) return;
  NoGrad no_grad;
  Tensor wrong = logical_or(lt(index, Scalar(first)), ge(index, Scalar(rows)));
  FACULA_CHECK(!any_true(wrong), kIndex, call.op.name,
               ": index out of range: expected positions in [", first, ", ", rows,
               ") in every sample");
}

// Positions that may count from the end, counted from the front.
Tensor from_front(const BatchCall& call, const Tensor& index, int64_t rows) {
  check_positions(call, index, rows, -rows);
  return where(lt(index, Scalar(int64_t{0})), add(index, Scalar(rows)), index);
}

// A table for each sample is one long table, in which the positions of sample i start at i * rows.
Tensor shifted(const BatchCall& call, const Tensor& indices, int64_t rows) {
  check_positions(call, indices, rows);
  Sizes sizes(static_cast<size_t>(indices.dim()), 1);
  sizes[0] = call.size;
  Tensor start = view(arange(Scalar(0), Scalar(call.size * rows), Scalar(rows)), sizes);
  return add(indices, start);
}

// [B, ..., n at d, ...] as [B * n, ...], with the rows of the samples one after the other.
Tensor long_table(const Tensor& x, int64_t d) {
  Tensor y = transpose(x, 1, d);
  Sizes sizes(y.sizes().begin() + 1, y.sizes().end());
  sizes[0] *= y.sizes()[0];
  return reshape(y, sizes);
}

bool is_position(DType t) { return t == kInt32 || t == kInt64; }

// How positions are read: index_fill's may count from the end.
enum class Positions { kFromFront, kFromEither };

// index_add and its kin with indices of each sample: along the rows of one long table. Writes go
// to a copy of the table, which is then stored.
template <Positions kPositions, size_t... K>
Values own_index(BatchCall& call) {
  std::vector<Value> args(call.args.begin(), call.args.end());
  int64_t d = wrap_dim(args[1].integer(), call.rank(0), call.op.name) + 1;
  Tensor x = call.front(0), y = transpose(x, 1, d), index = call.value(2);
  if (call.rank(2) != 1 || call.size == 0 || y.numel() == 0 || !is_position(index.dtype())) {
    return {};
  }
  if (call.op.writes && overlaps_itself(x)) return {};
  for (size_t k : {K...}) {
    if (call.rank(k) != call.rank(0)) return {};
    if (k > 0 && call.front(k).size(d) != index.size(1)) return {};
    args[k] = Value(long_table(call.front(k), d));
  }
  if (call.op.writes) args[0] = Value(clone(args[0].as<Tensor>()));
  if (kPositions == Positions::kFromEither) index = from_front(call, index, y.size(1));
  args[1] = Value(int64_t{0});
  args[2] = Value(reshape(shifted(call, index, y.size(1)), {-1}));
  Tensor table = call.again(std::move(args))[0].as<Tensor>();
  Tensor r = transpose(reshape(table, y.sizes()), 1, d);
  if (!call.op.writes) return call.hide(r);
  copy_(x, r);
  return Values{call.args[0]};
}

// index_add and its kin along dimension 1 of the arguments, with one shared index.
template <Positions kPositions, size_t... K>
Values shared_index(BatchCall& call) {
  if (call.batched(2)) return own_index<kPositions, K...>(call);
  std::vector<Value> args(call.args.begin(), call.args.end());
  for (size_t k : {K...}) {
    if (call.rank(k) != call.rank(0)) return {};
    args[k] = Value(call.front(k));
  }
  args[1] = Value(wrap_dim(args[1].integer(), call.rank(0), call.op.name) + 1);
  return call.done(call.again(std::move(args)));
}

Values index_select_rule(BatchCall& call) {
  if (!call.batched(2)) return shared_index<Positions::kFromFront, 0>(call);
  if (call.rank(2) != 1 || !is_position(call.args[2].as<Tensor>().dtype())) return {};
  Tensor x = call.front(0), index = call.value(2);
  int64_t dim = wrap_dim(call.args[1].integer(), call.rank(0), "index_select") + 1;
  check_positions(call, index, x.size(dim));
  Sizes ones(static_cast<size_t>(x.dim()), 1), wide = x.sizes().to_sizes();
  ones[0] = call.size;
  ones[dim] = wide[dim] = index.size(1);
  return call.hide(gather(x, dim, expand(reshape(index, ones), wide)));
}

// The list of indices of `index`, with what its result looks like.
struct Indices {
  std::vector<Tensor> list;
  bool masks = false, own = false;  // boolean indices; indices of each sample
  int64_t rank = 0;                 // dimensions that the indices have together
  int64_t first = -1, last = -1, given = 0;
  explicit Indices(const BatchCall& call) : list(call.args[1].as<std::vector<Tensor>>()) {
    for (size_t i = 0; i < list.size(); ++i) {
      const Tensor& t = list[i];
      if (!t.defined()) continue;
      masks |= t.dtype() == kBool || t.dtype() == kUInt8;
      own |= call.has_samples(t);
      rank = std::max(rank, t.dim());
      if (first < 0) first = static_cast<int64_t>(i);
      last = static_cast<int64_t>(i);
      ++given;
    }
  }
  bool adjacent() const { return last - first + 1 == given; }
};

// An index of each sample, aligned to `rank` dimensions behind the samples.
Tensor aligned(const BatchCall& call, const Tensor& t, int64_t rank) {
  if (!t.defined() || !call.has_samples(t)) return t;
  return with_rank(batch_value(t), rank);
}

// The numbers of the samples, as an index in front of the others.
Tensor sample_numbers(const BatchCall& call, int64_t rank) {
  Sizes sizes(static_cast<size_t>(rank + 1), 1);
  sizes[0] = call.size;
  return view(arange_end(Scalar(call.size)), sizes);
}

Values index_rule(BatchCall& call) {
  Indices in(call);
  if (in.given == 0 || call.size == 0) return {};
  std::vector<Tensor> list;
  if (!in.own) {
    list.emplace_back();
    list.insert(list.end(), in.list.begin(), in.list.end());
    if (in.masks && !in.adjacent()) return {};
    Tensor r = index(call.value(0), list);
    // Indices with a gap put their dimensions in front of all others, the samples included.
    return call.hide(in.adjacent() ? r : movedim(r, {in.rank}, {0}));
  }
  if (in.masks) return {};
  list.push_back(sample_numbers(call, in.rank));
  for (const Tensor& t : in.list) list.push_back(aligned(call, t, in.rank));
  Tensor r = index(call.front(0), list);
  if (in.adjacent() &&
      in.first > 0) {  // the indices' dimensions belong behind those kept before them
    Sizes from, to;
    for (int64_t d = 0; d < in.rank; ++d) {
      from.push_back(1 + d);
      to.push_back(1 + in.first + d);
    }
    if (in.rank) r = movedim(r, from, to);
  }
  return call.hide(r);
}

// One value where a mask of the first dimensions is true, which needs no positions.
Values masked_put(BatchCall& call, const Tensor& mask) {
  const Tensor& values = call.args[2].as<Tensor>();
  Tensor x = call.front(0), chosen = call.front(mask);
  int64_t rest = call.rank(0) - mask.dim();
  if (mask.dtype() != kBool || mask.dim() == 0 || rest < 0 || values.dtype() != x.dtype())
    return {};
  if (values.numel() != 1 || values.dim() > 1 + rest) return {};
  if (call.op.writes && overlaps_itself(x)) return {};
  Sizes wide = chosen.sizes().to_sizes(), one(static_cast<size_t>(x.dim()), 1);
  for (size_t d = 0; d < wide.size(); ++d) {
    if (wide[d] != x.size(static_cast<int64_t>(d))) return {};
  }
  wide.resize(one.size(), 1);
  if (call.batched(2)) one[0] = call.size;
  Tensor value = reshape(call.value(2), one);
  Tensor r = where(reshape(chosen, wide), call.args[3].boolean() ? add(x, value) : value, x);
  if (!call.op.writes) return call.hide(r);
  copy_(x, r);
  return Values{call.args[0]};
}

// Only where the first dimensions are indexed: the values then line up with the indices.
Values index_put_rule(BatchCall& call) {
  Indices in(call);
  if (in.masks && in.given == 1 && in.first == 0) return masked_put(call, in.list[0]);
  if (in.given == 0 || in.masks || in.first != 0 || !in.adjacent() || call.size == 0) return {};
  const Tensor& values = call.args[2].as<Tensor>();
  int64_t rank = in.rank + call.rank(0) - in.given;
  if (values.dim() > rank) return {};
  std::vector<Tensor> list{sample_numbers(call, in.rank)};
  for (const Tensor& t : in.list) list.push_back(aligned(call, t, in.rank));
  Tensor v = aligned(call, values, rank);
  return call.done(
      call.again({Value(call.front(0)), Value(std::move(list)), Value(v), call.args[3]}));
}

Values take_rule(BatchCall& call) {
  if (call.batched(0)) {
    Tensor flat = reshape(call.value(0), {call.size, -1});
    if (!call.batched(1)) {
      Tensor r = index(flat, std::vector<Tensor>{Tensor(), call.value(1)});
      return call.hide(r);
    }
    Tensor where = reshape(call.value(1), {call.size, -1});
    Tensor taken = index(flat, std::vector<Tensor>{sample_numbers(call, 1), where});
    return call.hide(reshape(taken, call.value(1).sizes()));
  }
  return call.hide(take(call.value(0), call.value(1)));
}

// Positions of a sample are positions of all samples' elements, those of the samples before it on.
Values put_rule(BatchCall& call) {
  Tensor x = call.front(0);
  int64_t count = call.size ? x.numel() / call.size : 0;
  if (count == 0) return {};
  Tensor at = reshape(call.front(1), {call.size, -1});
  at = where(lt(at, Scalar(int64_t{0})), add(at, Scalar(count)), at);
  Tensor source = reshape(call.front(2), {call.size, -1});
  FACULA_CHECK(source.sizes() == at.sizes(), kIndex, call.op.name,
               ": expected as many elements in source as positions, got ", source.size(1), " and ",
               at.size(1));
  Tensor all = reshape(shifted(call, at, count), {-1});
  return call.done(call.again({Value(x), Value(all), Value(reshape(source, {-1})), call.args[3]}));
}

Values embedding_rule(BatchCall& call) {
  bool frequency = call.args[3].boolean();
  if (!call.batched(0)) {
    if (frequency) return {};
    return call.hide(
        call.again({call.args[0], Value(call.value(1)), call.args[2], call.args[3], call.args[4]}));
  }
  if (frequency || call.args[2].integer() >= 0 || call.size == 0 || call.rank(0) != 2) return {};
  Tensor weight = call.value(0);
  int64_t rows = weight.sizes()[1];
  if (rows == 0) return {};
  Tensor table = reshape(weight, {call.size * rows, weight.sizes()[2]});
  return call.hide(call.again({Value(table), Value(shifted(call, call.front(1), rows)),
                               call.args[2], call.args[3], call.args[4]}));
}

Values embedding_backward_rule(BatchCall& call) {
  int64_t rows = call.args[2].integer();
  if (call.args[4].boolean() || call.args[3].integer() >= 0 || call.size == 0 || rows == 0)
    return {};
  Tensor g = call.front(0);
  Tensor indices = shifted(call, call.front(1), rows);
  Tensor r = embedding_backward(g, indices, rows * call.size, -1, false);
  return call.hide(view(r, {call.size, rows, r.sizes()[1]}));
}

// The elements of a source, in order, where the mask of a sample is true: the n-th true element
// takes the n-th of the source.
Values masked_scatter_rule(BatchCall& call) {
  Tensor mask = call.front(1), x = call.front(0);
  if (mask.dtype() != kBool || x.dtype() != call.args[2].as<Tensor>().dtype()) return {};
  if (x.is_meta() || call.size == 0 || (call.op.writes && overlaps_itself(x))) return {};
  IntList own = call.args[0].as<Tensor>().sizes();
  Sizes shape = broadcast_sizes(own, call.args[1].as<Tensor>().sizes(), "masked_scatter");
  int64_t rank = IntList(shape).ssize();
  if (call.op.writes && !(IntList(shape) == own)) return {};
  Sizes wide = prepended(shape, call.size);
  mask = reshape(expand(with_rank(mask, rank), wide), {call.size, -1});
  Tensor source = reshape(call.front(2), {call.size, -1});
  if (mask.numel() == 0 || source.numel() == 0) return {};
  Tensor at = sub(cumsum(cast(mask, kInt64), 1), Scalar(int64_t{1}));
  Tensor beyond = logical_and(mask, ge(at, Scalar(source.size(1))));
  FACULA_CHECK(!any_true(beyond), kRuntime,
               "masked_scatter: expected source to have at least as many elements as mask has "
               "ones in every sample, got ",
               source.size(1));
  Tensor taken = gather(source, 1, clamp(at, Scalar(int64_t{0}), Scalar(source.size(1) - 1)));
  Tensor kept = expand(with_rank(x, rank), wide);
  Tensor r = where(reshape(mask, wide), reshape(taken, wide), kept);
  if (!call.op.writes) return call.hide(r);
  copy_(x, r);
  return Values{call.args[0]};
}

constexpr NamedRule kRules[] = {
    {"gather", of_lines<with_front<0, 2>, 2, 0, 2>},
    {"scatter", of_lines<with_front<0, 2, 3>, 0, 0, 2, 3>},
    {"scatter_", of_lines<with_front<0, 2, 3>, 0, 0, 2, 3>},
    {"scatter_value", of_lines<with_front<0, 2>, 0, 0, 2>},
    {"scatter_value_", of_lines<with_front<0, 2>, 0, 0, 2>},
    {"scatter_add", of_lines<with_front<0, 2, 3>, 0, 0, 2, 3>},
    {"scatter_add_", of_lines<with_front<0, 2, 3>, 0, 0, 2, 3>},
    {"scatter_reduce", of_lines<with_front<0, 2, 3>, 0, 0, 2, 3>},
    {"scatter_reduce_", of_lines<with_front<0, 2, 3>, 0, 0, 2, 3>},
    {"scatter_combined", of_lines<with_front<0, 2, 3>, 0, 0, 2, 3>},
    {"scatter_combined_", of_lines<with_front<0, 2, 3>, 0, 0, 2, 3>},
    {"scatter_value_combined", of_lines<with_front<0, 2>, 0, 0, 2>},
    {"scatter_value_combined_", of_lines<with_front<0, 2>, 0, 0, 2>},
    {"index_select", of_lines<index_select_rule, 0, 0, 2>},
    {"index_add", of_lines<shared_index<Positions::kFromFront, 0, 3>, 0, 0, 2, 3>},
    {"index_add_", of_lines<shared_index<Positions::kFromFront, 0, 3>, 0, 0, 2, 3>},
    {"index_copy", of_lines<shared_index<Positions::kFromFront, 0, 3>, 0, 0, 2, 3>},
    {"index_copy_", of_lines<shared_index<Positions::kFromFront, 0, 3>, 0, 0, 2, 3>},
    {"index_fill", of_lines<shared_index<Positions::kFromEither, 0>, 0, 0, 2>},
    {"index_fill_", of_lines<shared_index<Positions::kFromEither, 0>, 0, 0, 2>},
    {"index_reduce", of_lines<shared_index<Positions::kFromFront, 0, 3>, 0, 0, 2, 3>},
    {"index_reduce_", of_lines<shared_index<Positions::kFromFront, 0, 3>, 0, 0, 2, 3>},
    {"masked_scatter", masked_scatter_rule},
    {"masked_scatter_", masked_scatter_rule},
    {"index", index_rule},
    {"index_put", index_put_rule},
    {"index_put_", index_put_rule},
    {"put", put_rule},
    {"put_", put_rule},
    {"take", take_rule},
    {"embedding", embedding_rule},
    {"embedding_backward", embedding_backward_rule},
};

__attribute__((constructor)) static void register_rules() { add_batch_rules(kRules); }

}  // namespace batch_index
}  // namespace facula
