// The accessors of Bound: each converts one argument and raises TypeError where it does not fit.
#include "facula/python/bound.h"

#include "facula/autograd/meta.h"
#include "facula/python/arguments.h"
#include "facula/python/types.h"

namespace facula::python {

namespace {

// place gives " (position 2)"; the tensor of a method does not count.
std::string place(const Bound& b, int i) {
  if (b.sig->params[i].keyword_only) return std::string();
  return str(" (position ", i + 1 - static_cast<int>(b.is_method), ")");
}

[[noreturn, gnu::cold]] void wrong_type(const Bound& b, int i) {
  const Param& p = b.sig->params[i];
  PyObject* v = b.v[i];
  if (v && p.type == ArgType::kStr && std::string_view(p.name) == "reduction") {
    Owned shown = own(PyObject_Repr(v));  // what is no string is no name of a reduction either
    raise_error(ErrorKind::kValue, b.sig->name, "(): ", utf8(shown.get()),
                " is not a valid value for reduction");
  }
  raise_error(ErrorKind::kType, b.sig->name, "(): argument '", shown_name(p), "'", place(b, i),
              " must be ", type_title(p.type), ", not ",
              v ? (is_tensor(v) ? "Tensor" : type_name(v)) : "None");
}

// wrong_item is for lists: "argument 'size' must be tuple of ints, but found element of type".
[[noreturn, gnu::cold]] void wrong_item(const Bound& b, int i, Py_ssize_t at, PyObject* item) {
  const Param& p = b.sig->params[i];
  raise_error(ErrorKind::kType, b.sig->name, "(): argument '", shown_name(p), "'", place(b, i),
              " must be ", type_title(p.type), ", but found element of type ",
              is_tensor(item) ? "Tensor" : type_name(item), " at pos ", at);
}

inline bool absent(PyObject* o) { return !o || o == Py_None; }

// refuse_none raises for None where a list must be given.
void refuse_none(const Bound& b, int i) {
  const Param& p = b.sig->params[i];
  bool needed =
      p.type == ArgType::kTensorList || p.type == ArgType::kIntList || p.type == ArgType::kVarInts;
  if (b.v[i] == Py_None && needed && !p.has_default) wrong_type(b, i);
}

int64_t list_item(const Bound& b, int i, Py_ssize_t at, PyObject* item) {
  if (PyLong_CheckExact(item)) {
    int overflow = 0;
    long long v = PyLong_AsLongLongAndOverflow(item, &overflow);
    if (overflow) {
      raise_error(ErrorKind::kType, b.sig->name, "(): argument '", b.sig->params[i].name,
                  "': the integer at pos ", at, " has over 64 bits");
    }
    return v;
  }
  if (is_integer(item)) return to_int64(item, b.sig->name);
  if (is_tensor(item) && unwrap(item).numel() == 1 && !is_inexact(unwrap(item).dtype())) {
    return scalar_at(unwrap(item).data(), unwrap(item).dtype()).to_int();
  }
  wrong_item(b, i, at, item);
}

}  // namespace

Tensor Bound::tensor(int i) const {
  PyObject* o = v[i];
  if (!o || !is_tensor(o)) wrong_type(*this, i);
  return unwrap(o);
}

Tensor Bound::opt_tensor(int i) const {
  PyObject* o = v[i];
  if (absent(o)) return Tensor();
  if (!is_tensor(o)) wrong_type(*this, i);
  return unwrap(o);
}

TensorsArg Bound::tensors(int i) const {
  TensorsArg out;
  PyObject* o = v[i];
  if (absent(o)) {
    refuse_none(*this, i);
    return out;
  }
  if (!PyTuple_Check(o) && !PyList_Check(o)) wrong_type(*this, i);
  bool optional = sig->params[i].type == ArgType::kOptTensorList;
  Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
  out.values.reserve(static_cast<size_t>(n));
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* item = PySequence_Fast_GET_ITEM(o, k);
    if (is_tensor(item)) {
      out.values.push_back(unwrap(item));
    } else if (optional && item == Py_None) {
      out.values.emplace_back();
    } else {
      wrong_item(*this, i, k, item);
    }
  }
  return out;
}

TensorOrScalar Bound::operand(int i) const {
  PyObject* o = v[i];
  if (!o) wrong_type(*this, i);
  if (is_tensor(o)) return TensorOrScalar(python::impl(o));
  Scalar s;
  if (!try_scalar(o, s)) wrong_type(*this, i);
  return TensorOrScalar(s);
}

Scalar Bound::scalar(int i) const {
  PyObject* o = v[i];
  Scalar s;
  if (!o) wrong_type(*this, i);
  if (try_scalar(o, s)) return s;
  // A gradient would be lost.
  if (!is_tensor(o) || unwrap(o).dim() != 0 || requires_grad(unwrap(o))) wrong_type(*this, i);
  return to_scalar(o, sig->name);
}

std::optional<Scalar> Bound::opt_scalar(int i) const {
  if (absent(v[i])) return {};
  return scalar(i);
}

int64_t Bound::integer(int i) const {
  PyObject* o = v[i];
  if (!o) wrong_type(*this, i);
  if (PyLong_CheckExact(o)) return to_int64(o, sig->name);
  if (is_integer(o)) return to_int64(o, sig->name);
  if (is_tensor(o) && unwrap(o).numel() == 1 && is_integral(unwrap(o).dtype())) {
    FACULA_CHECK(!unwrap(o).is_meta(), kRuntime, sig->name, ": a meta tensor has no value");
    return scalar_at(unwrap(o).data(), unwrap(o).dtype()).to_int();
  }
  wrong_type(*this, i);
}

std::optional<int64_t> Bound::opt_integer(int i) const {
  if (absent(v[i])) return {};
  return integer(i);
}

IntsArg Bound::ints(int i) const {
  IntsArg out;
  if (var && sig->params[i].type == ArgType::kVarInts) {
    out.present = true;
    for (Py_ssize_t k = 0; k < var_count; ++k) out.values.push_back(list_item(*this, i, k, var[k]));
    return out;
  }
  PyObject* o = v[i];
  if (absent(o)) {
    refuse_none(*this, i);
    return out;
  }
  out.present = true;
  if (PyTuple_Check(o) || PyList_Check(o)) {
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    for (Py_ssize_t k = 0; k < n && k < PySequence_Fast_GET_SIZE(o); ++k) {
      out.values.push_back(list_item(*this, i, k, PySequence_Fast_GET_ITEM(o, k)));
    }
  } else if (PyLong_CheckExact(o) && sig->params[i].type != ArgType::kVarInts) {
    out.values.push_back(to_int64(o, sig->name));
  } else if (is_integer(o) || (is_tensor(o) && unwrap(o).dim() == 0)) {
    out.values.push_back(list_item(*this, i, 0, o));
  } else {
    wrong_type(*this, i);
  }
  return out;
}

double Bound::real(int i) const {
  PyObject* o = v[i];
  if (!o) wrong_type(*this, i);
  if (PyFloat_CheckExact(o)) return PyFloat_AS_DOUBLE(o);
  Scalar s;
  if (!try_scalar(o, s)) {
    if (!is_tensor(o) || unwrap(o).dim() != 0 || requires_grad(unwrap(o))) wrong_type(*this, i);
    s = to_scalar(o, sig->name);
  }
  if (s.is_complex()) wrong_type(*this, i);
  return s.to_double();
}

std::optional<double> Bound::opt_real(int i) const {
  if (absent(v[i])) return {};
  return real(i);
}

FloatsArg Bound::reals(int i) const {
  FloatsArg out;
  PyObject* o = v[i];
  if (absent(o)) return out;
  if (!PyTuple_Check(o) && !PyList_Check(o)) {
    Scalar s;
    if (!try_scalar(o, s) || s.is_complex()) wrong_type(*this, i);
    out.values.push_back(s.to_double());
    return out;
  }
  Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* item = PySequence_Fast_GET_ITEM(o, k);
    Scalar s;
    if (!try_scalar(item, s) || s.is_complex()) wrong_item(*this, i, k, item);
    out.values.push_back(s.to_double());
  }
  return out;
}

OptFloatsArg Bound::opt_reals(int i) const { return {reals(i).values, !absent(v[i])}; }

bool Bound::boolean(int i) const {
  PyObject* o = v[i];
  if (o == Py_True) return true;
  if (o == Py_False) return false;
  if (!o || !is_numpy_scalar(o)) wrong_type(*this, i);
  return to_bool(o, sig->name);
}

std::optional<bool> Bound::opt_boolean(int i) const {
  if (absent(v[i])) return {};
  return boolean(i);
}

std::string_view Bound::text(int i) const {
  if (!v[i] || !PyUnicode_Check(v[i])) wrong_type(*this, i);
  return utf8(v[i]);
}

std::optional<std::string_view> Bound::opt_text(int i) const {
  if (absent(v[i])) return {};
  return text(i);
}

DType Bound::dtype(int i) const {
  if (!v[i] || !is_dtype(v[i])) wrong_type(*this, i);
  return unwrap_dtype(v[i], sig->name);
}

std::optional<DType> Bound::opt_dtype(int i) const {
  if (absent(v[i])) return {};
  return dtype(i);
}

std::optional<Device> Bound::opt_device(int i) const {
  if (!absent(v[i])) {
    if (!is_device(v[i])) wrong_type(*this, i);
    return unwrap_device(v[i], sig->name);
  }
  if (has_factory_device) [[unlikely]] {
    // Only factories from nothing: a tensor argument says where the result belongs.
    ArgType first = sig->params[0].type;
    if (first != ArgType::kTensor && first != ArgType::kOperand) return factory_device;
  }
  return {};
}

Generator* Bound::generator(int i) const {
  if (absent(v[i])) return nullptr;
  if (!is_generator(v[i])) wrong_type(*this, i);
  return reinterpret_cast<PyGenerator*>(v[i])->generator;
}

std::optional<MemoryFormat> Bound::opt_memory_format(int i) const {
  if (absent(v[i])) return {};
  if (!is_memory_format(v[i])) wrong_type(*this, i);
  return unwrap_memory_format(v[i], sig->name);
}

}  // namespace facula::python
