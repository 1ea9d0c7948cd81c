// Array: memory with a View over it, for tests of kernels without tensors.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "facula/kernels/view.h"

namespace facula::kernels {

// Array<T> owns elements; view() describes them, with sizes and strides that can be rearranged.
template <class T>
struct Array {
  std::vector<T> data;
  std::vector<int64_t> sizes, strides;
  DType dtype;
  int64_t offset = 0;

  Array(std::vector<int64_t> shape, DType type, T value = T()) : sizes(shape), dtype(type) {
    int64_t n = 1;
    strides.resize(shape.size());
    for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
      strides[d] = n;
      n *= shape[d];
    }
    data.assign(n, value);
  }
  Array& transpose(int a, int b) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
    return *this;
  }
  bool contiguous() const {
    int64_t n = 1;
    for (int d = static_cast<int>(sizes.size()) - 1; d >= 0; --d) {
      if (sizes[d] != 1 && strides[d] != n) return false;
      n *= sizes[d];
    }
    return true;
  }
  int64_t numel() const {
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    return n;
  }
  View view() {
    return {data.data() + offset, dtype,   static_cast<int>(sizes.size()),
            contiguous(),         numel(), sizes.data(),
            strides.data()};
  }
  // element number `i` in row-major order of the sizes
  T& at(int64_t i) {
    int64_t o = offset;
    for (int d = static_cast<int>(sizes.size()) - 1; d >= 0; --d) {
      o += i % sizes[d] * strides[d];
      i /= sizes[d];
    }
    return data[o];
  }
  template <class F>
  Array& each(F f) {
    for (T& v : data) v = f();
    return *this;
  }
};

inline View no_view() { return {nullptr, kFloat32, 0, true, 0, nullptr, nullptr}; }

}  // namespace facula::kernels
