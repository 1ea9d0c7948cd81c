// Tests of numbers in and out, memory of others, and the seed.
#include "facula/nn/values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "facula/base/error.h"

namespace facula {
namespace {

TEST(Values, ItemWantsOneElement) {
  EXPECT_EQ(item(tensor_of(std::vector<float>{2.5}, {1, 1})), 2.5);
  int64_t big = (int64_t{1} << 62) + 1;
  EXPECT_EQ(item_int(tensor_of(std::vector<int64_t>{big}, {})), big);
  EXPECT_THROW(item(zeros({2})), Error);
  EXPECT_THROW(item(zeros({0})), Error);
  EXPECT_THROW(item(Tensor()), Error);
  EXPECT_THROW(item(zeros({1}, kComplex64)), Error);
}

TEST(Values, StridedTensorsAreReadInRowOrder) {
  Tensor t = transpose(tensor_of(std::vector<int64_t>{1, 2, 3, 4, 5, 6}, {2, 3}), 0, 1);
  EXPECT_EQ(int_values_of(t), (std::vector<int64_t>{1, 4, 2, 5, 3, 6}));
}

TEST(Values, TensorOfChecksTheShape) {
  EXPECT_THROW(tensor_of(std::vector<float>{1, 2, 3}, {2, 2}), Error);
}

TEST(Values, ItemGivesTheTypeThatIsAskedFor) {
  EXPECT_EQ(item<int>(tensor({{-7.9}})), -7);
  EXPECT_EQ(item<float>(tensor(2.5)), 2.5f);
  EXPECT_EQ(item<bool>(tensor({0.5})), true);
  EXPECT_EQ(item<int64_t>(tensor((int64_t{1} << 62) + 1)), (int64_t{1} << 62) + 1);
  EXPECT_EQ(item<uint8_t>(tensor(255)), 255);
  EXPECT_EQ(item<int8_t>(tensor(-128.)), -128);
  Tensor widest = full({}, Scalar(~uint64_t{0}), kUInt64);
  EXPECT_EQ(item<uint64_t>(widest), ~uint64_t{0});
  std::complex<double> number(1, -2);
  EXPECT_EQ(item<std::complex<double>>(full({1}, number)), number);
  EXPECT_EQ(item<std::complex<float>>(tensor(3)), std::complex<float>(3, 0));
  EXPECT_TRUE(item_scalar(tensor(true)).is_bool());
  EXPECT_TRUE(item_scalar(full({1}, number)).is_complex());
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return std::string(e.what());
  }
  return "nothing";
}

TEST(Values, ItemRefusesWhatDoesNotFit) {
  EXPECT_NE(refusal([] { item<uint8_t>(tensor(256)); }).find("256 does not fit"),
            std::string::npos);
  EXPECT_THROW(item<uint8_t>(tensor(-1)), Error);
  EXPECT_THROW(item<int8_t>(tensor(-129.)), Error);
  EXPECT_THROW(item<int>(tensor(3e9)), Error);
  EXPECT_THROW(item<int64_t>(tensor(0x1p63, kFloat64)), Error);
  EXPECT_THROW(item<uint64_t>(tensor(0x1p64, kFloat64)), Error);
  EXPECT_THROW(item<int>(full({}, std::nan(""))), Error);
  EXPECT_THROW(item<int64_t>(full({}, Scalar(~uint64_t{0}), kUInt64)), Error);
  EXPECT_THROW(item<float>(tensor(1e300, kFloat64)), Error);
  EXPECT_TRUE(std::isinf(item<float>(full({}, INFINITY))));
  EXPECT_THROW(item<double>(full({}, std::complex<double>(1, 1))), Error);
  EXPECT_THROW(item<int>(full({}, std::complex<double>(1, 1))), Error);
  EXPECT_THROW(item<int>(zeros({2})), Error);
  EXPECT_THROW(item<int>(zeros({1}, kInt64, kMeta)), Error);
}

TEST(Values, BracesMakeTensors) {
  Tensor rows = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(rows.dtype(), kInt64);
  EXPECT_EQ(rows.sizes(), IntList({2, 3}));
  EXPECT_EQ(int_values_of(rows), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(tensor({{{1.f}, {2.f}}}).sizes(), IntList({1, 2, 1}));
  EXPECT_EQ(tensor({1.5, 2.}).dtype(), kFloat32);
  EXPECT_EQ(tensor({1.5f}, kFloat64).dtype(), kFloat64);
  EXPECT_EQ(tensor({true}).dtype(), kBool);
  EXPECT_EQ(tensor(7).dim(), 0);
  EXPECT_EQ(values_of(tensor({1.9, -1.9}, kInt64)), (std::vector<double>{1, -1}));
  EXPECT_EQ(int_values_of(tensor(std::vector<int>{3, 1})), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(tensor(std::vector<double>()).sizes(), IntList({0}));
  int64_t big = (int64_t{1} << 53) + 1;
  EXPECT_EQ(item_int(tensor({big})), big);
  EXPECT_THROW(tensor({{1, 2}, {3}}), Error);
  EXPECT_THROW(tensor(~uint64_t{0}), Error);
}

TEST(Values, BlobsAreTheMemoryOfOthers) {
  float own[] = {1, 2, 3, 4, 5, 6};
  Tensor rows = from_blob(own, {2, 3}), columns = from_blob(own, {3, 2}, {1, 3});
  EXPECT_EQ(rows.data(), own);
  fill_(select(rows, 0, 1), 9);
  EXPECT_EQ(own[5], 9);
  EXPECT_EQ(values_of(columns), (std::vector<double>{1, 9, 2, 9, 3, 9}));
  int64_t whole[] = {7};
  EXPECT_EQ(item_int(from_blob(whole, {}, kInt64)), 7);
  EXPECT_EQ(from_blob(nullptr, {0, 2}).numel(), 0);
  EXPECT_EQ(values_of(from_blob(own, {2, 2}, {0, 1})), (std::vector<double>{1, 2, 1, 2}));
}

TEST(Values, BlobsAreGivenBackOnce) {
  auto* own = new double[2]{1, 2};
  int calls = 0;
  void* given = nullptr;
  auto give_back = [&](void* p) {
    ++calls;
    given = p;
    delete[] static_cast<double*>(p);
  };
  Tensor part;
  {
    Tensor t = from_blob(own, {2}, give_back, kFloat64);
    part = select(t, 0, 1);
  }
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(item(part), 2);
  part = Tensor();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(given, own);
  double two[2] = {};
  int other = 0;
  EXPECT_THROW(from_blob(two, {2}, {-1}, [&](void*) { ++other; }, kFloat64), Error);
  EXPECT_EQ(other, 0);
}

TEST(Values, BadBlobsAreRefused) {
  float own[4] = {};
  EXPECT_THROW(from_blob(nullptr, {2}), Error);
  EXPECT_THROW(from_blob(own, {-1}), Error);
  EXPECT_THROW(from_blob(own, {2}, {-1}), Error);
  EXPECT_THROW(from_blob(own, {2, 2}, {1}), Error);
  EXPECT_THROW(from_blob(reinterpret_cast<char*>(own) + 1, {2}), Error);
  int64_t far = int64_t{1} << 62;
  EXPECT_THROW(from_blob(own, {far, 2}, {far, 1}), Error);
  EXPECT_THROW(from_blob(own, {far, far}), Error);
}

TEST(Values, PointersAreOfTheRightType) {
  Tensor t = tensor({1., 2.});
  data_ptr<float>(t)[1] = 5;
  EXPECT_EQ(item(select(t, 0, 1)), 5);
  EXPECT_EQ(data_ptr<const float>(select(t, 0, 1))[0], 5);
  EXPECT_NE(data_ptr<int16_t>(zeros({1}, kInt16)), nullptr);
  EXPECT_NE(data_ptr<BFloat16>(zeros({1}, kBFloat16)), nullptr);
  EXPECT_EQ(refusal([&] { data_ptr<double>(t); }),
            "data_ptr: expected scalar type Double but found Float");
  EXPECT_THROW(data_ptr<float>(zeros({1}, kFloat32, kMeta)), Error);
  EXPECT_THROW(data_ptr<float>(Tensor()), Error);
}

TEST(Values, ASeedGivesTheSameDraws) {
  manual_seed(7);
  std::vector<double> first = values_of(rand({5}));
  manual_seed(7);
  EXPECT_EQ(values_of(rand({5})), first);
}

}  // namespace
}  // namespace facula
