// Sampling of images at given positions, defined in grid.cpp.
#pragma once
#include "facula/kernels/cpu/isa.h"
#include "facula/kernels/image.h"

namespace facula::kernels::FACULA_ISA {

void grid_sample(DType dtype, void* out, const void* in, const void* grid, const GridShape& s);
void grid_sample_backward(DType dtype, void* dx, void* dgrid, const void* grad, const void* in,
                          const void* grid, const GridShape& s);

}  // namespace facula::kernels::FACULA_ISA
