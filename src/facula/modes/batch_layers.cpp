// Batching rules of layers: samples fold into the batch where every element of the batch
// is treated alike, else into the channels; what has parameters of each sample applies them after.
#include "facula/base/error.h"
#include "facula/modes/vmap.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/norm_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

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

// Samples with statistics of their own, as all have in training, fold into the channels. Running
// ones are updated in a copy, which is then stored.
Values channels_norm(BatchCall& call) {
  bool training = call.args[5].boolean();
  std::vector<Value> args(call.args.begin(), call.args.end());
  args[0] = Value(into_channels(call.front(0)));
  for (size_t k : {1, 2, 3, 4}) {
    if (call.args[k].is_none()) continue;
    Tensor flat = reshape(call.front(k), {-1});
    args[k] = Value(k > 2 && training ? clone(flat) : flat);
  }
  std::vector<Value> kept(args.begin() + 3, args.begin() + 5);
  Values out = call.again(std::move(args));
  for (size_t k : {3, 4}) {
    if (!training || call.args[k].is_none()) continue;
    NoGrad no_grad;
    Tensor stored = call.value(k);
    copy_(stored, reshape(kept[k - 3].as<Tensor>(), stored.sizes()));
  }
  out[0] = Value(out_of_channels(out[0].as<Tensor>(), call.size));
  for (size_t i = 1; i < out.size(); ++i)
    out[i] = Value(unfold_samples(out[i].as<Tensor>(), call.size));
  return call.hide(std::move(out));
}

Values batch_norm_rule(BatchCall& call) {
  bool training = call.args[5].boolean();
  if (call.size == 0 || call.rank(0) < 2) return {};
  for (size_t k : {3, 4}) {
    FACULA_CHECK(
        !training || call.args[k].is_none() || call.batched(k), kRuntime,
        "Batch norm got a batched tensor as input while the "
        "running_mean or running_var, which will be updated in place, were not batched.\nIf you "
        "are using modules and do not need eval mode, please set `track_running_stats` to be "
        "False. If you are using a prebuilt module and do not need eval mode, please see the "
        "functorch website for resources on how to patch your module to work with vmap");
  }
  if (training || !call.only_batched(0)) return channels_norm(call);
  std::vector<Value> args(call.args.begin(), call.args.end());
  args[0] = Value(fold_samples(call.value(0)));
  Values out = call.again(std::move(args));
  out[0] = Value(unfold_samples(out[0].as<Tensor>(), call.size));
  for (size_t i = 1; i < out.size(); ++i) out[i] = Value(call.front(out[i].as<Tensor>()));
  return call.hide(std::move(out));
}

// Backward of norms folds as forward does, but for gradients of parameters that samples share: sums
// over each sample. parameter_sum is one, over all dimensions but those from `first` to `last`.
Tensor parameter_sum(const Tensor& t, int64_t first, int64_t last) {
  Sizes dims;
  for (int64_t d = 1; d < t.dim(); ++d) {
    if (d < first || d > last) dims.push_back(d);
  }
  return dims.empty() ? t : sum(t, dims, false);
}

bool plain_type(const BatchCall& call, size_t k) {
  DType type = call.args[k].as<Tensor>().dtype();
  return type == kFloat32 || type == kFloat64;
}

// The gradient times a weight of each sample, whose dimensions lie from `at`; a shared one is left
// to the operator.
Tensor scaled_gradient(const BatchCall& call, const Tensor& g, int64_t at) {
  return call.batched(3) ? mul(g, cast(placed(call, 3, g, at), g.dtype())) : g;
}

// grad_output, input, normalized_shape, weight, mean or nothing, rstd, mask.
Values rows_norm_backward(BatchCall& call) {
  if (call.size == 0 || call.rank(0) != call.rank(1) || !plain_type(call, 1)) return {};
  uint64_t mask = unbox_mask(call.args[6]);
  IntList shape = call.args[2].ints();
  Tensor x = call.front(1), g = cast(call.front(0), x.dtype()), dx, dw, db;
  Tensor mean = call.args[4].is_none() ? Tensor() : contiguous(call.front(4));
  Tensor rstd = contiguous(call.front(5)), shared = call.batched(3) ? Tensor() : call.value(3);
  int64_t at = x.dim() - shape.ssize();
  if (mask & 1) {
    dx = std::get<0>(
        layer_norm_backward_fused(scaled_gradient(call, g, at), x, shape, shared, mean, rstd, 1));
  }
  auto wide = [&](const Tensor& t) {
    Sizes sizes = t.sizes().to_sizes();
    for (int64_t d = 0; d < shape.ssize(); ++d) sizes.push_back(1);
    return reshape(t, sizes);
  };
  if (mask & 2) {
    Tensor centred = mean.defined() ? sub(x, wide(mean)) : x;
    dw = parameter_sum(mul(g, mul(centred, wide(rstd))), at, x.dim() - 1);
  }
  if (mask & 4) db = parameter_sum(g, at, x.dim() - 1);
  return call.hide(Values{Value(dx), Value(dw), Value(db)});
}

// grad_output, input, num_groups, weight, mean, rstd, mask.
Values group_norm_backward_rule(BatchCall& call) {
  if (call.size == 0 || call.rank(0) != call.rank(1) || !plain_type(call, 1)) return {};
  uint64_t mask = unbox_mask(call.args[6]);
  int64_t groups = call.args[2].integer();
  Tensor x = call.front(1), g = cast(call.front(0), x.dtype()), dx, dw, db;
  Tensor mean = call.front(4), rstd = call.front(5);
  if (x.numel() == 0) return {};
  if (mask & 1) {
    Tensor shared = call.batched(3) ? Tensor() : call.value(3);
    auto out = group_norm_backward_fused(fold_samples(scaled_gradient(call, g, 2)), fold_samples(x),
                                         groups, shared, contiguous(fold_samples(mean)),
                                         contiguous(fold_samples(rstd)), 1);
    dx = unfold_samples(std::get<0>(out), call.size);
  }
  if (mask & 2) {
    Tensor rows = reshape(x, {x.size(0), x.size(1), groups, -1});
    Tensor y = mul(sub(rows, unsqueeze(mean, 3)), unsqueeze(rstd, 3));
    dw = parameter_sum(mul(g, reshape(y, x.sizes())), 2, 2);
  }
  if (mask & 4) db = parameter_sum(g, 2, 2);
  return call.hide(Values{Value(dx), Value(dw), Value(db)});
}

// grad_output, input, weight, mean, rstd, training, mask: all of them are those of channels.
Values batch_norm_backward_rule(BatchCall& call) {
  if (call.size == 0 || call.rank(0) != call.rank(1) || call.rank(1) < 2) return {};
  std::vector<Value> args(call.args.begin(), call.args.end());
  for (size_t k : {0, 1}) args[k] = Value(into_channels(call.front(k)));
  for (size_t k : {2, 3, 4}) {
    if (!args[k].is_none()) args[k] = Value(contiguous(reshape(call.front(k), {-1})));
  }
  Values out = call.again(std::move(args));
  if (out[0].is<Tensor>()) out[0] = Value(out_of_channels(out[0].as<Tensor>(), call.size));
  for (size_t i : {1, 2}) {
    if (out[i].is<Tensor>()) out[i] = Value(unfold_samples(out[i].as<Tensor>(), call.size));
  }
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

// [B, rows, ...] as [rows * B, ...], and back.
Tensor into_rows(const Tensor& x) { return fold_samples(transpose(x, 0, 1)); }
Tensor out_of_rows(const Tensor& x, int64_t samples) {
  Sizes sizes = prepended(x.sizes(), x.size(0) / samples);
  sizes[1] = samples;
  return transpose(reshape(x, sizes), 0, 1);
}

// Samples with shared weights are a wider batch: row r of all samples, then row r + 1. Steps that
// leave rows out still keep the first ones.
Values recurrent_rule(BatchCall& call) {
  if (call.size == 0 || call.rank(0) != 2 || call.rank(2) != 2) return {};
  for (size_t k = 4; k < 9; ++k) {
    if (call.batched(k)) return {};
  }
  std::vector<Value> args(call.args.begin(), call.args.end());
  for (size_t k : {0, 2, 3}) {
    if (!args[k].is_none()) args[k] = Value(into_rows(call.front(k)));
  }
  Sizes steps = args[1].ints().to_sizes();
  for (int64_t& n : steps) n *= call.size;
  args[1] = Value(IntList(steps));
  Values out = call.again(std::move(args));
  for (Value& v : out) {
    if (v.is<Tensor>()) v = Value(out_of_rows(v.as<Tensor>(), call.size));
  }
  return call.hide(std::move(out));
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
    {"grid_sample_backward_fused", fold<-1, 0, 1, 2>},
    {"layer_norm_backward_fused", rows_norm_backward},
    {"group_norm_backward_fused", group_norm_backward_rule},
    {"batch_norm_backward_fused", batch_norm_backward_rule},
    {"layer_norm_rows", rows_norm<3>},
    {"rms_norm_rows", rows_norm<0>},
    {"group_norm_layer", group_norm_rule},
    {"batch_norm_layer", batch_norm_rule},
    {"attend", attend_rule},
    {"attend_tiled", attend_tiled_rule},
    {"recurrent_layer", recurrent_rule},
};

__attribute__((constructor)) static void register_rules() { add_batch_rules(kRules); }

}  // namespace batch_layers
}  // namespace facula
