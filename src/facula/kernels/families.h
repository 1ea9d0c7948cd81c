// The list of the families of kernels, for select.cpp, which points them at the copies for this
// processor. The header of a family declares its struct and the pointer that operators call.
#pragma once
#include "facula/base/export.h"

// Calls X(struct name, variable) for each family written by hand.
#define FACULA_KERNEL_FAMILIES(X) \
  X(CopyKernels, copy)            \
  X(OptimKernels, optim)          \
  X(ReduceKernels, reduce)        \
  X(ScanKernels, scan)            \
  X(SortKernels, sort)            \
  X(IndexKernels, index)          \
  X(ScatterKernels, scatter)      \
  X(GemmKernels, products)        \
  X(UnfoldKernels, unfolds)       \
  X(SoftmaxKernels, softmaxes)    \
  X(NormKernels, norms)           \
  X(PoolKernels, pools)           \
  X(ImageKernels, pictures)       \
  X(RecurrentKernels, recurrent)  \
  X(AttentionKernels, attention)  \
  X(BagKernels, bags)             \
  X(FftKernels, transforms)       \
  X(SparseKernels, sparse)

namespace facula::kernels {

#define FACULA_DECLARE(Struct, name) \
  struct Struct;                     \
  extern FACULA_API const Struct* name;
FACULA_KERNEL_FAMILIES(FACULA_DECLARE)
#undef FACULA_DECLARE

// isa_level says which copies are in use: 2 for AVX2, 3 for AVX-512.
FACULA_API int isa_level();

}  // namespace facula::kernels
