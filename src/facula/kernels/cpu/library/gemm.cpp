// Chooses who computes a matrix product: our small kernels, OpenBLAS on one thread, oneDNN on the
// pool, or OpenBLAS on blocks that the shape alone fixes. The limits are measured ones.
#include "facula/kernels/gemm.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <complex>
#include <cstring>

#include "facula/base/parallel.h"
#include "facula/base/pool/pool.h"
#include "facula/kernels/families.h"

extern "C" {
void scipy_cblas_sgemm(int, int, int, int, int, int, float, const float*, int, const float*, int,
                       float, float*, int);
void scipy_cblas_dgemm(int, int, int, int, int, int, double, const double*, int, const double*, int,
                       double, double*, int);
void scipy_cblas_cgemm(int, int, int, int, int, int, const void*, const void*, int, const void*,
                       int, const void*, void*, int);
void scipy_cblas_zgemm(int, int, int, int, int, int, const void*, const void*, int, const void*,
                       int, const void*, void*, int);
void scipy_openblas_set_num_threads(int);
}

namespace facula::kernels {
namespace {

constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112;

// OpenBLAS never makes threads of its own: larger products are split here, or go to oneDNN.
[[maybe_unused]] const bool single_threaded = (scipy_openblas_set_num_threads(1), true);

// An operand as the libraries want it: transposed or not, and a leading dimension.
struct Operand {
  bool transposed;
  int ld;
};

Operand operand(int64_t rows, int64_t cols, int64_t row, int64_t col) {
  bool plain = (col == 1 || cols == 1) && (row >= cols || rows == 1);
  int64_t ld = plain ? (rows == 1 ? cols : row) : (cols == 1 ? rows : col);
  return {!plain, static_cast<int>(std::max<int64_t>(ld, 1))};
}

template <class T>
const T* at(const void* p, int64_t offset) {
  return static_cast<const T*>(p) + offset;
}

// Whether sizes and leading dimensions fit the libraries' 32-bit integers.
bool fits_int(const Gemm& g) {
  int64_t most = std::max({g.m, g.n, g.k, g.a_row, g.a_col, g.b_row, g.b_col, g.c_row});
  return most <= INT32_MAX;
}

// Adds bias rows into c up front, so that the library's beta does the sum. Returns beta.
template <class T>
double place_bias(const Gemm& g) {
  if (!g.bias) return g.beta;
  const T* bias = static_cast<const T*>(g.bias);
  T beta = static_cast<T>(g.beta);
  for (int64_t i = 0; i < g.m; ++i) {
    T* c = static_cast<T*>(g.c) + i * g.c_row;
    if (g.beta == 0) {
      std::memcpy(static_cast<void*>(c), bias, g.n * sizeof(T));
    } else {
      for (int64_t j = 0; j < g.n; ++j) c[j] = beta * c[j] + bias[j];
    }
  }
  return 1;
}

void blas(const Gemm& g) {
  Operand a = operand(g.m, g.k, g.a_row, g.a_col), b = operand(g.k, g.n, g.b_row, g.b_col);
  int ta = a.transposed ? kTrans : kNoTrans, tb = b.transposed ? kTrans : kNoTrans;
  int m = static_cast<int>(g.m), n = static_cast<int>(g.n), k = static_cast<int>(g.k);
  int ldc = static_cast<int>(std::max(g.c_row, g.n));
  switch (g.dtype) {
    case kFloat32:
      scipy_cblas_sgemm(kRowMajor, ta, tb, m, n, k, static_cast<float>(g.alpha), at<float>(g.a, 0),
                        a.ld, at<float>(g.b, 0), b.ld, static_cast<float>(place_bias<float>(g)),
                        static_cast<float*>(g.c), ldc);
      return;
    case kFloat64:
      scipy_cblas_dgemm(kRowMajor, ta, tb, m, n, k, g.alpha, at<double>(g.a, 0), a.ld,
                        at<double>(g.b, 0), b.ld, place_bias<double>(g), static_cast<double*>(g.c),
                        ldc);
      return;
    case kComplex64: {
      float alpha[2] = {static_cast<float>(g.alpha), 0};
      float beta[2] = {static_cast<float>(place_bias<std::complex<float>>(g)), 0};
      scipy_cblas_cgemm(kRowMajor, ta, tb, m, n, k, alpha, g.a, a.ld, g.b, b.ld, beta, g.c, ldc);
      return;
    }
    default: {
      double alpha[2] = {g.alpha, 0}, beta[2] = {place_bias<std::complex<double>>(g), 0};
      scipy_cblas_zgemm(kRowMajor, ta, tb, m, n, k, alpha, g.a, a.ld, g.b, b.ld, beta, g.c, ldc);
      return;
    }
  }
}

// Part of a product: rows [i, i + m) and columns [j, j + n).
Gemm part(const Gemm& g, int64_t i, int64_t m, int64_t j, int64_t n) {
  int64_t item = item_size(g.dtype);
  Gemm p = g;
  p.m = m;
  p.n = n;
  p.a = static_cast<const char*>(g.a) + i * g.a_row * item;
  p.b = static_cast<const char*>(g.b) + j * g.b_col * item;
  p.c = static_cast<char*>(g.c) + (i * g.c_row + j) * item;
  if (g.bias) p.bias = static_cast<const char*>(g.bias) + j * item;
  return p;
}

// Grid is how a large product is cut into blocks: by its shape alone, so that neither the number of
// threads nor a library's own splitting of long sums shows in the result.
struct Grid {
  int64_t rows, cols;  // of a block
  int64_t row_count, col_count;
};

// At most 16 blocks of about `work` multiply-adds, as square as possible.
Grid grid_of(const Gemm& g, double work) {
  int64_t blocks =
      std::clamp<int64_t>(static_cast<int64_t>(static_cast<double>(g.m) * g.n * g.k / work), 1, 16);
  Grid best{g.m, g.n, 1, 1};
  int64_t least = INT64_MAX;
  for (int64_t r = 1; r <= blocks; r *= 2) {
    int64_t c = std::max<int64_t>(blocks / r, 1);
    int64_t rows = ((g.m + r - 1) / r + 15) / 16 * 16, cols = ((g.n + c - 1) / c + 15) / 16 * 16;
    if (rows + cols >= least) continue;
    least = rows + cols;
    best = {rows, cols, (g.m + rows - 1) / rows, (g.n + cols - 1) / cols};
  }
  return best;
}

// Runs f, one of the libraries on one thread, on all blocks.
template <class F>
void in_blocks(const Gemm& g, double work, F&& f) {
  Grid grid = grid_of(g, work);
  auto block = [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      int64_t i = t / grid.col_count * grid.rows, j = t % grid.col_count * grid.cols;
      f(part(g, i, std::min(grid.rows, g.m - i), j, std::min(grid.cols, g.n - j)));
    }
  };
  int64_t count = grid.row_count * grid.col_count;
  if (count > 1) return parallel_for(0, count, 1, block);
  // Inside a region of the pool oneDNN uses one thread.
  auto alone = [](void* context, int, int) { (*static_cast<decltype(block)*>(context))(0, 1); };
  pool::run(1, pool::Join::kAll, alone, &block);
}

void dnnl_float(const Gemm& g) {
  Operand a = operand(g.m, g.k, g.a_row, g.a_col), b = operand(g.k, g.n, g.b_row, g.b_col);
  dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', g.m, g.n, g.k,
             static_cast<float>(g.alpha), at<float>(g.a, 0), a.ld, at<float>(g.b, 0), b.ld,
             static_cast<float>(place_bias<float>(g)), static_cast<float*>(g.c),
             std::max(g.c_row, g.n));
}

// Only the part of beta and bias: k is 0.
template <class T>
void no_product(const Gemm& g) {
  const T* bias = static_cast<const T*>(g.bias);
  for (int64_t i = 0; i < g.m; ++i) {
    T* c = static_cast<T*>(g.c) + i * g.c_row;
    for (int64_t j = 0; j < g.n; ++j) {
      T v = g.beta == 0 ? T(0) : static_cast<T>(g.beta) * c[j];
      c[j] = bias ? v + bias[j] : v;
    }
  }
}

bool is_skinny(const Gemm& g) {
  return g.dtype == kFloat32 && g.m <= 32 && g.a_col == 1 && g.b_row == 1 && g.k >= 16 &&
         g.n >= 4 * g.m;
}

void gemm_integer(const Gemm& g) {
  int64_t grain = std::max<int64_t>(1, 100000 / std::max<int64_t>(1, g.n * g.k));
  parallel_for(0, g.m, grain,
               [&](int64_t begin, int64_t end) { products->integer(g, begin, end); });
}

}  // namespace

bool gemm_strides(int64_t rows, int64_t cols, int64_t row, int64_t col) {
  return ((col == 1 || cols <= 1) && (row >= cols || rows <= 1)) ||
         ((row == 1 || rows <= 1) && (col >= rows || cols <= 1));
}

void gemm(const Gemm& g) {
  if (g.m == 0 || g.n == 0) return;
  if (gemm_is_small(g.dtype, g.m, g.n, g.k)) return products->small(g);
  if (is_integral(g.dtype)) return gemm_integer(g);
  if (g.k == 0) {
    if (g.dtype == kComplex64) return no_product<std::complex<float>>(g);
    return no_product<std::complex<double>>(g);
  }
  if (g.n == 1 && g.m > 1 && g.c_row == 1 && !g.bias) {
    // A column is computed as the row of the transposed product.
    Gemm t = g;
    std::swap(t.m, t.n);
    t.a = g.b, t.a_row = g.b_col, t.a_col = g.b_row;
    t.b = g.a, t.b_row = g.a_col, t.b_col = g.a_row;
    t.c_row = t.n;
    return gemm(t);
  }
  if (is_skinny(g)) {
    int64_t grain = std::max<int64_t>(16, 1000000 / (g.m * g.k) / 16 * 16);
    return parallel_for(0, g.n, grain,
                        [&](int64_t begin, int64_t end) { products->skinny(g, begin, end); });
  }
  bool large = static_cast<double>(g.m) * g.n * g.k > 64.0 * 64 * 64;
  if (g.dtype == kFloat32 && (large || !fits_int(g))) return in_blocks(g, 8e6, dnnl_float);
  if (large) return in_blocks(g, 4e6, blas);
  blas(g);
}

void gemm_batch(const Gemm& g, const GemmBatch& batch) {
  int64_t count = batch.count[0] * batch.count[1], item = item_size(g.dtype);
  auto at = [&](int64_t index) {
    int64_t i = index / batch.count[1], j = index % batch.count[1];
    Gemm one = g;
    one.a = static_cast<const char*>(g.a) + (i * batch.a[0] + j * batch.a[1]) * item;
    one.b = static_cast<const char*>(g.b) + (i * batch.b[0] + j * batch.b[1]) * item;
    one.c = static_cast<char*>(g.c) + (i * batch.c[0] + j * batch.c[1]) * item;
    return one;
  };
  double work = static_cast<double>(g.m) * g.n * g.k;
  if (count == 1 || (count < 4 && work > 1e8)) {
    for (int64_t i = 0; i < count; ++i) gemm(at(i));
    return;
  }
  int64_t grain = std::max<int64_t>(1, static_cast<int64_t>(1e6 / std::max(work, 1.0)));
  parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) gemm(at(i));
  });
}

void dot(DType dtype, void* out, const void* x, int64_t x_stride, const void* y, int64_t y_stride,
         int64_t n, bool conjugate) {
  products->dot(dtype, out, x, x_stride, y, y_stride, n, conjugate);
}

}  // namespace facula::kernels
