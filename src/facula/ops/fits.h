// Numbers that are written into tensors have to fit their type, as in PyTorch.
#pragma once
#include "facula/core/tensor.h"

namespace facula {

// check_fits raises RuntimeError for a number beyond the range of an integer type, of a float of at
// most 32 bits or of complex64, for NaN and infinity written into integers, and for complex numbers
// written into real types. Negative integers wrap in unsigned types; bool takes all.
FACULA_API void check_fits(DType dtype, const Scalar& value);

}  // namespace facula
