// Matrix products as the operator layer asks for them, and the table of the vectorised kernels that
// take the shapes for which the libraries are slow. Which shape goes where is in
// cpu/library/gemm.cpp.
#pragma once
#include <cstdint>

#include "facula/base/export.h"
#include "facula/core/dtype.h"

namespace facula::kernels {

// Gemm is c = alpha * a b + beta * c + bias with a of m x k, b of k x n and c of m x n elements of
// one type. a and b have any strides that gemm_strides accepts; the rows of c are dense. With beta
// 0 c need not be initialised. bias has n dense elements and is added to every row.
struct Gemm {
  DType dtype = kFloat32;
  int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;
  int64_t a_row = 0, a_col = 1;
  const void* b = nullptr;
  int64_t b_row = 0, b_col = 1;
  void* c = nullptr;
  int64_t c_row = 0;
  double alpha = 1, beta = 0;
  const void* bias = nullptr;
};

// GemmBatch repeats a Gemm over two outer dimensions; the strides count elements, those of a and b
// may be 0.
struct GemmBatch {
  int64_t count[2] = {1, 1};
  int64_t a[2] = {0, 0}, b[2] = {0, 0}, c[2] = {0, 0};
};

// gemm_strides says whether a matrix with these sizes and strides can be an operand as it is: one
// stride is 1 and the other steps over it. float16 and bfloat16 are not accepted by gemm at all.
FACULA_API bool gemm_strides(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride);

// gemm_is_small says whether a product is cheap enough for kernels that take any strides.
constexpr bool gemm_is_small(DType dtype, int64_t m, int64_t n, int64_t k) {
  return (dtype == kFloat32 || dtype == kFloat64) && k <= 256 && m * n * k <= 40000;
}

// gemm computes one product on the pool; the result does not depend on the number of threads.
FACULA_API void gemm(const Gemm& g);

// gemm_batch computes a batch of products, split over the pool.
FACULA_API void gemm_batch(const Gemm& g, const GemmBatch& batch);

// dot writes the sum of x[i] * y[i] (conj(x[i]) * y[i]) of n elements; strides count elements.
FACULA_API void dot(DType dtype, void* out, const void* x, int64_t x_stride, const void* y,
                    int64_t y_stride, int64_t n, bool conjugate);

// GemmKernels are the hand-written kernels, one set an instruction set.
struct GemmKernels {
  // Products with k <= 256 of float32 and float64; any strides, any alpha, beta and bias.
  void (*small)(const Gemm& g);
  // float32, b given as rows of k dense elements (b_row 1): columns [begin, end) of c.
  void (*skinny)(const Gemm& g, int64_t begin, int64_t end);
  // Rows [begin, end) of a product of integers or bool, any strides.
  void (*integer)(const Gemm& g, int64_t begin, int64_t end);
  void (*dot)(DType dtype, void* out, const void* x, int64_t x_stride, const void* y,
              int64_t y_stride, int64_t n, bool conjugate);
};
extern FACULA_API const GemmKernels* products;

}  // namespace facula::kernels
