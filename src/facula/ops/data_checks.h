// Refusals of operators that meet tensors without data: meta tensors beside those of the CPU, and
// meta tensors whose values would have to be read.
#pragma once
#include "facula/core/tensor.h"

namespace facula {

// fail_devices raises the RuntimeError for tensors of different devices.
[[noreturn]] FACULA_API FACULA_COLD void fail_devices(const char* op);

// require_data refuses meta tensors where an operator reads values: NotImplementedError naming it.
FACULA_API void require_data(const char* op, const Tensor& t);

}  // namespace facula
