// Memory that is shared with others: NumPy arrays, buffers, DLPack capsules.
#pragma once
#include "facula/core/tensor.h"
#include "facula/python/object.h"

namespace facula::python {

// is_ndarray says whether an object is a numpy.ndarray; never imports NumPy.
bool is_ndarray(PyObject* o);
// tensor_from_array makes a tensor over the memory of an ndarray: ValueError for negative strides
// and foreign byte order, TypeError for types that tensors lack. Warns for read-only memory if
// `warn`, and marks the storage so that in-place writes are refused.
Tensor tensor_from_array(PyObject* array, bool warn);
// array_from_tensor makes an ndarray over the memory of a tensor, which it keeps alive.
PyObject* array_from_tensor(PyObject* tensor);

// tensor_from_buffer is frombuffer(): elements of `dtype` out of any object with a buffer.
Tensor tensor_from_buffer(PyObject* object, DType dtype, int64_t count, int64_t offset);

// DLPack both ways. The capsule is consumed.
Tensor tensor_from_capsule(PyObject* capsule);
PyObject* capsule_from_tensor(PyObject* tensor, bool versioned, bool copied);

// read_only_view says whether a tensor lies in memory that must not be written.
inline bool read_only_view(const Tensor& t) { return t->storage->read_only(); }

extern PyMethodDef foreign_functions[];

}  // namespace facula::python
