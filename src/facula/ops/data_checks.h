// Refusals of operators that meet tensors without data: meta tensors beside those of the CPU, and
// tensors whose values would have to be read.
#pragma once
#include "facula/core/tensor.h"

namespace facula {

// fail_devices raises the RuntimeError for tensors of different devices.
[[noreturn]] FACULA_API FACULA_COLD void fail_devices(const char* op);

// has_data says whether values can be read here: not of meta tensors, nor of those inside vmap.
FACULA_API bool has_data(const Tensor& t);

// require_data refuses such tensors where an operator reads values, naming it: NotImplementedError
// for meta tensors, RuntimeError inside vmap. Undefined tensors pass.
FACULA_API void require_data(const char* op, const Tensor& t);

}  // namespace facula
