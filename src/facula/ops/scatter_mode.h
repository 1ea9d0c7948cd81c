// How scatter_reduce and index_reduce combine: the kernel's mode, what replaces self, the mean.
#pragma once
#include <string_view>

#include "facula/core/tensor.h"
#include "facula/kernels/scatter.h"

namespace facula {

struct ScatterMode {
  kernels::Combine combine;
  bool mean = false;
  // start gives the identity that takes self's place when it is left out.
  Scalar start(DType dtype) const;
  // divide divides sums by counts, in place; a count of 0 counts as 1, integers round down.
  void divide(const Tensor& sum, const Tensor& count) const;
};

// scatter_mode reads "sum" (where allowed), "prod", "mean", "amax" or "amin"; RuntimeError.
ScatterMode scatter_mode(std::string_view name, bool with_sum, const char* op);

// scalar_of reads the only element of a tensor.
Scalar scalar_of(const Tensor& t);

}  // namespace facula
