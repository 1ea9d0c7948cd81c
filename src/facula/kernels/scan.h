// The scan family: running sums, products and extremes along one dimension. Floats accumulate in
// double, integers in int64; the result is stored in the output's type.
#pragma once
#include "facula/kernels/view.h"

namespace facula::kernels {

struct ScanKernels {
  void (*cumsum)(const View& out, const View& in, int64_t dim);
  void (*cumprod)(const View& out, const View& in, int64_t dim);
  void (*logcumsumexp)(const View& out, const View& in, int64_t dim);
  // The positions are those of the last of equal extremes; NaN stays once met.
  void (*cummax)(const View& values, const View& indices, const View& in, int64_t dim);
  void (*cummin)(const View& values, const View& indices, const View& in, int64_t dim);
};
extern FACULA_API const ScanKernels* scan;

}  // namespace facula::kernels
