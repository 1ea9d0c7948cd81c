// PyTensor, the Python object of a tensor, and the rules of who owns whom: Python owns the C++
// tensor; when Python lets go while C++ still holds it, and the object has state worth keeping
// (a dict, weak references, a subclass), C++ owns the Python object.
#pragma once
#include "facula/core/tensor.h"
#include "facula/python/object.h"

namespace facula::python {

// PyTensor holds one count of the C++ tensor, unless kOwnsPython is set in its flags.
struct PyTensor {
  PyObject_HEAD TensorImpl* impl;
  PyObject* dict;
  PyObject* weak;
};

extern PyTypeObject tensor_type;       // facula.Tensor
extern PyTypeObject tensor_meta_type;  // its metaclass

// is_tensor says whether an object is a Tensor or of a subclass.
inline bool is_tensor(PyObject* o) {
  return Py_TYPE(o) == &tensor_type || PyType_IsSubtype(Py_TYPE(o), &tensor_type);
}
inline bool is_exact_tensor(PyObject* o) { return Py_TYPE(o) == &tensor_type; }

// null_tensor raises for an object whose tensor was never set (a subclass that skipped __new__).
[[noreturn]] void null_tensor();

// impl gives the C++ tensor of an object that is_tensor.
inline TensorImpl* impl(PyObject* o) {
  TensorImpl* p = reinterpret_cast<PyTensor*>(o)->impl;
  if (!p) [[unlikely]]
    null_tensor();
  return p;
}
// unwrap borrows the object's tensor as a handle, without counting.
inline const Tensor& unwrap(PyObject* o) {
  impl(o);
  static_assert(sizeof(Tensor) == sizeof(TensorImpl*));
  return *reinterpret_cast<const Tensor*>(&reinterpret_cast<PyTensor*>(o)->impl);
}
// expect_tensor is unwrap with a TypeError "op: expected a Tensor, got str".
const Tensor& expect_tensor(PyObject* o, const char* op);

// wrap gives the Python object of a tensor (a new reference); None for an undefined one.
PyObject* wrap(Tensor t);
// wrap_as makes a new object of a subclass around a tensor that has no Python object yet.
PyObject* wrap_as(PyTypeObject* type, Tensor t);

// owned_by_cpp counts the Python objects that only C++ keeps alive: flipped tensors, hooks and
// contexts of custom functions. While it is 0 the garbage collector need not look into the graph.
extern std::atomic<int64_t> owned_by_cpp;

// The parts of the type that live in files of their own.
extern PyNumberMethods tensor_number;
extern PyMappingMethods tensor_mapping;
extern PySequenceMethods tensor_sequence;
extern PyGetSetDef tensor_getset[];
void fill_getset();
extern PyMethodDef tensor_methods[];
PyObject* tensor_iterate(PyObject* self);
Py_ssize_t tensor_length(PyObject* self);
PyObject* tensor_richcompare(PyObject* a, PyObject* b, int op);
// holds_itself says whether a leaf's gradient or hooks may lead back to it: then its object is
// worth keeping, because only Python's garbage collector can free such a cycle.
bool holds_itself(const TensorImpl* p);
int tensor_traverse(PyObject* self, visitproc visit, void* arg);
int tensor_clear(PyObject* self);
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs);

// init_tensor_type readies the type and puts it into the module as TensorBase and Tensor.
void init_tensor_type(PyObject* module);

}  // namespace facula::python
