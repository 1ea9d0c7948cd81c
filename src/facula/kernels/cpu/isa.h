// What every file that is compiled once per instruction set starts from: the namespace
// facula::kernels::FACULA_ISA, the width of its vectors, and short names of element types.
// Such files emit no symbol that another instruction set's copy could replace: helpers are
// FACULA_INLINE or static, and no std:: template is instantiated out of line.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "facula/base/export.h"
#include "facula/base/half.h"
#include "facula/base/parallel.h"
#include "facula/core/dtype.h"
#include "facula/core/scalar.h"
#include "facula/kernels/view.h"

#ifndef FACULA_ISA
#error "compile this file with -DFACULA_ISA=avx2 or -DFACULA_ISA=avx512"
#endif

namespace facula::kernels::FACULA_ISA {

#ifdef __AVX512F__
inline constexpr int kVectorBytes = 64;
#else
inline constexpr int kVectorBytes = 32;
#endif

// Vec is N numbers that are computed at once (a GCC vector).
template <class T, int N>
struct VecOf {
  typedef T type __attribute__((vector_size(N * sizeof(T)), aligned(alignof(T))));
};
template <class T, int N = kVectorBytes / static_cast<int>(sizeof(T))>
using Vec = typename VecOf<T, N>::type;

// load_vec reads a vector from any address.
template <class T>
FACULA_INLINE Vec<T> load_vec(const T* p) {
  typedef Vec<T> Unaligned __attribute__((may_alias));
  return *reinterpret_cast<const Unaligned*>(p);
}

template <class T>
FACULA_INLINE T min_of(T a, T b) {
  return b < a ? b : a;
}
template <class T>
FACULA_INLINE T max_of(T a, T b) {
  return a < b ? b : a;
}

template <class To, class From>
FACULA_INLINE To bits_as(From v) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, v);
}

}  // namespace facula::kernels::FACULA_ISA
