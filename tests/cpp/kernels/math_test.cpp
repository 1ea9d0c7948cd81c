// Elementwise functions against long double, at random and at special arguments.
#define FACULA_ISA test
#include "facula/kernels/cpu/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace facula::kernels::test {
namespace {

using Wide = long double;

// ulps counts units in the last place of float between a result and the exact value.
double ulps(float got, Wide want) {
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) && std::isnan(want) ? 0 : 1e9;
  float nearest = static_cast<float>(want);
  if (got == nearest) return std::signbit(got) == std::signbit(nearest) ? 0 : 1e8;
  if (std::isinf(got) || std::isinf(nearest)) {
    Wide a = std::isinf(got) ? std::copysign(0x1p128L, Wide(got)) : Wide(got);
    Wide b = std::isinf(want) ? std::copysign(0x1p128L, want) : want;
    return static_cast<double>(std::fabs(a - b) / 0x1p104L);
  }
  int e;
  std::frexp(want, &e);
  return static_cast<double>(std::fabs(Wide(got) - want) /
                             std::ldexp(1.0L, std::max(e, -125) - 24));
}

const std::vector<float> kSpecial = {
    0.0f,       -0.0f,   INFINITY, -INFINITY, NAN,    1e-45f,   -1e-45f, 1e-39f,      -1e-39f,
    1.2e-38f,   3.4e38f, -3.4e38f, 1.0f,      -1.0f,  0.5f,     -0.5f,   2.0f,        1e30f,
    1e20f,      -1e20f,  1e10f,    8.0f,      1e-5f,  -1e-5f,   1e-10f,  16777216.0f, 0.9999999f,
    1.0000001f, 100.0f,  -100.0f,  88.72f,    88.73f, -103.97f, -104.1f, -87.5f};

template <class F, class G>
void check(const char* name, F f, G exact, double low, double high, double limit) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(low, high);
  std::vector<float> x = kSpecial;
  for (int i = 0; i < 5000; ++i) {
    x.push_back(uniform(random));
    x.push_back(bits_as<float>(static_cast<uint32_t>(random())));
  }
  for (float v : x) {
    float r = f(v);
    ASSERT_LE(ulps(r, exact(Wide(v))), limit) << name << "(" << v << ") = " << r;
  }
}

#define CHECK_MATH(name, low, high, limit)                                                        \
  check(                                                                                          \
      #name, [](float x) { return m_##name(x); }, [](Wide x) { return std::name(x); }, low, high, \
      limit)

TEST(Math, ExponentialsAndLogarithms) {
  CHECK_MATH(exp, -110, 95, 1.1);
  CHECK_MATH(exp2, -155, 130, 1.1);
  CHECK_MATH(expm1, -30, 95, 2);
  CHECK_MATH(log, 0, 1e6, 1);
  CHECK_MATH(log2, 0, 4, 0.51);
  CHECK_MATH(log10, 0, 2000, 0.51);
  CHECK_MATH(log1p, -1, 10, 0.51);
  check(
      "sigmoid", [](float x) { return m_sigmoid(x); },
      [](Wide x) { return 1 / (1 + std::exp(-x)); }, -110, 100, 2.5);
}

TEST(Math, Hyperbolic) {
  CHECK_MATH(tanh, -12, 12, 2);
  CHECK_MATH(sinh, -91, 91, 0.51);
  CHECK_MATH(cosh, -91, 91, 0.51);
  CHECK_MATH(asinh, -100, 100, 0.51);
  CHECK_MATH(acosh, 1, 100, 0.51);
  CHECK_MATH(atanh, -1, 1, 0.51);
}

TEST(Math, TrigonometricOfAnySize) {
  CHECK_MATH(sin, -100, 100, 0.51);
  CHECK_MATH(cos, -100, 100, 0.51);
  CHECK_MATH(tan, -100, 100, 0.51);
  CHECK_MATH(asin, -1, 1, 0.51);
  CHECK_MATH(acos, -1, 1, 0.51);
  CHECK_MATH(atan, -10, 10, 0.51);
}

TEST(Math, ErrorFunctions) {
  CHECK_MATH(erf, -5, 5, 2);
  CHECK_MATH(erfc, -5, 11, 0.51);
  for (double x = -0.999; x < 1; x += 0.0137) {
    float f = static_cast<float>(x);
    double y = m_erfinv(static_cast<double>(f));
    EXPECT_NEAR(std::erf(y), f, 1e-14);
    EXPECT_LE(ulps(m_erfinv(f), y), 1.0) << x;
  }
  EXPECT_EQ(m_erfinv(1.0f), INFINITY);
  EXPECT_TRUE(std::isnan(m_erfinv(1.5f)));
}

TEST(Math, Powers) {
  std::mt19937 random(2);
  std::uniform_real_distribution<float> base(0, 20), exponent(-30, 30);
  for (int i = 0; i < 5000; ++i) {
    float x = base(random), y = exponent(random);
    ASSERT_LE(ulps(m_pow(x, y), std::pow(Wide(x), Wide(y))), 0.51) << x << " " << y;
    ASSERT_LE(ulps(m_atan2(x, y), std::atan2(Wide(x), Wide(y))), 0.51) << x << " " << y;
  }
  for (float x : kSpecial) {
    for (float y : kSpecial) {
      ASSERT_LE(ulps(m_pow(x, y), std::pow(Wide(x), Wide(y))), 0.51) << x << " ^ " << y;
      ASSERT_LE(ulps(m_atan2(x, y), std::atan2(Wide(x), Wide(y))), 0.51) << x << " " << y;
    }
  }
}

TEST(Math, GammaAndBessel) {
  EXPECT_NEAR(m_digamma(1.0), -0.57721566490153286, 1e-14);
  EXPECT_NEAR(m_digamma(-0.5), 0.03648997397857652, 1e-13);
  EXPECT_TRUE(std::isnan(m_digamma(-2.0f)));
  EXPECT_EQ(m_digamma(0.0f), -INFINITY);
  EXPECT_NEAR(m_i0(1.0), 1.2660658777520084, 1e-14);
  EXPECT_NEAR(m_i1(-2.5) / -2.5167162452886984, 1, 1e-14);
  EXPECT_NEAR(m_i0e(50.0), 0.056561626647454193, 1e-15);
  EXPECT_EQ(m_i0(800.0), INFINITY);
}

TEST(Math, NumbersFollowOneRule) {
  EXPECT_TRUE(std::isnan(m_maximum(1.0f, NAN)));
  EXPECT_FALSE(std::signbit(m_maximum(-0.0f, 0.0f)));
  EXPECT_TRUE(std::signbit(m_minimum(0.0, -0.0)));
  EXPECT_EQ(m_fmax(1.0f, static_cast<float>(NAN)), 1.0f);
  EXPECT_EQ(m_floor_divide(-7, 2), -4);
  EXPECT_EQ(m_floor_divide(INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(m_remainder(-7, 2), 1);
  EXPECT_EQ(m_remainder(-7.0, 2.0), 1.0);
  EXPECT_EQ(m_fmod(5, 0), 0);
  EXPECT_EQ(m_shl(1, 40), 0);
  EXPECT_EQ(m_shr(-8, 100), -1);
  EXPECT_EQ(m_shr(uint8_t{200}, uint8_t{9}), 0);
  EXPECT_EQ(m_pow(int8_t{2}, int8_t{9}), 0);
  EXPECT_EQ(m_pow(-1, -3), -1);
  EXPECT_EQ(m_gcd(-12, 18), 6);
  EXPECT_EQ(m_lcm(4, 6), 12);
  EXPECT_EQ(m_round(2.5f), 2.0f);
  EXPECT_EQ(m_sign(-3), -1);
  EXPECT_TRUE(std::isnan(m_sign(static_cast<float>(NAN))));
}

TEST(Math, ComplexFunctions) {
  Complex64 z(3.0f, -4.0f);
  EXPECT_EQ(m_abs(z), 5.0f);
  Complex64 q = z / Complex64(0.0f, 2.0f);
  EXPECT_EQ(q.re, -2.0f);
  EXPECT_EQ(q.im, -1.5f);
  Complex128 e = m_exp(Complex128(0.0, kPi));
  EXPECT_NEAR(e.re, -1, 1e-15);
  Complex128 p = m_pow(Complex128(0.0, 1.0), Complex128(3.0));
  EXPECT_NEAR(p.im, -1, 1e-15);
  EXPECT_EQ(m_conj(z).im, 4.0f);
  EXPECT_NEAR(m_expm1(Complex128(1e-10, 0.0)).re, 1.00000000005e-10, 1e-24);
}

}  // namespace
}  // namespace facula::kernels::test
