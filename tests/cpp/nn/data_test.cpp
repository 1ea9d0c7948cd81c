// Tests of datasets, loaders and the reader of the digits.
#include "facula/nn/data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "facula/base/error.h"
#include "facula/nn/values.h"

namespace facula::nn {
namespace {

TensorDataset counting(int64_t n) {
  Tensor numbers = arange(0, n);
  return TensorDataset({numbers, numbers * 10});
}

std::vector<int64_t> visited(const DataLoader& loader) {
  std::vector<int64_t> out;
  for (const std::vector<Tensor>& batch : loader) {
    for (int64_t v : int_values_of(batch[0])) out.push_back(v);
    EXPECT_EQ(int_values_of(batch[1]), int_values_of(batch[0] * 10));
  }
  return out;
}

TEST(Data, BatchesComeInOrder) {
  DataLoader loader(counting(7), {.batch_size = 3});
  EXPECT_EQ(loader.size(), 3);
  EXPECT_EQ(visited(loader), (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6}));
  DataLoader whole(counting(7), {.batch_size = 3, .drop_last = true});
  EXPECT_EQ(whole.size(), 2);
  EXPECT_EQ(visited(whole).size(), 6u);
}

// The numbers are the order of Python's DataLoader(TensorDataset(arange(8)), shuffle=True).
TEST(Data, AShuffleIsThatOfPython) {
  manual_seed(0);
  DataLoader loader(counting(8), {.batch_size = 3, .shuffle = true});
  EXPECT_EQ(visited(loader), (std::vector<int64_t>{2, 0, 5, 3, 1, 4, 7, 6}));
  EXPECT_EQ(visited(loader), (std::vector<int64_t>{0, 3, 7, 1, 6, 2, 5, 4}));
  auto generator = make_ref<Generator>(11);
  DataLoader own(counting(8), {.batch_size = 8, .shuffle = true, .generator = generator.get()});
  EXPECT_EQ(visited(own), (std::vector<int64_t>{0, 5, 7, 1, 3, 4, 2, 6}));
}

TEST(Data, WrongInputsAreRefused) {
  EXPECT_THROW(TensorDataset({}), Error);
  EXPECT_THROW(TensorDataset({zeros({2}), zeros({3})}), Error);
  EXPECT_THROW(TensorDataset({zeros({})}), Error);
  EXPECT_THROW(DataLoader(counting(3), {.batch_size = 0}), Error);
  EXPECT_THROW(DataLoader(counting(0), {.shuffle = true}), Error);
  EXPECT_THROW(digits("some"), Error);
  EXPECT_THROW(digits("all", "/no/such/file"), Error);
}

TEST(Data, DigitsAreSplitByTheirPlace) {
  std::string path = testing::TempDir() + "facula_digits_test.bin";
  {
    std::ofstream file(path, std::ios::binary);
    for (char i = 0; i < 10; ++i) file << std::string(64, static_cast<char>(i + 1)) << i;
  }
  TensorDataset train = digits("train", path), test = digits("test", path);
  EXPECT_EQ(int_values_of(test.tensors()[1]), (std::vector<int64_t>{4, 9}));
  EXPECT_EQ(train.size(), 8);
  EXPECT_EQ(train.tensors()[0].size(3), 8);
  EXPECT_EQ(item(max(digits("all", path).tensors()[0])), 10.0 / 16);
  std::ofstream(path, std::ios::app) << "x";
  EXPECT_THROW(digits("all", path), Error);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace facula::nn
