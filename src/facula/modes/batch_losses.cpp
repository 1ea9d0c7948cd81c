// Batching rules of the losses over classes: samples fold into the batch, whose losses are computed
// one by one and reduced for each sample.
#include <string>
#include <string_view>

#include "facula/modes/vmap.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace batch_losses {

// ClassLoss is a call with targets in argument T and weights in W. Scores of a sample are [C],
// [N, C] or [N, C, ...].
struct ClassLoss {
  const BatchCall& call;
  size_t t, w;
  bool vector;  // a sample has one row of scores
  int64_t ignored;

  // The rows of all samples as one batch: of scores, and of what there is one of for each target.
  Tensor score_rows(const Tensor& x) const { return vector ? x : fold_samples(x); }
  Tensor target_rows(const Tensor& x) const {
    return vector ? reshape(x, {call.size}) : fold_samples(x);
  }

  // [B, positions]: the weights of the targets, 0 of ignored ones.
  Tensor target_weights() const {
    NoGrad no_grad;
    Tensor target = reshape(cast(call.front(t), kInt64), {call.size, -1});
    Tensor counted = ne(target, Scalar(ignored));
    if (call.args[w].is_none()) return cast(counted, kFloat64);
    Tensor safe = where(counted, target, Scalar(int64_t{0}));
    return where(counted, gather(cast(call.front(w), kFloat64), 1, safe), Scalar(0.0));
  }
};

// Whether scores of `rank` dimensions go with the targets of the call; others are errors, which the
// operator itself tells.
bool targets_fit(const BatchCall& call, int64_t rank, size_t t) {
  if (call.size == 0 || rank == 0 || call.args[t].as<Tensor>().numel() == 0) return false;
  bool one = rank == 1 && call.rank(t) == 1 && call.args[t].as<Tensor>().size(0) == 1;
  return one || call.rank(t) == rank - 1;
}

// Whether weights of each sample fit; a shared one is left to the operator.
bool weights_fit(const BatchCall& call, int64_t classes, size_t w) {
  if (!call.batched(w)) return true;
  return call.rank(w) == 1 && call.args[w].as<Tensor>().size(0) == classes;
}

// The losses [B * N, ...] of all targets as those of samples, and what they are divided by.
Values reduced(const ClassLoss& loss, Tensor losses, std::string_view reduction) {
  const BatchCall& call = loss.call;
  DType type = losses.dtype();
  losses = reshape(losses, call.front(loss.t).sizes());
  Tensor total = ones({call.size}, kFloat64, losses.device());
  Tensor weights = loss.target_weights();
  if (call.batched(loss.w)) losses = mul(losses, reshape(cast(weights, type), losses.sizes()));
  if (reduction == "mean") total = sum(weights, IntList({1}), false);
  if (reduction != "none") {
    Tensor wide = cast(reshape(losses, {call.size, -1}), kFloat64);
    losses = cast(div(sum(wide, IntList({1}), false), total), type);
  }
  return Values{Value(losses), Value(total)};
}

// input, target, weight, ignore_index, reduction, and the smoothing of labels behind it.
template <bool kCrossEntropy>
Values losses_rule(BatchCall& call) {
  if (!targets_fit(call, call.rank(0), 1)) return {};
  if (call.batched(2) && kCrossEntropy && call.args[5].real() != 0) return {};
  ClassLoss loss{call, 1, 2, call.rank(0) == 1, call.args[3].integer()};
  std::vector<Value> args(call.args.begin(), call.args.end());
  std::string reduction = args[4].as<std::string>();
  Tensor x = loss.score_rows(call.front(0));
  if (!weights_fit(call, x.size(1), 2)) return {};
  args[0] = Value(x);
  args[1] = Value(loss.target_rows(call.front(1)));
  if (call.batched(2)) args[2] = Value();
  args[4] = Value(std::string("none"));
  Values each = call.again(std::move(args));
  Values out = reduced(loss, each[0].as<Tensor>(), reduction);
  if (kCrossEntropy) {
    Tensor lse = reshape(each[1].as<Tensor>(), call.front(1).sizes());
    out = Values{out[0], Value(lse), out[1]};
  }
  return call.hide(std::move(out));
}

// The gradient of each loss, for that of the result in argument 0: [B * N, ...].
Tensor each_gradient(const ClassLoss& loss, const Tensor& total, std::string_view reduction) {
  const BatchCall& call = loss.call;
  Tensor g = call.front(0);
  Sizes shape = call.front(loss.t).sizes().to_sizes();
  if (reduction == "mean") g = cast(div(cast(g, kFloat64), total), g.dtype());
  if (reduction != "none") {
    Sizes narrow(shape.size(), 1);
    narrow[0] = call.size;
    g = expand(reshape(g, narrow), shape);
  }
  return loss.target_rows(reshape(g, shape));
}

// grad_output, input, target, weight, lse, total, ignore_index, reduction, label_smoothing.
Values cross_entropy_backward_rule(BatchCall& call) {
  if (call.batched(3) || !targets_fit(call, call.rank(1), 2)) return {};
  ClassLoss loss{call, 2, 3, call.rank(1) == 1, call.args[6].integer()};
  std::vector<Value> args(call.args.begin(), call.args.end());
  Tensor x = call.front(1);
  args[0] = Value(each_gradient(loss, call.front(5), args[7].as<std::string>()));
  args[1] = Value(loss.score_rows(x));
  args[2] = Value(loss.target_rows(call.front(2)));
  args[4] = Value(loss.target_rows(call.front(4)));
  args[5] = Value(ones({}, kFloat64, x.device()));
  args[7] = Value(std::string("none"));
  return call.hide(reshape(call.again(std::move(args))[0].as<Tensor>(), x.sizes()));
}

// grad_output, target, weight, total, size, ignore_index, reduction.
Values nll_loss_backward_rule(BatchCall& call) {
  Sizes size = call.args[4].ints().to_sizes();
  int64_t rank = static_cast<int64_t>(size.size());
  if (call.batched(2) || !targets_fit(call, rank, 1)) return {};
  ClassLoss loss{call, 1, 2, rank == 1, call.args[5].integer()};
  std::vector<Value> args(call.args.begin(), call.args.end());
  Tensor g = each_gradient(loss, call.front(3), args[6].as<std::string>());
  Sizes whole = prepended(size, call.size);
  if (rank == 1) size.insert(size.begin(), 1);
  size[0] *= call.size;
  args[0] = Value(g);
  args[1] = Value(loss.target_rows(call.front(1)));
  args[3] = Value(ones({}, kFloat64, g.device()));
  args[4] = Value(IntList(size));
  args[6] = Value(std::string("none"));
  return call.hide(reshape(call.again(std::move(args))[0].as<Tensor>(), whole));
}

constexpr NamedRule kRules[] = {
    {"cross_entropy_classes", losses_rule<true>},
    {"cross_entropy_backward_fused", cross_entropy_backward_rule},
    {"nll_loss_classes", losses_rule<false>},
    {"nll_loss_backward", nll_loss_backward_rule},
};

__attribute__((constructor)) static void register_rules() { add_batch_rules(kRules); }

}  // namespace batch_losses
}  // namespace facula
