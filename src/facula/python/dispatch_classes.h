// __torch_dispatch__ of tensor classes: which classes have one, and values of their tensors.
#pragma once
#include "facula/python/tensor_type.h"

namespace facula::python {

// has_dispatch says whether a class of tensors takes calls of operators by a __torch_dispatch__.
bool has_dispatch(PyTypeObject* type);
// dispatched_value asks the class of a tensor with one element for it.
Scalar dispatched_value(const Tensor& t);
// dispatched_seed gives the gradient that a backward pass starts with: `seed`, or for a root of
// such a class that is given none, ones of its class.
Tensor dispatched_seed(const Tensor& root, Tensor seed);

}  // namespace facula::python
