// Batching rules of layers and losses: samples fold into the batch where every element of the batch
// is treated alike, else into the channels; what has parameters of each sample applies them after.
#include "facula/base/error.h"
#include "facula/modes/vmap.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/norm_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/softmax_functions.h"

namespace facula {
namespace batch_layers {

Values unfolded_results(BatchCall& call, Values results) {
  for (Value& v : results) {
    if (v.is<Tensor>()) v = Value(unfold_samples(v.as<Tensor>(), call.size));
  }
  return call.hide(std::move(results));
}

// Arguments K are tensors whose first dimension may be longer; argument S, if there is one, is the
// shape of such a tensor. All others must be shared.
template <int S, size_t... K>
Values fold(BatchCall& call) {
  if (call.size == 0 || call.rank(0) == 0) return {};
  std::vector<Value> args(call.args.begin(), call.args.end());
  for (size_t k = 0; k < args.size(); ++k) {
    bool folds = ((k == K) || ...);
    if (!folds && call.batched(k)) return {};
    if (folds && args[k].is<Tensor>()) {
      if (call.rank(k) == 0) return {};
      args[k] = Value(fold_samples(call.front(k)));
    }
  }
  if (S >= 0) {
    Sizes sizes = args[static_cast<size_t>(S)].ints().to_sizes();
    sizes[0] *= call.size;
    args[static_cast<size_t>(S)] = Value(IntList(sizes));
  }
  return unfolded_results(call, call.again(std::move(args)));
}

// A parameter of each sample (or shared), shaped to stand at dimensions from `at` of `like`.
Tensor placed(const BatchCall& call, size_t k, const Tensor& like, int64_t at) {
  Tensor p = call.value(k);
  Sizes sizes(static_cast<size_t>(like.dim()), 1);
  int64_t skip = call.batched(k) ? 1 : 0;
  if (skip) sizes[0] = call.size;
  for (int64_t d = skip; d < p.dim(); ++d) sizes[static_cast<size_t>(at + d - skip)] = p.sizes()[d];
  return reshape(p, sizes);
}

Tensor with_parameters(const BatchCall& call, Tensor x, size_t weight, size_t bias, int64_t at) {
  if (!call.args[weight].is_none()) x = mul(x, placed(call, weight, x, at));
  if (bias && !call.args[bias].is_none()) x = add(x, placed(call, bias, x, at));
  return x;
}

// layer_norm_rows and rms_norm_rows: input, normalized_shape, weight, and bias or nothing.
template <size_t kBias>
Values rows_norm(BatchCall& call) {
  if (call.only_batched(0)) return leading_rule(call);
  std::vector<Value> args(call.args.begin(), call.args.end());
  Tensor x = call.front(0);
  args[0] = Value(x);
  args[2] = Value();
  if (kBias) args[kBias] = Value();
  Values out = call.again(std::move(args));
  int64_t at = x.dim() - call.args[1].ints().ssize();
  out[0] = Value(with_parameters(call, out[0].as<Tensor>(), 2, kBias, at));
  return call.hide(std::move(out));
}

Values group_norm_rule(BatchCall& call) {
  if (call.size == 0 || call.rank(0) < 2) return {};
  if (call.only_batched(0)) return fold<-1, 0>(call);
  std::vector<Value> args(call.args.begin(), call.args.end());
  args[0] = Value(fold_samples(call.front(0)));
  args[2] = args[3] = Value();
  Values out = call.again(std::move(args));
  for (Value& v : out) v = Value(unfold_samples(v.as<Tensor>(), call.size));
  out[0] = Value(with_parameters(call, out[0].as<Tensor>(), 2, 3, 2));
  return call.hide(std::move(out));
}

// In training each sample has statistics of its own: samples fold into the channels.
Values batch_norm_rule(BatchCall& call) {
  bool training = call.args[5].boolean();
  if (call.size == 0 || call.rank(0) < 2 || call.batched(3) || call.batched(4)) return {};
  bool running = !call.args[3].is_none();
  FACULA_CHECK(
      !training || !running, kRuntime,
      "Batch norm got a batched tensor as input while the "
      "running_mean or running_var, which will be updated in place, were not batched.\nIf you "
      "are using modules and do not need eval mode, please set `track_running_stats` to be "
      "False. If you are using a prebuilt module and do not need eval mode, please see the "
      "functorch website for resources on how to patch your module to work with vmap");
  std::vector<Value> args(call.args.begin(), call.args.end());
  args[1] = args[2] = Value();
  Tensor x = call.front(0);
  if (!training) {
    args[0] = Value(fold_samples(x));
    Values out = call.again(std::move(args));
    out[0] = Value(with_parameters(call, unfold_samples(out[0].as<Tensor>(), call.size), 1, 2, 2));
    for (size_t i = 1; i < out.size(); ++i) out[i] = Value(call.front(out[i].as<Tensor>()));
    return call.hide(std::move(out));
  }
  Tensor y = transpose(x, 0, 1);
  Sizes sizes(y.sizes().begin() + 2, y.sizes().end());
  sizes[0] = call.size * x.sizes()[2];
  sizes.insert(sizes.begin(), x.sizes()[1]);
  args[0] = Value(reshape(y, sizes));
  Values out = call.again(std::move(args));
  sizes[1] /= call.size;
  sizes.insert(sizes.begin() + 1, call.size);
  Tensor r = transpose(reshape(out[0].as<Tensor>(), sizes), 0, 1);
  out[0] = Value(with_parameters(call, r, 1, 2, 2));
  for (size_t i = 1; i < out.size(); ++i)
    out[i] = Value(unfold_samples(out[i].as<Tensor>(), call.size));
  return call.hide(std::move(out));
}

Values attend_rule(BatchCall& call) {
  bool mask = !call.args[3].is_none();
  if (call.rank(0) < 3 || call.batched(3) || (mask && call.rank(3) > 2)) return {};
  return fold<-1, 0, 1, 2>(call);
}

// Operands of 4 dimensions, of dense batches; the mask is shared and the same along the batch.
Values attend_tiled_rule(BatchCall& call) {
  bool mask = !call.args[3].is_none();
  if (call.rank(0) != 4 || call.batched(3) || !call.args[4].is_none() || !call.args[5].is_none()) {
    return {};
  }
  if (mask && call.rank(3) == 4 && call.args[3].as<Tensor>().size(0) != 1) return {};
  if (call.size == 0) return {};
  std::vector<Value> args(call.args.begin(), call.args.end());
  for (size_t k : {0, 1, 2}) args[k] = Value(fold_samples(call.front(k)));
  Values out = call.again(std::move(args));
  out[0] = Value(unfold_samples(out[0].as<Tensor>(), call.size));
  Tensor lse = out[1].as<Tensor>();  // [heads, samples * batch * rows]
  out[1] = Value(transpose(reshape(lse, {lse.size(0), call.size, lse.size(1) / call.size}), 0, 1));
  return call.hide(std::move(out));
}

// The losses of [B, N] targets by their log-probabilities [B, N, C], and how many count.
struct Picked {
  Tensor losses, counts;
  Picked(const Tensor& log_p, const Tensor& target, int64_t ignored) {
    Tensor valid = ne(target, Scalar(ignored));
    Tensor safe = where(valid, target, Scalar(int64_t{0}));
    Tensor p = squeeze_dim(gather(log_p, 2, unsqueeze(safe, 2)), {2});
    losses = where(valid, neg(p), Scalar(0.0));
    counts = sum(cast(valid, log_p.dtype()), IntList({1}), false);
  }
  Tensor reduced(std::string_view reduction) const {
    if (reduction == "none") return losses;
    Tensor total = sum(losses, IntList({1}), false);
    return reduction == "sum" ? total : div(total, counts);
  }
};

bool plain_classes(const BatchCall& call) {
  return call.rank(0) == 2 && call.rank(1) == 1 && call.args[2].is_none() &&
         call.args[1].as<Tensor>().dtype() == kInt64;
}

Values cross_entropy_rule(BatchCall& call) {
  if (!plain_classes(call) || call.args[5].real() != 0) return {};
  Tensor x = call.front(0);
  Picked picked(log_softmax(x, 2), call.front(1), call.args[3].integer());
  Values out = call.hide(picked.reduced(call.args[4].as<std::string>()));
  NoGrad no_grad;
  out.push_back(Value(make_batched(logsumexp(x, IntList({2}), false), call.level)));
  out.push_back(Value(make_batched(picked.counts, call.level)));
  return out;
}

Values nll_loss_rule(BatchCall& call) {
  if (!plain_classes(call)) return {};
  Picked picked(call.front(0), call.front(1), call.args[3].integer());
  Values out = call.hide(picked.reduced(call.args[4].as<std::string>()));
  out.push_back(Value(make_batched(picked.counts, call.level)));
  return out;
}

constexpr NamedRule kRules[] = {
    {"max_pool", fold<-1, 0>},
    {"adaptive_max_pool", fold<-1, 0>},
    {"max_pool_backward", fold<2, 0, 1>},
    {"max_pool_gather", fold<-1, 0, 1>},
    {"max_unpool", fold<-1, 0, 1>},
    {"avg_pool", fold<-1, 0>},
    {"avg_pool_backward", fold<1, 0>},
    {"adaptive_avg_pool", fold<-1, 0>},
    {"adaptive_avg_pool_backward", fold<1, 0>},
    {"pad_by_map", fold<-1, 0>},
    {"pad_by_map_backward", fold<1, 0>},
    {"unfold_image", fold<-1, 0>},
    {"fold_image", fold<-1, 0>},
    {"resample", fold<-1, 0>},
    {"resample_backward", fold<1, 0>},
    {"grid_sample_at", fold<-1, 0, 1>},
    {"layer_norm_rows", rows_norm<3>},
    {"rms_norm_rows", rows_norm<0>},
    {"group_norm_layer", group_norm_rule},
    {"batch_norm_layer", batch_norm_rule},
    {"attend", attend_rule},
    {"attend_tiled", attend_tiled_rule},
    {"cross_entropy_classes", cross_entropy_rule},
    {"nll_loss_classes", nll_loss_rule},
};

__attribute__((constructor)) static void register_rules() { add_batch_rules(kRules); }

}  // namespace batch_layers
}  // namespace facula
