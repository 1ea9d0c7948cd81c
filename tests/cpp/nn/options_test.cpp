// Tests of options that are words: the error names the module, the option and what it may be.
#include "facula/nn/options.h"

#include <gtest/gtest.h>

#include "facula/nn/nn.h"

namespace facula::nn {
namespace {

// error_of runs f and gives its error, "ValueError: ...".
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return str(name_of(error.kind()), ": ", error.what());
  }
  return "no error";
}

TEST(Options, TheErrorListsWhatIsAllowed) {
  check_option("Resize", "mode", "cubic", {"linear", "cubic"});
  EXPECT_EQ(error_of([] { check_option("Resize", "mode", "cubbic", {"cubic"}); }),
            "ValueError: Resize: expected mode 'cubic', got 'cubbic'");
  EXPECT_EQ(
      error_of([] { check_option("Resize", "mode", "", {"a", "b", "c"}, ErrorKind::kRuntime); }),
      "RuntimeError: Resize: expected mode 'a', 'b' or 'c', got ''");
}

TEST(Options, ModulesNameThemselves) {
  const std::string three = ": expected reduction 'mean', 'sum' or 'none', got 'men'";
  EXPECT_EQ(error_of([] { MSELoss("men"); }), "ValueError: MSELoss" + three);
  EXPECT_EQ(error_of([] { CTCLoss({.reduction = "men"}); }), "ValueError: CTCLoss" + three);
  EXPECT_EQ(error_of([] { KLDivLoss({.reduction = "men"}); }),
            "ValueError: KLDivLoss: expected reduction 'mean', 'sum', 'none' or 'batchmean', got "
            "'men'");
  EXPECT_EQ(error_of([] { RNN(3, 4, {.nonlinearity = "sin"}); }),
            "ValueError: RNN: expected nonlinearity 'tanh' or 'relu', got 'sin'");
  EXPECT_EQ(error_of([] { RNNCell(3, 4, {.nonlinearity = "sin"}); }),
            "ValueError: RNNCell: expected nonlinearity 'tanh' or 'relu', got 'sin'");
  EXPECT_EQ(error_of([] { EmbeddingBag(6, 3, {.mode = "min"}); }),
            "ValueError: EmbeddingBag: expected mode 'sum', 'mean' or 'max', got 'min'");
  EXPECT_EQ(error_of([] { Upsample({.size = {3}, .mode = "bilinar"})(ones({1, 1, 4, 4})); }),
            "NotImplementedError: Upsample: expected mode 'nearest', 'nearest-exact', 'linear', "
            "'bilinear', 'bicubic' or 'trilinear', got 'bilinar'");
  EXPECT_EQ(
      error_of([] { TransformerEncoderLayer(4, 2, {.activation = "gellu"})(ones({2, 1, 4})); }),
      "RuntimeError: TransformerEncoderLayer: expected activation 'relu' or 'gelu', got "
      "'gellu'");
}

TEST(Options, FunctionsNameThemselves) {
  EXPECT_EQ(error_of([] { pad(ones({2, 2}), {1, 1}, "reflekt"); }),
            "NotImplementedError: pad: expected mode 'constant', 'reflect', 'replicate' or "
            "'circular', got 'reflekt'");
  EXPECT_EQ(error_of([] { init::calculate_gain("rellu"); }),
            "ValueError: calculate_gain: expected nonlinearity 'linear', 'conv1d', 'conv2d', "
            "'conv3d', 'conv_transpose1d', 'conv_transpose2d', 'conv_transpose3d', 'sigmoid', "
            "'tanh', 'relu', 'leaky_relu' or 'selu', got 'rellu'");
  EXPECT_EQ(error_of([] { digits("some"); }),
            "ValueError: digits: expected split 'train', 'test' or 'all', got 'some'");
}

TEST(Options, SchedulesNameThemselves) {
  Linear model(2, 1);
  optim::SGD sgd(model.parameters(), {.lr = 0.1, .momentum = 0.9});
  EXPECT_EQ(error_of([&] { optim::CyclicLR(sgd, 0.1, 0.2, {.mode = "triangle"}); }),
            "ValueError: CyclicLR: expected mode 'triangular', 'triangular2' or 'exp_range', got "
            "'triangle'");
  EXPECT_EQ(error_of([&] { optim::OneCycleLR(sgd, 0.1, 9, {.anneal_strategy = "cosine"}); }),
            "ValueError: OneCycleLR: expected anneal_strategy 'cos' or 'linear', got 'cosine'");
  EXPECT_EQ(error_of([&] { optim::ReduceLROnPlateau(sgd, {.mode = "least"}); }),
            "ValueError: ReduceLROnPlateau: expected mode 'min' or 'max', got 'least'");
  EXPECT_EQ(error_of([&] { optim::ReduceLROnPlateau(sgd, {.threshold_mode = "relative"}); }),
            "ValueError: ReduceLROnPlateau: expected threshold_mode 'rel' or 'abs', got "
            "'relative'");
}

}  // namespace
}  // namespace facula::nn
