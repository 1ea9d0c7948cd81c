// facula.UntypedStorage: the bytes behind tensors, as an object of Python.
#pragma once
#include "facula/core/storage.h"
#include "facula/python/object.h"

namespace facula::python {

struct PyStorage {
  PyObject_HEAD Storage* storage;  // counted
  PyObject* dict;
  PyObject* weak;
};
extern PyTypeObject storage_type;

// wrap_storage makes an object that shares the storage.
PyObject* wrap_storage(Storage* storage);
// expect_storage borrows the storage of an UntypedStorage, or of a typed one through its
// `_untyped_storage`; TypeError otherwise.
Storage* expect_storage(PyObject* o, const char* op);
void init_storage_type(PyObject* module);

}  // namespace facula::python
