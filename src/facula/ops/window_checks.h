// Limits of the numbers that describe sliding windows and padding, so that sizes computed from them
// stay within 64 bits.
#pragma once
#include <algorithm>

#include "facula/base/error.h"
#include "facula/core/sizes.h"

namespace facula {

inline constexpr int64_t kMostWindow = INT32_MAX;          // kernel sizes, strides, dilations
inline constexpr int64_t kMostPadding = int64_t{1} << 40;  // elements added to a dimension

// check_within refuses numbers beyond a limit in either direction with RuntimeError.
inline void check_within(const char* op, const char* what, IntList list, int64_t most) {
  bool fine =
      std::all_of(list.begin(), list.end(), [&](int64_t v) { return -most <= v && v <= most; });
  FACULA_CHECK(fine, kRuntime, op, ": expected ", what, " of at most ", most, ", got ",
               list_text(list));
}

}  // namespace facula
