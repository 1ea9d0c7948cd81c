// Conversion of single Python objects into numbers, lists and truth values.
#include "facula/python/arguments.h"

#include "facula/base/half.h"

namespace facula::python {

namespace {

PyObject* numpy_generic() {
  static PyObject* generic = nullptr;
  if (generic) return generic;
  PyObject* modules = PyImport_GetModuleDict();
  PyObject* numpy = PyDict_GetItemString(modules, "numpy");
  if (!numpy) return nullptr;
  generic = PyObject_GetAttrString(numpy, "generic");
  if (!generic) PyErr_Clear();
  return generic;
}

bool is_builtin_value(PyObject* o) {
  PyTypeObject* t = Py_TYPE(o);
  return t == &PyLong_Type || t == &PyFloat_Type || t == &PyUnicode_Type || t == &PyTuple_Type ||
         t == &PyList_Type || t == &PyDict_Type || t == &PyBool_Type || o == Py_None ||
         t == &PySlice_Type || o == Py_Ellipsis || t == &tensor_type;
}

// number_of_numpy turns a NumPy scalar into the plain Python number of its value.
Owned number_of_numpy(PyObject* o) {
  static PyObject* item = intern("item");
  return own(PyObject_CallMethodNoArgs(o, item));
}

Scalar scalar_of_int(PyObject* o) {
  int overflow = 0;
  long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (!overflow) {
    if (v == -1 && PyErr_Occurred()) throw PythonError();
    return Scalar(static_cast<int64_t>(v));
  }
  if (overflow > 0) {
    unsigned long long u = PyLong_AsUnsignedLongLong(o);
    if (!PyErr_Occurred()) return Scalar(static_cast<uint64_t>(u));
    PyErr_Clear();
  }
  raise_error(ErrorKind::kOverflow, "Overflow when unpacking long: the integer has over 64 bits");
}

}  // namespace

bool is_numpy_scalar(PyObject* o) {
  if (is_builtin_value(o)) return false;
  PyObject* generic = numpy_generic();
  return generic && PyType_IsSubtype(Py_TYPE(o), reinterpret_cast<PyTypeObject*>(generic));
}

bool is_number(PyObject* o) {
  if (PyFloat_Check(o) || PyLong_Check(o) || PyComplex_Check(o)) return true;
  if (is_builtin_value(o) || is_tensor(o)) return false;
  Scalar s;
  return is_numpy_scalar(o) ? try_scalar(o, s) : false;
}

bool is_integer(PyObject* o) {
  if (PyLong_CheckExact(o)) return true;
  if (PyBool_Check(o) || is_tensor(o)) return false;
  if (PyLong_Check(o)) return true;
  if (is_builtin_value(o) || !PyIndex_Check(o)) return false;
  // An ndarray has __index__ too, which works for 0-d integer arrays only.
  return !PySequence_Check(o) || is_numpy_scalar(o);
}

bool try_scalar(PyObject* o, Scalar& s) {
  if (PyFloat_CheckExact(o)) {
    s = Scalar(PyFloat_AS_DOUBLE(o));
    return true;
  }
  if (PyLong_CheckExact(o)) {
    s = scalar_of_int(o);
    return true;
  }
  if (PyBool_Check(o)) {
    s = Scalar(o == Py_True);
    return true;
  }
  if (PyLong_Check(o)) {
    s = scalar_of_int(o);
    return true;
  }
  if (PyFloat_Check(o)) {
    s = Scalar(PyFloat_AsDouble(o));
    return true;
  }
  if (PyComplex_Check(o)) {
    Py_complex c = PyComplex_AsCComplex(o);
    s = Scalar(std::complex<double>(c.real, c.imag));
    return true;
  }
  if (is_tensor(o) || !is_numpy_scalar(o)) return false;
  Owned plain = number_of_numpy(o);
  if (is_numpy_scalar(plain.get())) {  // longdouble stays what it is
    double v = PyFloat_AsDouble(plain.get());
    if (v == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      return false;
    }
    s = Scalar(v);
    return true;
  }
  return try_scalar(plain.get(), s);
}

Scalar to_scalar(PyObject* o, const char* op) {
  Scalar s;
  if (try_scalar(o, s)) return s;
  if (is_tensor(o) && unwrap(o).dim() == 0) {
    const Tensor& t = unwrap(o);
    FACULA_CHECK(!t.is_meta(), kRuntime, op, ": a meta tensor has no value");
    return scalar_at(t.data(), t.dtype());
  }
  raise_error(ErrorKind::kType, op, ": expected a number, got ", type_name(o));
}

int64_t to_int64(PyObject* o, const char* op) {
  if (PyLong_CheckExact(o)) {
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow) raise_error(ErrorKind::kValue, op, ": the integer has over 64 bits");
    return v;
  }
  if (!PyIndex_Check(o)) {
    raise_error(ErrorKind::kType, op, ": expected an int, got ", type_name(o));
  }
  Owned index = own(PyNumber_Index(o));
  return to_int64(index.get(), op);
}

double to_real(PyObject* o, const char* op) {
  if (PyFloat_CheckExact(o)) return PyFloat_AS_DOUBLE(o);
  Scalar s;
  if (try_scalar(o, s) && !s.is_complex()) return s.to_double();
  if (is_tensor(o)) {
    Scalar v = to_scalar(o, op);
    if (!v.is_complex()) return v.to_double();
  }
  raise_error(ErrorKind::kType, op, ": expected a float, got ", type_name(o));
}

Sizes to_sizes(PyObject* o, const char* op) {
  Sizes out;
  if (PyTuple_Check(o) || PyList_Check(o)) {
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    for (Py_ssize_t i = 0; i < n; ++i) {
      out.push_back(to_int64(PySequence_Fast_GET_ITEM(o, i), op));
    }
    return out;
  }
  if (is_integer(o)) {
    out.push_back(to_int64(o, op));
    return out;
  }
  if (PySequence_Check(o) && !PyUnicode_Check(o)) {
    Owned list = own(PySequence_List(o));
    return to_sizes(list.get(), op);
  }
  raise_error(ErrorKind::kType, op, ": expected a tuple of ints, got ", type_name(o));
}

bool to_bool(PyObject* o, const char* op) {
  if (o == Py_True) return true;
  if (o == Py_False) return false;
  if (is_numpy_scalar(o)) {
    int truth = PyObject_IsTrue(o);
    check(truth);
    return truth == 1;
  }
  raise_error(ErrorKind::kType, op, ": expected a bool, got ", type_name(o));
}

PyObject* scalar_object(const Scalar& s) {
  switch (s.kind) {
    case kBool: return PyBool_FromLong(s.i != 0);
    case kUInt64: return PyLong_FromUnsignedLongLong(static_cast<uint64_t>(s.i));
    case kFloat64: return PyFloat_FromDouble(s.re);
    case kComplex128: return PyComplex_FromDoubles(s.re, s.im);
    default: return PyLong_FromLongLong(s.i);
  }
}

namespace {
template <class T>
T load(const void* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}
}  // namespace

Scalar scalar_at(const void* p, DType dtype) {
  FACULA_CHECK(p, kRuntime,
               "a tensor without data has no value: it is on the meta device, or inside ",
               "vmap, which does not support .item() and control flow that depends on data");
  switch (dtype) {
    case kBool: return Scalar(load<uint8_t>(p) != 0);
    case kUInt8: return Scalar(static_cast<int64_t>(load<uint8_t>(p)));
    case kInt8: return Scalar(static_cast<int64_t>(load<int8_t>(p)));
    case kInt16: return Scalar(static_cast<int64_t>(load<int16_t>(p)));
    case kInt32: return Scalar(static_cast<int64_t>(load<int32_t>(p)));
    case kInt64: return Scalar(load<int64_t>(p));
    case kUInt16: return Scalar(static_cast<int64_t>(load<uint16_t>(p)));
    case kUInt32: return Scalar(static_cast<int64_t>(load<uint32_t>(p)));
    case kUInt64: return Scalar(load<uint64_t>(p));
    case kFloat16: return Scalar(half::to_float_portable(load<uint16_t>(p)));
    case kBFloat16: return Scalar(static_cast<float>(load<BFloat16>(p)));
    case kFloat32: return Scalar(load<float>(p));
    case kFloat64: return Scalar(load<double>(p));
    case kComplex64: return Scalar(std::complex<double>(load<std::complex<float>>(p)));
    case kComplex128: return Scalar(load<std::complex<double>>(p));
  }
  return Scalar();
}

}  // namespace facula::python
