// m_* : the elementwise functions that pointwise rows are written with, overloaded by type, in the
// namespace of the instruction set. Half and BFloat16 are converted to float by the caller.
//   math_base.h     polynomials, exp and log in double
//   math_exp.h      exponentials, logarithms, powers, hyperbolic functions
//   math_trig.h     trigonometric functions
//   math_special.h  erf, gamma and Bessel functions
//   math_number.h   rounding, division, comparison, signs, bits
//   math_complex.h  complex numbers
#pragma once
#include "facula/kernels/cpu/math_complex.h"
