// Sums over contiguous elements in a fixed number of lanes: as fast as vectors allow and in an
// order that depends on the length alone. Element types are the floating ones; sums are of
// Compute<T>.
#pragma once
#include "facula/kernels/cpu/dispatch.h"

namespace facula::kernels::FACULA_ISA {

inline constexpr int kLanes = 32;
inline constexpr int kShort = 8;  // lanes of rows shorter than kLanes and of what is left of others

template <int N, class C>
FACULA_INLINE C add_lanes(const C (&lanes)[N]) {
  C sum[N];
  for (int l = 0; l < N; ++l) sum[l] = lanes[l];
#pragma GCC unroll 8
  for (int step = N / 2; step; step /= 2) {
    for (int l = 0; l < step; ++l) sum[l] += sum[l + step];
  }
  return sum[0];
}

// sum_lanes adds f(i) for i in [*at, n) into lanes, N at a time, and moves *at behind the last.
// What f writes may depend on i alone.
template <int N, class C, class F>
FACULA_INLINE void sum_lanes(C* lanes, int64_t* at, int64_t n, F&& f) {
  int64_t i = *at;
  for (; i + N <= n; i += N) {
#pragma GCC ivdep
    for (int l = 0; l < N; ++l) lanes[l] += f(i + l);
  }
  *at = i;
}

// sum_of adds f(i) for i in [0, n).
template <class C, class F>
FACULA_INLINE C sum_of(int64_t n, F&& f) {
  int64_t i = 0;
  C total;
  if (n < kLanes) {
    C lanes[kShort] = {};
    sum_lanes<kShort>(lanes, &i, n, f);
    total = add_lanes<kShort>(lanes);
  } else {
    C lanes[kLanes] = {};
    sum_lanes<kLanes>(lanes, &i, n, f);
    sum_lanes<kShort>(lanes, &i, n, f);
    total = add_lanes<kLanes>(lanes);
  }
  C rest = 0;
  for (; i < n; ++i) rest += f(i);
  return total + rest;
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
  *a = add_lanes<kLanes>(x) + p;
  *b = add_lanes<kLanes>(y) + q;
}

// larger gives the larger of two numbers, or the NaN among them.
template <class C>
FACULA_INLINE C larger(C v, C than) {
  return v > than || v != v ? v : than;
}

// max_in_lanes gives the largest f(i) for i in [*at, n) and best, in N lanes; it leaves fewer than
// N over and moves *at to the first of them.
template <int N, class C, class F>
FACULA_INLINE C max_in_lanes(int64_t* at, int64_t n, C best, F&& f) {
  C lanes[N];
  for (int l = 0; l < N; ++l) lanes[l] = best;
  int64_t i = *at;
  for (; i + N <= n; i += N) {
    for (int l = 0; l < N; ++l) lanes[l] = larger<C>(f(i + l), lanes[l]);
  }
  *at = i;
#pragma GCC unroll 8
  for (int step = N / 2; step; step /= 2) {
    for (int l = 0; l < step; ++l) lanes[l] = larger(lanes[l + step], lanes[l]);
  }
  return lanes[0];
}

// max_lanes gives the largest f(i), NaN if there is one; -inf for n = 0.
template <class C, class F>
FACULA_INLINE C max_lanes(int64_t n, F&& f) {
  C best = -static_cast<C>(__builtin_inf());
  int64_t i = 0;
  if (n >= kLanes) best = max_in_lanes<kLanes>(&i, n, best, f);
  best = max_in_lanes<kShort>(&i, n, best, f);
  for (; i < n; ++i) best = larger<C>(f(i), best);
  return best;
}

}  // namespace facula::kernels::FACULA_ISA
