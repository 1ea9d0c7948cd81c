// Spectra: eigenvalues of Hermitian and of general matrices, singular values.
#include <cmath>
#include <cstring>

#include "facula/kernels/cpu/library/lapack_routines.h"

namespace facula::kernels {
namespace {

using namespace lapack;

// HermitianCall keeps the work space of heevd (syevd for real types).
template <class T>
struct HermitianCall {
  using Real = typename Lapack<T>::Real;
  const char *job, *half;
  int n;
  std::vector<T> work{1};
  std::vector<Real> real_work{1};
  std::vector<int> int_work{1};

  int run(T* a, Real* values, bool query) {
    int info = 0, lda = leading(n);
    int length = query ? -1 : static_cast<int>(work.size());
    int reals = query ? -1 : static_cast<int>(real_work.size());
    int ints = query ? -1 : static_cast<int>(int_work.size());
    if constexpr (Lapack<T>::kComplex) {
      Lapack<T>::heevd(job, half, &n, a, &lda, values, work.data(), &length, real_work.data(),
                       &reals, int_work.data(), &ints, &info, 1, 1);
    } else {
      Lapack<T>::heevd(job, half, &n, a, &lda, values, work.data(), &length, int_work.data(), &ints,
                       &info, 1, 1);
    }
    return info;
  }

  void prepare() {
    T none{};
    Real value{};
    run(&none, &value, true);
    work.resize(static_cast<size_t>(wanted(work[0])));
    real_work.resize(static_cast<size_t>(wanted(real_work[0])));
    int_work.resize(static_cast<size_t>(std::max(1, int_work[0])));
  }
};

// SvdCall keeps the work space of gesdd.
template <class T>
struct SvdCall {
  using Real = typename Lapack<T>::Real;
  char parts;
  int m, n;
  std::vector<T> work{1};
  std::vector<Real> real_work;
  std::vector<int> int_work;

  int run(T* a, Real* s, T* u, T* vh, bool query) {
    int info = 0, lda = leading(m), length = query ? -1 : static_cast<int>(work.size());
    int k = std::min(m, n), ldu = leading(m), ldv = leading(parts == 'S' ? k : n);
    if constexpr (Lapack<T>::kComplex) {
      Lapack<T>::gesdd(&parts, &m, &n, a, &lda, s, u, &ldu, vh, &ldv, work.data(), &length,
                       real_work.data(), int_work.data(), &info, 1);
    } else {
      Lapack<T>::gesdd(&parts, &m, &n, a, &lda, s, u, &ldu, vh, &ldv, work.data(), &length,
                       int_work.data(), &info, 1);
    }
    return info;
  }

  void prepare() {
    size_t small = static_cast<size_t>(std::min(m, n)), large = static_cast<size_t>(std::max(m, n));
    int_work.resize(8 * small + 1);
    if (Lapack<T>::kComplex) {
      real_work.resize(
          std::max(7 * small, small * std::max(5 * small + 7, 2 * large + 2 * small + 1)) + 1);
    }
    T none{};
    Real value{};
    run(&none, &value, &none, &none, true);
    work.resize(static_cast<size_t>(wanted(work[0])));
  }
};

// pair_vectors turns LAPACK's real columns into complex eigenvectors: a conjugate pair of values
// has the real and the imaginary part in neighbouring columns.
template <class R>
void pair_vectors(int64_t n, const R* imaginary, const R* columns, std::complex<R>* out) {
  for (int64_t j = 0; j < n; ++j) {
    bool pair = imaginary[j] != 0 && j + 1 < n;
    for (int64_t i = 0; i < n; ++i) {
      R re = columns[j * n + i], im = pair ? columns[(j + 1) * n + i] : R(0);
      out[j * n + i] = {re, im};
      if (pair) out[(j + 1) * n + i] = {re, -im};
    }
    if (pair) ++j;
  }
}

// GeneralCall keeps the work space of geev.
template <class T>
struct GeneralCall {
  using Real = typename Lapack<T>::Real;
  using Complex = std::complex<Real>;
  int n;
  bool vectors;
  std::vector<T> work{1}, columns;
  std::vector<Real> real_work, parts;

  int run(T* a, Complex* values, Complex* out, bool query) {
    int info = 0, size = leading(n), length = query ? -1 : static_cast<int>(work.size());
    const char* job = vectors ? "V" : "N";
    T none{};
    if constexpr (Lapack<T>::kComplex) {
      Lapack<T>::geev("N", job, &n, a, &size, values, &none, &size, out, &size, work.data(),
                      &length, real_work.data(), &info, 1, 1);
    } else {
      Real *re = parts.data(), *im = re + n;
      Lapack<T>::geev("N", job, &n, a, &size, re, im, &none, &size, columns.data(), &size,
                      work.data(), &length, &info, 1, 1);
      if (query || info) return info;
      for (int i = 0; i < n; ++i) values[i] = {re[i], im[i]};
      if (vectors) pair_vectors<Real>(n, im, columns.data(), out);
    }
    return info;
  }

  void prepare() {
    size_t size = static_cast<size_t>(n);
    real_work.resize(2 * size + 1);
    if (!Lapack<T>::kComplex) {
      parts.resize(2 * size + 1);
      columns.resize(vectors ? size * size + 1 : 1);
    }
    T none{};
    Complex value{};
    run(&none, &value, &value, true);
    work.resize(static_cast<size_t>(wanted(work[0])));
  }
};

}  // namespace

void eigh(DType dtype, int64_t count, int64_t n, bool upper, bool vectors, void* a, void* values,
          int32_t* info) {
  with_type(dtype, [&]<class T>() {
    using Real = typename Lapack<T>::Real;
    each_matrix(count, 4.0 * n * n * n, [&](int64_t begin, int64_t end) {
      HermitianCall<T> call{vectors ? "V" : "N", upper ? "U" : "L", as_int(n)};
      if (n) call.prepare();
      for (int64_t b = begin; b < end; ++b) {
        info[b] = 0;
        if (n == 0) continue;
        info[b] =
            call.run(static_cast<T*>(a) + b * n * n, static_cast<Real*>(values) + b * n, false);
      }
    });
  });
}

void svd(DType dtype, int64_t count, int64_t m, int64_t n, char parts, void* a, void* s, void* u,
         void* vh, int32_t* info) {
  int64_t k = std::min(m, n);
  int64_t u_size = m * (parts == 'A' ? m : k), v_size = n * (parts == 'A' ? n : k);
  if (parts == 'N') u_size = v_size = 0;
  with_type(dtype, [&]<class T>() {
    using Real = typename Lapack<T>::Real;
    each_matrix(count, 6.0 * m * n * k, [&](int64_t begin, int64_t end) {
      SvdCall<T> call{parts, as_int(m), as_int(n), {T{}}, {}, {}};
      if (k) call.prepare();
      for (int64_t b = begin; b < end; ++b) {
        info[b] = 0;
        if (k == 0) continue;
        info[b] =
            call.run(static_cast<T*>(a) + b * m * n, static_cast<Real*>(s) + b * k,
                     static_cast<T*>(u) + b * u_size, static_cast<T*>(vh) + b * v_size, false);
      }
    });
  });
}

void eig(DType dtype, int64_t count, int64_t n, void* a, void* values, void* vectors,
         int32_t* info) {
  with_type(dtype, [&]<class T>() {
    using Complex = std::complex<typename Lapack<T>::Real>;
    each_matrix(count, 20.0 * n * n * n, [&](int64_t begin, int64_t end) {
      GeneralCall<T> call{as_int(n), vectors != nullptr, {T{}}, {}, {}, {}};
      if (n) call.prepare();
      for (int64_t b = begin; b < end; ++b) {
        info[b] = 0;
        if (n == 0) continue;
        Complex* out = vectors ? static_cast<Complex*>(vectors) + b * n * n : nullptr;
        info[b] = call.run(static_cast<T*>(a) + b * n * n, static_cast<Complex*>(values) + b * n,
                           out, false);
      }
    });
  });
}

}  // namespace facula::kernels
