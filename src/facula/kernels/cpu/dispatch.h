// From a DType to code: visit_* call a generic lambda with a Tag of the element type. Each visit
// instantiates the lambda once per type of its group, so the lambda should be a lean loop.
#pragma once
#include "facula/kernels/cpu/complex.h"
#include "facula/kernels/cpu/truth.h"

namespace facula::kernels::FACULA_ISA {

// Tag carries an element type into a generic lambda: using T = typename decltype(tag)::type. What
// reads memory of a type that may be bool goes through Stored<T>.
template <class T>
struct Tag {
  using type = T;
};

// Compute<T> is the type in which arithmetic on T is done: float for the two 16-bit types.
template <class T>
using Compute = std::conditional_t<is_half_type<T>, float, T>;

// Wide<T> is the accumulator of sums: double, int64, Complex128 or uint64.
template <class T>
using Wide = std::conditional_t<
    is_complex_type<T>, Complex128,
    std::conditional_t<is_float_type<T>, double,
                       std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>>;

template <class F>
FACULA_INLINE void visit_integral(DType t, F&& f) {
  switch (t) {
    case kUInt8: return f(Tag<uint8_t>{});
    case kInt8: return f(Tag<int8_t>{});
    case kInt16: return f(Tag<int16_t>{});
    case kInt32: return f(Tag<int32_t>{});
    case kInt64: return f(Tag<int64_t>{});
    case kUInt16: return f(Tag<uint16_t>{});
    case kUInt32: return f(Tag<uint32_t>{});
    case kUInt64: return f(Tag<uint64_t>{});
    default: __builtin_unreachable();
  }
}

template <class F>
FACULA_INLINE void visit_floating(DType t, F&& f) {
  switch (t) {
    case kFloat16: return f(Tag<Half>{});
    case kBFloat16: return f(Tag<BFloat16>{});
    case kFloat32: return f(Tag<float>{});
    case kFloat64: return f(Tag<double>{});
    default: __builtin_unreachable();
  }
}

template <class F>
FACULA_INLINE void visit_complex(DType t, F&& f) {
  switch (t) {
    case kComplex64: return f(Tag<Complex64>{});
    case kComplex128: return f(Tag<Complex128>{});
    default: __builtin_unreachable();
  }
}

// visit_inexact: floating and complex types.
template <class F>
FACULA_INLINE void visit_inexact(DType t, F&& f) {
  if (is_complex(t)) return visit_complex(t, f);
  return visit_floating(t, f);
}

// visit_real: bool, integers and floating types.
template <class F>
FACULA_INLINE void visit_real(DType t, F&& f) {
  if (t == kBool) return f(Tag<bool>{});
  if (is_integral(t)) return visit_integral(t, f);
  return visit_floating(t, f);
}

// visit_all: the fifteen types.
template <class F>
FACULA_INLINE void visit_all(DType t, F&& f) {
  if (is_complex(t)) return visit_complex(t, f);
  return visit_real(t, f);
}

// Bytes16 stands for any 16-byte element that is only moved.
struct Bytes16 {
  uint64_t low, high;
};

// visit_size: one unsigned type per item size, for kernels that move elements unread.
template <class F>
FACULA_INLINE void visit_size(int64_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(Tag<uint8_t>{});
    case 2: return f(Tag<uint16_t>{});
    case 4: return f(Tag<uint32_t>{});
    case 8: return f(Tag<uint64_t>{});
    case 16: return f(Tag<Bytes16>{});
    default: __builtin_unreachable();
  }
}

// visit_index: the two types that index tensors come in.
template <class F>
FACULA_INLINE void visit_index(DType t, F&& f) {
  if (t == kInt32) return f(Tag<int32_t>{});
  return f(Tag<int64_t>{});
}

// scalar_as converts a Scalar as a cast of a tensor would.
template <class T>
FACULA_INLINE T scalar_as(const Scalar& s) {
  if constexpr (is_complex_type<T>) {
    using R = decltype(T::re);
    return T(static_cast<R>(s.re), static_cast<R>(s.im));
  } else if constexpr (std::is_same_v<T, bool>) {
    return s.to_bool();
  } else if constexpr (is_half_type<T>) {
    return T(static_cast<float>(s.re));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(s.re);
  } else {
    if (s.kind == kFloat64 || s.kind == kComplex128) return static_cast<T>(s.to_int());
    return static_cast<T>(s.i);
  }
}

}  // namespace facula::kernels::FACULA_ISA
