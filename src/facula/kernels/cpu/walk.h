// Walk<K>: visits the elements of K strided operands of one shape, row by row of the innermost
// dimension, after dropping dimensions of size 1, ordering and merging the rest.
#pragma once
#include "facula/kernels/cpu/dispatch.h"

namespace facula::kernels::FACULA_ISA {

inline constexpr int kMaxDims = 64;

// Walk is a plan; dimension 0 is the innermost. Strides are in bytes.
template <int K>
struct Walk {
  int ndim = 0;
  int64_t size[kMaxDims];
  int64_t stride[K][kMaxDims];
  char* base[K];

  FACULA_INLINE void push(int64_t n, const int64_t* s) {
    size[ndim] = n;
    for (int k = 0; k < K; ++k) stride[k][ndim] = s[k];
    ++ndim;
  }

  FACULA_INLINE int64_t numel() const {
    int64_t n = 1;
    for (int d = 0; d < ndim; ++d) n *= size[d];
    return n;
  }

  // sort orders dimensions by the distance between neighbours in operand `k`, smallest first; ties
  // keep their order.
  FACULA_INLINE void sort(int k = 0) {
    for (int i = 1; i < ndim; ++i) {
      for (int j = i; j > 0 && distance(k, j) < distance(k, j - 1); --j) swap(j, j - 1);
    }
  }

  // merge joins neighbouring dimensions that are one for every operand.
  FACULA_INLINE void merge() {
    int to = 0;
    for (int d = 1; d < ndim; ++d) {
      bool joined = true;
      for (int k = 0; k < K; ++k) joined &= stride[k][d] == stride[k][to] * size[to];
      if (joined) {
        size[to] *= size[d];
      } else {
        ++to;
        size[to] = size[d];
        for (int k = 0; k < K; ++k) stride[k][to] = stride[k][d];
      }
    }
    if (ndim) ndim = to + 1;
  }

  // run calls f(pointers, count) for the stretches of the innermost dimension that make up the
  // elements [begin, end), in the order of the plan.
  template <class F>
  FACULA_INLINE void run(int64_t begin, int64_t end, F&& f) const {
    if (begin >= end) return;
    char* p[K];
    for (int k = 0; k < K; ++k) p[k] = base[k];
    if (ndim == 0) return f(p, int64_t{1});
    int64_t index[kMaxDims], at = begin, left = end - begin;
    for (int d = 0; d < ndim; ++d) {
      index[d] = at % size[d];
      at /= size[d];
      for (int k = 0; k < K; ++k) p[k] += index[d] * stride[k][d];
    }
    while (true) {
      int64_t n = min_of(size[0] - index[0], left);
      f(p, n);
      left -= n;
      if (left == 0) return;
      for (int k = 0; k < K; ++k) p[k] -= index[0] * stride[k][0];
      index[0] = 0;
      for (int d = 1; d < ndim; ++d) {
        for (int k = 0; k < K; ++k) p[k] += stride[k][d];
        if (++index[d] < size[d]) break;
        for (int k = 0; k < K; ++k) p[k] -= size[d] * stride[k][d];
        index[d] = 0;
      }
    }
  }

  // offset gives the byte offset of element `at` (in the order of the plan) in operand `k`.
  FACULA_INLINE int64_t offset(int k, int64_t at) const {
    int64_t o = 0;
    for (int d = 0; d < ndim; ++d) {
      o += at % size[d] * stride[k][d];
      at /= size[d];
    }
    return o;
  }

 private:
  FACULA_INLINE int64_t distance(int k, int d) const {
    int64_t s = stride[k][d];
    return s < 0 ? -s : s;
  }
  FACULA_INLINE void swap(int a, int b) {
    int64_t n = size[a];
    size[a] = size[b];
    size[b] = n;
    for (int k = 0; k < K; ++k) {
      int64_t s = stride[k][a];
      stride[k][a] = stride[k][b];
      stride[k][b] = s;
    }
  }
};

// walk_of plans a walk over views of one shape; the first is written in its memory's order.
template <class... V>
FACULA_INLINE Walk<static_cast<int>(sizeof...(V))> walk_of(const V&... views) {
  constexpr int kCount = static_cast<int>(sizeof...(V));
  const View* list[kCount] = {&views...};
  Walk<kCount> w;
  for (int k = 0; k < kCount; ++k) w.base[k] = static_cast<char*>(list[k]->data);
  for (int d = list[0]->ndim - 1; d >= 0; --d) {
    if (list[0]->sizes[d] == 1) continue;
    int64_t s[kCount];
    for (int k = 0; k < kCount; ++k) s[k] = list[k]->strides[d] * item_size(list[k]->dtype);
    w.push(list[0]->sizes[d], s);
  }
  w.sort();
  w.merge();
  return w;
}

}  // namespace facula::kernels::FACULA_ISA
