// Tests of the ranges of types. What raises was compared with PyTorch 2.15.
#include "facula/ops/fits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "facula/base/error.h"

namespace facula {
namespace {

TEST(Fits, IntegersHaveRanges) {
  check_fits(kInt8, 127);
  check_fits(kInt8, -128);
  EXPECT_THROW(check_fits(kInt8, 128), Error);
  check_fits(kUInt8, -255);  // wraps
  EXPECT_THROW(check_fits(kUInt8, -256), Error);
  EXPECT_THROW(check_fits(kUInt16, 70000), Error);
  check_fits(kUInt64, Scalar(~uint64_t{0}));
  EXPECT_THROW(check_fits(kInt64, Scalar(uint64_t{1} << 63)), Error);
}

TEST(Fits, FloatsInIntegers) {
  check_fits(kInt32, 1.7);
  EXPECT_THROW(check_fits(kInt32, std::nan("")), Error);
  EXPECT_THROW(check_fits(kInt32, -INFINITY), Error);
  EXPECT_THROW(check_fits(kInt64, 1e19), Error);
}

TEST(Fits, FloatsAndComplexNumbers) {
  check_fits(kFloat32, INFINITY);
  check_fits(kFloat16, 65504.0);
  check_fits(kBFloat16, 3e38);
  check_fits(kFloat64, 1e300);
  EXPECT_THROW(check_fits(kFloat16, 1e6), Error);
  EXPECT_THROW(check_fits(kBFloat16, 1e39), Error);
  EXPECT_THROW(check_fits(kFloat32, 1e300), Error);
  EXPECT_THROW(check_fits(kComplex64, 1e300), Error);
  EXPECT_THROW(check_fits(kFloat32, std::complex<double>(0, 1)), Error);
  check_fits(kFloat32, std::complex<double>(1, 0));
  check_fits(kBool, 5);
}

}  // namespace
}  // namespace facula
