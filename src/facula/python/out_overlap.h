// What an out= argument may share memory with.
#pragma once
#include <span>

#include "facula/python/bound.h"

namespace facula::python {

// refuse_overlap raises RuntimeError where `out` shares memory with a tensor among the arguments:
// partly, for most operators; at all, for those that read what they have written already. `count`
// is how many results the call has.
void refuse_overlap(const Bound& b, int i, const Tensor& out, size_t count);

// refuse_shared_outs raises ValueError where two results would be stored in the same memory.
void refuse_shared_outs(const char* name, std::span<const Tensor> outs);

}  // namespace facula::python
