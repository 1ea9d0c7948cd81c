// Conversion of single Python objects: what an argument accepts, and what it becomes. Bound uses
// it for the parameters of operators, the hand-written functions use it directly.
#pragma once
#include "facula/python/bound.h"
#include "facula/python/object.h"
#include "facula/python/tensor_type.h"

namespace facula::python {

// is_number says whether an object is a Python or NumPy number (bool included), not a tensor.
bool is_number(PyObject* o);
// is_integer says whether an object is an integer: int, a NumPy integer, anything with __index__;
// bools and tensors are not.
bool is_integer(PyObject* o);
// is_numpy_scalar says whether an object is an instance of numpy.generic; never imports NumPy.
bool is_numpy_scalar(PyObject* o);

// try_scalar converts numbers; false leaves `s` alone. Tensors are not numbers here.
bool try_scalar(PyObject* o, Scalar& s);
// to_scalar converts numbers and 0-d tensors; TypeError naming `op` otherwise.
Scalar to_scalar(PyObject* o, const char* op);
// to_int64 converts integers; TypeError naming `op`, OverflowError beyond 64 bits.
int64_t to_int64(PyObject* o, const char* op);
double to_real(PyObject* o, const char* op);
// to_sizes converts a list, a tuple or one int; TypeError naming `op`.
Sizes to_sizes(PyObject* o, const char* op);
// to_bool accepts True and False (and NumPy's); TypeError naming `op`.
bool to_bool(PyObject* o, const char* op);

// scalar_object makes a Python number of a Scalar; scalar_at reads one element.
PyObject* scalar_object(const Scalar& s);
Scalar scalar_at(const void* data, DType dtype);

// fits says whether an object is acceptable for a type of parameter.
bool fits(ArgType type, PyObject* o);
// type_title gives the type as error messages name it: "Tensor", "Number", "tuple of ints".
const char* type_title(ArgType type);

// shown_name gives the name of a parameter as users know it: `self` is called input.
inline const char* shown_name(const Param& p) {
  return strcmp(p.name, "self") == 0 ? "input" : p.name;
}

// bind matches arguments to a signature; on failure it sets TypeError if `explain`, and is false.
bool bind(Bound& b, const Signature& s, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
          PyObject* kwnames, bool explain);
// raise_no_overload sets the TypeError that lists all overloads.
void raise_no_overload(const Entry* entries, int count, PyObject* self, PyObject* const* args,
                       Py_ssize_t nargs, PyObject* kwnames);

// ManualEntry makes hand-written functions look like generated ones: a static one holds the
// parameters and calls dispatch.
struct ManualEntry {
  Entry entry;
  PyObject* operator()(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kw) const {
    return dispatch(&entry, 1, self, args, n, kw);
  }
};

}  // namespace facula::python
