// Writes into tensors whose elements share memory, expanded ones, which a few operators take.
#pragma once
#include "facula/core/tensor.h"

namespace facula {

// warn_of_overlap says whether elements of `self` share memory, and warns if so.
bool warn_of_overlap(const Tensor& self, const char* op);

// distinct_elements is the part of `self` in which every element has memory of its own.
Tensor distinct_elements(const Tensor& self);

// fill_shared writes a 0-d value where a mask of self's shape holds for one of the elements that
// share memory.
void fill_shared(const Tensor& self, const Tensor& mask, const Tensor& value);

// put_shared writes or adds values of the subscript's shape one after the other.
void put_shared(const Tensor& self, TensorList indices, const Tensor& values, bool accumulate);

}  // namespace facula
