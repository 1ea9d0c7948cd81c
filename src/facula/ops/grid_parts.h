// grid_sample built from operators that have derivatives.
#pragma once
#include "facula/core/tensor.h"

namespace facula {

// grid_sample_from_parts computes grid_sample; mode and padding are numbered as in
// kernels::GridShape.
FACULA_API Tensor grid_sample_from_parts(const Tensor& input, const Tensor& grid, int mode,
                                         int padding, bool align_corners);

}  // namespace facula
