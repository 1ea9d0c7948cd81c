// Copies with conversion, of every layout, and fills.
#include "facula/kernels/copy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "array.h"
#include "facula/base/half.h"

namespace facula::kernels {
namespace {

TEST(Copy, TransposedEqualsElementwise) {
  for (int64_t n : {1, 3, 33, 100}) {
    Array<int32_t> in({n, 70, 5}, kInt32);
    int32_t next = 0;
    in.each([&] { return next++; });
    in.transpose(0, 1);
    Array<int32_t> out({70, n, 5}, kInt32);
    copy->copy_strided(out.view(), in.view());
    for (int64_t i = 0; i < in.numel(); ++i) ASSERT_EQ(out.at(i), in.at(i)) << n << " " << i;
    Array<int64_t> wide({70, n, 5}, kInt64);
    wide.transpose(0, 2).transpose(0, 2);
    copy->copy_strided(wide.view(), in.view());
    for (int64_t i = 0; i < in.numel(); ++i) ASSERT_EQ(wide.at(i), in.at(i));
  }
}

TEST(Copy, LargeTransposeOfEverySize) {
  Array<double> in({300, 257}, kFloat64);
  double next = 0;
  in.each([&] { return next++; });
  in.transpose(0, 1);
  Array<double> out({257, 300}, kFloat64);
  copy->copy_strided(out.view(), in.view());
  for (int64_t i = 0; i < in.numel(); ++i) ASSERT_EQ(out.at(i), in.at(i));
}

TEST(Copy, EveryByteButZeroIsTrue) {
  Array<uint8_t> in({256}, kBool);
  uint8_t next = 0;
  in.each([&] { return next++; });
  Array<int8_t> bytes({256}, kInt8);
  Array<int64_t> wide({256}, kInt64);
  Array<float> numbers({256}, kFloat32);
  copy->copy_strided(bytes.view(), in.view());
  copy->copy_strided(wide.view(), in.view());
  copy->copy_strided(numbers.view(), in.view());
  for (int64_t i = 0; i < in.numel(); ++i) {
    EXPECT_EQ(bytes.at(i), i != 0);
    EXPECT_EQ(wide.at(i), i != 0);
    EXPECT_EQ(numbers.at(i), i != 0);
  }
}

TEST(Copy, FloatToIntegerSaturates) {
  const float inf = INFINITY;
  Array<float> in({9}, kFloat32);
  in.data = {1.9f, -1.9f, NAN, inf, -inf, 3e9f, -3e9f, 255.5f, -0.5f};
  Array<int32_t> i32({9}, kInt32);
  copy->copy_strided(i32.view(), in.view());
  EXPECT_EQ(i32.data,
            (std::vector<int32_t>{1, -1, 0, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 255, 0}));
  Array<uint8_t> u8({9}, kUInt8);
  copy->copy_strided(u8.view(), in.view());
  EXPECT_EQ(u8.data, (std::vector<uint8_t>{1, 0, 0, 255, 0, 255, 0, 255, 0}));
  Array<int64_t> i64({9}, kInt64);
  copy->copy_strided(i64.view(), in.view());
  EXPECT_EQ(i64.data[3], INT64_MAX);
  EXPECT_EQ(i64.data[4], INT64_MIN);
  EXPECT_EQ(i64.data[5], 3000000000);
  Array<uint8_t> yes({9}, kBool);
  copy->copy_strided(yes.view(), in.view());
  for (uint8_t b : yes.data) EXPECT_EQ(b, 1);
}

TEST(Copy, EveryPairOfTypesKeepsSmallNumbers) {
  for (int a = 0; a < kNumDTypes; ++a) {
    for (int b = 0; b < kNumDTypes; ++b) {
      DType from = DType(a), to = DType(b);
      constexpr int64_t kN = 1100;
      std::vector<double> source(kN);
      for (int64_t i = 0; i < kN; ++i) source[i] = static_cast<double>(i % 100);
      std::vector<char> x(kN * 16), y(kN * 32), back(kN * 8);
      copy->convert(x.data(), from, item_size(from), source.data(), kFloat64, 8, kN);
      copy->convert(y.data(), to, 2 * item_size(to), x.data(), from, item_size(from), kN);
      copy->convert(back.data(), kFloat64, 8, y.data(), to, 2 * item_size(to), kN);
      const double* r = reinterpret_cast<const double*>(back.data());
      bool boolean = from == kBool || to == kBool;
      for (int64_t i = 0; i < kN; ++i) {
        double want = boolean ? source[i] != 0 : source[i];
        ASSERT_EQ(r[i], want) << dtype_name(from) << " to " << dtype_name(to) << " at " << i;
      }
    }
  }
}

TEST(Copy, ReversedViews) {
  Array<int16_t> in({3, 700}, kInt16), out({3, 700}, kInt16);
  int16_t next = 0;
  in.each([&] { return next++; });
  View from = in.view();
  int64_t strides[] = {-700, -1};
  from.data = in.data.data() + in.data.size() - 1;
  from.strides = strides;
  from.contiguous = false;
  copy->copy_strided(out.view(), from);
  for (int64_t i = 0; i < 2100; ++i) ASSERT_EQ(out.data[i], 2099 - i);
}

TEST(Copy, FillWritesStridedViews) {
  Array<float> a({4, 6}, kFloat32, 1.0f);
  a.transpose(0, 1);
  a.sizes = {3, 4};
  copy->fill(a.view(), Scalar(2.5));
  int twos = 0;
  for (float v : a.data) twos += v == 2.5f;
  EXPECT_EQ(twos, 12);
  Array<uint16_t> h({100000}, kFloat16);
  copy->fill(h.view(), Scalar(1.5));
  for (uint16_t v : h.data) ASSERT_EQ(static_cast<float>(Half::from_bits(v)), 1.5f);
}

}  // namespace
}  // namespace facula::kernels
