// add_count: sums of counts that are data.
#pragma once
#include "facula/base/error.h"

namespace facula {

// add_count adds a count to a total; RuntimeError naming `op` where the total overflows, which
// would pass for a small one.
inline void add_count(const char* op, int64_t& total, int64_t n) {
  FACULA_CHECK(!__builtin_add_overflow(total, n, &total), kRuntime, op,
               ": the counts add up to more than 2**63 - 1");
}

}  // namespace facula
