// Inputs and sums that are the same in C++ and in PyTorch, for values recorded there.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "facula/nn/module.h"
#include "facula/nn/values.h"

namespace facula::nn {

// wave is sin(i + shift) over the places i.
inline Tensor wave(IntList size, double shift = 0) {
  int64_t n = 1;
  for (int64_t s : size) n *= s;
  std::vector<float> values(static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(std::sin(static_cast<double>(i) + shift));
  }
  return tensor_of(values, size);
}

// checksum is the sum of the elements times cos(i).
inline double checksum(const Tensor& t) {
  double total = 0;
  std::vector<double> values = values_of(t);
  for (size_t i = 0; i < values.size(); ++i) total += values[i] * std::cos(static_cast<double>(i));
  return total;
}

// with_waves sets the parameters to waves of their own, in the order of their names.
template <class M>
M with_waves(M module) {
  double shift = 0;
  for (auto& [name, tensor] : module.state_dict()) {
    if (tensor.dtype() != kFloat32 || name.find("running") != std::string::npos) continue;
    copy_(tensor, wave(tensor.sizes(), ++shift) * 0.3);
  }
  return module;
}

}  // namespace facula::nn
