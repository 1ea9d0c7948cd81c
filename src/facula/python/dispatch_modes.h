// Boxed calls and Python: how arguments and results of operators pass to code written in Python,
// for dispatch modes and for classes with a __torch_dispatch__.
#pragma once
#include "facula/ops/boxed.h"
#include "facula/python/object.h"

namespace facula::python {

// boxed_object gives a value as an object (a new reference), boxed_objects a list of them.
PyObject* boxed_object(const Value& v);
Owned boxed_objects(std::span<const Value> values);
// boxed_results takes what Python code gave for a call: one object, or a tuple of results.
Values boxed_results(PyObject* result, const char* op);
// operator_handle is the object by which Python calls an operator again (_run_operator).
Owned operator_handle(const OpInfo& op);

// GilLock holds the interpreter lock of Python for its scope.
class GilLock {
 public:
  GilLock() : state_(PyGILState_Ensure()) {}
  ~GilLock() { PyGILState_Release(state_); }
  GilLock(const GilLock&) = delete;

 private:
  PyGILState_STATE state_;
};

}  // namespace facula::python
