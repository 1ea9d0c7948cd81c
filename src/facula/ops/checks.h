// Checks of arguments that rows name with check=: each raises the exception PyTorch raises.
#pragma once
#include "facula/core/tensor.h"

namespace facula {

// check_alpha refuses an alpha of a higher category than the operands.
FACULA_API void check_alpha(const char* op, const TensorOrScalar& a, const TensorOrScalar& b,
                            const Scalar& alpha);
// check_not_bool refuses subtraction and negation of bool.
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
