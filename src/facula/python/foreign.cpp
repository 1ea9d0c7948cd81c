// NumPy and buffers, without NumPy's headers or library: arrays come in through the buffer
// protocol, and go out through two functions of the table that NumPy publishes in a capsule.
#include "facula/python/foreign.h"

#include "facula/autograd/meta.h"
#include "facula/core/lent.h"
#include "facula/python/arguments.h"
#include "facula/python/types.h"

namespace facula::python {

namespace {

// Type numbers of NumPy, by dtype; -1 where NumPy has none.
constexpr int kNumpyTypes[kNumDTypes] = {0, 2, 1, 3, 5, 7, 4, 6, 8, 23, -1, 11, 12, 14, 15};

PyObject* ndarray_type() {
  static PyObject* type = nullptr;
  if (type) return type;
  PyObject* numpy = PyDict_GetItemString(PyImport_GetModuleDict(), "numpy");
  if (!numpy) return nullptr;
  type = PyObject_GetAttrString(numpy, "ndarray");
  if (!type) PyErr_Clear();
  return type;
}

// The functions of NumPy's table that we call; their numbers are part of its stable ABI.
struct NumpyTable {
  PyTypeObject* array_type;
  PyObject* (*make)(PyTypeObject*, int, const Py_ssize_t*, int, const Py_ssize_t*, void*, int, int,
                    PyObject*);
  int (*set_base)(PyObject*, PyObject*);
};

const NumpyTable& numpy_table() {
  static NumpyTable table{};
  if (table.make) return table;
  Owned numpy = own(PyImport_ImportModule("numpy"));
  Owned core(PyImport_ImportModule("numpy._core._multiarray_umath"));
  if (!core) {
    PyErr_Clear();
    core = own(PyImport_ImportModule("numpy.core._multiarray_umath"));
  }
  Owned capsule = own(PyObject_GetAttrString(core.get(), "_ARRAY_API"));
  auto** api = static_cast<void**>(PyCapsule_GetPointer(capsule.get(), nullptr));
  if (!api) throw PythonError();
  table.array_type = static_cast<PyTypeObject*>(api[2]);
  table.set_base = reinterpret_cast<decltype(table.set_base)>(api[282]);
  table.make = reinterpret_cast<decltype(table.make)>(api[93]);
  return table;
}

// A buffer that a storage keeps open.
struct HeldBuffer {
  Py_buffer view;
};
void release_buffer(void* context) {
  auto* held = static_cast<HeldBuffer*>(context);
  if (python_lives()) {
    PyGILState_STATE gil = PyGILState_Ensure();
    PyBuffer_Release(&held->view);
    PyGILState_Release(gil);
  }
  delete held;
}

enum class Format { kGood, kForeignOrder, kUnknown };

// read_format turns a struct-module format into a dtype.
Format read_format(const char* format, Py_ssize_t itemsize, DType& out) {
  if (!format) format = "B";
  if (*format == '>' || *format == '!') {
    if (itemsize > 1) return Format::kForeignOrder;
    ++format;
  } else if (*format == '@' || *format == '=' || *format == '<' || *format == '|') {
    ++format;
  }
  std::string_view f = format;
  auto integer = [&](bool is_signed) {
    switch (itemsize) {
      case 1: out = is_signed ? kInt8 : kUInt8; return Format::kGood;
      case 2: out = is_signed ? kInt16 : kUInt16; return Format::kGood;
      case 4: out = is_signed ? kInt32 : kUInt32; return Format::kGood;
      case 8: out = is_signed ? kInt64 : kUInt64; return Format::kGood;
      default: return Format::kUnknown;
    }
  };
  auto good = [&](DType t) {
    out = t;
    return item_size(t) == itemsize ? Format::kGood : Format::kUnknown;
  };
  if (f == "?") return good(kBool);
  if (f == "e") return good(kFloat16);
  if (f == "f") return good(kFloat32);
  if (f == "d") return good(kFloat64);
  if (f == "Zf") return good(kComplex64);
  if (f == "Zd") return good(kComplex128);
  if (f.size() == 1 && strchr("bhilqn", f[0])) return integer(true);
  if (f.size() == 1 && strchr("BHILQN", f[0])) return integer(false);
  return Format::kUnknown;
}

[[noreturn]] void refuse_type(PyObject* array) {
  Owned dtype = own(PyObject_GetAttrString(array, "dtype"));
  Owned type = own(PyObject_GetAttrString(dtype.get(), "type"));
  Owned name = own(PyObject_GetAttrString(type.get(), "__name__"));
  raise_error(ErrorKind::kType, "can't convert np.ndarray of type numpy.", utf8(name.get()),
              ". The only supported types are: float64, float32, float16, complex64, complex128, ",
              "int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.");
}

void warn_read_only() {
  static bool warned = false;
  if (warned) return;
  warned = true;
  check(PyErr_WarnEx(PyExc_UserWarning,
                     "The given NumPy array is not writable. The tensor shares its memory and "
                     "refuses in-place writes; copy the array to get a writable tensor.",
                     1));
}

}  // namespace

bool is_ndarray(PyObject* o) {
  if (PyList_CheckExact(o) || PyTuple_CheckExact(o) || PyFloat_CheckExact(o)) return false;
  PyObject* type = ndarray_type();
  return type && PyObject_TypeCheck(o, reinterpret_cast<PyTypeObject*>(type));
}

Tensor tensor_from_array(PyObject* array, bool warn) {
  if (!is_ndarray(array)) {
    raise_error(ErrorKind::kType, "expected np.ndarray (got ", type_name(array), ")");
  }
  auto held = std::make_unique<HeldBuffer>();
  if (PyObject_GetBuffer(array, &held->view, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
    PyErr_Clear();
    refuse_type(array);
  }
  struct Release {
    HeldBuffer* held;
    ~Release() {
      if (held) PyBuffer_Release(&held->view);
    }
  } guard{held.get()};
  const Py_buffer& v = held->view;
  DType dtype = kFloat32;
  switch (read_format(v.format, v.itemsize, dtype)) {
    case Format::kGood: break;
    case Format::kForeignOrder:
      raise_error(ErrorKind::kValue, "given numpy array has byte order different from the native ",
                  "byte order. Conversion between byte orders is currently not supported.");
    case Format::kUnknown: refuse_type(array);
  }
  Sizes sizes, strides;
  int64_t bytes = v.itemsize;
  for (int d = 0; d < v.ndim; ++d) {
    sizes.push_back(v.shape[d]);
    if (v.strides[d] < 0) {
      raise_error(ErrorKind::kValue, "At least one stride in the given numpy array is negative, ",
                  "and tensors with negative strides are not currently supported. (You can ",
                  "probably work around this by making a copy of your array  with array.copy().) ");
    }
    if (v.strides[d] % v.itemsize != 0 && v.shape[d] > 1) {
      raise_error(ErrorKind::kValue, "given numpy array strides not a multiple of the element ",
                  "byte size. Copy the numpy array to reallocate the memory.");
    }
    strides.push_back(v.strides[d] / v.itemsize);
    if (v.shape[d] > 0)
      bytes += (v.shape[d] - 1) * v.strides[d];
    else
      bytes = 0;
  }
  for (int64_t s : sizes) {
    if (s == 0) bytes = 0;
  }
  if (bytes == 0) strides = contiguous_strides(sizes);
  bool read_only = v.readonly;
  if (read_only && warn) warn_read_only();
  Storage* storage =
      Storage::external(v.buf, static_cast<size_t>(bytes), release_buffer, held.get(), read_only);
  guard.held = nullptr;
  held.release();
  struct Drop {
    Storage* s;
    ~Drop() { s->release(); }
  } drop{storage};
  return tensor_over(storage, sizes, strides, 0, dtype);
}

PyObject* array_from_tensor(PyObject* tensor) {
  const NumpyTable& numpy = numpy_table();
  const Tensor& t = unwrap(tensor);
  int type = kNumpyTypes[static_cast<int>(t.dtype())];
  if (type < 0) raise_error(ErrorKind::kType, "Got unsupported ScalarType BFloat16");
  if (t.is_meta()) {
    raise_error(ErrorKind::kType, "can't convert meta device type tensor to numpy. Use ",
                "Tensor.cpu() to copy the tensor to host memory first.");
  }
  FACULA_CHECK(
      t.data() || t.numel() == 0, kRuntime,
      "Cannot access data pointer of a Tensor inside vmap: .numpy() is not supported there");
  Py_ssize_t sizes[64], strides[64];
  int64_t item = item_size(t.dtype());
  for (int d = 0; d < t.dim(); ++d) {
    sizes[d] = t->sizes[d];
    strides[d] = t->strides[d] * item;
  }
  constexpr int kAligned = 0x100, kWriteable = 0x400;
  int flags = kAligned | (read_only_view(t) ? 0 : kWriteable);
  Owned a = own(numpy.make(numpy.array_type, static_cast<int>(t.dim()), sizes, type,
                           t.is_contiguous() ? nullptr : strides, t.data(), static_cast<int>(item),
                           flags, nullptr));
  Py_INCREF(tensor);
  check(numpy.set_base(a.get(), tensor));
  lend(t->storage);  // for good: views of the array outlive it unseen
  return a.release();
}

Tensor tensor_from_buffer(PyObject* object, DType dtype, int64_t count, int64_t offset) {
  auto held = std::make_unique<HeldBuffer>();
  if (PyObject_GetBuffer(object, &held->view, PyBUF_SIMPLE | PyBUF_WRITABLE) < 0) {
    PyErr_Clear();
    if (PyObject_GetBuffer(object, &held->view, PyBUF_SIMPLE) < 0) {
      PyErr_Clear();
      raise_error(ErrorKind::kValue, "object does not implement Python buffer protocol.");
    }
  }
  struct Release {
    HeldBuffer* held;
    ~Release() {
      if (held) PyBuffer_Release(&held->view);
    }
  } guard{held.get()};
  int64_t length = held->view.len, item = item_size(dtype);
  FACULA_CHECK(length > 0 && count != 0, kValue, "both buffer length (", length, ") and count (",
               count, ") must not be 0");
  FACULA_CHECK(offset >= 0 && offset < length, kValue, "offset (", offset,
               " bytes) must be non-negative and no greater than buffer length (", length,
               " bytes) minus 1");
  FACULA_CHECK(count > 0 || (length - offset) % item == 0, kValue, "buffer length (",
               length - offset, " bytes) after offset (", offset, " bytes) must be a multiple of ",
               "element size (", item, ")");
  int64_t n = count < 0 ? (length - offset) / item : count;
  FACULA_CHECK(n <= (length - offset) / item, kValue, "requested buffer length (", n, " * ", item,
               " bytes) after offset (", offset, " bytes) must not be greater than actual buffer ",
               "length (", length, " bytes)");
  bool read_only = held->view.readonly;
  if (read_only) {
    check(PyErr_WarnEx(PyExc_UserWarning,
                       "The given buffer is not writable. The tensor shares its memory and refuses "
                       "in-place writes; copy the buffer to get a writable tensor.",
                       1));
  }
  Storage* storage =
      Storage::external(static_cast<char*>(held->view.buf) + offset, static_cast<size_t>(n * item),
                        release_buffer, held.get(), read_only);
  guard.held = nullptr;
  held.release();
  struct Drop {
    Storage* s;
    ~Drop() { s->release(); }
  } drop{storage};
  return tensor_over(storage, {n}, {1}, 0, dtype);
}

namespace {

PyObject* py_from_numpy(PyObject*, PyObject* array) {
  return guarded([&] { return wrap(tensor_from_array(array, true)); });
}

PyObject* py_frombuffer(PyObject*, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"buffer", "dtype", "count", "offset", "requires_grad", nullptr};
    PyObject *buffer, *dtype = nullptr;
    long long count = -1, offset = 0;
    int grad = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OLLp:frombuffer", const_cast<char**>(names),
                                     &buffer, &dtype, &count, &offset, &grad)) {
      return nullptr;
    }
    FACULA_CHECK(dtype, kType, "frombuffer() missing 1 required keyword argument: 'dtype'");
    FACULA_CHECK(is_dtype(dtype), kType,
                 "frombuffer(): argument 'dtype' must be facula.dtype, not ", type_name(dtype));
    Tensor t = tensor_from_buffer(buffer, unwrap_dtype(dtype, "frombuffer"), count, offset);
    if (grad) set_requires_grad(t, true);
    return wrap(std::move(t));
  });
}

PyObject* py_from_capsule(PyObject*, PyObject* capsule) {
  return guarded([&] { return wrap(tensor_from_capsule(capsule)); });
}

// _to_dlpack(tensor, versioned, copied)
PyObject* py_to_capsule(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 3, kType, "_to_dlpack() takes 3 arguments");
    expect_tensor(args[0], "__dlpack__");
    return capsule_from_tensor(args[0], args[1] == Py_True, args[2] == Py_True);
  });
}

}  // namespace

PyMethodDef foreign_functions[] = {
    {"from_numpy", py_from_numpy, METH_O,
     "from_numpy(ndarray, /)\n--\n\nA tensor over the memory of an array."},
    {"frombuffer", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(py_frombuffer)),
     METH_VARARGS | METH_KEYWORDS,
     "frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False)\n--\n\n"
     "A 1-d tensor over the memory of an object with a buffer."},
    {"_from_dlpack", py_from_capsule, METH_O, "A tensor over the memory of a DLPack capsule."},
    {"_to_dlpack", fast(py_to_capsule), METH_FASTCALL, "A DLPack capsule of a tensor."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace facula::python
