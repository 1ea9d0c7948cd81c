// sum, nansum, mean: float lanes over short blocks, whose totals are added in double; integers
// wrap.
#include "facula/kernels/cpu/fold.h"
#include "facula/kernels/cpu/reduce_tables.h"

namespace facula::kernels::FACULA_ISA {

// SumOp adds elements of type E into the accumulator A; kSkipNan counts NaN as 0.
template <class E, class A, bool kSkipNan>
struct SumOp : ConvertingLoad<E> {
  using Element = E;
  using Partial = A;
  double scale;  // of the stored result
  DType out;

  SumOp(DType from, DType as, DType o, double s) : ConvertingLoad<E>{from, as}, scale(s), out(o) {}

  Partial start() const { return A(0); }
  Partial join(Partial a, Partial b) const { return a + b; }
  static FACULA_INLINE E value(E x) {
    if constexpr (kSkipNan)
      return x == x ? x : E(0);
    else
      return x;
  }

  // 64 (or 32) lanes take turns; the lanes are added in pairs at the end.
  Partial row(const E* p, int64_t n, int64_t) const {
    constexpr int kLanes = 256 / sizeof(E), kVector = kVectorBytes / sizeof(E);
    using V = Vec<E>;
    if (n < kLanes) {
      A sum(0);
      for (int64_t i = 0; i < n; ++i) sum += static_cast<A>(value(p[i]));
      return sum;
    }
    constexpr int kVectors = kLanes / kVector;
    V lane[kVectors] = {};
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
#pragma GCC unroll 8
      for (int k = 0; k < kVectors; ++k) {
        V v = load_vec(p + i + k * kVector);
        if constexpr (kSkipNan) v = v == v ? v : V{};
        lane[k] += v;
      }
    }
    alignas(64) E flat[kLanes];
    __builtin_memcpy(flat, lane, sizeof(flat));
    for (int64_t k = 0; i + k < n; ++k) flat[k] += value(p[i + k]);
    A wide[kLanes / 2];
    for (int k = 0; k < kLanes / 2; ++k) {
      wide[k] = static_cast<A>(flat[k]) + static_cast<A>(flat[k + kLanes / 2]);
    }
    for (int half = kLanes / 4; half; half /= 2) {
      for (int k = 0; k < half; ++k) wide[k] += wide[k + half];
    }
    return wide[0];
  }

  void columns(Partial* acc, const E* p, int64_t stride, int64_t rows, int64_t n, int64_t) const {
    constexpr int64_t kGroup = 64;
    E block[kGroup];
    for (int64_t c = 0; c < n; c += kGroup) {
      int64_t m = min_of(kGroup, n - c);
      for (int64_t k = 0; k < m; ++k) block[k] = value(p[c + k]);
      for (int64_t r = 1; r < rows; ++r) {
        const E* e = p + r * stride + c;
        for (int64_t k = 0; k < m; ++k) block[k] += value(e[k]);
      }
      for (int64_t k = 0; k < m; ++k) acc[c + k] += static_cast<A>(block[k]);
    }
  }

  void store(char* to, int64_t stride, const Partial* acc, int64_t n) const {
    if constexpr (std::is_same_v<A, double>) {
      alignas(64) double r[kFoldColumns];
      for (int64_t i = 0; i < n; ++i) r[i] = acc[i] * scale;
      if (scale < 0) {  // a mean: divided, so that whole results are exact
        for (int64_t i = 0; i < n; ++i) r[i] = acc[i] / -scale;
      }
      convert_strided(to, out, n == 1 ? item_size(out) : stride, r, kFloat64, 8, n);
    } else {
      convert_strided(to, out, n == 1 ? item_size(out) : stride, acc, kInt64, 8, n);
    }
  }
};

// RealParts views complex numbers as their parts, a further dimension that is kept.
struct RealParts {
  View view;
  int64_t sizes[kMaxDims + 1], strides[kMaxDims + 1];
  explicit RealParts(const View& z) : view(z) {
    int n = z.ndim;
    for (int d = 0; d < n; ++d) {
      sizes[d] = z.sizes[d];
      strides[d] = 2 * z.strides[d];
    }
    sizes[n] = 2;
    strides[n] = 1;
    view.dtype = real_type(z.dtype);
    view.ndim = n + 1;
    view.numel *= 2;
    view.sizes = sizes;
    view.strides = strides;
  }
};

// scale: 1 for a sum, minus the count for a mean.
template <bool kSkipNan>
static void sum_with(const View& out, const View& in, uint64_t mask, double scale) {
  if (is_complex(out.dtype)) {
    if (!is_complex(in.dtype)) {  // the imaginary part is 0
      visit_complex(out.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        Walk<1> w = walk_of(out);
        int64_t step = w.ndim ? w.stride[0][0] : 0;
        w.run(0, out.numel, [&](char** p, int64_t n) {
          for (int64_t i = 0; i < n; ++i) reinterpret_cast<T*>(p[0] + i * step)->im = 0;
        });
      });
      RealParts to(out);
      to.view.ndim -= 1;
      to.view.numel /= 2;
      return sum_with<kSkipNan>(to.view, in, mask, scale);
    }
    RealParts to(out), from(in);
    return sum_with<kSkipNan>(to.view, from.view, mask, scale);
  }
  if (is_floating(out.dtype)) {
    if (out.dtype != kFloat64 && in.dtype != kFloat64) {
      SumOp<float, double, kSkipNan> op(in.dtype, kFloat32, out.dtype, scale);
      return fold(op, out, in, mask);
    }
    SumOp<double, double, kSkipNan> op(in.dtype, kFloat64, out.dtype, scale);
    return fold(op, out, in, mask);
  }
  SumOp<uint64_t, uint64_t, false> op(in.dtype, kInt64, out.dtype, 1);
  fold(op, out, in, mask);
}

static double count_folded(const View& in, uint64_t mask) {
  double n = 1;
  for (int d = 0; d < in.ndim; ++d) {
    if (mask >> d & 1) n *= static_cast<double>(in.sizes[d]);
  }
  return n;
}

void reduce_sum(const View& out, const View& in, uint64_t mask) {
  sum_with<false>(out, in, mask, 1);
}
void reduce_nansum(const View& out, const View& in, uint64_t mask) {
  sum_with<true>(out, in, mask, 1);
}
// An empty mean is 0 / 0.
void reduce_mean(const View& out, const View& in, uint64_t mask) {
  double n = count_folded(in, mask);
  sum_with<false>(out, in, mask, n == 0 ? __builtin_nan("") : -n);
}

}  // namespace facula::kernels::FACULA_ISA
