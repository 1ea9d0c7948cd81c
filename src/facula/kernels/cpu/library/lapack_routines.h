// LAPACK's routines for the four element types as static members of Lapack<T>, and what their
// callers share: dispatch on the dtype, loops over a batch, and work space.
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "facula/base/parallel.h"
#include "facula/core/dtype.h"
#include "facula/kernels/lapack.h"

extern "C" {
// The arguments at the end are the lengths of the texts, as Fortran passes them.
#define FACULA_LAPACK(x, T, R)                                                                  \
  void scipy_##x##potrf_(const char*, const int*, T*, const int*, int*, size_t);                \
  void scipy_##x##getrf_(const int*, const int*, T*, const int*, int*, int*);                   \
  void scipy_##x##getri_(const int*, T*, const int*, const int*, T*, const int*, int*);         \
  void scipy_##x##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);     \
  void scipy_##x##trsm_(const char*, const char*, const char*, const char*, const int*,         \
                        const int*, const T*, const T*, const int*, T*, const int*, size_t,     \
                        size_t, size_t, size_t);                                                \
  void scipy_##x##gels_(const char*, const int*, const int*, const int*, T*, const int*, T*,    \
                        const int*, T*, const int*, int*, size_t);                              \
  void scipy_##x##sytrf_(const char*, const int*, T*, const int*, int*, T*, const int*, int*,   \
                         size_t);                                                               \
  void scipy_##x##sytrs_(const char*, const int*, const int*, const T*, const int*, const int*, \
                         T*, const int*, int*, size_t);
FACULA_LAPACK(s, float, float)
FACULA_LAPACK(d, double, double)
FACULA_LAPACK(c, std::complex<float>, float)
FACULA_LAPACK(z, std::complex<double>, double)
#undef FACULA_LAPACK

// The product of reflections and its application have other names for complex types.
#define FACULA_LAPACK(x, kind, T)                                                                  \
  void scipy_##x##kind##gqr_(const int*, const int*, const int*, T*, const int*, const T*, T*,     \
                             const int*, int*);                                                    \
  void scipy_##x##kind##mqr_(const char*, const char*, const int*, const int*, const int*,         \
                             const T*, const int*, const T*, T*, const int*, T*, const int*, int*, \
                             size_t, size_t);
FACULA_LAPACK(s, or, float)
FACULA_LAPACK(d, or, double)
FACULA_LAPACK(c, un, std::complex<float>)
FACULA_LAPACK(z, un, std::complex<double>)
#undef FACULA_LAPACK

#define FACULA_LAPACK(x, R)                                                                        \
  void scipy_##x##syevd_(const char*, const char*, const int*, R*, const int*, R*, R*, const int*, \
                         int*, const int*, int*, size_t, size_t);                                  \
  void scipy_##x##gesdd_(const char*, const int*, const int*, R*, const int*, R*, R*, const int*,  \
                         R*, const int*, R*, const int*, int*, int*, size_t);                      \
  void scipy_##x##geev_(const char*, const char*, const int*, R*, const int*, R*, R*, R*,          \
                        const int*, R*, const int*, R*, const int*, int*, size_t, size_t);         \
  void scipy_##x##gelsy_(const int*, const int*, const int*, R*, const int*, R*, const int*, int*, \
                         const R*, int*, R*, const int*, int*);                                    \
  void scipy_##x##gelsd_(const int*, const int*, const int*, R*, const int*, R*, const int*, R*,   \
                         const R*, int*, R*, const int*, int*, int*);                              \
  void scipy_##x##gelss_(const int*, const int*, const int*, R*, const int*, R*, const int*, R*,   \
                         const R*, int*, R*, const int*, int*);
FACULA_LAPACK(s, float)
FACULA_LAPACK(d, double)
#undef FACULA_LAPACK

#define FACULA_LAPACK(x, T, R)                                                                     \
  void scipy_##x##heevd_(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, \
                         R*, const int*, int*, const int*, int*, size_t, size_t);                  \
  void scipy_##x##gesdd_(const char*, const int*, const int*, T*, const int*, R*, T*, const int*,  \
                         T*, const int*, T*, const int*, R*, int*, int*, size_t);                  \
  void scipy_##x##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*,  \
                        T*, const int*, T*, const int*, R*, int*, size_t, size_t);                 \
  void scipy_##x##gelsy_(const int*, const int*, const int*, T*, const int*, T*, const int*, int*, \
                         const R*, int*, T*, const int*, R*, int*);                                \
  void scipy_##x##gelsd_(const int*, const int*, const int*, T*, const int*, T*, const int*, R*,   \
                         const R*, int*, T*, const int*, R*, int*, int*);                          \
  void scipy_##x##gelss_(const int*, const int*, const int*, T*, const int*, T*, const int*, R*,   \
                         const R*, int*, T*, const int*, R*, int*);                                \
  void scipy_##x##hetrf_(const char*, const int*, T*, const int*, int*, T*, const int*, int*,      \
                         size_t);                                                                  \
  void scipy_##x##hetrs_(const char*, const int*, const int*, const T*, const int*, const int*,    \
                         T*, const int*, int*, size_t);
FACULA_LAPACK(c, std::complex<float>, float)
FACULA_LAPACK(z, std::complex<double>, double)
#undef FACULA_LAPACK
}

namespace facula::kernels::lapack {

// Lapack<T> names the routines of one element type. sytrf and sytrs factor symmetric matrices,
// hetrf and hetrs Hermitian ones; they agree for real types.
template <class T>
struct Lapack;

#define FACULA_LAPACK(x, T, R, q, ev, he)                   \
  template <>                                               \
  struct Lapack<T> {                                        \
    using Real = R;                                         \
    static constexpr bool kComplex = !std::is_same_v<T, R>; \
    static constexpr auto potrf = scipy_##x##potrf_;        \
    static constexpr auto getrf = scipy_##x##getrf_;        \
    static constexpr auto getri = scipy_##x##getri_;        \
    static constexpr auto geqrf = scipy_##x##geqrf_;        \
    static constexpr auto trsm = scipy_##x##trsm_;          \
    static constexpr auto gels = scipy_##x##gels_;          \
    static constexpr auto sytrf = scipy_##x##sytrf_;        \
    static constexpr auto sytrs = scipy_##x##sytrs_;        \
    static constexpr auto hetrf = scipy_##x##he##trf_;      \
    static constexpr auto hetrs = scipy_##x##he##trs_;      \
    static constexpr auto gqr = scipy_##x##q##gqr_;         \
    static constexpr auto mqr = scipy_##x##q##mqr_;         \
    static constexpr auto heevd = scipy_##x##ev##evd_;      \
    static constexpr auto gesdd = scipy_##x##gesdd_;        \
    static constexpr auto geev = scipy_##x##geev_;          \
    static constexpr auto gelsy = scipy_##x##gelsy_;        \
    static constexpr auto gelsd = scipy_##x##gelsd_;        \
    static constexpr auto gelss = scipy_##x##gelss_;        \
  };
FACULA_LAPACK(s, float, float, or, sy, sy)
FACULA_LAPACK(d, double, double, or, sy, sy)
FACULA_LAPACK(c, std::complex<float>, float, un, he, he)
FACULA_LAPACK(z, std::complex<double>, double, un, he, he)
#undef FACULA_LAPACK

// with_type calls f.operator()<T>() with the element type of a dtype.
template <class F>
void with_type(DType dtype, F&& f) {
  switch (dtype) {
    case kFloat32: return f.template operator()<float>();
    case kFloat64: return f.template operator()<double>();
    case kComplex64: return f.template operator()<std::complex<float>>();
    default: return f.template operator()<std::complex<double>>();
  }
}

// each_matrix calls f(begin, end) on ranges of a batch, on several threads where a matrix costs
// `work` multiply-adds or more together.
template <class F>
void each_matrix(int64_t count, double work, F&& f) {
  parallel_for(0, count, std::max<int64_t>(1, static_cast<int64_t>(40000 / std::max(work, 1.0))),
               static_cast<F&&>(f));
}

// as_int narrows a size; the operator layer has refused what does not fit.
inline int as_int(int64_t v) { return static_cast<int>(v); }
inline int leading(int64_t v) { return static_cast<int>(std::max<int64_t>(v, 1)); }

// wanted reads the size that a routine asked for in its first work element. Single precision may
// have rounded it down; a size beyond int is cut, and the routine refuses it.
template <class T>
int wanted(const T& work) {
  double size = static_cast<double>(std::real(work));
  if (sizeof(std::real(work)) == 4) size *= 1.0000003;
  return static_cast<int>(std::clamp<double>(size, 1, INT32_MAX));
}

}  // namespace facula::kernels::lapack
