// Kernels of images: gathers by index maps (padding, nearest resampling), one-dimensional
// resampling with weights, and sampling at given positions.
#pragma once
#include <cstdint>

#include "facula/base/export.h"
#include "facula/core/dtype.h"
#include "facula/kernels/view.h"

namespace facula::kernels {

// IndexMap says where each output position of three dimensions comes from: out[p, i, j, k] =
// in[p, map[0][i], map[1][j], map[2][k]].
struct IndexMap {
  int64_t planes;
  int64_t input[3], output[3];
  const int64_t* map[3];
};

// Taps are the weights of a resampling of one dimension: output o is the sum over t of
// weight[o * count + t] * input[index[o * count + t]].
struct Taps {
  int64_t inputs, outputs, count;
  const int64_t* index;
  const double* weight;
};

// GridShape is the geometry of grid_sample: input [batch, channels, in...], grid [batch, out...,
// spatial], result [batch, channels, out...]; a 2-d one has in[0] = 1.
struct GridShape {
  int64_t batch, channels, spatial;
  int64_t in[3];
  int64_t out;  // positions a sample
  int mode;     // 0 linear, 1 nearest, 2 cubic
  int padding;  // 0 zeros, 1 border, 2 reflection
  bool align_corners;
  bool pixels;  // the grid holds positions in pixels; derivatives are still by coordinates
};

struct ImageKernels {
  // Elements of `item` bytes are only moved.
  void (*gather)(int64_t item, void* out, const void* in, const IndexMap& m);
  // in = 0, then out added at its sources.
  void (*scatter)(DType dtype, void* in, const void* out, const IndexMap& m);
  // float and double: [outer, inputs, inner] to [outer, outputs, inner], and the adjoint.
  void (*resample)(DType dtype, void* out, const void* in, int64_t outer, int64_t inner,
                   const Taps& taps);
  void (*resample_adjoint)(DType dtype, void* in, const void* out, int64_t outer, int64_t inner,
                           const Taps& taps);
  // float and double, dense.
  void (*grid_sample)(DType dtype, void* out, const void* in, const void* grid, const GridShape& s);
  // dx or dgrid may be null.
  void (*grid_sample_backward)(DType dtype, void* dx, void* dgrid, const void* grad, const void* in,
                               const void* grid, const GridShape& s);
};
extern FACULA_API const ImageKernels* pictures;

}  // namespace facula::kernels
