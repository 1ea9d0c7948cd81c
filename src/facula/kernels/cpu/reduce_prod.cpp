// prod (in double, int64 or complex double), norms, and counts of non-zero elements.
#include "facula/kernels/cpu/fold.h"
#include "facula/kernels/cpu/math.h"
#include "facula/kernels/cpu/reduce_tables.h"

namespace facula::kernels::FACULA_ISA {

// ProdOp multiplies in E, in eight lanes.
template <class E, DType kAs>
struct ProdOp : ConvertingLoad<E> {
  using Element = E;
  using Partial = E;
  DType out;
  ProdOp(DType from, DType o) : ConvertingLoad<E>{from, kAs}, out(o) {}
  Partial start() const { return E(1); }
  Partial join(Partial a, Partial b) const { return a * b; }
  Partial one(E x, int64_t) const { return x; }
  Partial row(const E* p, int64_t n, int64_t) const {
    constexpr int kLanes = 8;
    E lane[kLanes];
    for (int k = 0; k < kLanes; ++k) lane[k] = E(1);
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (int k = 0; k < kLanes; ++k) lane[k] = lane[k] * p[i + k];
    }
    for (int k = 0; i + k < n; ++k) lane[k] = lane[k] * p[i + k];
    for (int half = kLanes / 2; half; half /= 2) {
      for (int k = 0; k < half; ++k) lane[k] = lane[k] * lane[k + half];
    }
    return lane[0];
  }
  void columns(Partial* acc, const E* p, int64_t stride, int64_t rows, int64_t n,
               int64_t at) const {
    columns_by_join(*this, acc, p, stride, rows, n, at);
  }
  void store(char* to, int64_t stride, const Partial* acc, int64_t n) const {
    convert_strided(to, out, n == 1 ? item_size(out) : stride, acc, kAs, sizeof(E), n);
  }
};

void reduce_prod(const View& out, const View& in, uint64_t mask) {
  if (is_complex(out.dtype)) {
    return fold(ProdOp<Complex128, kComplex128>(in.dtype, out.dtype), out, in, mask);
  }
  if (is_floating(out.dtype)) {
    return fold(ProdOp<double, kFloat64>(in.dtype, out.dtype), out, in, mask);
  }
  // int64 as its unsigned twin, which wraps
  fold(ProdOp<uint64_t, kInt64>(in.dtype, out.dtype), out, in, mask);
}

// PowerSum adds Power::of(x) in double; the root is taken when the result is stored.
template <class Power>
struct PowerSum : ConvertingLoad<double> {
  using Element = double;
  using Partial = double;
  DType out;
  double p;
  PowerSum(DType from, DType o, double order)
      : ConvertingLoad<double>{from, kFloat64}, out(o), p(order) {}
  Partial start() const { return 0; }
  Partial join(Partial a, Partial b) const { return a + b; }
  Partial one(double x, int64_t) const { return Power::of(x, p); }
  Partial row(const double* e, int64_t n, int64_t) const {
    constexpr int kLanes = 16;
    double lane[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (int k = 0; k < kLanes; ++k) lane[k] += Power::of(e[i + k], p);
    }
    for (int k = 0; i + k < n; ++k) lane[k] += Power::of(e[i + k], p);
    for (int half = kLanes / 2; half; half /= 2) {
      for (int k = 0; k < half; ++k) lane[k] += lane[k + half];
    }
    return lane[0];
  }
  void columns(Partial* acc, const double* e, int64_t stride, int64_t rows, int64_t n,
               int64_t at) const {
    columns_by_join(*this, acc, e, stride, rows, n, at);
  }
  void store(char* to, int64_t stride, const Partial* acc, int64_t n) const {
    alignas(64) double r[kFoldColumns];
    for (int64_t i = 0; i < n; ++i) r[i] = Power::root(acc[i], p);
    convert_strided(to, out, n == 1 ? item_size(out) : stride, r, kFloat64, 8, n);
  }
};

struct PowerZero {
  static FACULA_INLINE double of(double x, double) { return x != 0; }
  static double root(double s, double) { return s; }
};
struct PowerOne {
  static FACULA_INLINE double of(double x, double) { return abs_of(x); }
  static double root(double s, double) { return s; }
};
struct PowerTwo {
  static FACULA_INLINE double of(double x, double) { return x * x; }
  static double root(double s, double) { return __builtin_sqrt(s); }
};
struct PowerAny {
  static FACULA_INLINE double of(double x, double p) { return __builtin_pow(abs_of(x), p); }
  static double root(double s, double p) { return __builtin_pow(s, 1 / p); }
};

// Extreme is the largest or smallest modulus; NaN wins.
template <bool kLargest>
struct Extreme : ConvertingLoad<double> {
  using Element = double;
  using Partial = double;
  DType out;
  Extreme(DType from, DType o) : ConvertingLoad<double>{from, kFloat64}, out(o) {}
  Partial start() const { return kLargest ? 0 : kInf; }
  Partial join(Partial a, Partial b) const {
    double r = (kLargest ? b > a : b < a) ? b : a;
    return b != b ? b : r;
  }
  Partial one(double x, int64_t) const { return abs_of(x); }
  Partial row(const double* e, int64_t n, int64_t) const {
    Partial r = start();
    for (int64_t i = 0; i < n; ++i) r = join(r, abs_of(e[i]));
    return r;
  }
  void columns(Partial* acc, const double* e, int64_t stride, int64_t rows, int64_t n,
               int64_t at) const {
    columns_by_join(*this, acc, e, stride, rows, n, at);
  }
  void store(char* to, int64_t stride, const Partial* acc, int64_t n) const {
    convert_strided(to, out, n == 1 ? item_size(out) : stride, acc, kFloat64, 8, n);
  }
};

void reduce_norm(const View& out, const View& in, uint64_t mask, double p) {
  if (p == kInf) return fold(Extreme<true>(in.dtype, out.dtype), out, in, mask);
  if (p == -kInf) return fold(Extreme<false>(in.dtype, out.dtype), out, in, mask);
  if (p == 0) return fold(PowerSum<PowerZero>(in.dtype, out.dtype, p), out, in, mask);
  if (p == 1) return fold(PowerSum<PowerOne>(in.dtype, out.dtype, p), out, in, mask);
  if (p == 2) return fold(PowerSum<PowerTwo>(in.dtype, out.dtype, p), out, in, mask);
  fold(PowerSum<PowerAny>(in.dtype, out.dtype, p), out, in, mask);
}

// CountOp counts non-zero elements, read as bool; `goal` turns the count into any or all.
struct CountOp : ConvertingLoad<uint8_t> {
  using Element = uint8_t;
  using Partial = int64_t;
  enum Goal { kCount, kAny, kAll } goal;
  int64_t count;
  DType out;
  CountOp(DType from, DType o, Goal g, int64_t n)
      : ConvertingLoad<uint8_t>{from, kBool}, goal(g), count(n), out(o) {}
  Partial start() const { return 0; }
  Partial join(Partial a, Partial b) const { return a + b; }
  Partial row(const uint8_t* e, int64_t n, int64_t) const {
    int32_t sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += e[i] != 0;
    return sum;
  }
  void columns(Partial* acc, const uint8_t* e, int64_t stride, int64_t rows, int64_t n,
               int64_t) const {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < n; ++c) acc[c] += e[r * stride + c] != 0;
    }
  }
  void store(char* to, int64_t stride, const Partial* acc, int64_t n) const {
    alignas(64) int64_t r[kFoldColumns];
    for (int64_t i = 0; i < n; ++i) {
      r[i] = goal == kCount ? acc[i] : goal == kAny ? acc[i] > 0 : acc[i] == count;
    }
    convert_strided(to, out, n == 1 ? item_size(out) : stride, r, kInt64, 8, n);
  }
};

static void count_with(const View& out, const View& in, uint64_t mask, CountOp::Goal goal) {
  int64_t n = 1;
  for (int d = 0; d < in.ndim; ++d) {
    if (mask >> d & 1) n *= in.sizes[d];
  }
  fold(CountOp(in.dtype, out.dtype, goal, n), out, in, mask);
}

void reduce_any(const View& out, const View& in, uint64_t mask) {
  count_with(out, in, mask, CountOp::kAny);
}
void reduce_all(const View& out, const View& in, uint64_t mask) {
  count_with(out, in, mask, CountOp::kAll);
}
void reduce_count_nonzero(const View& out, const View& in, uint64_t mask) {
  count_with(out, in, mask, CountOp::kCount);
}

}  // namespace facula::kernels::FACULA_ISA
