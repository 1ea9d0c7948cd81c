// Batching rules of views, copies, reductions, scans and sorts: the samples lie in dimension 0, so
// dimensions move up by one and shapes get one more in front.
#include "facula/base/error.h"
#include "facula/modes/vmap.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace batch_shape {

int64_t moved_up(int64_t dim, int64_t rank, const char* op) { return wrap_dim(dim, rank, op) + 1; }

std::vector<Value> copied(const BatchCall& call) { return {call.args.begin(), call.args.end()}; }

// Moves the dimensions in argument k up: an int, a list, or nothing where that means all of them.
void move_dims(std::vector<Value>& args, size_t k, int64_t rank, const char* op,
               bool empty_is_all) {
  Value& v = args[k];
  if (v.is<int64_t>()) {
    v = Value(moved_up(v.as<int64_t>(), rank, op));
    return;
  }
  std::vector<int64_t> dims;
  if (v.is<std::vector<int64_t>>()) dims = v.as<std::vector<int64_t>>();
  for (int64_t& d : dims) d = moved_up(d, rank, op);
  if (dims.empty() && empty_is_all) {
    for (int64_t d = 0; d < rank; ++d) dims.push_back(d + 1);
  }
  v = Value(std::move(dims));
}

// An operator along dimensions of argument 0, named in argument k. Samples of 0 dimensions count as
// having one of size 1.
Values along_dims(BatchCall& call, size_t k, bool empty_is_all) {
  if (!call.only_batched(0)) return {};
  std::vector<Value> args = copied(call);
  int64_t rank = call.rank(0);
  if (rank == 0 && call.op.kind == BoxedOp::kView) return {};
  Tensor x = call.value(0);
  if (rank == 0) x = unsqueeze(x, -1);
  args[0] = Value(x);
  move_dims(args, k, rank ? rank : 1, call.op.name, empty_is_all);
  Values results = call.again(std::move(args));
  if (rank == 0) {
    for (Value& v : results) {
      if (v.is<Tensor>()) v = Value(view(v.as<Tensor>(), {call.size}));
    }
  }
  return call.done(std::move(results));
}

Values some_dims(BatchCall& call) { return along_dims(call, 1, false); }

// The one element of a sample of 0 dimensions is a window.
Values unfold_rule(BatchCall& call) {
  if (call.rank(0) > 0) return some_dims(call);
  wrap_dim(call.args[1].integer(), 0, "unfold");
  if (call.args[2].integer() != 1 || call.args[3].integer() <= 0) return {};
  return call.hide(unsqueeze(call.value(0), 1));
}

// An empty list means no dimension here, and nothing all of them.
Values truth_rule(BatchCall& call) { return along_dims(call, 1, call.args[1].is_none()); }

// The same with the gradient and the saved result, of one shape, in arguments 0 and 1.
Values along_pair(BatchCall& call) {
  std::vector<Value> args = copied(call);
  int64_t rank = std::max<int64_t>(call.rank(0), 1);
  bool flat = call.rank(0) == 0;
  for (size_t k : {0, 1}) {
    Tensor x = call.front(k);
    args[k] = Value(flat ? unsqueeze(x, -1) : x);
  }
  move_dims(args, 2, rank, call.op.name, false);
  Tensor r = call.again(std::move(args))[0].as<Tensor>();
  return call.hide(flat ? view(r, {call.size}) : r);
}

// The memory format of copies is that of samples; physical layout is left to the copy.
template <size_t K>
Values like(BatchCall& call) {
  std::vector<Value> args = copied(call);
  args[0] = Value(call.value(0));
  bool dense =
      args[K].is<MemoryFormat>() && args[K].as<MemoryFormat>() == MemoryFormat::kContiguous;
  if (!args[K].is_none() && !dense) args[K] = Value();
  return call.hide(call.again(std::move(args)));
}

// A shape in argument K gets the samples in front.
template <size_t K>
Values with_shape(BatchCall& call) {
  if (!call.only_batched(0)) return {};
  std::vector<Value> args = copied(call);
  args[0] = Value(call.value(0));
  args[K] = Value(IntList(prepended(args[K].ints(), call.size)));
  return call.hide(call.again(std::move(args)));
}

Values view_rule(BatchCall& call) {
  const Tensor& self = call.args[0].as<Tensor>();
  Sizes sizes = infer_sizes(call.args[1].ints(), self.numel(), "view");
  return call.hide(view(call.value(0), prepended(sizes, call.size)));
}

Values expand_rule(BatchCall& call) {
  Tensor x = call.value(0);
  IntList wanted = call.args[1].ints();
  int64_t missing = wanted.ssize() - call.rank(0);
  FACULA_CHECK(missing >= 0, kRuntime, "expand: the number of sizes provided (", wanted.ssize(),
               ") must be greater or equal to the number of dimensions in the tensor (",
               call.rank(0), ")");
  return call.hide(expand(with_rank(x, wanted.ssize()), prepended(wanted, call.size)));
}

Values transpose_rule(BatchCall& call) {
  int64_t rank = std::max<int64_t>(call.rank(0), 1);
  int64_t a = moved_up(call.args[1].integer(), rank, "transpose");
  int64_t b = moved_up(call.args[2].integer(), rank, "transpose");
  return call.hide(call.rank(0) ? transpose(call.value(0), a, b) : alias_view(call.value(0)));
}

Values permute_rule(BatchCall& call) {
  IntList dims = call.args[1].ints();
  FACULA_CHECK(dims.ssize() == call.rank(0), kRuntime,
               "permute(sparse_coo): number of dimensions in ",
               "the tensor input does not match the length of the desired ordering of dimensions ",
               "i.e. input.dim() = ", call.rank(0), " is not equal to len(dims) = ", dims.ssize());
  Sizes order{0};
  for (int64_t d : dims) order.push_back(moved_up(d, call.rank(0), "permute"));
  return call.hide(permute(call.value(0), order));
}

Values squeeze_rule(BatchCall& call) {
  Sizes dims;
  IntList sizes = call.args[0].as<Tensor>().sizes();
  for (int64_t d = 0; d < sizes.ssize(); ++d) {
    if (sizes[d] == 1) dims.push_back(d + 1);
  }
  return call.hide(dims.empty() ? alias_view(call.value(0)) : squeeze_dim(call.value(0), dims));
}

Values unsqueeze_rule(BatchCall& call) {
  int64_t dim = moved_up(call.args[1].integer(), call.rank(0) + 1, "unsqueeze");
  return call.hide(unsqueeze(call.value(0), dim));
}

Values diagonal_rule(BatchCall& call) {
  int64_t a = moved_up(call.args[2].integer(), call.rank(0), "diagonal");
  int64_t b = moved_up(call.args[3].integer(), call.rank(0), "diagonal");
  return call.hide(diagonal(call.value(0), call.args[1].integer(), a, b));
}

Values as_strided_rule(BatchCall& call) {
  Tensor x = call.value(0);
  std::optional<int64_t> offset;
  if (!call.args[3].is_none()) offset = call.args[3].integer();
  return call.hide(as_strided(x, prepended(call.args[1].ints(), call.size),
                              prepended(call.args[2].ints(), x.strides()[0]), offset));
}

Values movedim_rule(BatchCall& call) {
  std::vector<Value> args = copied(call);
  args[0] = Value(call.value(0));
  move_dims(args, 1, call.rank(0), "movedim", false);
  move_dims(args, 2, call.rank(0), "movedim", false);
  return call.hide(call.again(std::move(args)));
}

// Backward rows of views: the shape of the input is argument 1, dimensions stand in D and E.
template <size_t D, size_t E = D>
Values view_backward(BatchCall& call) {
  std::vector<Value> args = copied(call);
  int64_t rank = args[1].ints().ssize();
  if (rank == 0) return {};
  args[0] = Value(call.value(0));
  args[1] = Value(IntList(prepended(args[1].ints(), call.size)));
  move_dims(args, D, rank, call.op.name, false);
  if (E != D) move_dims(args, E, rank, call.op.name, false);
  return call.hide(call.again(std::move(args)));
}

Tensor flat_samples(const BatchCall& call) {
  return reshape(call.value(0), {call.size, call.args[0].as<Tensor>().numel()});
}

Values prod_rule(BatchCall& call) {
  std::optional<DType> dtype = unbox_opt_dtype(call.args[1]);
  return call.hide(prod_dim(flat_samples(call), 1, false, dtype));
}

template <bool kMax>
Values extreme_rule(BatchCall& call) {
  FACULA_CHECK(call.args[0].as<Tensor>().numel() > 0, kRuntime, call.op.name,
               "(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
               "reduction dim with the 'dim' argument.");
  Tensor x = flat_samples(call);
  return call.hide(kMax ? amax(x, IntList({1}), false) : amin(x, IntList({1}), false));
}

Values position_rule(BatchCall& call) {
  if (!call.args[1].is_none()) return along_dims(call, 1, true);
  std::vector<Value> args = copied(call);
  args[0] = Value(flat_samples(call));
  args[1] = Value(int64_t{1});
  bool keep = args[2].boolean();
  args[2] = Value(false);
  Tensor r = call.again(std::move(args))[0].as<Tensor>();
  Sizes ones(static_cast<size_t>(call.rank(0)), 1);
  return call.hide(keep ? view(r, prepended(ones, call.size)) : r);
}

Values cat_rule(BatchCall& call) {
  const auto& list = call.args[0].as<std::vector<Tensor>>();
  std::vector<Tensor> parts;
  int64_t rank = 0;
  for (const Tensor& t : list) rank = std::max(rank, t.dim());
  for (const Tensor& t : list) {
    if (t.dim() == 1 && t.numel() == 0 && rank > 1) continue;  // counts as nothing
    parts.push_back(call.front(t));
  }
  FACULA_CHECK(rank > 0, kRuntime,
               "zero-dimensional tensor (at position 0) cannot be concatenated");
  return call.hide(cat(parts, moved_up(call.args[1].integer(), rank, "cat")));
}

// In-place writes of one value or of broadcast samples; argument 0 has samples.
Values write_rule(BatchCall& call) {
  std::vector<Value> args = copied(call);
  args[0] = Value(call.value(0));
  for (size_t k = 1; k < args.size(); ++k) {
    FACULA_CHECK(!args[k].is<Tensor>() || call.rank(k) <= call.rank(0), kRuntime, call.op.name,
                 ": the source has more dimensions than the sample that is written to");
    if (!call.batched(k)) continue;
    args[k] = Value(with_rank(call.value(k), call.rank(0)));
  }
  call.again(std::move(args));
  return Values{call.args[0]};
}

Values fill_rule(BatchCall& call) {
  if (!call.batched(1)) return leading_rule(call);
  Sizes shape(static_cast<size_t>(call.rank(0)), 1);
  copy_(call.value(0), view(call.value(1), prepended(shape, call.size)), false);
  return Values{call.args[0]};
}

Values complex_rule(BatchCall& call) {
  int64_t rank = std::max(call.rank(0), call.rank(1));
  std::vector<Value> args;
  for (size_t k : {0, 1}) args.emplace_back(with_rank(call.front(k), rank));
  return call.hide(call.again(std::move(args)));
}

constexpr NamedRule kRules[] = {
    {"alias_view", leading_rule},
    {"view", view_rule},
    {"transpose", transpose_rule},
    {"permute", permute_rule},
    {"expand", expand_rule},
    {"squeeze", squeeze_rule},
    {"squeeze_dim", some_dims},
    {"unfold", unfold_rule},
    {"unsqueeze", unsqueeze_rule},
    {"diagonal", diagonal_rule},
    {"as_strided", as_strided_rule},
    {"movedim", movedim_rule},
    {"select_backward", view_backward<2>},
    {"slice_backward", view_backward<2>},
    {"narrow_backward", view_backward<2>},
    {"diagonal_backward", view_backward<3, 4>},
    {"unfold_backward", view_backward<2>},
    {"clone", like<1>},
    {"zeros_like", like<1>},
    {"ones_like", like<1>},
    {"empty_like", like<1>},
    {"full_like", like<2>},
    {"new_zeros", with_shape<1>},
    {"new_ones", with_shape<1>},
    {"new_full", with_shape<1>},
    {"new_empty_method", with_shape<1>},
    {"complex", complex_rule},
    {"pow_number", [](BatchCall& c) { return c.hide(c.again({c.args[0], Value(c.value(1))})); }},
    {"copy_", write_rule},
    {"masked_fill_", [](BatchCall& c) { return c.batched(2) ? Values() : write_rule(c); }},
    {"fill_", fill_rule},
    {"any", truth_rule},
    {"all", truth_rule},
    {"prod", prod_rule},
    {"max", extreme_rule<true>},
    {"min", extreme_rule<false>},
    {"argmax", position_rule},
    {"argmin", position_rule},
    {"softmax_backward_fused", along_pair},
    {"log_softmax_backward_fused", along_pair},
    {"flip", some_dims},
    {"cat", cat_rule},
};

__attribute__((constructor)) static void register_rules() { add_batch_rules(kRules); }

}  // namespace batch_shape

Values leading_rule(BatchCall& call) {
  if (!call.only_batched(0)) return {};
  std::vector<Value> args(call.args.begin(), call.args.end());
  args[0] = Value(call.value(0));
  return call.done(call.again(std::move(args)));
}

Values row_rule(BatchCall& call) {
  switch (call.op.batch) {
    case BoxedOp::kAlong: return batch_shape::along_dims(call, call.op.dim, true);
    case BoxedOp::kLeading: return leading_rule(call);
    case BoxedOp::kMatrices: return call.rank(0) < 2 ? Values() : leading_rule(call);
    case BoxedOp::kNoRule: break;
  }
  return {};
}

}  // namespace facula
