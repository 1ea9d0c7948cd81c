// Orthogonal factors: QR, products of reflections and their application, least squares.
#include <cstring>

#include "facula/kernels/cpu/library/lapack_routines.h"

namespace facula::kernels {
namespace {

using namespace lapack;

// LeastCall is one problem as the drivers want it; work space is kept between calls.
template <class T>
struct LeastCall {
  using Real = typename Lapack<T>::Real;
  int m, n, k;
  Real rcond;
  std::vector<T> work;
  std::vector<Real> real_work, singular;
  std::vector<int> int_work, order;

  int64_t small() const { return std::min(m, n); }

  LeastCall(LeastSquares driver, int64_t m_, int64_t n_, int64_t k_, double r)
      : m(as_int(m_)), n(as_int(n_)), k(as_int(k_)), rcond(static_cast<Real>(r)), work(1) {
    size_t s = static_cast<size_t>(small());
    singular.resize(s + 1);
    order.resize(static_cast<size_t>(n) + 1);
    // The documented bounds for the largest depth of the divide-and-conquer tree.
    size_t levels = 32, leaf = 32, cols = static_cast<size_t>(k);
    int_work.resize(std::max<size_t>(1, 3 * s * levels + 11 * s));
    size_t real = 10 * static_cast<size_t>(std::max(m, n)) + 2 * s * leaf + 8 * s * levels +
                  3 * leaf * cols +
                  std::max<size_t>((leaf + 1) * (leaf + 1), s * (1 + cols) + 2 * cols);
    real_work.resize(std::max<size_t>(real, 5 * s + 2 * static_cast<size_t>(n) + 1));
    int rank = 0;
    run(driver, nullptr, nullptr, &rank, -1);
    work.resize(static_cast<size_t>(wanted(work[0])));
  }

  int run(LeastSquares driver, T* a, T* b, int* rank, int length) {
    int info = 0, lda = leading(m), ldb = leading(std::max(m, n));
    T *w = work.data(), none{};
    if (!a) a = b = &none;
    Real* r = real_work.data();
    Real* s = singular.data();
    if (driver == LeastSquares::kGels) {
      Lapack<T>::gels("N", &m, &n, &k, a, &lda, b, &ldb, w, &length, &info, 1);
    } else if constexpr (Lapack<T>::kComplex) {
      if (driver == LeastSquares::kGelsy) {
        Lapack<T>::gelsy(&m, &n, &k, a, &lda, b, &ldb, order.data(), &rcond, rank, w, &length, r,
                         &info);
      } else if (driver == LeastSquares::kGelsd) {
        Lapack<T>::gelsd(&m, &n, &k, a, &lda, b, &ldb, s, &rcond, rank, w, &length, r,
                         int_work.data(), &info);
      } else {
        Lapack<T>::gelss(&m, &n, &k, a, &lda, b, &ldb, s, &rcond, rank, w, &length, r, &info);
      }
    } else if (driver == LeastSquares::kGelsy) {
      Lapack<T>::gelsy(&m, &n, &k, a, &lda, b, &ldb, order.data(), &rcond, rank, w, &length, &info);
    } else if (driver == LeastSquares::kGelsd) {
      Lapack<T>::gelsd(&m, &n, &k, a, &lda, b, &ldb, s, &rcond, rank, w, &length, int_work.data(),
                       &info);
    } else {
      Lapack<T>::gelss(&m, &n, &k, a, &lda, b, &ldb, s, &rcond, rank, w, &length, &info);
    }
    return info;
  }
};

}  // namespace

void qr_factor(DType dtype, int64_t count, int64_t m, int64_t n, void* a, void* tau) {
  int64_t k = std::min(m, n);
  if (k == 0) return;
  with_type(dtype, [&]<class T>() {
    each_matrix(count, static_cast<double>(m) * n * k, [&](int64_t begin, int64_t end) {
      int rows = as_int(m), cols = as_int(n), lda = leading(m), query = -1, info = 0;
      T first{};
      Lapack<T>::geqrf(&rows, &cols, nullptr, &lda, nullptr, &first, &query, &info);
      int length = wanted(first);
      std::vector<T> work(static_cast<size_t>(length));
      for (int64_t b = begin; b < end; ++b) {
        Lapack<T>::geqrf(&rows, &cols, static_cast<T*>(a) + b * m * n, &lda,
                         static_cast<T*>(tau) + b * k, work.data(), &length, &info);
      }
    });
  });
}

void householder_columns(DType dtype, int64_t count, int64_t m, int64_t n, int64_t k, void* a,
                         const void* tau) {
  if (m == 0 || n == 0) return;
  with_type(dtype, [&]<class T>() {
    each_matrix(count, static_cast<double>(m) * n * n, [&](int64_t begin, int64_t end) {
      int rows = as_int(m), cols = as_int(n), factors = as_int(k), query = -1, info = 0;
      T first{};
      Lapack<T>::gqr(&rows, &cols, &factors, nullptr, &rows, nullptr, &first, &query, &info);
      int length = wanted(first);
      std::vector<T> work(static_cast<size_t>(length));
      for (int64_t b = begin; b < end; ++b) {
        Lapack<T>::gqr(&rows, &cols, &factors, static_cast<T*>(a) + b * m * n, &rows,
                       static_cast<const T*>(tau) + b * k, work.data(), &length, &info);
      }
    });
  });
}

void householder_apply(DType dtype, int64_t count, bool left, bool adjoint, int64_t m, int64_t n,
                       int64_t k, const void* a, const void* tau, void* c) {
  if (m == 0 || n == 0) return;
  int64_t order = left ? m : n;
  with_type(dtype, [&]<class T>() {
    const char* side = left ? "L" : "R";
    const char* how = !adjoint ? "N" : Lapack<T>::kComplex ? "C" : "T";
    each_matrix(count, static_cast<double>(m) * n * k, [&](int64_t begin, int64_t end) {
      int rows = as_int(m), cols = as_int(n), factors = as_int(k), lda = leading(order), query = -1;
      int info = 0;
      T first{};
      Lapack<T>::mqr(side, how, &rows, &cols, &factors, nullptr, &lda, nullptr, nullptr, &rows,
                     &first, &query, &info, 1, 1);
      int length = wanted(first);
      std::vector<T> work(static_cast<size_t>(length));
      for (int64_t b = begin; b < end; ++b) {
        Lapack<T>::mqr(side, how, &rows, &cols, &factors, static_cast<const T*>(a) + b * order * k,
                       &lda, static_cast<const T*>(tau) + b * k, static_cast<T*>(c) + b * m * n,
                       &rows, work.data(), &length, &info, 1, 1);
      }
    });
  });
}

void least_squares(DType dtype, int64_t count, LeastSquares driver, int64_t m, int64_t n, int64_t k,
                   double rcond, void* a, void* b, int64_t* rank, void* singular, int32_t* info) {
  int64_t small = std::min(m, n), tall = std::max(m, n);
  with_type(dtype, [&]<class T>() {
    using Real = typename Lapack<T>::Real;
    each_matrix(count, static_cast<double>(m) * n * (small + k), [&](int64_t begin, int64_t end) {
      LeastCall<T> call(driver, m, n, k, rcond);
      int length = static_cast<int>(call.work.size());
      for (int64_t i = begin; i < end; ++i) {
        std::fill(call.order.begin(), call.order.end(), 0);
        int found = 0;
        info[i] = call.run(driver, static_cast<T*>(a) + i * m * n,
                           static_cast<T*>(b) + i * tall * k, &found, length);
        if (rank) rank[i] = found;
        if (singular) {
          std::copy_n(call.singular.data(), small, static_cast<Real*>(singular) + i * small);
        }
      }
    });
  });
}

}  // namespace facula::kernels
