// __torch_function__: how subclasses of Tensor, other objects and function modes take over calls.
#pragma once
#include "facula/python/bound.h"
#include "facula/python/tensor_type.h"

namespace facula::python {

// Per thread: DisableTorchFunctionSubclass is on; the function modes that are on.
[[gnu::tls_model("initial-exec")]] extern thread_local bool overrides_disabled;
[[gnu::tls_model("initial-exec")]] extern thread_local bool modes_active;

// has_override says whether the type of an object defines a __torch_function__ that is not the
// disabled one.
bool has_override_slow(PyObject* o);
inline bool has_override(PyObject* o) {
  PyTypeObject* t = Py_TYPE(o);
  if (t == &tensor_type || t == &PyLong_Type || t == &PyFloat_Type || o == Py_None ||
      t == &PyBool_Type || t == &PyTuple_Type || t == &PyList_Type) {
    return false;
  }
  return has_override_slow(o);
}
// intercepted says whether a call with this one tensor argument goes to __torch_function__.
inline bool intercepted(PyObject* self) {
  return modes_active ||
         (Py_TYPE(self) != &tensor_type && !overrides_disabled && has_override_slow(self));
}

// call_override runs the __torch_function__ of modes and then of the overloaded arguments, in
// PyTorch's order, until one does not answer NotImplemented.
PyObject* call_override(PyObject* func, const std::vector<PyObject*>& overloaded, PyObject* args,
                        PyObject* kwargs);

// collect_override appends an argument to the overloaded ones unless one of its type is there.
void collect_override(std::vector<PyObject*>& overloaded, PyObject* o);

// override_bound calls the overrides of a bound call; has_bound_override says whether there are
// any.
bool has_bound_override(const Bound& b);
PyObject* override_bound(const Bound& b, bool is_method);

// override_getter is for attributes: `Tensor.<name>.__get__` is the function that is passed on.
PyObject* override_getter(PyObject* self, const char* name);
int override_setter(PyObject* self, const char* name, PyObject* value);
// override_method is for hand-written methods with positional arguments.
PyObject* override_method(PyObject* self, const char* name, PyObject* const* args, Py_ssize_t n,
                          PyObject* kwnames);

// leave_functions_to_dispatch is called for each new class: one that defines __torch_dispatch__,
// and no __torch_function__, has its functions not overridden. -1 with an exception set when it
// fails.
int leave_functions_to_dispatch(PyTypeObject* type);

// init_overrides adds the functions and Tensor.__torch_function__, the default.
void init_overrides(PyObject* module);

}  // namespace facula::python
