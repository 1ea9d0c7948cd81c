// Attention: two batched products around a masked softmax. Operands are [batch, heads, length,
// size] with any strides whose last one the products take, so that views of one projection are not
// copied.
#include <cmath>
#include <limits>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/kernels/attention.h"
#include "facula/kernels/gemm.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/attention_functions.h"
#include "facula/ops/attention_parts.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/geometry.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/random_functions.h"
#include "facula/ops/recompute.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/softmax_functions.h"

namespace facula {
namespace {

// So few queries are not worth tiles: the keys would be packed for too little.
constexpr int64_t kFewQueries = 8;

// c = alpha * a b for tensors of four dimensions; `ta`, `tb` transpose the last two of an operand.
void multiply_heads(const Tensor& c, const Tensor& a, bool ta, const Tensor& b, bool tb,
                    double alpha = 1) {
  auto usable = [](const Tensor& t) {
    return kernels::gemm_strides(t->sizes[2], t->sizes[3], t->strides[2], t->strides[3])
               ? t
               : to_contiguous(t);
  };
  Tensor x = usable(a), y = usable(b);
  kernels::Gemm g;
  g.dtype = c.dtype();
  g.m = c->sizes[2], g.n = c->sizes[3], g.k = x->sizes[ta ? 2 : 3];
  g.a = x.data(), g.a_row = x->strides[ta ? 3 : 2], g.a_col = x->strides[ta ? 2 : 3];
  g.b = y.data(), g.b_row = y->strides[tb ? 3 : 2], g.b_col = y->strides[tb ? 2 : 3];
  g.c = c.data(), g.c_row = c->strides[2];
  g.alpha = alpha;
  kernels::GemmBatch batch;
  for (int d = 0; d < 2; ++d) {
    batch.count[d] = c->sizes[d];
    batch.a[d] = x->strides[d], batch.b[d] = y->strides[d], batch.c[d] = c->strides[d];
  }
  kernels::gemm_batch(g, batch);
}

kernels::ScoreShape score_shape(const Tensor& scores, const Tensor& mask, bool causal,
                                double scale) {
  kernels::ScoreShape s{scores->sizes[0],
                        scores->sizes[1],
                        scores->sizes[2],
                        scores->sizes[3],
                        scale,
                        causal,
                        nullptr,
                        false,
                        {0, 0, 0, 0}};
  if (!mask.defined()) return s;
  Geometry g = expand_geometry(mask, scores.sizes());
  s.mask = mask.data();
  s.mask_is_bool = mask.dtype() == kBool;
  for (int d = 0; d < 4; ++d) s.mask_strides[d] = g.strides[d];
  return s;
}

void check_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
  if (q.dim() < 2 || k.dim() < 2 || v.dim() < 2) {
    raise_error(ErrorKind::kRuntime,
                "scaled_dot_product_attention: expected query, key and value of ",
                "at least 2 dimensions, got ", list_text(q.sizes()), ", ", list_text(k.sizes()),
                ", ", list_text(v.sizes()));
  }
  if (q.dtype() != k.dtype() || q.dtype() != v.dtype()) {
    raise_error(ErrorKind::kRuntime,
                "scaled_dot_product_attention: Expected query, key, and value to ",
                "have the same dtype, but got query.dtype: ", dtype_name(q.dtype()),
                " key.dtype: ", dtype_name(k.dtype()), " and value.dtype: ", dtype_name(v.dtype()),
                " instead.");
  }
  if (q.is_complex()) {
    raise_error(ErrorKind::kNotImplemented,
                "\"scaled_dot_product_attention\" not implemented for '", dtype_title(q.dtype()),
                "'");
  }
  if (!q.is_floating_point()) {
    raise_error(ErrorKind::kRuntime,
                "scaled_dot_product_attention: expected scalar type Float but found ",
                dtype_title(q.dtype()));
  }
  if (q.size(-1) != k.size(-1) || k.size(-2) != v.size(-2)) {
    raise_error(ErrorKind::kRuntime, "scaled_dot_product_attention: sizes of query ",
                list_text(q.sizes()), ", key ", list_text(k.sizes()), " and value ",
                list_text(v.sizes()), " do not fit");
  }
  if (mask.defined() && mask.dtype() != kBool && mask.dtype() != kFloat32 &&
      mask.dtype() != q.dtype()) {
    raise_error(ErrorKind::kRuntime,
                "scaled_dot_product_attention: Expected attn_mask dtype to be ",
                "bool or float or to match query dtype, but got attn_mask.dtype: ",
                dtype_name(mask.dtype()), " and query.dtype: ", dtype_name(q.dtype()), " instead.");
  }
}

}  // namespace

namespace forward {

std::tuple<Tensor, Tensor> attend(const Tensor& query, const Tensor& key, const Tensor& value,
                                  const Tensor& attn_mask, bool is_causal, double scale) {
  IntList q = query.sizes();
  Tensor weights = new_empty({q[0], q[1], q[2], key->sizes[2]}, query.dtype(), query.device());
  Tensor out = new_empty({q[0], q[1], q[2], value->sizes[3]}, query.dtype(), query.device());
  if (out.is_meta() || weights.numel() == 0 || out.numel() == 0) {
    fill_raw(out, 0);
    return {out, weights};
  }
  multiply_heads(weights, query, false, key, true);
  kernels::attention->weights(query.dtype(), weights.data(),
                              score_shape(weights, attn_mask, is_causal, scale));
  multiply_heads(out, weights, false, value, false);
  return {out, weights};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> attend_backward_fused(
    const Tensor& grad_output, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& attn_mask, const Tensor& weights, double scale, uint64_t output_mask) {
  DType type = query.dtype();
  Tensor dq, dk, dv, dmask;
  Device device = query.device();
  if (output_mask & 1) dq = new_empty(query.sizes(), type, device);
  if (output_mask & 2) dk = new_empty(key.sizes(), type, device);
  if (output_mask & 4) dv = new_empty(value.sizes(), type, device);
  bool empty = weights.numel() == 0 || grad_output.numel() == 0;
  if (!device.is_meta() && empty) {
    for (const Tensor* t : {&dq, &dk, &dv}) {
      if (t->defined()) fill_raw(*t, 0);
    }
    return {dq, dk, dv, dmask};
  }
  if (device.is_meta()) return {dq, dk, dv, dmask};
  if (dv.defined()) multiply_heads(dv, weights, true, grad_output, false);
  if (output_mask & 11) {
    Tensor ds = new_empty(weights.sizes(), type, device);
    multiply_heads(ds, grad_output, false, value, true);
    int64_t keys = ds->sizes[3];
    kernels::attention->weights_backward(type, ds.data(), weights.data(), ds.numel() / keys, keys);
    if (dq.defined()) multiply_heads(dq, ds, false, key, false, scale);
    if (dk.defined()) multiply_heads(dk, ds, true, query, false, scale);
    if (output_mask & 8) dmask = ds;
  }
  return {dq, dk, dv, dmask};
}

}  // namespace forward

namespace {

Tensor causal_mask(int64_t queries, int64_t keys) {
  Tensor mask = new_empty({queries, keys}, kBool);
  bool* p = mask.data_as<bool>();
  for (int64_t i = 0; i < queries; ++i) {
    for (int64_t j = 0; j < keys; ++j) p[i * keys + j] = j <= i;
  }
  return mask;
}

}  // namespace

Tensor attention_weights(const Tensor& q, const Tensor& k, const Tensor& mask, bool causal,
                         double scale) {
  Tensor scores = mul(matmul(q, transpose(k, -2, -1)), scale);
  double lowest = -std::numeric_limits<double>::infinity();
  if (causal) {
    scores = masked_fill(scores, logical_not(causal_mask(q.size(-2), k.size(-2))), lowest);
  }
  if (!mask.defined()) return softmax(scores, -1);
  Tensor seen =
      mask.dtype() == kBool ? masked_fill(scores, logical_not(mask), lowest) : add(scores, mask);
  // Rows without anything to see give 0, also in the gradient.
  Tensor none = eq(sum(cast(ne(detach(seen), lowest), kFloat64), IntList({-1}), true), 0);
  Tensor safe = masked_fill(seen, none, 0);
  return masked_fill(softmax(safe, -1), none, 0);
}

Tensor repeat_heads(const Tensor& t, int64_t heads) {
  int64_t own = t.size(-3);
  if (own == heads) return t;
  if (own == 0 || heads % own != 0) {
    raise_error(ErrorKind::kRuntime,
                "scaled_dot_product_attention: Number of heads in key and value ",
                "must divide the number of heads in query, got ", own, " and ", heads);
  }
  Sizes wide = t.sizes().to_sizes(), shape = wide;
  int64_t at = t.dim() - 3;
  wide.insert(wide.begin() + at + 1, heads / own);
  shape[at] = heads;
  return reshape(expand(unsqueeze(t, at + 1), wide), shape);
}

namespace {

// A tensor of two or more dimensions as one of four, its batch expanded.
Tensor four_dims(const Tensor& t, IntList batch) {
  Sizes wide = batch.to_sizes();
  wide.push_back(t.size(-2)), wide.push_back(t.size(-1));
  Tensor x = expand(t, wide);
  if (x.dim() == 4) return x;
  if (x.dim() == 3) return unsqueeze(x, 0);
  if (x.dim() == 2) return unsqueeze(unsqueeze(x, 0), 0);
  return reshape(x, IntList({-1, x.size(-3), x.size(-2), x.size(-1)}));
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> attend_backward(const Tensor& grad_output,
                                                           const Tensor& query, const Tensor& key,
                                                           const Tensor& value,
                                                           const Tensor& attn_mask,
                                                           const Tensor& weights, bool is_causal,
                                                           double scale, uint64_t output_mask) {
  if (!recording_any({&grad_output, &query, &key, &value, &attn_mask})) {
    return attend_backward_fused(grad_output, query, key, value, attn_mask, weights, scale,
                                 output_mask);
  }
  Tensor inputs[4] = {query, key, value, attn_mask};
  std::vector<Tensor> g = gradients_by_recomputing(
      inputs, {&grad_output, 1}, output_mask, [&](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{
            matmul(attention_weights(x[0], x[1], x[3], is_causal, scale), x[2])};
      });
  return {g[0], g[1], g[2], g[3]};
}

namespace {

// Checks that the heads of keys and values divide those of queries.
void check_groups(const Tensor& query, const Tensor& key, const Tensor& value) {
  if (query.dim() < 3 || key.dim() < 3 || value.dim() < 3) {
    raise_error(ErrorKind::kIndex,
                "scaled_dot_product_attention: enable_gqa expects query, key and value of at least "
                "3 dimensions");
  }
  for (const Tensor* t : {&key, &value}) {
    int64_t heads = query.size(-3), own = t->size(-3);
    if (own == 0 || heads % own != 0) {
      raise_error(ErrorKind::kRuntime,
                  "scaled_dot_product_attention: Number of heads in key and value ",
                  "must divide the number of heads in query, got ", own, " and ", heads);
    }
  }
}

IntList batch_of(const Tensor& t) { return IntList(t->sizes, static_cast<size_t>(t.dim() - 2)); }

// The mask over the four dimensions that `batch` becomes.
Tensor four_dim_mask(const Tensor& mask, const Tensor& query, const Tensor& key,
                     const Sizes& batch) {
  Sizes wide = batch;
  wide.push_back(query.size(-2)), wide.push_back(key.size(-2));
  if (mask.dim() > static_cast<int64_t>(wide.size())) {
    raise_error(ErrorKind::kRuntime, "scaled_dot_product_attention: attn_mask of shape ",
                list_text(mask.sizes()), " does not expand to ", list_text(wide));
  }
  Tensor m = expand(mask, wide);
  return batch.size() == 2 ? m : four_dims(m, batch);
}

// Tiles need not hold the weights; few queries are as well served by two products.
bool tiles_pay(const Tensor& query, const Tensor& mask) {
  return query.size(-2) >= kFewQueries && !recording_any({&mask});
}

// The weights are formed: for dropout, for gradients of masks, for a few queries.
Tensor attend_by_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                         const Tensor& mask, double dropout_p, bool causal, double scale) {
  if (is_reduced(query.dtype())) {
    Tensor wide = mask.defined() && mask.dtype() != kBool ? cast(mask, kFloat32) : mask;
    return cast(attend_by_weights(cast(query, kFloat32), cast(key, kFloat32), cast(value, kFloat32),
                                  wide, dropout_p, causal, scale),
                query.dtype());
  }
  int64_t heads = query.size(1);
  Tensor k = repeat_heads(key, heads), v = repeat_heads(value, heads);
  if (dropout_p > 0) {
    Tensor weights = attention_weights(query, k, mask, causal, scale);
    return matmul(dropout(weights, dropout_p, true), v);
  }
  return std::get<0>(attend(query, k, v, mask, causal, scale));
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Tensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  check_attention(query, key, value, attn_mask);
  if (is_causal && attn_mask.defined()) {
    raise_error(ErrorKind::kRuntime,
                "scaled_dot_product_attention: Explicit attn_mask should not be ",
                "set when is_causal=True");
  }
  if (!(dropout_p >= 0 && dropout_p <= 1)) {
    raise_error(ErrorKind::kRuntime,
                "scaled_dot_product_attention: dropout probability has to be between 0 and 1, "
                "but got ",
                dropout_p);
  }
  if (attn_mask.defined() && attn_mask.dtype() == kFloat32 && query.dtype() != kFloat32) {
    // The mask is not rounded to a shorter type.
    DType sums = query.dtype() == kFloat64 ? kFloat64 : kFloat32;
    return cast(scaled_dot_product_attention(cast(query, sums), cast(key, sums), cast(value, sums),
                                             cast(attn_mask, sums), dropout_p, is_causal, scale,
                                             enable_gqa),
                query.dtype());
  }
  double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  Sizes batch = batch_of(query).to_sizes(), shared = batch;
  if (enable_gqa) {
    check_groups(query, key, value);
    // All broadcast over the batch, but keys and values keep their own number of heads.
    for (const Tensor* t : {&key, &value}) {
      Sizes own = batch_of(*t).to_sizes();
      own.back() = query.size(-3);
      batch = broadcast_sizes(batch, own, "scaled_dot_product_attention");
    }
    shared = batch;
    shared.back() = key.size(-3);
  } else {
    batch = broadcast_sizes(batch, batch_of(key), "scaled_dot_product_attention");
    batch = broadcast_sizes(batch, batch_of(value), "scaled_dot_product_attention");
    shared = batch;
  }
  Tensor mask = attn_mask.defined() ? four_dim_mask(attn_mask, query, key, batch) : attn_mask;
  Tensor q = four_dims(query, batch), k = four_dims(key, shared), v;
  if (enable_gqa) shared.back() = value.size(-3);
  v = four_dims(value, shared);
  Tensor out;
  if (dropout_p > 0 || !tiles_pay(q, attn_mask)) {
    out = attend_by_weights(q, k, v, mask, dropout_p, is_causal, factor);
  } else {
    if (k.size(1) != v.size(1)) k = repeat_heads(k, q.size(1)), v = repeat_heads(v, q.size(1));
    out = std::get<0>(attend_tiled(q, k, v, mask, {}, {}, is_causal, factor));
  }
  if (batch.size() == 2) return out;
  batch.push_back(query.size(-2)), batch.push_back(value.size(-1));
  return reshape(out, batch);
}

}  // namespace facula
