// Factorizations that solve systems: Cholesky, LU with and without pivoting, inverses, triangular
// systems, and the Bunch-Kaufman factor of symmetric matrices.
#include <cstring>
#include <utility>

#include "facula/kernels/cpu/library/lapack_routines.h"

namespace facula::kernels {
namespace {

using namespace lapack;

double cubed(int64_t n) { return static_cast<double>(n) * n * n; }

// unpivoted_lu eliminates column by column; gives the first zero pivot, counted from 1, or 0.
template <class T>
int32_t unpivoted_lu(int64_t m, int64_t n, T* a) {
  int32_t info = 0;
  for (int64_t k = 0; k < std::min(m, n); ++k) {
    T* column = a + k * m;
    if (column[k] == T(0)) {
      if (!info) info = static_cast<int32_t>(k + 1);
      continue;
    }
    for (int64_t i = k + 1; i < m; ++i) column[i] /= column[k];
    for (int64_t j = k + 1; j < n; ++j) {
      T factor = a[j * m + k];
      for (int64_t i = k + 1; i < m; ++i) a[j * m + i] -= column[i] * factor;
    }
  }
  return info;
}

}  // namespace

void cholesky_factor(DType dtype, int64_t count, int64_t n, bool upper, void* a, int32_t* info) {
  with_type(dtype, [&]<class T>() {
    each_matrix(count, cubed(n), [&](int64_t begin, int64_t end) {
      int size = as_int(n), lda = leading(n);
      for (int64_t b = begin; b < end; ++b) {
        T* matrix = static_cast<T*>(a) + b * n * n;
        info[b] = 0;
        if (n) Lapack<T>::potrf(upper ? "U" : "L", &size, matrix, &lda, info + b, 1);
        // OpenBLAS lets NaN pass as positive.
        for (int64_t j = 0; j < n && !info[b]; ++j) {
          if (matrix[j * n + j] != matrix[j * n + j]) info[b] = static_cast<int32_t>(j + 1);
        }
        for (int64_t j = 0; j < n; ++j) {
          T* column = matrix + j * n;
          upper ? std::fill(column + j + 1, column + n, T(0)) : std::fill(column, column + j, T(0));
        }
      }
    });
  });
}

void lu_factor(DType dtype, int64_t count, int64_t m, int64_t n, bool pivot, void* a,
               int32_t* pivots, int32_t* info) {
  int64_t k = std::min(m, n);
  with_type(dtype, [&]<class T>() {
    each_matrix(count, static_cast<double>(m) * n * k, [&](int64_t begin, int64_t end) {
      int rows = as_int(m), cols = as_int(n), lda = leading(m);
      for (int64_t b = begin; b < end; ++b) {
        T* matrix = static_cast<T*>(a) + b * m * n;
        int32_t* swaps = pivots + b * k;
        info[b] = 0;
        if (pivot) {
          if (k) Lapack<T>::getrf(&rows, &cols, matrix, &lda, swaps, info + b);
          // The search for a largest element among NaN may name a row that is not there.
          for (int64_t i = 0; i < k; ++i) {
            if (swaps[i] <= i || swaps[i] > m) swaps[i] = static_cast<int32_t>(i + 1);
          }
          continue;
        }
        for (int64_t i = 0; i < k; ++i) swaps[i] = static_cast<int32_t>(i + 1);
        info[b] = unpivoted_lu(m, n, matrix);
      }
    });
  });
}

void lu_inverse(DType dtype, int64_t count, int64_t n, void* lu, const int32_t* pivots,
                const int32_t* info) {
  if (n == 0) return;
  with_type(dtype, [&]<class T>() {
    each_matrix(count, cubed(n), [&](int64_t begin, int64_t end) {
      int size = as_int(n), query = -1, result = 0;
      T first{};
      Lapack<T>::getri(&size, static_cast<T*>(lu), &size, pivots, &first, &query, &result);
      int length = wanted(first);
      std::vector<T> work(static_cast<size_t>(length));
      for (int64_t b = begin; b < end; ++b) {
        if (info[b]) continue;
        Lapack<T>::getri(&size, static_cast<T*>(lu) + b * n * n, &size, pivots + b * n, work.data(),
                         &length, &result);
      }
    });
  });
}

void pivots_to_rows(int64_t count, int64_t rows, int64_t swaps, const int32_t* pivots,
                    int64_t* from) {
  for (int64_t b = 0; b < count; ++b) {
    int64_t* row = from + b * rows;
    for (int64_t i = 0; i < rows; ++i) row[i] = i;
    for (int64_t i = 0; i < swaps; ++i) {
      int64_t other = pivots[b * swaps + i] - 1;
      if (other >= 0 && other < rows && i < rows) std::swap(row[i], row[other]);
    }
  }
}

void solve_triangles(const Triangular& t) {
  if (t.m == 0 || t.n == 0) return;
  with_type(t.dtype, [&]<class T>() {
    int64_t size = t.left ? t.m : t.n;
    each_matrix(t.count, static_cast<double>(t.m) * t.n * size, [&](int64_t begin, int64_t end) {
      int m = as_int(t.m), n = as_int(t.n), lda = as_int(t.lda), ldb = leading(t.m);
      T one(1);
      for (int64_t b = begin; b < end; ++b) {
        Lapack<T>::trsm(t.left ? "L" : "R", t.upper ? "U" : "L", t.transposed ? "T" : "N",
                        t.unit ? "U" : "N", &m, &n, &one, static_cast<const T*>(t.a) + b * t.a_step,
                        &lda, static_cast<T*>(t.b) + b * t.m * t.n, &ldb, 1, 1, 1, 1);
      }
    });
  });
}

void ldl_factor(DType dtype, int64_t count, int64_t n, bool hermitian, void* a, int32_t* pivots,
                int32_t* info) {
  with_type(dtype, [&]<class T>() {
    auto factor = hermitian ? Lapack<T>::hetrf : Lapack<T>::sytrf;
    each_matrix(count, cubed(n), [&](int64_t begin, int64_t end) {
      int size = as_int(n), lda = leading(n), query = -1;
      T first{};
      if (n) factor("L", &size, static_cast<T*>(a), &lda, pivots, &first, &query, info + begin, 1);
      int length = wanted(first);
      std::vector<T> work(static_cast<size_t>(length));
      for (int64_t b = begin; b < end; ++b) {
        info[b] = 0;
        if (n == 0) continue;
        factor("L", &size, static_cast<T*>(a) + b * n * n, &lda, pivots + b * n, work.data(),
               &length, info + b, 1);
      }
    });
  });
}

void ldl_solve(DType dtype, int64_t count, int64_t n, int64_t k, bool hermitian, const void* ld,
               const int32_t* pivots, void* b) {
  if (n == 0 || k == 0) return;
  with_type(dtype, [&]<class T>() {
    auto solve = hermitian ? Lapack<T>::hetrs : Lapack<T>::sytrs;
    each_matrix(count, static_cast<double>(n) * n * k, [&](int64_t begin, int64_t end) {
      int size = as_int(n), cols = as_int(k), info = 0;
      for (int64_t i = begin; i < end; ++i) {
        solve("L", &size, &cols, static_cast<const T*>(ld) + i * n * n, &size, pivots + i * n,
              static_cast<T*>(b) + i * n * k, &size, &info, 1);
      }
    });
  });
}

}  // namespace facula::kernels
