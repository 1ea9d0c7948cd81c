// Half and BFloat16: every bit pattern decoded and encoded, rounding, hardware = portable.
#include "facula/base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace facula {
namespace {

// The value of a binary16 pattern, from the definition.
double half_value(uint16_t bits) {
  int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) {
    return mantissa ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(Half, DecodesAndEncodesEveryPattern) {
  for (uint32_t i = 0; i < 65536; ++i) {
    uint16_t bits = static_cast<uint16_t>(i);
    double expected = half_value(bits);
    float value = Half::from_bits(bits);
    float portable = half::to_float_portable(bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value) && std::isnan(portable));
      EXPECT_TRUE(std::isnan(float(Half(value))));
    } else {
      ASSERT_EQ(value, expected);
      ASSERT_EQ(std::signbit(value), std::signbit(expected));
      ASSERT_EQ(portable, value);
      ASSERT_EQ(Half(value).bits, bits);
      ASSERT_EQ(half::from_float_portable(value), bits);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  // Halfway between each pair of neighbours the even one wins; beside it the nearer one.
  for (uint16_t bits = 0; bits < 0x7bff; ++bits) {
    double low = half_value(bits), high = half_value(bits + 1);
    float middle = static_cast<float>((low + high) / 2);
    uint16_t even = bits & 1 ? bits + 1 : bits;
    ASSERT_EQ(Half(middle).bits, even);
    ASSERT_EQ(Half(std::nextafter(middle, 0.f)).bits, bits);
    ASSERT_EQ(Half(std::nextafter(middle, 1e6f)).bits, bits + 1);
    ASSERT_EQ(Half(-middle).bits, even | 0x8000);
  }
  EXPECT_EQ(Half(65519.f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.f).bits, 0x7c00);
  EXPECT_EQ(Half(1e30f).bits, 0x7c00);
}

TEST(Half, HardwareAndPortableConversionsAgree) {
  std::mt19937 random(7);
  for (int i = 0; i < 1'000'000; ++i) {
    float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    ASSERT_EQ(Half(value).bits, half::from_float_portable(value)) << value;
  }
}

TEST(Half, ConvertsAtCompileTime) {
  static_assert(Half(1.0f).bits == 0x3c00);
  static_assert(float(Half::from_bits(0xc000)) == -2.0f);
  static_assert(BFloat16(1.0f).bits == 0x3f80);
}

TEST(BFloat16, KeepsEveryPattern) {
  for (uint32_t i = 0; i < 65536; ++i) {
    float value = BFloat16::from_bits(static_cast<uint16_t>(i));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(float(BFloat16(value))));
    } else {
      ASSERT_EQ(BFloat16(value).bits, i);
    }
  }
}

TEST(BFloat16, RoundsToNearestEven) {
  auto encode = [](uint32_t word) { return BFloat16(std::bit_cast<float>(word)).bits; };
  EXPECT_EQ(encode(0x3f808000), 0x3f80);
  EXPECT_EQ(encode(0x3f808001), 0x3f81);
  EXPECT_EQ(encode(0x3f818000), 0x3f82);
  EXPECT_EQ(encode(0x3f817fff), 0x3f81);
  EXPECT_EQ(encode(0x7f7fffff), 0x7f80);
  EXPECT_EQ(encode(0x80000001), 0x8000);
  EXPECT_TRUE(std::isnan(float(BFloat16(std::bit_cast<float>(0x7f800001u)))));
}

}  // namespace
}  // namespace facula
