// Tests of attention and the Transformer. Values were recorded from PyTorch 2.15.
#include "facula/nn/transformer.h"

#include "checksum.h"
#include "facula/base/error.h"

namespace facula::nn {
namespace {

TEST(Transformers, HaveTheValuesOfPython) {
  Tensor q = wave({4, 2, 8}), k = wave({5, 2, 8}, 1), v = wave({5, 2, 8}, 2);
  Tensor blocked = gt(tensor_of(std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 1, 1}, {2, 5}), 0);
  TransformerOptions small{.dim_feedforward = 6, .dropout = 0};
  TransformerOptions first{.dim_feedforward = 6,
                           .dropout = 0,
                           .activation = "gelu",
                           .batch_first = true,
                           .norm_first = true};
  AttentionCall masked{.key_padding_mask = blocked, .average_attn_weights = false};
  Tensor causal = Transformer::square_subsequent_mask(4);
  EXPECT_NEAR(checksum(with_waves(MultiheadAttention(8, 2))(q, k, v).first), 0.235095, 2e-4);
  EXPECT_NEAR(checksum(with_waves(MultiheadAttention(8, 2))(q, k, v, masked).second), 0.18415,
              2e-4);
  EXPECT_NEAR(
      checksum(with_waves(MultiheadAttention(8, 4, {.add_bias_kv = true, .add_zero_attn = true}))(
                   q, q, q, {.attn_mask = causal})
                   .first),
      -0.804521, 2e-4);
  EXPECT_NEAR(checksum(with_waves(MultiheadAttention(8, 2, {.kdim = 3, .vdim = 5}))(
                           q, wave({5, 2, 3}), wave({5, 2, 5}), {.need_weights = false})
                           .first),
              -0.116542, 2e-4);
  EXPECT_NEAR(checksum(with_waves(TransformerEncoderLayer(8, 2, small))(q, {.mask = causal})),
              -2.348345, 2e-4);
  EXPECT_NEAR(checksum(with_waves(TransformerDecoderLayer(8, 2, small))(
                  q, k, {.memory_key_padding_mask = blocked})),
              0.398002, 2e-4);
  EXPECT_NEAR(checksum(with_waves(TransformerEncoder(8, 2, 2, first))(q)), -1.612677, 2e-4);
  EXPECT_NEAR(
      checksum(with_waves(Transformer({8, 2, 1, 2}, small))(k, q, {}, {.tgt_mask = causal})),
      -0.476315, 2e-4);
}

TEST(Transformers, LayersOfAStackStartAlikeAndDrawOnce) {
  manual_seed(0);
  TransformerEncoder one(8, 2, 1, {.dim_feedforward = 6});
  double after_one = item(rand({1}));
  manual_seed(0);
  TransformerEncoder two(8, 2, 2, {.dim_feedforward = 6});
  EXPECT_EQ(item(rand({1})), after_one);
  auto state = two.state_dict();
  Tensor a = state.at("layers.0.linear1.weight"), b = state.at("layers.1.linear1.weight");
  EXPECT_FALSE(a.is_same(b));
  EXPECT_EQ(item(sum(abs(a - b))), 0);
}

TEST(Transformers, RefuseWhatDoesNotFit) {
  EXPECT_THROW(MultiheadAttention(8, 3), Error);
  MultiheadAttention attention(8, 2);
  Tensor q = wave({4, 2, 8});
  EXPECT_THROW(attention(q, q, q, {.attn_mask = wave({3, 3})}), Error);
  EXPECT_THROW(attention(q, q, q, {.is_causal = true}), Error);
  EXPECT_EQ(attention(select(q, 1, 0), select(q, 1, 0), select(q, 1, 0)).second.dim(), 2);
}

}  // namespace
}  // namespace facula::nn
