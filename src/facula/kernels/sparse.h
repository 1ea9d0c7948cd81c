// Products of a sparse matrix, given by rows, with dense ones.
#pragma once
#include <cstdint>

#include "facula/base/export.h"
#include "facula/core/dtype.h"
#include "facula/kernels/view.h"

namespace facula::kernels {

// RowMatrix is the pattern of a sparse [rows, cols] matrix: row r has the columns col[i] for i in
// [start[r], start[r + 1]).
struct RowMatrix {
  int64_t rows, cols, count;
  const int64_t* start;
  const int64_t* col;
};

// Values are dense arrays of an inexact type or int64; dense matrices are row-major. Sums are taken
// in the order of positions, whatever the number of threads.
struct SparseKernels {
  // check faults on a pattern that would lead outside: starts that do not rise from 0 to count,
  // columns out of range.
  void (*check)(const RowMatrix& m, Fault* fault);
  // out [rows, width] = matrix @ dense [cols, width]
  void (*product)(DType dtype, void* out, const RowMatrix& m, const void* values, const void* dense,
                  int64_t width);
  // out [cols, width] = matrix^T @ dense [rows, width]; not for 16-bit types
  void (*transposed_product)(DType dtype, void* out, const RowMatrix& m, const void* values,
                             const void* dense, int64_t width);
  // out[i] = sum over k of a[row of i, k] * b[col[i], k]
  void (*sample)(DType dtype, void* out, const RowMatrix& m, const void* a, const void* b,
                 int64_t width);
};
extern FACULA_API const SparseKernels* sparse;

}  // namespace facula::kernels
