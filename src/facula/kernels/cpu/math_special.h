// Error functions (vectorised for float), and the rarer gamma and Bessel functions, which are loops
// in double for both types.
#pragma once
#include "facula/kernels/cpu/math_exp.h"
#include "facula/kernels/cpu/math_trig.h"

namespace facula::kernels::FACULA_ISA {

// m_erf: x P(x^2) up to 0.9, beyond it 1 - exp(-t Q(t)) with t = |x|.
FACULA_INLINE float m_erf(float x) {
  float t = abs_of(x), z = x * x;
  float small = horner(z, 0.12837916568932252f, -0.376126255673992517f, 0.112835822479928955f,
                       -0.0268536910997146453f, 0.00518809888940045918f, -0.000800818932316563518f,
                       0.0000784725912696568716f);
  small = sign_as(fma_of(x, small, x), x);
  float c = t > 4.0f ? 4.0f : t;
  float q = horner(c, 1.12844241446994856f, 0.636215602004516473f, 0.103896632992317475f,
                   -0.0209058991922451056f, 0.0015307975916418697f, 0.000643345522793339201f,
                   -0.000255149980357024119f, 0.0000403192536020309961f, -2.55235181839103793e-6f);
  ExpParts e = exp_parts(-c * q);
  float large = sign_as(1.0f - (1.0f + e.p) * power_of_two(e.n), x);
  large = nan_of(x) ? x : large;
  return t < 0.9f ? small : large;
}
FACULA_INLINE double m_erf(double x) { return __builtin_erf(x); }

// erfcx_double gives exp(x^2) erfc(x) to 1e-12 for 0 <= x <= 11.
FACULA_INLINE double erfcx_double(double x) {
  double q = (x - 2.5) / (x + 2.5);
  double p = horner(q, 1.26483818436556998, -0.122356763049437862, -0.0990245393155918777,
                    0.157629917174633404, -0.102967065032945857, 0.0327609208968929009,
                    0.000932015079062979334, -0.00438222750910277802, 0.000491062693126848156,
                    0.000632279617897036379, -0.0000857960565365897449, -0.000112281908669726891,
                    2.06833851915092645e-6, 0.000018449937049749222, 4.36508784373425937e-6);
  return p / (1.0 + 2.0 * x);
}

FACULA_INLINE float m_erfc(float x) {
  double a = abs_of(static_cast<double>(x));
  double c = a > 10.6 ? 10.6 : a;
  double r = exp_double(-c * c) * erfcx_double(c);
  r = a > 10.6 ? 0.0 : r;
  return static_cast<float>(x < 0 ? 2.0 - r : r);
}
FACULA_INLINE double m_erfc(double x) { return __builtin_erfc(x); }

// m_erfinv: x P(w) with w = -log(1 - x^2), in sqrt(w) for the tail.
FACULA_INLINE float m_erfinv(float x) {
  double d = x;
  double w = -log_double((1.0 - d) * (1.0 + d));
  w = abs_of(d) < 1e-4 ? d * d : w;
  double s = __builtin_sqrt(w);
  double low = horner(w, 0.886226927724653108, 0.232013543398363229, 0.0115504290411206129,
                      -0.0023388039476556921, -0.000121632031784310078, 0.0000401909625385337393,
                      5.97798337249318439e-6, -2.53994745632108093e-6, 3.17261173614283992e-7,
                      -1.78907807130107183e-8, 3.65704377062993996e-10);
  double high =
      horner(s, -1.55892023528518475, 8.18907454334488943, -11.609541496435488, 9.64608236636309585,
             -4.83891675050877685, 1.55958205984372284, -0.327098413280136086,
             0.0433593870351858638, -0.00331080273042809472, 0.00011126758030779884);
  float r = static_cast<float>(d * (w < 5.0 ? low : high));
  r = abs_of(x) == 1.0f ? sign_as(kInfF, x) : r;
  return abs_of(x) <= 1.0f ? r : kNanF;
}
// In double: the float approximation's formula, then two Newton steps on erf or erfc.
FACULA_INLINE double m_erfinv(double x) {
  double a = abs_of(x);
  if (!(a < 1.0)) return a == 1.0 ? sign_as(kInf, x) : kNan;
  double w = -m_log((1.0 - a) * (1.0 + a));
  double g = m_log1p(-a * a) / 2 + 4.330746750799873;  // start: Winitzki's formula
  double y = __builtin_sqrt(__builtin_sqrt(g * g + w / 0.147) - g);
  for (int i = 0; i < 3; ++i) {
    double error = a > 0.5 ? (1.0 - a) - m_erfc(y) : m_erf(y) - a;
    double step = error / (1.12837916709551257390 * m_exp(-y * y));
    y -= step / (1.0 + y * step);
  }
  return sign_as(y, x);
}

FACULA_INLINE double m_lgamma(double x) {
  int sign;
  return __builtin_lgamma_r(x, &sign);
}
FACULA_INLINE float m_lgamma(float x) {
  return static_cast<float>(m_lgamma(static_cast<double>(x)));
}

// m_digamma: reflection below 0, recurrence up to 10, then the asymptotic series.
FACULA_INLINE double m_digamma(double x) {
  if (x == 0) return sign_as(kInf, -x);
  double r = 0;
  if (x < 0) {
    double whole = __builtin_trunc(x);
    if (whole == x) return kNan;
    r = -kPi / m_tan(kPi * (x - whole));
    x = 1.0 - x;
  }
  while (x < 10.0) {
    r -= 1.0 / x;
    x += 1.0;
  }
  double z = 1.0 / (x * x);
  double tail = z * horner(z, 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132,
                           -691.0 / 32760, 1.0 / 12);
  return r + m_log(x) - 0.5 / x - (x < 1e17 ? tail : 0.0);
}
FACULA_INLINE float m_digamma(float x) {
  return static_cast<float>(m_digamma(static_cast<double>(x)));
}

// bessel_i gives exp(-|x|) I_order(|x|) for order 0 or 1: power series to 20, then asymptotic.
FACULA_INLINE double bessel_i(double x, int order) {
  double a = abs_of(x);
  if (a == kInf) return 0;
  if (a <= 20.0) {
    double z = a * a / 4, term = order ? a / 2 : 1.0, sum = term;
    for (int k = 1; k < 80; ++k) {
      term *= z / (static_cast<double>(k) * (k + order));
      sum += term;
      if (term < sum * 1e-18) break;
    }
    return sum * m_exp(-a);
  }
  double mu = 4.0 * order, term = 1.0, sum = 1.0;
  for (int k = 1; k < 30; ++k) {
    double odd = 2.0 * k - 1, next = -term * (mu - odd * odd) / (k * 8.0 * a);
    if (abs_of(next) >= abs_of(term)) break;
    term = next;
    sum += term;
  }
  return sum / __builtin_sqrt(2 * kPi * a);
}
FACULA_INLINE double m_i0e(double x) { return nan_of(x) ? x : bessel_i(x, 0); }
FACULA_INLINE double m_i1e(double x) { return nan_of(x) ? x : sign_as(bessel_i(x, 1), x); }
FACULA_INLINE double m_i0(double x) {
  double a = abs_of(x);
  return a > 714.0 ? kInf : nan_of(x) ? x : m_i0e(x) * m_exp(a / 2) * m_exp(a / 2);
}
FACULA_INLINE double m_i1(double x) {
  double a = abs_of(x);
  return a > 714.0 ? sign_as(kInf, x) : nan_of(x) ? x : m_i1e(x) * m_exp(a / 2) * m_exp(a / 2);
}
FACULA_INLINE float m_i0(float x) { return static_cast<float>(m_i0(static_cast<double>(x))); }
FACULA_INLINE float m_i1(float x) { return static_cast<float>(m_i1(static_cast<double>(x))); }
FACULA_INLINE float m_i0e(float x) { return static_cast<float>(m_i0e(static_cast<double>(x))); }
FACULA_INLINE float m_i1e(float x) { return static_cast<float>(m_i1e(static_cast<double>(x))); }

}  // namespace facula::kernels::FACULA_ISA
