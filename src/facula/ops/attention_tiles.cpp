// Attention in tiles: what the kernels need to know of dense and ragged batches, and second
// derivatives. Operands are [batch, heads, length, size]; ragged ones [1, heads, rows, size] with
// spans [batch, 2] of first rows and lengths.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "facula/base/error.h"
#include "facula/kernels/attention.h"
#include "facula/ops/attention_functions.h"
#include "facula/ops/attention_parts.h"
#include "facula/ops/geometry.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/recompute.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

// Blocks of this many queries make the packing of keys cheap; shorter ones give every thread work.
constexpr int64_t kMostQueries = 192, kLeastQueries = 48, kEnoughTasks = 32;

Tensor dense_rows(const Tensor& t) {
  return t->strides[3] == 1 || t->sizes[3] <= 1 ? t : to_contiguous(t);
}

kernels::TileHeads tile_heads(const Tensor& t, bool ragged = false) {
  return {t.data(), ragged ? 0 : t->strides[0], t->strides[1], t->strides[2]};
}

// Checks spans and gives them as rows of (first, length).
const int64_t* read_spans(const Tensor& spans, int64_t rows, const char* what) {
  if (spans.dtype() != kInt64 || spans.dim() != 2 || spans->sizes[1] != 2 ||
      !spans.is_contiguous() || !spans.device().is_cpu()) {
    raise_error(ErrorKind::kRuntime, "attention: expected ", what,
                " spans as contiguous int64 of shape [batch, 2], got ", list_text(spans.sizes()));
  }
  const int64_t* p = spans.data_as<int64_t>();
  for (int64_t b = 0; b < spans->sizes[0]; ++b) {
    int64_t first = p[2 * b], length = p[2 * b + 1];
    if (first < 0 || length < 0 || first > rows || length > rows - first) {
      raise_error(ErrorKind::kRuntime, "attention: the ", what, " span (", first, ", ", length,
                  ") does not lie in ", rows, " rows");
    }
  }
  return p;
}

// The sequences of a call and everything that follows from the shapes.
struct Plan {
  kernels::TiledAttention attention;
  std::vector<kernels::TileSequence> sequences;
};

void plan_sequences(Plan* plan, const Tensor& query, const Tensor& key, const Tensor& query_spans,
                    const Tensor& key_spans) {
  kernels::TiledAttention& a = plan->attention;
  int64_t queries = query->sizes[2], keys = key->sizes[2], longest = queries;
  bool ragged = query_spans.defined();
  const int64_t *q = nullptr, *k = nullptr;
  a.batch = ragged ? query_spans.size(0) : query->sizes[0];
  a.stat_rows = ragged ? queries : a.batch * queries;
  if (ragged) {
    q = read_spans(query_spans, queries, "query"), k = read_spans(key_spans, keys, "key");
    longest = 0;
    for (int64_t b = 0; b < a.batch; ++b) longest = std::max(longest, q[2 * b + 1]);
  }
  int64_t block = std::min(kMostQueries, std::max<int64_t>(longest, 1));
  while (block > kLeastQueries &&
         a.batch * a.heads * ((longest + block - 1) / block) < kEnoughTasks) {
    block = std::max(kLeastQueries, block / 2);
  }
  int64_t blocks = std::max<int64_t>(1, (longest + block - 1) / block);
  a.query_block = (std::max<int64_t>(longest, 1) + blocks - 1) / blocks;  // of about equal length
  a.tasks = 0;
  plan->sequences.resize(static_cast<size_t>(a.batch));
  for (int64_t b = 0; b < a.batch; ++b) {
    kernels::TileSequence& s = plan->sequences[static_cast<size_t>(b)];
    s = ragged ? kernels::TileSequence{q[2 * b],     q[2 * b + 1], k[2 * b],
                                       k[2 * b + 1], q[2 * b],     a.tasks}
               : kernels::TileSequence{0, queries, 0, keys, b * queries, a.tasks};
    a.tasks += (s.queries + a.query_block - 1) / a.query_block;
  }
  a.sequences = plan->sequences.data();
}

Plan plan_attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                    const Tensor& query_spans, const Tensor& key_spans, bool causal, double scale) {
  // The rows are internal, but interpreters may call them with anything.
  bool fits = key.dtype() == query.dtype() && value.dtype() == query.dtype() &&
              key.size(3) == query.size(3) && value.size(2) == key.size(2) &&
              value.size(1) == key.size(1) && key.size(0) == query.size(0) &&
              value.size(0) == query.size(0) && query_spans.defined() == key_spans.defined() &&
              (!mask.defined() || (!query_spans.defined() &&
                                   (mask.dtype() == kBool || mask.dtype() == query.dtype())));
  FACULA_CHECK(fits, kRuntime, "attention in tiles: query, key, value and mask do not fit");
  Plan plan;
  kernels::TiledAttention& a = plan.attention;
  a.heads = query->sizes[1], a.kv_heads = key->sizes[1];
  a.size = query->sizes[3], a.value_size = value->sizes[3];
  plan_sequences(&plan, query, key, query_spans, key_spans);
  a.query = tile_heads(query, query_spans.defined());
  a.key = tile_heads(key, query_spans.defined());
  a.value = tile_heads(value, query_spans.defined());
  a.score = {};
  a.score.scale = scale, a.score.causal = causal;
  if (mask.defined()) {
    Geometry g =
        expand_geometry(mask, {query->sizes[0], query->sizes[1], query->sizes[2], key->sizes[2]});
    a.score.mask = mask.data();
    a.score.mask_is_bool = mask.dtype() == kBool;
    for (int d = 0; d < 4; ++d) a.score.mask_strides[d] = g.strides[d];
  }
  return plan;
}

DType sum_type(DType type) { return type == kFloat64 ? kFloat64 : kFloat32; }

int64_t work_of(const Tensor& query, const Tensor& key) {
  return query.numel() * std::max<int64_t>(1, key.size(2));
}

// Attention of one sequence from parts that have derivatives.
Tensor sequence_from_parts(const Tensor& query, const Tensor& key, const Tensor& value,
                           const Tensor& mask, bool causal, double scale) {
  int64_t heads = query.size(1);
  return matmul(attention_weights(query, repeat_heads(key, heads), mask, causal, scale),
                repeat_heads(value, heads));
}

Tensor span_of(const Tensor& t, const int64_t* spans, int64_t b) {
  return narrow(t, 2, spans[2 * b], spans[2 * b + 1]);
}

// Allocates the work memory of the backward pass and runs it. Keys are worked on in parts where
// heads alone give too few tasks; how many parts there are follows from the shape.
void run_backward(DType type, const kernels::TiledAttention& a, kernels::TiledGradients& g,
                  int64_t keys, int64_t work) {
  int64_t width = kernels::attention->tile_width;
  int64_t items = std::max<int64_t>(1, a.batch * a.kv_heads);
  int64_t most = std::clamp<int64_t>(keys / 256, 1, 16);
  g.chunks = std::clamp<int64_t>(16 / items, 1, most);
  Tensor sums = new_empty({a.heads, a.stat_rows}, sum_type(type));
  Tensor partial = new_empty({g.chunks, a.heads, a.stat_rows, (a.size + width - 1) / width * width},
                             sum_type(type));
  g.sums = sums.data(), g.partial = partial.data();
  kernels::Fault fault;
  {
    LongWork unlocked(work);
    kernels::attention->tiled_backward(type, a, g, &fault);
  }
  kernels::check_fault(fault, "scaled_dot_product_attention");
}

}  // namespace

namespace forward {

std::tuple<Tensor, Tensor> attend_tiled(const Tensor& query, const Tensor& key, const Tensor& value,
                                        const Tensor& attn_mask, const Tensor& query_spans,
                                        const Tensor& key_spans, bool is_causal, double scale) {
  IntList q = query.sizes();
  Device device = query.device();
  Tensor out = new_empty({q[0], q[1], q[2], value->sizes[3]}, query.dtype(), device);
  Tensor logsumexp = new_empty({q[1], q[0] * q[2]}, sum_type(query.dtype()), device);
  if (device.is_meta()) return {out, logsumexp};
  // Rows outside all spans are 0, and have nothing to pass back.
  if (query_spans.defined()) {
    fill_raw(out, 0);
    fill_raw(logsumexp, std::numeric_limits<double>::infinity());
  }
  Tensor x = dense_rows(query), y = dense_rows(key), z = dense_rows(value);
  Plan plan = plan_attention(x, y, z, attn_mask, query_spans, key_spans, is_causal, scale);
  plan.attention.result = tile_heads(out, query_spans.defined());
  plan.attention.logsumexp = logsumexp.data();
  kernels::Fault fault;
  {
    LongWork unlocked(work_of(query, key));
    kernels::attention->tiled(query.dtype(), plan.attention, &fault);
  }
  kernels::check_fault(fault, "scaled_dot_product_attention");
  return {out, logsumexp};
}

std::tuple<Tensor, Tensor, Tensor> attend_tiled_backward_fused(
    const Tensor& grad_output, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& attn_mask, const Tensor& query_spans, const Tensor& key_spans,
    const Tensor& result, const Tensor& logsumexp, bool is_causal, double scale) {
  DType type = query.dtype();
  Device device = query.device();
  Tensor dq = new_empty(query.sizes(), type, device), dk = new_empty(key.sizes(), type, device);
  Tensor dv = new_empty(value.sizes(), type, device);
  if (device.is_meta()) return {dq, dk, dv};
  bool ragged = query_spans.defined();
  if (ragged) {
    for (const Tensor* t : {&dq, &dk, &dv}) fill_raw(*t, 0);
  }
  Tensor x = dense_rows(query), y = dense_rows(key), z = dense_rows(value);
  Tensor grad = dense_rows(grad_output);
  Plan plan = plan_attention(x, y, z, attn_mask, query_spans, key_spans, is_causal, scale);
  kernels::TiledAttention& a = plan.attention;
  Tensor out = dense_rows(result);
  a.result = tile_heads(out, ragged);
  a.logsumexp = logsumexp.data();
  kernels::TiledGradients g;
  g.grad = tile_heads(grad, ragged);
  g.query = tile_heads(dq, ragged), g.key = tile_heads(dk, ragged);
  g.value = tile_heads(dv, ragged);
  run_backward(type, a, g, key->sizes[2], work_of(query, key));
  return {dq, dk, dv};
}

}  // namespace forward

namespace {

std::vector<Tensor> dense_gradients(const Tensor& grad, const std::vector<Tensor>& inputs,
                                    const Tensor& mask, bool causal, double scale,
                                    uint64_t wanted) {
  auto f = [&](const std::vector<Tensor>& x) {
    return std::vector<Tensor>{sequence_from_parts(x[0], x[1], x[2], mask, causal, scale)};
  };
  return gradients_by_recomputing(inputs, {&grad, 1}, wanted, f);
}

// Every sequence is an output of its own.
std::vector<Tensor> ragged_gradients(const Tensor& grad, const std::vector<Tensor>& inputs,
                                     const Tensor& query_spans, const Tensor& key_spans,
                                     bool causal, double scale, uint64_t wanted) {
  const int64_t* q = read_spans(query_spans, inputs[0].size(2), "query");
  const int64_t* k = read_spans(key_spans, inputs[1].size(2), "key");
  std::vector<Tensor> grads;
  for (int64_t b = 0; b < query_spans.size(0); ++b) grads.push_back(span_of(grad, q, b));
  auto f = [&](const std::vector<Tensor>& x) {
    std::vector<Tensor> outputs;
    for (int64_t b = 0; b < query_spans.size(0); ++b) {
      outputs.push_back(sequence_from_parts(span_of(x[0], q, b), span_of(x[1], k, b),
                                            span_of(x[2], k, b), {}, causal, scale));
    }
    return outputs;
  };
  return gradients_by_recomputing(inputs, grads, wanted, f);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> attend_tiled_backward(
    const Tensor& grad_output, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& attn_mask, const Tensor& query_spans, const Tensor& key_spans,
    const Tensor& result, const Tensor& logsumexp, bool is_causal, double scale,
    uint64_t output_mask) {
  if (!recording_any({&grad_output, &query, &key, &value})) {
    return attend_tiled_backward_fused(grad_output, query, key, value, attn_mask, query_spans,
                                       key_spans, result, logsumexp, is_causal, scale);
  }
  std::vector<Tensor> g = query_spans.defined()
                              ? ragged_gradients(grad_output, {query, key, value}, query_spans,
                                                 key_spans, is_causal, scale, output_mask)
                              : dense_gradients(grad_output, {query, key, value}, attn_mask,
                                                is_causal, scale, output_mask);
  return {g[0], g[1], g[2]};
}

Tensor attend_ragged(const Tensor& query, const Tensor& key, const Tensor& value,
                     const Tensor& query_spans, const Tensor& key_spans, bool is_causal,
                     std::optional<double> scale) {
  bool fits = query.dim() == 3 && key.dim() == 3 && value.dim() == 3 &&
              query.size(2) == key.size(2) && key.size(0) == value.size(0) &&
              key.size(1) == value.size(1) && key.size(1) > 0 && query.size(1) % key.size(1) == 0 &&
              query_spans.dim() == 2 && key_spans.dim() == 2 &&
              query_spans.size(0) == key_spans.size(0);
  if (!fits) {
    raise_error(ErrorKind::kRuntime, "scaled_dot_product_attention: sizes of ragged query ",
                list_text(query.sizes()), ", key ", list_text(key.sizes()), " and value ",
                list_text(value.sizes()), " do not fit");
  }
  if (!query.is_floating_point() || query.dtype() != key.dtype() ||
      query.dtype() != value.dtype()) {
    raise_error(ErrorKind::kRuntime,
                "scaled_dot_product_attention: Expected query, key, and value to be of one "
                "floating dtype, but got ",
                dtype_name(query.dtype()), ", ", dtype_name(key.dtype()), " and ",
                dtype_name(value.dtype()));
  }
  double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  auto four = [](const Tensor& t) { return unsqueeze(transpose(t, 0, 1), 0); };
  Tensor out = std::get<0>(attend_tiled(four(query), four(key), four(value), {}, query_spans,
                                        key_spans, is_causal, factor));
  return transpose(select(out, 0, 0), 0, 1);
}

}  // namespace facula
