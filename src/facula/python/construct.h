// Tensors from Python data: numbers, nested sequences, arrays, other tensors.
#pragma once
#include <optional>

#include "facula/core/tensor.h"
#include "facula/python/object.h"

namespace facula::python {

// store_scalar writes one number as an element of `dtype`; RuntimeError when an integer does not
// fit, TypeError for complex numbers in real types.
void store_scalar(void* p, DType dtype, const Scalar& value);

// unsigned_of reads an int for uint64; OverflowError for negative ones and beyond 64 bits.
Scalar unsigned_of(PyObject* number);

// tensor_from_data makes a new tensor from data: the type is inferred by PyTorch's rules unless
// given. Tensors and arrays are copied if `copy`, else shared where type and device allow it.
Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype, std::optional<Device> device,
                        bool copy);

extern PyMethodDef construct_functions[];

}  // namespace facula::python
