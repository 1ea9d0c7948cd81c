// Attention is made of products, masks and softmax where weights are wanted, and of the operator
// for attention elsewhere. Stacks copy their first layer, as Python's do, so they draw once.
#include "facula/nn/transformer.h"

#include <cmath>
#include <limits>
#include <mutex>
#include <span>

#include "facula/base/error.h"
#include "facula/core/generator.h"
#include "facula/core/thread_state.h"
#include "facula/nn/init.h"
#include "facula/nn/options.h"
#include "facula/nn/values.h"

namespace facula::nn {
namespace {

// additive turns a boolean mask into numbers that are added to the scores.
Tensor additive(const Tensor& mask, DType dtype) {
  if (!mask.defined() || mask.dtype() != kBool) return mask;
  NoGrad off;
  return masked_fill(zeros(mask.sizes(), dtype), mask, -std::numeric_limits<double>::infinity());
}

Tensor with_column(const Tensor& mask) {
  return mask.defined() ? constant_pad_nd(mask, {0, 1}) : mask;
}

// heads turns (length, batch, embed) into (batch * heads, length, head_dim).
Tensor heads_of(const Tensor& x, int64_t rows) {
  return transpose(reshape(x, {x.size(0), rows, -1}), 0, 1);
}

Linear linear_of(int64_t in, int64_t out, const TransformerOptions& o) {
  return Linear(in, out, {.bias = o.bias, .dtype = o.dtype});
}
LayerNorm norm_of(int64_t d_model, const TransformerOptions& o) {
  return LayerNorm(d_model, {.eps = o.layer_norm_eps, .bias = o.bias, .dtype = o.dtype});
}
MultiheadAttention attention_of(int64_t d_model, int64_t nhead, const TransformerOptions& o) {
  return MultiheadAttention(
      d_model, nhead,
      {.dropout = o.dropout, .bias = o.bias, .batch_first = o.batch_first, .dtype = o.dtype});
}

Tensor activated(const Module& layer, const Tensor& x, const TransformerOptions& o) {
  check_option(layer.type_name(), "activation", o.activation, {"relu", "gelu"},
               ErrorKind::kRuntime);
  return o.activation == "relu" ? relu(x) : gelu(x);
}

// fill_stack makes layers that are copies of the first; only the first draws.
template <class Layer>
void fill_stack(ModuleList<Layer>& layers, int64_t count, int64_t d_model, int64_t nhead,
                const TransformerOptions& options) {
  Generator& generator = default_generator();
  std::vector<std::byte> before(Generator::kStateBytes);
  std::map<std::string, Tensor> first;
  for (int64_t i = 0; i < count; ++i) {
    {
      std::lock_guard lock(generator.mutex());
      generator.get_state(std::span<std::byte, Generator::kStateBytes>(before));
    }
    Layer& made = layers.push_back(Layer(d_model, nhead, options));
    if (i == 0) {
      first = made.state_dict();
    } else {
      std::lock_guard lock(generator.mutex());
      generator.set_state(before);
      made.load_state_dict(first);
    }
  }
}

}  // namespace

MultiheadAttention::MultiheadAttention(int64_t embed_dim, int64_t num_heads,
                                       const AttentionOptions& o)
    : Module("MultiheadAttention"),
      out_proj(([&]() -> Linear& {
        FACULA_CHECK(embed_dim > 0 && num_heads > 0, kValue,
                     "embed_dim and num_heads must be greater than 0, got embed_dim=", embed_dim,
                     " and num_heads=", num_heads, " instead");
        FACULA_CHECK(embed_dim % num_heads == 0, kValue,
                     "embed_dim must be divisible by num_heads");
        return register_module("out_proj",
                               Linear(embed_dim, embed_dim, {.bias = o.bias, .dtype = o.dtype}));
      })()),
      embed_dim_(embed_dim),
      num_heads_(num_heads),
      options_(o) {
  int64_t kdim = o.kdim ? o.kdim : embed_dim, vdim = o.vdim ? o.vdim : embed_dim;
  bool together = kdim == embed_dim && vdim == embed_dim;
  auto add = [&](const char* name, bool wanted, const Sizes& shape) {
    return register_parameter(name, wanted ? new_empty(shape, o.dtype) : Tensor());
  };
  in_proj_weight = add("in_proj_weight", together, Sizes{3 * embed_dim, embed_dim});
  q_proj_weight = add("q_proj_weight", !together, Sizes{embed_dim, embed_dim});
  k_proj_weight = add("k_proj_weight", !together, Sizes{embed_dim, kdim});
  v_proj_weight = add("v_proj_weight", !together, Sizes{embed_dim, vdim});
  in_proj_bias = add("in_proj_bias", o.bias, Sizes{3 * embed_dim});
  bias_k = add("bias_k", o.add_bias_kv, Sizes{int64_t{1}, int64_t{1}, embed_dim});
  bias_v = add("bias_v", o.add_bias_kv, Sizes{int64_t{1}, int64_t{1}, embed_dim});
  reset_parameters();
}

void MultiheadAttention::reset_parameters() {
  for (const Tensor& w : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight}) {
    if (w.defined()) init::xavier_uniform_(w);
  }
  if (in_proj_bias.defined()) {
    init::zeros_(in_proj_bias);
    init::zeros_(out_proj.bias);
  }
  for (const Tensor& b : {bias_k, bias_v}) {
    if (b.defined()) init::xavier_normal_(b);
  }
}

// merged_mask adds both masks: (1 or batch * heads, target or 1, source), undefined without any.
Tensor MultiheadAttention::merged_mask(const AttentionCall& call, const Tensor& query,
                                       int64_t batch, int64_t target, int64_t source) const {
  Tensor mask = additive(call.attn_mask, query.dtype());
  int64_t rows = batch * num_heads_;
  if (mask.defined()) {
    FACULA_CHECK(mask.dim() == 2 || mask.dim() == 3, kRuntime, "attn_mask's dimension ", mask.dim(),
                 " is not supported");
    Sizes expected = mask.dim() == 2 ? Sizes{target, source} : Sizes{rows, target, source};
    FACULA_CHECK(mask.sizes() == IntList(expected), kRuntime, "The shape of the ", mask.dim(),
                 "D attn_mask is ", list_text(mask.sizes()), ", but should be ",
                 list_text(expected), ".");
    if (mask.dim() == 2) mask = unsqueeze(mask, 0);
  }
  if (call.key_padding_mask.defined()) {
    Tensor padding = additive(call.key_padding_mask, query.dtype());
    if (padding.dim() == 1) padding = unsqueeze(padding, 0);
    Sizes expected{batch, source};
    FACULA_CHECK(padding.sizes() == IntList(expected), kRuntime,
                 "Expected key_padding_mask of shape ", list_text(expected), ", got ",
                 list_text(padding.sizes()));
    padding = reshape(expand(reshape(padding, {batch, 1, 1, source}), {-1, num_heads_, -1, -1}),
                      {rows, 1, source});
    mask = mask.defined() ? mask + padding : padding;
  }
  return mask;
}

std::pair<Tensor, Tensor> MultiheadAttention::operator()(const Tensor& query, const Tensor& key,
                                                         const Tensor& value,
                                                         const AttentionCall& call) const {
  bool batched = query.dim() == 3;
  FACULA_CHECK(
      (batched || query.dim() == 2) && key.dim() == query.dim() && value.dim() == query.dim(),
      kRuntime,
      "MultiheadAttention: expected query, key and value of 2 or 3 dimensions, "
      "got ",
      query.dim(), ", ", key.dim(), " and ", value.dim());
  FACULA_CHECK(
      !call.is_causal || call.attn_mask.defined(), kRuntime,
      "Need attn_mask if specifying the is_causal hint. You may use the Transformer module "
      "method `square_subsequent_mask` to create this mask.");
  auto turned = [&](const Tensor& t) {
    if (!batched) return unsqueeze(t, 1);
    return options_.batch_first ? transpose(t, 0, 1) : t;
  };
  Tensor q = turned(query), k = turned(key), v = turned(value);
  FACULA_CHECK(q.size(2) == embed_dim_, kRuntime, "was expecting embedding dimension of ",
               embed_dim_, ", but got ", q.size(2));
  int64_t target = q.size(0), batch = q.size(1), rows = batch * num_heads_;
  Tensor mask = merged_mask(call, query, batch, target, k.size(0));
  std::vector<Tensor> w = {q_proj_weight, k_proj_weight, v_proj_weight}, b(3);
  if (in_proj_weight.defined()) w = chunk(in_proj_weight, 3);
  if (in_proj_bias.defined()) b = chunk(in_proj_bias, 3);
  q = linear(q, w[0], b[0]), k = linear(k, w[1], b[1]), v = linear(v, w[2], b[2]);
  if (bias_k.defined()) {
    k = cat(std::vector<Tensor>{k, expand(bias_k, {1, batch, -1})});
    v = cat(std::vector<Tensor>{v, expand(bias_v, {1, batch, -1})});
    mask = with_column(mask);
  }
  q = heads_of(q, rows), k = heads_of(k, rows), v = heads_of(v, rows);
  int64_t head_dim = embed_dim_ / num_heads_;
  if (options_.add_zero_attn) {
    Tensor zero = zeros({rows, 1, head_dim}, k.dtype());
    k = cat(std::vector<Tensor>{k, zero}, 1);
    v = cat(std::vector<Tensor>{v, zero}, 1);
    mask = with_column(mask);
  }
  double p = is_training() ? options_.dropout : 0;
  Tensor weights, out;
  if (call.need_weights) {
    Tensor scores = bmm(q * std::sqrt(1.0 / static_cast<double>(head_dim)), transpose(k, -2, -1));
    if (mask.defined()) scores = scores + mask;
    weights = softmax(scores, -1);
    out = bmm(p > 0 ? dropout(weights, p, true) : weights, v);
    weights = reshape(weights, {batch, num_heads_, target, k.size(1)});
    if (call.average_attn_weights) weights = mean(weights, IntList({1}));
    if (!batched) weights = squeeze_dim(weights, {0});
  } else {
    auto four = [&](const Tensor& t) {
      return reshape(t, {batch, num_heads_, t.size(1), t.size(2)});
    };
    Tensor wide = mask;
    if (mask.defined()) wide = mask.size(0) == 1 ? unsqueeze(mask, 0) : four(mask);
    out = scaled_dot_product_attention(four(q), four(k), four(v), wide, p);
    out = reshape(out, {rows, target, head_dim});
  }
  out = reshape(transpose(out, 0, 1), {target, batch, embed_dim_});
  out = linear(out, out_proj.weight, out_proj.bias);
  if (!batched) return {squeeze_dim(out, {1}), weights};
  return {options_.batch_first ? transpose(out, 0, 1) : out, weights};
}

TransformerEncoderLayer::TransformerEncoderLayer(int64_t d_model, int64_t nhead,
                                                 const TransformerOptions& o)
    : Module("TransformerEncoderLayer"),
      options_(o),
      self_attn_(register_module("self_attn", attention_of(d_model, nhead, o))),
      linear1_(register_module("linear1", linear_of(d_model, o.dim_feedforward, o))),
      linear2_((register_module("dropout", Dropout(o.dropout)),
                register_module("linear2", linear_of(o.dim_feedforward, d_model, o)))),
      norm1_(register_module("norm1", norm_of(d_model, o))),
      norm2_(register_module("norm2", norm_of(d_model, o))) {
  register_module("dropout1", Dropout(o.dropout));
  register_module("dropout2", Dropout(o.dropout));
}

Tensor TransformerEncoderLayer::layer(const Tensor& src, const EncoderCall& call) const {
  const TransformerOptions& o = options_;
  auto drop = [&](const Tensor& t) { return dropout(t, o.dropout, is_training()); };
  auto attend = [&](const Tensor& t) {
    return drop(self_attn_(t, t, t,
                           {.attn_mask = call.mask,
                            .key_padding_mask = call.src_key_padding_mask,
                            .need_weights = false,
                            .is_causal = call.is_causal})
                    .first);
  };
  auto feed = [&](const Tensor& t) {
    return drop(linear2_(drop(activated(*this, linear1_(t), o))));
  };
  if (o.norm_first) {
    Tensor x = src + attend(norm1_(src));
    return x + feed(norm2_(x));
  }
  Tensor x = norm1_(src + attend(src));
  return norm2_(x + feed(x));
}

TransformerDecoderLayer::TransformerDecoderLayer(int64_t d_model, int64_t nhead,
                                                 const TransformerOptions& o)
    : Module("TransformerDecoderLayer"),
      options_(o),
      self_attn_(register_module("self_attn", attention_of(d_model, nhead, o))),
      multihead_attn_(register_module("multihead_attn", attention_of(d_model, nhead, o))),
      linear1_(register_module("linear1", linear_of(d_model, o.dim_feedforward, o))),
      linear2_((register_module("dropout", Dropout(o.dropout)),
                register_module("linear2", linear_of(o.dim_feedforward, d_model, o)))),
      norm1_(register_module("norm1", norm_of(d_model, o))),
      norm2_(register_module("norm2", norm_of(d_model, o))),
      norm3_(register_module("norm3", norm_of(d_model, o))) {
  for (const char* name : {"dropout1", "dropout2", "dropout3"}) {
    register_module(name, Dropout(o.dropout));
  }
}

Tensor TransformerDecoderLayer::operator()(const Tensor& tgt, const Tensor& memory,
                                           const DecoderCall& call) const {
  const TransformerOptions& o = options_;
  auto drop = [&](const Tensor& t) { return dropout(t, o.dropout, is_training()); };
  auto attend = [&](const Tensor& t) {
    return drop(self_attn_(t, t, t,
                           {.attn_mask = call.tgt_mask,
                            .key_padding_mask = call.tgt_key_padding_mask,
                            .need_weights = false,
                            .is_causal = call.tgt_is_causal})
                    .first);
  };
  auto look = [&](const Tensor& t) {
    return drop(multihead_attn_(t, memory, memory,
                                {.attn_mask = call.memory_mask,
                                 .key_padding_mask = call.memory_key_padding_mask,
                                 .need_weights = false,
                                 .is_causal = call.memory_is_causal})
                    .first);
  };
  auto feed = [&](const Tensor& t) {
    return drop(linear2_(drop(activated(*this, linear1_(t), o))));
  };
  if (o.norm_first) {
    Tensor x = tgt + attend(norm1_(tgt));
    x = x + look(norm2_(x));
    return x + feed(norm3_(x));
  }
  Tensor x = norm1_(tgt + attend(tgt));
  x = norm2_(x + look(x));
  return norm3_(x + feed(x));
}

TransformerEncoder::TransformerEncoder(int64_t d_model, int64_t nhead, int64_t num_layers,
                                       const TransformerOptions& options, bool last_norm)
    : Module("TransformerEncoder"),
      layers_(register_module("layers", ModuleList<TransformerEncoderLayer>())) {
  fill_stack(layers_, num_layers, d_model, nhead, options);
  if (last_norm) norm_ = &register_module("norm", norm_of(d_model, options));
}

Tensor TransformerEncoder::stack(const Tensor& src, const EncoderCall& call) const {
  Tensor x = src;
  for (size_t i = 0; i < layers_.size(); ++i) x = layers_[i](x, call);
  return norm_ ? (*norm_)(x) : x;
}

TransformerDecoder::TransformerDecoder(int64_t d_model, int64_t nhead, int64_t num_layers,
                                       const TransformerOptions& options, bool last_norm)
    : Module("TransformerDecoder"),
      layers_(register_module("layers", ModuleList<TransformerDecoderLayer>())) {
  fill_stack(layers_, num_layers, d_model, nhead, options);
  if (last_norm) norm_ = &register_module("norm", norm_of(d_model, options));
}

Tensor TransformerDecoder::operator()(const Tensor& tgt, const Tensor& memory,
                                      const DecoderCall& call) const {
  Tensor x = tgt;
  for (size_t i = 0; i < layers_.size(); ++i) x = layers_[i](x, memory, call);
  return norm_ ? (*norm_)(x) : x;
}

Transformer::Transformer(const TransformerSizes& s, const TransformerOptions& o)
    : Module("Transformer"),
      sizes_(s),
      batch_first_(o.batch_first),
      encoder_(register_module(
          "encoder", TransformerEncoder(s.d_model, s.nhead, s.num_encoder_layers, o, true))),
      decoder_(register_module(
          "decoder", TransformerDecoder(s.d_model, s.nhead, s.num_decoder_layers, o, true))) {
  for (const Tensor& p : parameters()) {
    if (p.dim() > 1) init::xavier_uniform_(p);
  }
}

Tensor Transformer::operator()(const Tensor& src, const Tensor& tgt, const EncoderCall& encoder,
                               const DecoderCall& decoder) const {
  int64_t batch_dim = batch_first_ ? 0 : 1;
  FACULA_CHECK(src.dim() != 3 || (tgt.dim() == 3 && src.size(batch_dim) == tgt.size(batch_dim)),
               kRuntime, "the batch number of src and tgt must be equal");
  FACULA_CHECK(src.size(-1) == sizes_.d_model && tgt.size(-1) == sizes_.d_model, kRuntime,
               "the feature number of src and tgt must be equal to d_model");
  return decoder_(tgt, encoder_(src, encoder), decoder);
}

Tensor Transformer::square_subsequent_mask(int64_t size, DType dtype) {
  return triu(full({size, size}, -std::numeric_limits<double>::infinity(), dtype), 1);
}

}  // namespace facula::nn
