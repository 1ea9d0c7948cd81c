// m_* of the special family: each type calls the functions of kernels/special.h, which compute in
// double. The loops of ops/special.py include this file.
#pragma once
#include "facula/kernels/cpu/math_base.h"
#include "facula/kernels/special.h"

namespace facula::kernels::FACULA_ISA {

#define FACULA_SPECIAL_ONE(name)                                                \
  FACULA_INLINE double m_##name(double x) { return kernels::special::name(x); } \
  FACULA_INLINE float m_##name(float x) {                                       \
    return static_cast<float>(kernels::special::name(static_cast<double>(x)));  \
  }
#define FACULA_SPECIAL_TWO(name)                                                             \
  FACULA_INLINE double m_##name(double x, double y) { return kernels::special::name(x, y); } \
  FACULA_INLINE float m_##name(float x, float y) {                                           \
    return static_cast<float>(                                                               \
        kernels::special::name(static_cast<double>(x), static_cast<double>(y)));             \
  }

FACULA_SPECIAL_ONE(airy_ai)
FACULA_SPECIAL_ONE(bessel_j0)
FACULA_SPECIAL_ONE(bessel_j1)
FACULA_SPECIAL_ONE(bessel_y0)
FACULA_SPECIAL_ONE(bessel_y1)
FACULA_SPECIAL_ONE(bessel_k0)
FACULA_SPECIAL_ONE(bessel_k1)
FACULA_SPECIAL_ONE(scaled_bessel_k0)
FACULA_SPECIAL_ONE(scaled_bessel_k1)
FACULA_SPECIAL_ONE(spherical_bessel_j0)
FACULA_SPECIAL_ONE(erfcx)
FACULA_SPECIAL_ONE(log_ndtr)
FACULA_SPECIAL_ONE(ndtri)
FACULA_SPECIAL_ONE(entr)
FACULA_SPECIAL_TWO(hurwitz_zeta)
FACULA_SPECIAL_TWO(gamma_p)
FACULA_SPECIAL_TWO(gamma_q)
FACULA_SPECIAL_TWO(chebyshev_t)
FACULA_SPECIAL_TWO(chebyshev_u)
FACULA_SPECIAL_TWO(chebyshev_v)
FACULA_SPECIAL_TWO(chebyshev_w)
FACULA_SPECIAL_TWO(hermite_h)
FACULA_SPECIAL_TWO(hermite_he)
FACULA_SPECIAL_TWO(laguerre_l)
FACULA_SPECIAL_TWO(legendre_p)

#undef FACULA_SPECIAL_ONE
#undef FACULA_SPECIAL_TWO

}  // namespace facula::kernels::FACULA_ISA
