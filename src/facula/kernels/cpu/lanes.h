// Sums over contiguous elements in a fixed number of lanes: as fast as vectors allow and in an order
// that depends on the length alone. Element types are the floating ones; sums are of Compute<T>.
#pragma once
#include "facula/kernels/cpu/dispatch.h"

namespace facula::kernels::FACULA_ISA {

inline constexpr int kLanes = 32;
inline constexpr int kShort = 8;  // lanes of what is left, so that short rows are vectors too

template <class C>
FACULA_INLINE C add_lanes(C* lanes) {
  for (int step = kLanes / 2; step; step /= 2) {
    for (int l = 0; l < step; ++l) lanes[l] += lanes[l + step];
  }
  return lanes[0];
}

// sum_of adds f(i) for i in [0, n).
template <class C, class F>
FACULA_INLINE C sum_of(int64_t n, F&& f) {
  C lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] += f(i + l);
  }
  for (; i + kShort <= n; i += kShort) {
    for (int l = 0; l < kShort; ++l) lanes[l] += f(i + l);
  }
  C rest = 0;
  for (; i < n; ++i) rest += f(i);
  return add_lanes(lanes) + rest;
}

// sum_two adds f(i) and g(i) in one pass.
template <class C, class F, class G>
FACULA_INLINE void sum_two(int64_t n, C* a, C* b, F&& f, G&& g) {
  C x[kLanes] = {}, y[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) x[l] += f(i + l);
    for (int l = 0; l < kLanes; ++l) y[l] += g(i + l);
  }
  C p = 0, q = 0;
  for (; i < n; ++i) {
    p += f(i);
    q += g(i);
  }
  *a = add_lanes(x) + p;
  *b = add_lanes(y) + q;
}

// max_of gives the largest f(i), NaN if there is one; -inf for n = 0.
template <class C, class F>
FACULA_INLINE C max_lanes(int64_t n, F&& f) {
  C lanes[kLanes];
  C lowest = -static_cast<C>(__builtin_inf());
  for (int l = 0; l < kLanes; ++l) lanes[l] = lowest;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      C v = f(i + l);
      lanes[l] = v > lanes[l] || v != v ? v : lanes[l];
    }
  }
  for (; i + kShort <= n; i += kShort) {
    for (int l = 0; l < kShort; ++l) {
      C v = f(i + l);
      lanes[l] = v > lanes[l] || v != v ? v : lanes[l];
    }
  }
  C best = lowest;
  for (; i < n; ++i) {
    C v = f(i);
    best = v > best || v != v ? v : best;
  }
  for (int step = kLanes / 2; step; step /= 2) {
    for (int l = 0; l < step; ++l) {
      C v = lanes[l + step];
      lanes[l] = v > lanes[l] || v != v ? v : lanes[l];
    }
  }
  return lanes[0] > best || lanes[0] != lanes[0] ? lanes[0] : best;
}

}  // namespace facula::kernels::FACULA_ISA
