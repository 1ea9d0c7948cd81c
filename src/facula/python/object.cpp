// The translation of C++ exceptions into Python ones, and small helpers over the C API.
#include "facula/python/object.h"

#include <new>
#include <string_view>

#include "facula/ops/linalg_support.h"
#include "facula/python/package_name.h"

namespace facula::python {

PyObject* out_of_memory_error = nullptr;
static PyObject* linalg_error = nullptr;
thread_local const void* last_library_error = nullptr;

namespace {

PyObject* exception_class(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kRuntime: return PyExc_RuntimeError;
    case ErrorKind::kType: return PyExc_TypeError;
    case ErrorKind::kValue: return PyExc_ValueError;
    case ErrorKind::kIndex: return PyExc_IndexError;
    case ErrorKind::kNotImplemented: return PyExc_NotImplementedError;
    case ErrorKind::kZeroDivision: return PyExc_ZeroDivisionError;
    case ErrorKind::kOutOfMemory: return out_of_memory_error;
    case ErrorKind::kAttribute: return PyExc_AttributeError;
    case ErrorKind::kKey: return PyExc_KeyError;
    case ErrorKind::kOverflow: return PyExc_OverflowError;
    case ErrorKind::kAssertion: return PyExc_AssertionError;
    case ErrorKind::kBuffer: return PyExc_BufferError;
  }
  return PyExc_RuntimeError;
}

// A message may quote a text of the caller's that holds null characters.
void set_error(PyObject* type, std::string_view raw) {
  const std::string message = in_package_words(raw);
  Owned text(
      PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
  if (!text) return;
  Owned value(PyObject_CallOneArg(type, text.get()));
  if (!value) return;
  last_library_error = value.get();
  PyErr_SetObject(type, value.get());
}

}  // namespace

PyObject* raise_from_exception() {
  try {
    throw;
  } catch (const PythonError&) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "error without an exception");
  } catch (const LinAlgError& e) {
    set_error(linalg_error, e.message());
  } catch (const Error& e) {
    set_error(exception_class(e.kind()), e.message());
  } catch (const std::bad_alloc&) {
    set_error(out_of_memory_error, "out of memory");
  } catch (const std::exception& e) {
    set_error(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}

const char* type_name(PyObject* o) { return Py_TYPE(o)->tp_name; }

std::string_view utf8(PyObject* text) {
  Py_ssize_t n = 0;
  const char* p = PyUnicode_AsUTF8AndSize(text, &n);
  if (!p) throw PythonError();
  return {p, static_cast<size_t>(n)};
}

PyObject* intern(const char* text) { return check(PyUnicode_InternFromString(text)); }

PyObject* type_lookup(PyTypeObject* type, PyObject* name) { return _PyType_Lookup(type, name); }

void add_object(PyObject* module, const char* name, PyObject* value) {
  check(PyObject_SetAttrString(module, name, value));
}

void add_functions(PyObject* module, PyMethodDef* functions, const char* module_name) {
  Owned owner = own(PyUnicode_InternFromString(module_name));
  for (PyMethodDef* def = functions; def->ml_name; ++def) {
    Owned f = own(PyCFunction_NewEx(def, nullptr, owner.get()));
    add_object(module, def->ml_name, f.get());
  }
}

PyObject* submodule(PyObject* module, const char* name) {
  Owned key = own(PyUnicode_FromString(name));
  if (PyObject* found = PyDict_GetItemWithError(PyModule_GetDict(module), key.get())) return found;
  if (PyErr_Occurred()) throw PythonError();
  std::string full = std::string(PyModule_GetName(module)) + "." + name;
  Owned child = own(PyModule_New(full.c_str()));
  add_object(module, name, child.get());
  return child.get();
}

void init_errors(PyObject* module) {
  Owned bases = own(PyTuple_Pack(2, PyExc_RuntimeError, PyExc_MemoryError));
  out_of_memory_error = check(PyErr_NewExceptionWithDoc(
      "facula.OutOfMemoryError", "Memory could not be allocated; everything stays usable.",
      bases.get(), nullptr));
  add_object(module, "OutOfMemoryError", out_of_memory_error);
  linalg_error = check(PyErr_NewExceptionWithDoc(
      "facula.linalg.LinAlgError",
      "A matrix does not permit what was asked: it is singular, not positive-definite or the like.",
      PyExc_RuntimeError, nullptr));
  add_object(module, "_LinAlgError", linalg_error);
}

}  // namespace facula::python
