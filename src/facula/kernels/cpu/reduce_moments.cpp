// Mean and variance (two passes over each block, combined by Chan's formula), and log-sum-exp.
#include "facula/kernels/cpu/fold.h"
#include "facula/kernels/cpu/math.h"
#include "facula/kernels/cpu/reduce_tables.h"

namespace facula::kernels::FACULA_ISA {

// Moments of a set of numbers: how many, their mean, the sum of squared deviations from it.
struct Moments {
  double count, mean, squares;
};

// MomentsOp stores the mean; the variance of a second pass over the same plan goes to `variance`.
struct MomentsOp : ConvertingLoad<double> {
  using Element = double;
  using Partial = Moments;
  DType out;
  bool want_mean, root;
  double correction;
  MomentsOp(DType from, DType o, bool mean, double c, bool r)
      : ConvertingLoad<double>{from, kFloat64}, out(o), want_mean(mean), root(r), correction(c) {}

  Partial start() const { return {0, 0, 0}; }
  FACULA_INLINE Partial join(Partial a, Partial b) const {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    double n = a.count + b.count, d = b.mean - a.mean;
    return {n, a.mean + d * (b.count / n), a.squares + b.squares + d * d * (a.count * b.count / n)};
  }
  Partial row(const double* p, int64_t n, int64_t) const {
    double count = static_cast<double>(n), mean = total(p, n, 0, false) / count;
    return {count, mean, total(p, n, mean, true)};
  }
  void columns(Partial* acc, const double* p, int64_t stride, int64_t rows, int64_t n,
               int64_t) const {
    constexpr int64_t kGroup = 64;
    alignas(64) double mean[kGroup], squares[kGroup];
    double count = static_cast<double>(rows);
    for (int64_t c = 0; c < n; c += kGroup) {
      int64_t m = min_of(kGroup, n - c);
      for (int64_t k = 0; k < m; ++k) mean[k] = squares[k] = 0;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t k = 0; k < m; ++k) mean[k] += p[r * stride + c + k];
      }
      for (int64_t k = 0; k < m; ++k) mean[k] /= count;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t k = 0; k < m; ++k) {
          double d = p[r * stride + c + k] - mean[k];
          squares[k] += d * d;
        }
      }
      for (int64_t k = 0; k < m; ++k) acc[c + k] = join(acc[c + k], {count, mean[k], squares[k]});
    }
  }
  void store(char* to, int64_t stride, const Partial* acc, int64_t n) const {
    alignas(64) double r[kFoldColumns];
    for (int64_t i = 0; i < n; ++i) r[i] = finish(acc[i]);
    convert_strided(to, out, n == 1 ? item_size(out) : stride, r, kFloat64, 8, n);
  }

 private:
  double finish(Moments m) const {
    if (want_mean) return m.count == 0 ? kNan : m.mean;
    double divisor = m.count - correction;
    double v = m.squares / (divisor > 0 ? divisor : 0);
    if (m.count == 0) v = kNan;
    return root ? __builtin_sqrt(v) : v;
  }
  // total adds elements, or their squared distance from `mean`, in 16 lanes.
  static FACULA_INLINE double total(const double* p, int64_t n, double mean, bool square) {
    constexpr int kLanes = 16;
    double lane[kLanes] = {};
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (int k = 0; k < kLanes; ++k) {
        double d = p[i + k] - mean;
        lane[k] += square ? d * d : d;
      }
    }
    for (int k = 0; i + k < n; ++k) {
      double d = p[i + k] - mean;
      lane[k] += square ? d * d : d;
    }
    for (int half = kLanes / 2; half; half /= 2) {
      for (int k = 0; k < half; ++k) lane[k] += lane[k + half];
    }
    return lane[0];
  }
};

void reduce_moments(const View& variance, const View& mean, const View& in, uint64_t mask,
                    double correction, bool root) {
  if (mean.data) fold(MomentsOp(in.dtype, mean.dtype, true, 0, false), mean, in, mask);
  if (!variance.data) return;
  fold(MomentsOp(in.dtype, variance.dtype, false, correction, root), variance, in, mask);
}

// The largest element and the sum of exp(x - largest).
struct LogSum {
  double top, sum;
};

template <class E, DType kAs>
struct LogSumExpOp : ConvertingLoad<E> {
  using Element = E;
  using Partial = LogSum;
  DType out;
  LogSumExpOp(DType from, DType o) : ConvertingLoad<E>{from, kAs}, out(o) {}

  Partial start() const { return {-kInf, 0}; }
  FACULA_INLINE Partial join(Partial a, Partial b) const {
    bool swap = b.top > a.top;
    double top = swap ? b.top : a.top, low = swap ? a.top : b.top;
    double big = swap ? b.sum : a.sum, small = swap ? a.sum : b.sum;
    double d = low == top ? 0.0 : low - top;  // equal infinities
    return {top, big + small * exp_double(d)};
  }
  FACULA_INLINE Partial one(E x, int64_t) const {
    return x != x ? LogSum{-kInf, kNan} : LogSum{x, x == -k_inf<E> ? 0.0 : 1.0};
  }
  Partial row(const E* p, int64_t n, int64_t) const {
    E top = -k_inf<E>;
    for (int64_t i = 0; i < n; ++i) top = p[i] > top ? p[i] : top;
    if (top == -k_inf<E> || top == k_inf<E>) {  // no finite maximum: count or find NaN
      Partial acc = start();
      for (int64_t i = 0; i < n; ++i) acc = join(acc, one(p[i], 0));
      return acc;
    }
    alignas(64) E term[kFoldBlock];
    for (int64_t i = 0; i < n; ++i) term[i] = m_exp(p[i] - top);
    double lane[8] = {};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
      for (int k = 0; k < 8; ++k) lane[k] += static_cast<double>(term[i + k]);
    }
    for (int k = 0; i + k < n; ++k) lane[k] += static_cast<double>(term[i + k]);
    for (int half = 4; half; half /= 2) {
      for (int k = 0; k < half; ++k) lane[k] += lane[k + half];
    }
    return {static_cast<double>(top), lane[0]};
  }
  void columns(Partial* acc, const E* p, int64_t stride, int64_t rows, int64_t n,
               int64_t at) const {
    columns_by_join(*this, acc, p, stride, rows, n, at);
  }
  void store(char* to, int64_t stride, const Partial* acc, int64_t n) const {
    alignas(64) double r[kFoldColumns];
    for (int64_t i = 0; i < n; ++i) {
      bool infinite = acc[i].top == kInf || acc[i].top == -kInf;
      r[i] = infinite ? (acc[i].sum != acc[i].sum ? kNan : acc[i].top)
                      : acc[i].top + __builtin_log(acc[i].sum);
    }
    convert_strided(to, out, n == 1 ? item_size(out) : stride, r, kFloat64, 8, n);
  }
};

void reduce_logsumexp(const View& out, const View& in, uint64_t mask) {
  if (in.dtype == kFloat64) {
    return fold(LogSumExpOp<double, kFloat64>(in.dtype, out.dtype), out, in, mask);
  }
  fold(LogSumExpOp<float, kFloat32>(in.dtype, out.dtype), out, in, mask);
}

}  // namespace facula::kernels::FACULA_ISA
