// Running sums, products, log-sum-exps and extremes. Lines that lie side by side are scanned
// together, row by row; others one by one.
#include "facula/kernels/scan.h"

#include "facula/kernels/cpu/index_walk.h"
#include "facula/kernels/cpu/keys.h"
#include "facula/kernels/cpu/math.h"

namespace facula::kernels::FACULA_ISA {

inline constexpr int64_t kScanBlock = 512;    // elements converted at a time
inline constexpr int64_t kScanGrain = 16384;  // elements worth a thread

// ScanLines is the plan: lines along dim, `width` of them side by side.
struct ScanLines {
  Walk<2> w;
  int64_t length, to_step, from_step, to_side, from_side;
  bool together;

  ScanLines(const View& out, const View& in, int64_t dim) : w(walk_along(dim, out, in)) {
    length = length_of(in, dim);
    to_step = byte_stride(out, dim);
    from_step = byte_stride(in, dim);
    to_side = inner_stride(w, 0);
    from_side = inner_stride(w, 1);
    together = w.ndim > 0 && w.size[0] >= 8 && to_side < to_step;
  }
  // run calls f(to, from, lines) on several threads; lines are to_side and from_side apart.
  template <class F>
  void run(int64_t numel, F&& f) const {
    if (numel == 0) return;
    int64_t grain = max_of<int64_t>(1, kScanGrain / length);
    if (together) grain = max_of<int64_t>(grain, 64);
    parallel_for(0, numel / length, grain, [&](int64_t b, int64_t e) {
      w.run(b, e, [&](char** p, int64_t n) {
        int64_t step = together ? kScanBlock : 1;
        for (int64_t i = 0; i < n; i += step) {
          f(p[0] + i * to_side, p[1] + i * from_side, min_of(step, n - i));
        }
      });
    });
  }
};

struct Plus {
  template <class T>
  static T start() {
    return T(0);
  }
  template <class T>
  FACULA_INLINE static T join(T a, T b) {
    return a + b;
  }
};
struct Times {
  template <class T>
  static T start() {
    return T(1);
  }
  template <class T>
  FACULA_INLINE static T join(T a, T b) {
    return a * b;
  }
};
struct LogPlus {
  template <class T>
  static T start() {
    return T(-kInf);
  }
  FACULA_INLINE static double join(double a, double b) { return m_logaddexp(a, b); }
  static Complex128 join(Complex128 a, Complex128 b) {
    bool swap = b.re > a.re;
    Complex128 top = swap ? b : a, low = swap ? a : b;
    if (low.re == -kInf) return top;
    return top + m_log1p(m_exp(low - top));
  }
};

// scan_as scans in type A, whose DType is `as`.
template <class A, class Op>
static void scan_as(const View& out, const View& in, int64_t dim, DType as) {
  ScanLines lines(out, in, dim);
  int64_t length = lines.length;
  lines.run(out.numel, [&](char* to, const char* from, int64_t n) {
    alignas(64) A buffer[kScanBlock], acc[kScanBlock];
    if (lines.together) {
      for (int64_t c = 0; c < n; ++c) acc[c] = Op::template start<A>();
      for (int64_t j = 0; j < length; ++j) {
        convert_strided(buffer, as, sizeof(A), from + j * lines.from_step, in.dtype,
                        lines.from_side, n);
        for (int64_t c = 0; c < n; ++c) acc[c] = Op::join(acc[c], buffer[c]);
        convert_strided(to + j * lines.to_step, out.dtype, lines.to_side, acc, as, sizeof(A), n);
      }
      return;
    }
    A sum = Op::template start<A>();
    for (int64_t j = 0; j < length; j += kScanBlock) {
      int64_t m = min_of(kScanBlock, length - j);
      convert_strided(buffer, as, sizeof(A), from + j * lines.from_step, in.dtype, lines.from_step,
                      m);
      for (int64_t i = 0; i < m; ++i) buffer[i] = sum = Op::join(sum, buffer[i]);
      convert_strided(to + j * lines.to_step, out.dtype, lines.to_step, buffer, as, sizeof(A), m);
    }
  });
}

template <class Op>
static void scan_any(const View& out, const View& in, int64_t dim) {
  if (is_complex(out.dtype)) return scan_as<Complex128, Op>(out, in, dim, kComplex128);
  if (is_floating(out.dtype)) return scan_as<double, Op>(out, in, dim, kFloat64);
  scan_as<uint64_t, Op>(out, in, dim, kInt64);  // wraps
}

static void cumsum(const View& out, const View& in, int64_t dim) { scan_any<Plus>(out, in, dim); }
static void cumprod(const View& out, const View& in, int64_t dim) { scan_any<Times>(out, in, dim); }
static void logcumsumexp(const View& out, const View& in, int64_t dim) {
  if (is_complex(out.dtype)) return scan_as<Complex128, LogPlus>(out, in, dim, kComplex128);
  scan_as<double, LogPlus>(out, in, dim, kFloat64);
}

template <class K>
static void cumulative_extreme(const View& values, const View& indices, const View& in, int64_t dim,
                               bool smallest) {
  KeyOrder order{.reverse = smallest, .equal_zeros = true};
  Walk<3> w = walk_along(dim, in, values, indices);
  int64_t length = length_of(in, dim), item = item_size(in.dtype);
  int64_t si = byte_stride(in, dim), sv = byte_stride(values, dim), sx = byte_stride(indices, dim);
  int64_t ni = inner_stride(w, 0), nv = inner_stride(w, 1), nx = inner_stride(w, 2);
  if (in.numel == 0) return;
  auto line = [&](const char* from, char* to, char* at) {
    alignas(64) K keys[kScanBlock];
    K best = static_cast<K>(~kTopKey<K>);
    int64_t found = 0;
    for (int64_t j = 0; j < length; j += kScanBlock) {
      int64_t m = min_of(kScanBlock, length - j);
      load_keys(keys, from + j * si, in.dtype, length == 1 ? item : si, m, order);
      for (int64_t i = 0; i < m; ++i) {
        if (keys[i] >= best) {
          best = keys[i];
          found = j + i;
        }
        *reinterpret_cast<int64_t*>(at + (j + i) * sx) = found;
      }
    }
    visit_size(item, [&](auto tag) {
      using T = typename decltype(tag)::type;
      for (int64_t j = 0; j < length; ++j) {
        int64_t k = *reinterpret_cast<const int64_t*>(at + j * sx);
        *reinterpret_cast<T*>(to + j * sv) = *reinterpret_cast<const T*>(from + k * si);
      }
    });
  };
  parallel_for(0, in.numel / length, max_of<int64_t>(1, kScanGrain / length),
               [&](int64_t b, int64_t e) {
                 w.run(b, e, [&](char** p, int64_t n) {
                   for (int64_t i = 0; i < n; ++i)
                     line(p[0] + i * ni, p[1] + i * nv, p[2] + i * nx);
                 });
               });
}

static void cummax(const View& values, const View& indices, const View& in, int64_t dim) {
  if (wide_keys(in.dtype))
    cumulative_extreme<int64_t>(values, indices, in, dim, false);
  else
    cumulative_extreme<int32_t>(values, indices, in, dim, false);
}
static void cummin(const View& values, const View& indices, const View& in, int64_t dim) {
  if (wide_keys(in.dtype))
    cumulative_extreme<int64_t>(values, indices, in, dim, true);
  else
    cumulative_extreme<int32_t>(values, indices, in, dim, true);
}

extern const ScanKernels scan_table;
const ScanKernels scan_table{.cumsum = cumsum,
                             .cumprod = cumprod,
                             .logcumsumexp = logcumsumexp,
                             .cummax = cummax,
                             .cummin = cummin};

}  // namespace facula::kernels::FACULA_ISA
