// facula.tensor, as_tensor and the legacy constructors: shape and type inference over nested
// sequences, and the filling of the tensor.
#include "facula/python/construct.h"

#include "facula/autograd/meta.h"
#include "facula/base/half.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/query_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/warn.h"
#include "facula/python/arguments.h"
#include "facula/python/bind_helpers.h"
#include "facula/python/foreign.h"
#include "facula/python/overrides.h"
#include "facula/python/sparse.h"
#include "facula/python/types.h"

namespace facula::python {

namespace {

template <class T>
void put(void* p, T v) {
  std::memcpy(p, &v, sizeof(T));
}

// integer_of converts to an integer type; unsigned types take negative values modulo their width.
int64_t integer_of(const Scalar& v, DType dtype) {
  if (v.is_floating()) {
    FACULA_CHECK(std::abs(v.re) < 1.8446744073709552e19, kRuntime,  // not NaN either
                 "value cannot be converted to type ", dtype_name(dtype), " without overflow");
  }
  int bits = static_cast<int>(item_size(dtype) * 8);
  bool fits = true;
  if (is_signed(dtype)) {
    int64_t high = bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1;
    fits = v.is_floating()
               ? v.re < static_cast<double>(high) + 1 && v.re >= -std::ldexp(1, bits - 1)
               : v.kind != kUInt64 && v.i <= high && v.i >= -high - 1;
  } else if (v.kind == kUInt64) {
    fits = bits == 64 || static_cast<uint64_t>(v.i) >> bits == 0;
  } else {
    double limit = std::ldexp(1, bits);
    fits = v.re < limit && v.re > -limit;
    if (v.is_floating() && v.re >= 9223372036854775808.0) {
      if (!fits)
        bits = 0;
      else
        return static_cast<int64_t>(static_cast<uint64_t>(v.re));
    }
  }
  FACULA_CHECK(fits, kRuntime, "value cannot be converted to type ", dtype_name(dtype),
               " without overflow");
  return v.to_int();
}

}  // namespace

Scalar unsigned_of(PyObject* number) {
  unsigned long long v = PyLong_AsUnsignedLongLong(number);
  if (PyErr_Occurred()) throw PythonError();
  return Scalar(static_cast<uint64_t>(v));
}

void store_scalar(void* p, DType dtype, const Scalar& v) {
  if (v.is_complex() && !is_complex(dtype)) {
    if (dtype == kBool) return put(p, static_cast<uint8_t>(v.to_bool()));
    raise_error(ErrorKind::kType, "must be real number, not complex");
  }
  switch (dtype) {
    case kBool: return put(p, static_cast<uint8_t>(v.to_bool()));
    case kUInt8:
    case kInt8: return put(p, static_cast<uint8_t>(integer_of(v, dtype)));
    case kInt16:
    case kUInt16: return put(p, static_cast<uint16_t>(integer_of(v, dtype)));
    case kInt32:
    case kUInt32: return put(p, static_cast<uint32_t>(integer_of(v, dtype)));
    case kInt64:
    case kUInt64: return put(p, integer_of(v, dtype));
    case kFloat16: return put(p, half::from_float_portable(static_cast<float>(v.to_double())));
    case kBFloat16: return put(p, BFloat16(static_cast<float>(v.to_double())).bits);
    case kFloat32: return put(p, static_cast<float>(v.to_double()));
    case kFloat64: return put(p, v.to_double());
    case kComplex64: return put(p, std::complex<float>(v.to_complex()));
    case kComplex128: return put(p, v.to_complex());
  }
}

namespace {

bool is_leaf_value(PyObject* o) {
  return PyFloat_CheckExact(o) || PyLong_CheckExact(o) || PyBool_Check(o) || is_tensor(o) ||
         is_number(o);
}

// Shape of nested data along its first elements.
void measure(PyObject* o, Sizes& sizes) {
  if (is_leaf_value(o)) return;
  if (is_ndarray(o)) {
    Tensor a = tensor_from_array(o, false);
    for (int64_t s : a.sizes()) sizes.push_back(s);
    return;
  }
  if (PyUnicode_Check(o) || !PySequence_Check(o) || PyDict_Check(o)) {
    if (PyUnicode_Check(o)) {
      raise_error(ErrorKind::kValue, "too many dimensions '", type_name(o), "'");
    }
    return;
  }
  Py_ssize_t n = PySequence_Size(o);
  check(static_cast<int>(n < 0 ? -1 : 0));
  sizes.push_back(n);
  FACULA_CHECK(sizes.size() <= 64, kValue, "too many dimensions '", type_name(o), "'");
  if (n == 0) return;
  Owned first = own(PySequence_GetItem(o, 0));
  measure(first.get(), sizes);
}

struct Inference {
  bool any = false;
  DType dtype = kFloat32;
  void add(DType t) {
    dtype = any ? promote(dtype, t) : t;
    any = true;
  }
};

[[noreturn]] void cannot_infer(PyObject* o) {
  raise_error(ErrorKind::kRuntime, "Could not infer dtype of ", type_name(o));
}

// Strings and bytes are sequences, but not of numbers.
void refuse_text(PyObject* o) {
  if (PyUnicode_Check(o) || PyBytes_Check(o)) {
    raise_error(ErrorKind::kType, "new(): invalid data type '", type_name(o), "'");
  }
}

// The deepest nesting of data: as many dimensions as a tensor has.
constexpr int kMostLevels = 64;

[[noreturn]] void too_deep(PyObject* o) {
  raise_error(ErrorKind::kValue, "too many dimensions '", type_name(o), "'");
}

void infer(PyObject* o, Inference& result, int depth = 0) {
  if (PyFloat_CheckExact(o)) return result.add(default_dtype());
  if (PyBool_Check(o)) return result.add(kBool);
  if (PyLong_CheckExact(o)) return result.add(kInt64);
  if (is_tensor(o)) return result.add(unwrap(o).dtype());
  if (is_ndarray(o)) return result.add(tensor_from_array(o, false).dtype());
  if (is_numpy_scalar(o)) {
    Owned kind(PyObject_CallMethod(o, "__array__", nullptr));
    if (!kind) throw PythonError();
    return result.add(tensor_from_array(kind.get(), false).dtype());
  }
  if (PyFloat_Check(o)) return result.add(default_dtype());
  if (PyLong_Check(o)) return result.add(kInt64);
  if (PyComplex_Check(o)) return result.add(complex_type(default_dtype()));
  refuse_text(o);
  if (!PySequence_Check(o) || PyDict_Check(o)) cannot_infer(o);
  if (depth == kMostLevels) too_deep(o);
  Owned items = own(PySequence_Fast(o, "not a sequence"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    Owned item = Owned::share(PySequence_Fast_GET_ITEM(items.get(), i));
    FACULA_CHECK(item.get() != o, kType, "new(): self-referential lists are incompatible");
    infer(item.get(), result, depth + 1);
  }
}

class Filler {
 public:
  Filler(const Tensor& t) : t_(t), item_(item_size(t.dtype())) {
    at_ = static_cast<char*>(t.data());
  }
  void fill(PyObject* o, int depth) {
    if (depth == t_.dim()) return leaf(o);
    if (is_ndarray(o)) return array(o, depth);
    if (is_leaf_value(o) || !PySequence_Check(o)) raise_error(ErrorKind::kType, "not a sequence");
    Owned items = own(PySequence_Fast(o, "not a sequence"));
    Py_ssize_t n = PySequence_Fast_GET_SIZE(items.get());
    FACULA_CHECK(n == t_->sizes[depth], kValue, "expected sequence of length ", t_->sizes[depth],
                 " at dim ", depth, " (got ", n, ")");
    for (Py_ssize_t i = 0; i < n; ++i) fill(PySequence_Fast_GET_ITEM(items.get(), i), depth + 1);
  }

 private:
  void leaf(PyObject* o) {
    Scalar s;
    if (PyFloat_CheckExact(o) && t_.dtype() == kFloat32) {
      put(at_, static_cast<float>(PyFloat_AS_DOUBLE(o)));
    } else if (try_leaf(o, s)) {
      store_scalar(at_, t_.dtype(), s);
    } else {
      refuse(o);
    }
    at_ += item_;
  }
  bool try_leaf(PyObject* o, Scalar& s) {
    if (PyLong_Check(o) && !PyBool_Check(o)) {
      if (t_.dtype() == kUInt64) {
        s = unsigned_of(o);
        return true;
      }
      int overflow = 0;
      long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
      if (!overflow) {
        s = Scalar(static_cast<int64_t>(v));
        return true;
      }
      if (is_inexact(t_.dtype())) {
        double d = PyLong_AsDouble(o);
        if (d == -1 && PyErr_Occurred()) throw PythonError();
        s = Scalar(d);
        return true;
      }
      if (t_.dtype() == kBool) {
        s = Scalar(true);
        return true;
      }
      raise_error(ErrorKind::kValue, "Overflow when unpacking long long");
    }
    if (PyFloat_Check(o) && t_.dtype() == kUInt64) {
      raise_error(ErrorKind::kType, "an integer is required");
    }
    if (try_scalar(o, s)) return true;
    if (is_tensor(o)) {
      const Tensor& t = unwrap(o);
      FACULA_CHECK(t.numel() == 1, kValue,
                   "only one element tensors can be converted to Python scalars");
      FACULA_CHECK(!t.is_meta(), kRuntime, "tensor: a meta tensor has no value");
      s = scalar_at(t.data(), t.dtype());
      return true;
    }
    return false;
  }
  [[noreturn]] void refuse(PyObject* o) {
    if (PySequence_Check(o) && !PyUnicode_Check(o) && t_.dim() > 0) {
      raise_error(ErrorKind::kValue, "too many dimensions '", type_name(o), "'");
    }
    refuse_text(o);
    raise_error(ErrorKind::kType, "must be real number, not ", type_name(o));
  }
  void array(PyObject* o, int depth) {
    Tensor a = tensor_from_array(o, false);
    FACULA_CHECK(a.dim() == t_.dim() - depth, kValue, "expected ", t_.dim() - depth,
                 " dimensions at dim ", depth, " (got ", a.dim(), ")");
    for (int64_t d = 0; d < a.dim(); ++d) {
      FACULA_CHECK(a->sizes[d] == t_->sizes[depth + d], kValue, "expected sequence of length ",
                   t_->sizes[depth + d], " at dim ", depth + d, " (got ", a->sizes[d], ")");
    }
    strided(a, 0, static_cast<const char*>(a.data()));
  }
  void strided(const Tensor& a, int d, const char* from) {
    if (d == a.dim()) {
      store_scalar(at_, t_.dtype(), scalar_at(from, a.dtype()));
      at_ += item_;
      return;
    }
    for (int64_t i = 0; i < a->sizes[d]; ++i) {
      strided(a, d + 1, from + i * a->strides[d] * item_size(a.dtype()));
    }
  }

  const Tensor& t_;
  int64_t item_;
  char* at_;
};

// flat_floats is the hot case: a list of floats alone.
bool flat_floats(PyObject* list, Tensor& out) {
  Py_ssize_t n = PyList_GET_SIZE(list);
  if (n == 0 || !PyFloat_CheckExact(PyList_GET_ITEM(list, 0)) || default_dtype() != kFloat32) {
    return false;
  }
  Tensor t = new_empty({n}, kFloat32);
  float* p = t.data_as<float>();
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* o = PyList_GET_ITEM(list, i);
    if (!PyFloat_CheckExact(o)) return false;
    p[i] = static_cast<float>(PyFloat_AS_DOUBLE(o));
  }
  out = std::move(t);
  return true;
}

Tensor converted(const Tensor& t, std::optional<DType> dtype, Device device, bool copy) {
  Tensor r = t;
  if (dtype && *dtype != t.dtype()) {
    warn_of_discarded_part(t.dtype(), *dtype);
    r = facula::cast(r, *dtype);
  }
  if (!(device == r.device())) r = facula::to_device(r, device);
  if (copy && r->storage == t->storage) r = facula::clone(r, std::nullopt);
  return r;
}

}  // namespace

Tensor tensor_from_data(PyObject* data, std::optional<DType> dtype, std::optional<Device> device,
                        bool copy) {
  if (!device && has_factory_device && !is_tensor(data)) device = factory_device;
  if (is_tensor(data)) {
    const Tensor& t = unwrap(data);
    return converted(copy ? detach(t) : t, dtype, device.value_or(t.device()), copy);
  }
  Device where = device.value_or(kCpu);
  if (PyList_CheckExact(data) && !dtype && where.is_cpu()) {
    Tensor out;
    if (flat_floats(data, out)) return out;
  }
  refuse_text(data);
  if (is_ndarray(data)) return converted(tensor_from_array(data, !copy), dtype, where, copy);
  if (is_numpy_scalar(data)) {
    Owned array = own(PyObject_CallMethod(data, "__array__", nullptr));
    return converted(tensor_from_array(array.get(), false), dtype, where, true);
  }
  Sizes sizes;
  measure(data, sizes);
  Inference found;
  if (!dtype) infer(data, found);
  DType type = dtype ? *dtype : found.any ? found.dtype : default_dtype();
  Tensor t = new_empty(sizes, type, kCpu);
  Filler(t).fill(data, 0);
  return where == t.device() ? t : facula::to_device(t, where);
}

namespace {

// The parameters of tensor() and as_tensor().
Param tensor_params[] = {
    {"data", ArgType::kTensor, false, false, nullptr},
    {"dtype", ArgType::kOptDType, true, true, nullptr},
    {"device", ArgType::kOptDevice, true, true, nullptr},
    {"requires_grad", ArgType::kBool, true, true, nullptr},
    {"pin_memory", ArgType::kBool, true, true, nullptr},
};
Signature tensor_signature{
    "tensor", "(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)",
    tensor_params, 5, 1};

void warn_copy(PyObject* data) {
  if (!is_tensor(data)) return;
  warn(
      "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
      "sourceTensor.detach().clone().requires_grad_(True), rather than "
      "facula.tensor(sourceTensor).");
}

PyObject* py_tensor(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    Bound b;
    if (!bind(b, tensor_signature, nullptr, args, n, kwnames, true)) return nullptr;
    // Tensors of subclasses are data here: only modes may step in.
    if (modes_active && has_bound_override(b)) [[unlikely]] {
      return override_bound(b, false);
    }
    warn_copy(b.v[0]);
    Tensor t =
        tensor_from_data(b.v[0], b.opt_dtype(1), b.has(2) ? b.opt_device(2) : std::nullopt, true);
    if (b.has(3) && b.boolean(3)) set_requires_grad(t, true);
    return wrap(std::move(t));
  });
}

Param as_tensor_params[] = {
    {"data", ArgType::kTensor, false, false, nullptr},
    {"dtype", ArgType::kOptDType, false, true, nullptr},
    {"device", ArgType::kOptDevice, false, true, nullptr},
};
Signature as_tensor_signature{"as_tensor", "(data, dtype=None, device=None)", as_tensor_params, 3,
                              3};

PyObject* py_as_tensor(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    Bound b;
    if (!bind(b, as_tensor_signature, nullptr, args, n, kwnames, true)) return nullptr;
    if (modes_active && has_bound_override(b)) [[unlikely]] {
      return override_bound(b, false);
    }
    std::optional<DType> dtype = b.opt_dtype(1);
    std::optional<Device> device = b.has(2) ? b.opt_device(2) : std::nullopt;
    if (is_tensor(b.v[0])) {
      const Tensor& t = unwrap(b.v[0]);
      if ((!dtype || *dtype == t.dtype()) && (!device || *device == t.device())) {
        return Py_NewRef(b.v[0]);
      }
    }
    return wrap(tensor_from_data(b.v[0], dtype, device, false));
  });
}

// Tensor(2, 3), Tensor([1, 2]), Tensor(other). A tensor of another dtype is refused where the class
// that is called names its dtype, as FloatTensor does; Tensor itself takes all.
PyObject* legacy_new(DType dtype, PyObject* given, bool any_dtype) {
  Py_ssize_t count = PyTuple_GET_SIZE(given);
  if (count == 0) return wrap(new_empty({0}, dtype));
  PyObject* first = PyTuple_GET_ITEM(given, 0);
  if (is_integer(first) || Py_TYPE(first) == &size_type) {
    bool shape = Py_TYPE(first) == &size_type;
    FACULA_CHECK(!shape || count == 1, kType, "new(): expected one Size");
    return wrap(new_empty(to_sizes(shape ? first : given, "new"), dtype));
  }
  FACULA_CHECK(count == 1, kType, "new() received an invalid combination of arguments");
  if (is_tensor(first)) {
    const Tensor& other = unwrap(first);
    FACULA_CHECK(any_dtype || other.dtype() == dtype, kType, "expected ", dtype_name(dtype),
                 " (got ", dtype_name(other.dtype()), ")");
    return wrap(alias_view(other));
  }
  FACULA_CHECK(!PyFloat_Check(first), kType, "new(): data must be a sequence (got float)");
  return wrap(tensor_from_data(first, dtype, kCpu, true));
}

// _legacy_new(dtype, args): new and the constructors of a dtype.
PyObject* py_legacy_new(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 2 && PyTuple_Check(args[1]), kType,
                 "_legacy_new() takes a dtype and a tuple");
    return legacy_new(unwrap_dtype(args[0], "new"), args[1], false);
  });
}

}  // namespace

// Tensor(...) itself: a legacy constructor of the default dtype, for subclasses too.
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    if (kwargs && PyDict_GET_SIZE(kwargs)) {
      PyObject* data = PyDict_GetItemString(kwargs, "data");
      PyObject* device = PyDict_GetItemString(kwargs, "device");
      bool known = (data != nullptr) + (device != nullptr) == PyDict_GET_SIZE(kwargs);
      if (!known && type == &tensor_type) {
        raise_error(ErrorKind::kType, "new() got an unexpected keyword argument");
      }
      if (known && device && device != Py_None && !unwrap_device(device, "new").is_cpu()) {
        raise_error(ErrorKind::kRuntime, "new(): the legacy constructor makes tensors of the CPU, ",
                    "not of ", device_text(unwrap_device(device, "new")));
      }
      if (data && PyTuple_GET_SIZE(args) == 0) {
        Owned one = own(PyTuple_Pack(1, data));
        return tensor_new(type, one.get(), nullptr);
      }
    }
    Owned made = own(legacy_new(default_dtype(), args, true));
    if (type == &tensor_type) return made.release();
    Tensor t = unwrap(made.get());
    made = Owned();
    return wrap_as(type, std::move(t));
  });
}

PyMethodDef construct_functions[] = {
    {"tensor", fast(py_tensor), kFast,
     "tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)\n--\n\n"
     "A new tensor that copies data: numbers, nested sequences, arrays or a tensor."},
    {"as_tensor", fast(py_as_tensor), kFast,
     "as_tensor(data, dtype=None, device=None)\n--\n\n"
     "A tensor of the data that shares memory where type and device allow it."},
    {"_legacy_new", fast(py_legacy_new), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

void follow_out(Bound& b, int out, int dtype, bool factory) {
  if (!is_tensor(b.v[out])) return;
  DType wanted = unwrap(b.v[out]).dtype();
  if (!b.v[dtype] || b.v[dtype] == Py_None) {
    b.v[dtype] = dtype_object(wanted);
    return;
  }
  DType given = b.dtype(dtype);
  if (given == wanted) return;
  if (factory) {
    raise_error(ErrorKind::kRuntime, b.sig->name, "(): dtype ", dtype_title(given),
                " does not match dtype of out parameter (", dtype_title(wanted), ")");
  }
  raise_error(ErrorKind::kRuntime, b.sig->name, "(): Expected out tensor to have dtype ",
              dtype_name(given), ", but got ", dtype_name(wanted), " instead");
}

void apply_factory(Bound& b, int layout, int pin_memory, int grad, Tensor& result) {
  if (b.v[layout] && b.v[layout] != Py_None) {
    FACULA_CHECK(is_layout(b.v[layout]), kType, b.sig->name,
                 "(): argument 'layout' must be facula.layout, not ", type_name(b.v[layout]));
    if (b.v[layout] != layout_object()) {
      result = sparse_factory(b.sig->name, b.v[layout], result.sizes(), result.dtype());
    }
  }
  if (b.v[pin_memory] && b.v[pin_memory] != Py_None && b.boolean(pin_memory)) {
    raise_error(ErrorKind::kRuntime, b.sig->name, "(): pin_memory needs a CUDA device");
  }
  if (b.v[grad] && b.v[grad] != Py_None && b.boolean(grad)) set_requires_grad(result, true);
}

}  // namespace facula::python
