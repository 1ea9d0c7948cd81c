// convert_dense: conversion of n neighbouring elements from one dtype to another, the core of every
// copy; move_strided: elements moved unread between strides.
#pragma once
#include "facula/kernels/cpu/dispatch.h"

namespace facula::kernels::FACULA_ISA {

// Elements converted at a time where strides or the 16-bit types need a buffer.
inline constexpr int64_t kConvertBlock = 512;

// convert_dense stores from[0..n) of type `from_type` into to[0..n) of type `to_type`.
void convert_dense(void* to, DType to_type, const void* from, DType from_type, int64_t n);

// convert_strided does the same over byte strides.
void convert_strided(void* to, DType to_type, int64_t to_stride, const void* from, DType from_type,
                     int64_t from_stride, int64_t n);

// move_strided copies n items of `size` bytes over byte strides.
FACULA_INLINE void move_strided(void* to, int64_t to_stride, const void* from, int64_t from_stride,
                                int64_t size, int64_t n) {
  if (to_stride == size && from_stride == size) {
    __builtin_memcpy(to, from, static_cast<size_t>(n * size));
    return;
  }
  char* t = static_cast<char*>(to);
  const char* f = static_cast<const char*>(from);
  visit_size(size, [&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int64_t kSize = sizeof(T);
    if (to_stride == kSize && from_stride == 0) {
      T v = *reinterpret_cast<const T*>(f), *o = reinterpret_cast<T*>(t);
      for (int64_t i = 0; i < n; ++i) o[i] = v;
    } else if (to_stride == kSize && from_stride == -kSize) {
      T* o = reinterpret_cast<T*>(t);
      const T* p = reinterpret_cast<const T*>(f) - (n - 1);
      for (int64_t i = 0; i < n; ++i) o[i] = p[n - 1 - i];
    } else if (to_stride == kSize) {
      T* o = reinterpret_cast<T*>(t);
      for (int64_t i = 0; i < n; ++i) o[i] = *reinterpret_cast<const T*>(f + i * from_stride);
    } else {
      for (int64_t i = 0; i < n; ++i) {
        *reinterpret_cast<T*>(t + i * to_stride) = *reinterpret_cast<const T*>(f + i * from_stride);
      }
    }
  });
}

}  // namespace facula::kernels::FACULA_ISA
