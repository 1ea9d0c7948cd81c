// Factorizations, solvers and spectra of dense matrices, as the operator layer asks for them. All
// matrices are column-major without gaps, `count` of them one after another, of float32, float64,
// complex64 or complex128. `info` has one entry a matrix: 0, or LAPACK's number of what went wrong.
#pragma once
#include <cstdint>

#include "facula/base/export.h"
#include "facula/core/dtype.h"

namespace facula::kernels {

// cholesky_factor overwrites Hermitian matrices of n rows by their factor; reads one triangle and
// clears the other.
FACULA_API void cholesky_factor(DType dtype, int64_t count, int64_t n, bool upper, void* a,
                                int32_t* info);

// lu_factor overwrites matrices of m x n by L below the diagonal and U; `pivots` has min(m, n) rows
// a matrix, counted from 1. Without pivoting rows stay where they are.
FACULA_API void lu_factor(DType dtype, int64_t count, int64_t m, int64_t n, bool pivot, void* a,
                          int32_t* pivots, int32_t* info);

// lu_inverse overwrites factored matrices by their inverses; singular ones (info not 0) are left.
FACULA_API void lu_inverse(DType dtype, int64_t count, int64_t n, void* lu, const int32_t* pivots,
                           const int32_t* info);

// pivots_to_rows turns the swaps of each matrix into the row of the input that each row came from.
FACULA_API void pivots_to_rows(int64_t count, int64_t rows, int64_t swaps, const int32_t* pivots,
                               int64_t* from);

// Triangular names op(A) X = B, or X op(A) = B when left is false, with X over B of m x n. op
// transposes when transposed is set. A is column-major with leading dimension lda; a_step elements
// lie between the matrices of a batch, 0 for one that all share.
struct Triangular {
  DType dtype = kFloat32;
  bool left = true, upper = false, transposed = false, unit = false;
  int64_t count = 0, m = 0, n = 0;
  const void* a = nullptr;
  int64_t lda = 1, a_step = 0;
  void* b = nullptr;
};
FACULA_API void solve_triangles(const Triangular& t);

// ldl_factor overwrites symmetric (or Hermitian) matrices by the Bunch-Kaufman factor of their
// lower triangle; ldl_solve overwrites the n x k matrices b by solutions.
FACULA_API void ldl_factor(DType dtype, int64_t count, int64_t n, bool hermitian, void* a,
                           int32_t* pivots, int32_t* info);
FACULA_API void ldl_solve(DType dtype, int64_t count, int64_t n, int64_t k, bool hermitian,
                          const void* ld, const int32_t* pivots, void* b);

// qr_factor overwrites m x n matrices by R and the Householder vectors below it; `tau` has
// min(m, n) entries a matrix.
FACULA_API void qr_factor(DType dtype, int64_t count, int64_t m, int64_t n, void* a, void* tau);

// householder_columns overwrites m x n matrices, whose first k columns hold Householder vectors, by
// the first n columns of the product of the reflections.
FACULA_API void householder_columns(DType dtype, int64_t count, int64_t m, int64_t n, int64_t k,
                                    void* a, const void* tau);

// householder_apply overwrites the m x n matrices c by Q c or c Q, Q (adjoint when set) being the
// product of k reflections in the columns of a, which has m rows, or n when left is false.
FACULA_API void householder_apply(DType dtype, int64_t count, bool left, bool adjoint, int64_t m,
                                  int64_t n, int64_t k, const void* a, const void* tau, void* c);

// LeastSquares names the driver of least_squares.
enum class LeastSquares : uint8_t { kGels, kGelsy, kGelsd, kGelss };

// least_squares overwrites the max(m, n) x k matrices b by solutions in their first n rows. rank
// has one entry a matrix (not for gels); singular has min(m, n) real numbers (gelsd and gelss).
FACULA_API void least_squares(DType dtype, int64_t count, LeastSquares driver, int64_t m, int64_t n,
                              int64_t k, double rcond, void* a, void* b, int64_t* rank,
                              void* singular, int32_t* info);

// eigh gives the eigenvalues of Hermitian matrices in order, real, and overwrites a by the
// eigenvectors when they are wanted; one triangle is read.
FACULA_API void eigh(DType dtype, int64_t count, int64_t n, bool upper, bool vectors, void* a,
                     void* values, int32_t* info);

// svd gives singular values in falling order; a is overwritten. `parts` is 'N' (values only), 'S'
// (u of m x k and vh of k x n, k = min(m, n)) or 'A' (square u and vh).
FACULA_API void svd(DType dtype, int64_t count, int64_t m, int64_t n, char parts, void* a, void* s,
                    void* u, void* vh, int32_t* info);

// eig gives complex eigenvalues and, unless `vectors` is null, complex eigenvectors of length 1.
FACULA_API void eig(DType dtype, int64_t count, int64_t n, void* a, void* values, void* vectors,
                    int32_t* info);

}  // namespace facula::kernels
