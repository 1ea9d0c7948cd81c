// What an out= argument may share memory with.
#pragma once
#include <span>

#include "facula/python/bound.h"

namespace facula::python {

// refuse_overlap raises RuntimeError where `out`, the tensor of argument i or one of its list,
// shares more memory with another argument than the Signature of the call allows.
void refuse_overlap(const Bound& b, int i, const Tensor& out);

// refuse_shared_outs raises ValueError where two results would be stored in the same memory.
void refuse_shared_outs(const char* name, std::span<const Tensor> outs);

}  // namespace facula::python
