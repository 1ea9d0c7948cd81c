// Small helpers over the C API: Owned, a counted reference; PythonError, the C++ marker that a
// Python exception is set; guarded(), which turns C++ exceptions into Python ones.
#pragma once
#include <Python.h>

#include <string>
#include <string_view>
#include <utility>

#include "facula/base/error.h"

namespace facula::python {

// PythonError travels through C++ frames while a Python exception is set in the thread.
struct PythonError {};

// python_ended is set at the very end of the interpreter.
inline bool python_ended = false;

// python_lives says whether this thread can give up references. While the last objects are
// collected Py_IsInitialized() is false already, but counts must still be kept; other threads must
// not ask for the lock then, which would end them.
inline bool python_lives() { return Py_IsInitialized() || (!python_ended && PyGILState_Check()); }

// Owned holds one reference to a Python object, or null.
class Owned {
 public:
  Owned() = default;
  // An owned reference is taken over: Owned(PyTuple_New(2)).
  explicit Owned(PyObject* stolen) : p_(stolen) {}
  static Owned share(PyObject* borrowed) {
    Py_XINCREF(borrowed);
    return Owned(borrowed);
  }
  Owned(Owned&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Owned(const Owned& o) : p_(o.p_) { Py_XINCREF(p_); }
  Owned& operator=(Owned o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Owned() { Py_XDECREF(p_); }
  PyObject* get() const { return p_; }
  PyObject* release() { return std::exchange(p_, nullptr); }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  PyObject* p_ = nullptr;
};

// check throws PythonError when a C API call returned null, else passes the object on.
inline PyObject* check(PyObject* p) {
  if (!p) [[unlikely]]
    throw PythonError();
  return p;
}
inline void check(int status) {
  if (status < 0) [[unlikely]]
    throw PythonError();
}
inline Owned own(PyObject* p) { return Owned(check(p)); }

// raise_from_exception sets the Python exception that belongs to the C++ exception being handled.
// Returns null, for `return raise_from_exception();` inside a catch block.
PyObject* raise_from_exception();

// guarded runs f and turns C++ exceptions into Python ones; the result is null then.
template <class F>
inline PyObject* guarded(F&& f) {
  try {
    return f();
  } catch (...) {
    return raise_from_exception();
  }
}
// guarded_status is the same for functions that return 0 or -1.
template <class F>
inline int guarded_status(F&& f) {
  try {
    return f();
  } catch (...) {
    raise_from_exception();
    return -1;
  }
}

// type_name gives the type of an object as error messages show it: "str", "numpy.ndarray".
const char* type_name(PyObject* o);
// utf8 borrows the bytes of a str.
std::string_view utf8(PyObject* text);
// intern makes an interned str that lives as long as the process.
PyObject* intern(const char* text);
// type_lookup finds an attribute along a type's bases, as a borrowed reference or null; never runs
// Python code and never sets an error.
PyObject* type_lookup(PyTypeObject* type, PyObject* name);

// Method tables hold pointers of one type; these cast the other calling conventions.
using FastMethod = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
using FastPositional = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);
inline PyCFunction fast(FastMethod f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}
inline PyCFunction fast(FastPositional f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(f));
}
inline constexpr int kFast = METH_FASTCALL | METH_KEYWORDS;

// add_object puts an object (borrowed) into a module; throws PythonError.
void add_object(PyObject* module, const char* name, PyObject* value);
// add_functions puts functions into a module and gives them the public module name "facula".
void add_functions(PyObject* module, PyMethodDef* functions, const char* module_name = "facula");
// submodule gives the child module `name` of an extension module, making it at need (borrowed).
PyObject* submodule(PyObject* module, const char* name);

// The exception classes of the package, made when the module is loaded (borrowed).
extern PyObject* out_of_memory_error;
void init_errors(PyObject* module);

// last_library_error is the exception object most recently made from a facula::Error in this
// thread, as an address to compare with; module calls add their path to such errors only.
extern thread_local const void* last_library_error;

}  // namespace facula::python
