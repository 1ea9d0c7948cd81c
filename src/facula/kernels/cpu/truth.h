// Truth: a bool as it lies in memory. Bytes that came from elsewhere (a view of uint8, a buffer, a
// tensor of another library) may be neither 0 nor 1; every one but 0 is true. Kernels read bool
// through const Stored<bool>*, never through const bool*.
#pragma once
#include <cstdint>
#include <type_traits>

#include "facula/base/export.h"

namespace facula::kernels::FACULA_ISA {

struct Truth {
  uint8_t byte;

  Truth() = default;
  FACULA_INLINE Truth(bool v) : byte(v) {}
  FACULA_INLINE operator bool() const { return byte != 0; }
};

// Stored<T> is the type that elements of type T are read and written as.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, Truth, T>;

}  // namespace facula::kernels::FACULA_ISA
