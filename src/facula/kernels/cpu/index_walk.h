// Helpers of the index and scatter families: checked positions, and walks over all dimensions but
// the indexed one.
#pragma once
#include "facula/kernels/cpu/walk.h"

namespace facula::kernels::FACULA_ISA {

inline constexpr int64_t kIndexGrain = 16384;  // elements worth a thread

// walk_along plans a walk over K views without dimension `dim`, of the sizes of the first view. The
// order of dimensions is that of the first view's memory.
template <class... V>
FACULA_INLINE Walk<static_cast<int>(sizeof...(V))> walk_along(int64_t dim, const V&... views) {
  constexpr int kCount = static_cast<int>(sizeof...(V));
  const View* list[kCount] = {&views...};
  Walk<kCount> w;
  for (int k = 0; k < kCount; ++k) w.base[k] = static_cast<char*>(list[k]->data);
  for (int d = list[0]->ndim - 1; d >= 0; --d) {
    if (d == dim || list[0]->sizes[d] == 1) continue;
    int64_t s[kCount];
    for (int k = 0; k < kCount; ++k) s[k] = list[k]->strides[d] * item_size(list[k]->dtype);
    w.push(list[0]->sizes[d], s);
  }
  w.sort();
  w.merge();
  return w;
}

// byte_stride gives the distance of neighbours along a dimension; 0 of a 0-d view.
FACULA_INLINE int64_t byte_stride(const View& v, int64_t dim) {
  return v.ndim ? v.strides[dim] * item_size(v.dtype) : 0;
}
FACULA_INLINE int64_t length_of(const View& v, int64_t dim) { return v.ndim ? v.sizes[dim] : 1; }

// logical_walk visits a view in row-major order.
template <class... V>
FACULA_INLINE Walk<static_cast<int>(sizeof...(V))> logical_walk(const V&... views) {
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
  w.merge();
  return w;
}

// inner_stride of operand k, 0 when there is no dimension left.
template <int K>
FACULA_INLINE int64_t inner_stride(const Walk<K>& w, int k) {
  return w.ndim ? w.stride[k][0] : 0;
}

// positions_fit reports the first element of index outside [low, bound) in row-major order.
static inline bool positions_fit(const View& index, int64_t low, int64_t bound, Fault* fault) {
  Walk<1> w = logical_walk(index);
  int64_t step = inner_stride(w, 0);
  auto scan = [&](int64_t b, int64_t e) {
    int64_t at = b;
    w.run(b, e, [&](char** p, int64_t n) {
      bool bad = false;
      for (int64_t i = 0; i < n; ++i) {
        int64_t v = *reinterpret_cast<const int64_t*>(p[0] + i * step);
        bad |= (v < low) | (v >= bound);
      }
      for (int64_t i = 0; bad && i < n; ++i) {
        int64_t v = *reinterpret_cast<const int64_t*>(p[0] + i * step);
        if (v < low || v >= bound) {
          fault->set(Fault::kIndexOutOfRange, at + i, v, bound);
          return;
        }
      }
      at += n;
    });
  };
  scan(0, index.numel);
  return !*fault;
}

// rest_walk plans the dimensions [skip, ndim) of two views of one rest shape.
FACULA_INLINE Walk<2> rest_walk(const View& a, int skip_a, const View& b, int skip_b) {
  Walk<2> w;
  w.base[0] = static_cast<char*>(a.data);
  w.base[1] = static_cast<char*>(b.data);
  int rest = a.ndim - skip_a;
  for (int d = rest - 1; d >= 0; --d) {
    if (a.sizes[skip_a + d] == 1) continue;
    int64_t s[2] = {a.strides[skip_a + d] * item_size(a.dtype),
                    b.strides[skip_b + d] * item_size(b.dtype)};
    w.push(a.sizes[skip_a + d], s);
  }
  w.sort();
  w.merge();
  return w;
}

inline constexpr int kMaxIndices = 16;  // index tensors of one advanced index

// Positions walks the broadcast index tensors in row-major order and gives, for each place of their
// shape, the byte offset in the indexed operand and in the operand of shape I + rest.
struct Positions {
  int ndim = 0, count;
  int64_t size[kMaxDims], step[kMaxIndices + 1][kMaxDims];  // [count]: of the other operand
  const char* base[kMaxIndices];
  int64_t bound[kMaxIndices], stride[kMaxIndices];  // of the indexed dimensions

  Positions(const View& indexed, const View* indices, int n, const View& other) : count(n) {
    for (int k = 0; k < n; ++k) {
      base[k] = static_cast<const char*>(indices[k].data);
      bound[k] = indexed.sizes[k];
      stride[k] = indexed.strides[k] * item_size(indexed.dtype);
    }
    for (int d = indices[0].ndim - 1; d >= 0; --d) {
      if (indices[0].sizes[d] == 1) continue;
      size[ndim] = indices[0].sizes[d];
      for (int k = 0; k < n; ++k) step[k][ndim] = indices[k].strides[d] * 8;
      step[n][ndim] = other.strides[d] * item_size(other.dtype);
      ++ndim;
    }
  }
  int64_t numel() const {
    int64_t n = 1;
    for (int d = 0; d < ndim; ++d) n *= size[d];
    return n;
  }
  // run calls f(offset in the indexed operand, offset in the other) for places [begin, end).
  template <class F>
  FACULA_INLINE void run(int64_t begin, int64_t end, F&& f) const {
    int64_t at[kMaxDims], offset[kMaxIndices + 1] = {};
    int64_t left = begin;
    for (int d = 0; d < ndim; ++d) {
      at[d] = left % size[d];
      left /= size[d];
      for (int k = 0; k <= count; ++k) offset[k] += at[d] * step[k][d];
    }
    for (int64_t i = begin; i < end; ++i) {
      int64_t target = 0;
      for (int k = 0; k < count; ++k) {
        int64_t v = *reinterpret_cast<const int64_t*>(base[k] + offset[k]);
        target += (v < 0 ? v + bound[k] : v) * stride[k];
      }
      f(target, offset[count]);
      for (int d = 0; d < ndim; ++d) {
        for (int k = 0; k <= count; ++k) offset[k] += step[k][d];
        if (++at[d] < size[d]) break;
        for (int k = 0; k <= count; ++k) offset[k] -= size[d] * step[k][d];
        at[d] = 0;
      }
    }
  }
};

// all_fit checks the index tensors of an advanced index; positions may be negative.
static inline bool all_fit(const View& indexed, const View* indices, int count, Fault* fault) {
  for (int k = 0; k < count; ++k) {
    int64_t n = indexed.sizes[k];
    if (!positions_fit(indices[k], -n, n, fault)) return false;
  }
  return true;
}

}  // namespace facula::kernels::FACULA_ISA
