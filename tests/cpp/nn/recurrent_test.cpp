// Tests of recurrent layers and cells. Values were recorded from PyTorch 2.15.
#include "facula/nn/recurrent.h"

#include "checksum.h"
#include "facula/base/error.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/recurrent_functions.h"

namespace facula::nn {
namespace {

TEST(Recurrent, HasTheValuesOfPython) {
  Tensor x = wave({5, 2, 3}), row = wave({2, 3}), h = wave({2, 4}, 1);
  EXPECT_NEAR(checksum(with_waves(RNN(3, 4))(x).first), 0.89715, 2e-4);
  EXPECT_NEAR(
      checksum(with_waves(RNN(3, 4, {.nonlinearity = "relu"}))(x, reshape(h, {1, 2, 4})).second),
      0.934428, 2e-4);
  EXPECT_NEAR(checksum(with_waves(GRU(3, 4, {.num_layers = 2, .bidirectional = true}))(x).first),
              -0.026854, 2e-4);
  EXPECT_NEAR(checksum(with_waves(LSTM(3, 4, {.batch_first = true, .proj_size = 2}))(x).first),
              0.019279, 2e-4);
  EXPECT_NEAR(checksum(with_waves(LSTM(3, 4))(select(x, 1, 0)).second.second), -0.510504, 2e-4);
  EXPECT_NEAR(checksum(with_waves(RNNCell(3, 4))(row)), 0.018324, 2e-4);
  EXPECT_NEAR(checksum(with_waves(GRUCell(3, 4))(row, h)), 1.720248, 2e-4);
  EXPECT_NEAR(checksum(with_waves(LSTMCell(3, 4))(row).second), -0.687253, 2e-4);
  EXPECT_NEAR(checksum(with_waves(LSTMCell(3, 4))(select(row, 0, 1)).first), 0.121811, 2e-4);
}

TEST(Recurrent, PrintsAndRefusesAsPython) {
  EXPECT_EQ(LSTM(3, 4, {.num_layers = 2, .bidirectional = true}).repr(),
            "LSTM(3, 4, num_layers=2, bidirectional=True)");
  EXPECT_EQ(RNNCell(3, 4, {.nonlinearity = "relu"}).repr(), "RNNCell(3, 4, nonlinearity=relu)");
  EXPECT_EQ(GRU(3, 4).named_parameters()[2].first, "bias_ih_l0");
  EXPECT_THROW(GRU(3, 4, {.proj_size = 2}), Error);
  EXPECT_THROW(RNN(3, 4, {.nonlinearity = "sin"}), Error);
  EXPECT_THROW(RNN(3, 4)(wave({5, 2, 4})), Error);
  EXPECT_THROW(RNN(3, 4)(wave({5, 2, 3}), wave({1, 3, 4})), Error);
}

// The fused layer has kernels of two dtypes; what takes others is put together of steps.
TEST(Recurrent, TheFusedLayerTakesTwoTypes) {
  auto run = [](DType type) {
    auto zeros_of = [&](IntList sizes) { return zeros(sizes, type); };
    return recurrent_layer(zeros_of({4, 3}), {2, 2}, zeros_of({2, 5}), Tensor(), zeros_of({5, 3}),
                           zeros_of({5, 5}), Tensor(), Tensor(), Tensor(), "tanh", false);
  };
  for (DType type : {kFloat32, kFloat64}) EXPECT_EQ(std::get<0>(run(type)).dtype(), type);
  for (DType type : {kFloat16, kBFloat16, kInt64, kComplex64, kComplex128}) {
    EXPECT_THROW(run(type), Error) << dtype_name(type);
  }
}

}  // namespace
}  // namespace facula::nn
