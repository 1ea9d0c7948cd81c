// Multi-head attention and the Transformer (Vaswani et al. 2017). Sequences are (length, batch,
// features), or (batch, length, features) with batch_first, or without the batch. Masks are
// boolean, true where attention is not allowed, or numbers that are added to the scores.
//
//   nn::TransformerEncoder encoder(32, 4, 2, {.dim_feedforward = 64, .batch_first = true});
//   Tensor out = encoder(rand({2, 5, 32}));
//   nn::MultiheadAttention attention(32, 4);
//   auto [mixed, weights] = attention(rand({5, 2, 32}), rand({7, 2, 32}), rand({7, 2, 32}));
#pragma once
#include <utility>
#include <vector>

#include "facula/nn/functions.h"
#include "facula/nn/layers.h"
#include "facula/nn/norms.h"
#include "facula/nn/sequential.h"

namespace facula::nn {

struct AttentionOptions {
  double dropout = 0;
  bool bias = true, add_bias_kv = false, add_zero_attn = false;
  int64_t kdim = 0, vdim = 0;  // of keys and values; embed_dim unless given
  bool batch_first = false;
  DType dtype = kFloat32;
};

struct AttentionCall {
  Tensor attn_mask = {};         // (L, S) or (N * heads, L, S)
  Tensor key_padding_mask = {};  // (N, S) or (S)
  bool need_weights = true, average_attn_weights = true, is_causal = false;
};

// MultiheadAttention gives the output and the weights, which are undefined where not needed.
class FACULA_API MultiheadAttention : public Module {
 public:
  MultiheadAttention(int64_t embed_dim, int64_t num_heads, const AttentionOptions& options = {});
  void reset_parameters();
  std::pair<Tensor, Tensor> operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const AttentionCall& call = {}) const;

  Tensor in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias, bias_k, bias_v;
  Linear& out_proj;

 private:
  Tensor merged_mask(const AttentionCall& call, const Tensor& query, int64_t batch, int64_t target,
                     int64_t source) const;

  int64_t embed_dim_, num_heads_;
  AttentionOptions options_;
};

struct TransformerOptions {
  int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  std::string activation = "relu";  // or "gelu"
  double layer_norm_eps = 1e-5;
  bool batch_first = false, norm_first = false, bias = true;
  DType dtype = kFloat32;
};

struct EncoderCall {
  Tensor mask = {}, src_key_padding_mask = {};
  bool is_causal = false;
};

// TransformerEncoderLayer: self-attention and two linear maps, with norms and shortcuts.
class FACULA_API TransformerEncoderLayer : public Module {
 public:
  TransformerEncoderLayer(int64_t d_model, int64_t nhead, const TransformerOptions& options = {});
  Tensor forward(const Tensor& src) override { return layer(src, {}); }
  Tensor operator()(const Tensor& src, const EncoderCall& call = {}) const {
    return layer(src, call);
  }

 private:
  Tensor layer(const Tensor& src, const EncoderCall& call) const;
  TransformerOptions options_;
  MultiheadAttention& self_attn_;
  Linear &linear1_, &linear2_;
  LayerNorm &norm1_, &norm2_;
};

struct DecoderCall {
  Tensor tgt_mask = {}, memory_mask = {}, tgt_key_padding_mask = {}, memory_key_padding_mask = {};
  bool tgt_is_causal = false, memory_is_causal = false;
};

// TransformerDecoderLayer: self-attention, attention to the memory and two linear maps.
class FACULA_API TransformerDecoderLayer : public Module {
 public:
  TransformerDecoderLayer(int64_t d_model, int64_t nhead, const TransformerOptions& options = {});
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderCall& call = {}) const;

 private:
  TransformerOptions options_;
  MultiheadAttention &self_attn_, &multihead_attn_;
  Linear &linear1_, &linear2_;
  LayerNorm &norm1_, &norm2_, &norm3_;
};

// TransformerEncoder: layers that start alike, one after the other, and a last norm if wanted.
class FACULA_API TransformerEncoder : public Module {
 public:
  TransformerEncoder(int64_t d_model, int64_t nhead, int64_t num_layers,
                     const TransformerOptions& options = {}, bool last_norm = false);
  Tensor forward(const Tensor& src) override { return stack(src, {}); }
  Tensor operator()(const Tensor& src, const EncoderCall& call = {}) const {
    return stack(src, call);
  }

 private:
  Tensor stack(const Tensor& src, const EncoderCall& call) const;
  ModuleList<TransformerEncoderLayer>& layers_;
  LayerNorm* norm_ = nullptr;
};

// TransformerDecoder: layers that start alike, one after the other, and a last norm if wanted.
class FACULA_API TransformerDecoder : public Module {
 public:
  TransformerDecoder(int64_t d_model, int64_t nhead, int64_t num_layers,
                     const TransformerOptions& options = {}, bool last_norm = false);
  Tensor operator()(const Tensor& tgt, const Tensor& memory, const DecoderCall& call = {}) const;

 private:
  ModuleList<TransformerDecoderLayer>& layers_;
  LayerNorm* norm_ = nullptr;
};

struct TransformerSizes {
  int64_t d_model = 512, nhead = 8, num_encoder_layers = 6, num_decoder_layers = 6;
};

// Transformer: an encoder of the source and a decoder of the target.
class FACULA_API Transformer : public Module {
 public:
  explicit Transformer(const TransformerSizes& sizes = {}, const TransformerOptions& options = {});
  Tensor operator()(const Tensor& src, const Tensor& tgt, const EncoderCall& encoder = {},
                    const DecoderCall& decoder = {}) const;
  // square_subsequent_mask is minus infinity above the diagonal, 0 elsewhere.
  static Tensor square_subsequent_mask(int64_t size, DType dtype = kFloat32);

 private:
  TransformerSizes sizes_;
  bool batch_first_;
  TransformerEncoder& encoder_;
  TransformerDecoder& decoder_;
};

}  // namespace facula::nn
