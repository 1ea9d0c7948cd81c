// Checks of arguments that rows name with check=: each raises the exception PyTorch raises.
#pragma once
#include <initializer_list>

#include "facula/core/tensor.h"

namespace facula {

// check_alpha refuses an alpha of a higher category than the operands.
FACULA_API void check_alpha(const char* op, const TensorOrScalar& a, const TensorOrScalar& b,
                            const Scalar& alpha);
// check_scale does so for a factor by its name and the promoted type of the operands; either
// refuses what does not fit the type.
FACULA_API void check_scale(const char* op, const char* name, DType type, const Scalar& factor);
// check_number refuses a number that does not fit the promoted type of the operands; `wide` says
// that half types are computed in float.
FACULA_API void check_number(std::initializer_list<TensorOrScalar> operands, const Scalar& number,
                             bool wide = false);
// check_factor does so for rows of inexact types alone, which refuse others by themselves.
FACULA_API void check_factor(const Tensor& self, const Scalar& factor);
// check_choices refuses numbers that do not fit what `where` gives.
FACULA_API void check_choices(const TensorOrScalar& self, const TensorOrScalar& other);
// check_not_bool refuses negation of bool, and subtraction with a bool on either side.
FACULA_API void check_not_bool(const char* op, const TensorOrScalar& a, const TensorOrScalar& b);
// check_divisor refuses zero divisors of integers.
FACULA_API void check_divisor(const char* op, const TensorOrScalar& a, const TensorOrScalar& b);
// check_integer_power refuses negative powers of integers.
FACULA_API void check_integer_power(const Tensor& self, const TensorOrScalar& exponent);
FACULA_API void check_addcdiv(const Tensor& self, const Tensor& a, const Tensor& b);
FACULA_API void check_lerp(const Tensor& self, const Tensor& end, const TensorOrScalar& weight);
FACULA_API void check_condition(const Tensor& condition);
FACULA_API void check_hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val);
FACULA_API void check_celu(const Scalar& alpha);
FACULA_API void check_softshrink(const Scalar& lambd);

}  // namespace facula
