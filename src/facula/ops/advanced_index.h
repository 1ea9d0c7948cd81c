// Advanced indexing: what index tensors and masks of a subscript mean for the operand's geometry.
#pragma once
#include <vector>

#include "facula/core/tensor.h"

namespace facula {

// AdvancedIndex is a subscript made ready for the kernels: the operand with its indexed dimensions
// first, int64 positions of one shape, and the shape of the result in the user's order.
struct AdvancedIndex {
  Tensor self;                  // an alias, indexed dimensions first
  std::vector<Tensor> indices;  // expanded to one shape; empty: nothing is indexed
  Sizes result_sizes;           // of the indexing expression
  int64_t first = 0;            // where the shape of the positions stands in the result

  // operand permutes a tensor of the result's shape so that the positions' dimensions come first.
  Tensor operand(const Tensor& t) const;
};

// prepare_index reads the subscript; undefined indices are whole dimensions, bool and uint8 ones
// are masks. IndexError as PyTorch raises.
AdvancedIndex prepare_index(const Tensor& self, TensorList indices);

}  // namespace facula
