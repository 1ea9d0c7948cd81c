// Sparse tensors in Python; see facula/sparse.
#pragma once
#include "facula/python/object.h"
#include "facula/sparse/parts.h"

namespace facula::python {

// wrap_sparse gives the Python object of a sparse handle, an instance of
// facula.sparse.SparseTensor.
PyObject* wrap_sparse(Tensor t);
// sparse_factory makes the result of zeros() or empty() of a sparse layout; NotImplementedError for
// other functions.
Tensor sparse_factory(const char* name, PyObject* layout, IntList sizes, DType dtype);

}  // namespace facula::python
