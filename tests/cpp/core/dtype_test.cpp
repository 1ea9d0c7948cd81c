// Element types: promotion, casts that out= allows, names and properties.
#include "facula/core/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "facula/base/error.h"

namespace facula {
namespace {

std::vector<DType> all_types() {
  std::vector<DType> types;
  for (int i = 0; i < kNumDTypes; ++i) types.push_back(static_cast<DType>(i));
  return types;
}

bool has_common_type(DType a, DType b) {
  try {
    promote(a, b);
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(DType, PromotionFollowsTheTable) {
  EXPECT_EQ(promote(kBool, kUInt8), kUInt8);
  EXPECT_EQ(promote(kUInt8, kInt8), kInt16);
  EXPECT_EQ(promote(kUInt8, kInt64), kInt64);
  EXPECT_EQ(promote(kInt16, kInt32), kInt32);
  EXPECT_EQ(promote(kInt64, kFloat16), kFloat16);
  EXPECT_EQ(promote(kFloat16, kBFloat16), kFloat32);
  EXPECT_EQ(promote(kBFloat16, kFloat32), kFloat32);
  EXPECT_EQ(promote(kFloat32, kFloat64), kFloat64);
  EXPECT_EQ(promote(kFloat32, kComplex64), kComplex64);
  EXPECT_EQ(promote(kFloat64, kComplex64), kComplex128);
  EXPECT_EQ(promote(kInt64, kComplex64), kComplex64);
  EXPECT_EQ(promote(kUInt8, kUInt32), kUInt32);
  EXPECT_EQ(promote(kBool, kUInt16), kUInt16);
  EXPECT_EQ(promote(kUInt64, kFloat32), kFloat32);
}

TEST(DType, UnsignedAndSignedTypesMeetInTheLeastThatHoldsBoth) {
  EXPECT_EQ(promote(kUInt16, kUInt32), kUInt32);
  EXPECT_EQ(promote(kUInt16, kInt16), kInt32);
  EXPECT_EQ(promote(kUInt16, kInt32), kInt32);
  EXPECT_EQ(promote(kInt8, kUInt32), kInt64);
  EXPECT_EQ(promote(kUInt64, kUInt8), kUInt64);
  EXPECT_THROW(promote(kInt8, kUInt64), Error);
  EXPECT_THROW(promote(kUInt64, kInt64), Error);
}

TEST(DType, PromotionIsSymmetricAndHoldsBothCategories) {
  for (DType a : all_types()) {
    EXPECT_EQ(promote(a, a), a);
    for (DType b : all_types()) {
      ASSERT_EQ(has_common_type(a, b), has_common_type(b, a));
      if (!has_common_type(a, b)) continue;
      DType both = promote(a, b);
      EXPECT_EQ(both, promote(b, a));
      EXPECT_EQ(category(both), std::max(category(a), category(b)));
      EXPECT_EQ(promote(both, a), both) << dtype_name(a) << ' ' << dtype_name(b);
    }
  }
}

TEST(DType, CastsIntoOutDoNotLoseTheCategory) {
  EXPECT_TRUE(can_cast(kFloat64, kFloat16));
  EXPECT_TRUE(can_cast(kInt64, kUInt8));
  EXPECT_TRUE(can_cast(kBool, kInt8));
  EXPECT_FALSE(can_cast(kInt8, kBool));
  EXPECT_FALSE(can_cast(kFloat32, kInt64));
  EXPECT_FALSE(can_cast(kComplex64, kFloat64));
}

TEST(DType, PropertiesAgree) {
  for (DType t : all_types()) {
    EXPECT_EQ(is_floating(t) + is_complex(t) + is_integral(t) + (t == kBool), 1);
    EXPECT_EQ(is_inexact(t), is_floating(t) || is_complex(t));
    EXPECT_EQ(complex_type(t), t == kFloat64 || t == kComplex128 ? kComplex128 : kComplex64);
    EXPECT_FALSE(is_complex(real_type(t)));
    EXPECT_NE(std::string(dtype_name(t)), dtype_title(t));
  }
  EXPECT_STREQ(dtype_name(kBFloat16), "bfloat16");
  EXPECT_STREQ(dtype_title(kInt64), "Long");
  EXPECT_EQ(item_size(kComplex128), 16);
}

TEST(DType, OnlyFloatingTypesMayBeTheDefault) {
  EXPECT_EQ(default_dtype(), kFloat32);
  set_default_dtype(kFloat64);
  EXPECT_EQ(default_dtype(), kFloat64);
  set_default_dtype(kFloat32);
  EXPECT_THROW(set_default_dtype(kInt32), Error);
  EXPECT_THROW(set_default_dtype(kComplex64), Error);
  EXPECT_EQ(default_dtype(), kFloat32);
}

}  // namespace
}  // namespace facula
