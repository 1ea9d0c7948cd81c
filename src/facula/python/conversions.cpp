// Conversions of whole tensors (to, float, double, ...), resize_, and questions about dtypes that
// are methods and functions alike.
#include "facula/autograd/meta.h"
#include "facula/ops/functions.h"
#include "facula/python/arguments.h"
#include "facula/python/construct.h"
#include "facula/python/module.h"
#include "facula/python/torch_function.h"
#include "facula/python/types.h"

namespace facula::python {

namespace {

// Target is what to() was asked for.
struct Target {
  std::optional<DType> dtype;
  std::optional<Device> device;
  std::optional<MemoryFormat> format;
  bool copy = false;
};

Tensor convert_to(const Tensor& t, const Target& target) {
  Tensor r = t;
  if (target.device && !(target.device->type == t.device().type)) r = to_device(r, *target.device);
  if (target.dtype && *target.dtype != r.dtype()) r = facula::cast(r, *target.dtype);
  if (target.format && *target.format != MemoryFormat::kPreserve) {
    r = facula::contiguous(r, target.format);
  }
  if (target.copy && r.is_same(t)) r = facula::clone(r, target.format);
  return r;
}

[[noreturn]] void bad_target(PyObject* o) {
  raise_error(ErrorKind::kType, "to() received an invalid combination of arguments - got (",
              type_name(o), "), but expected one of:\n * (facula.device device = None, ",
              "facula.dtype dtype = None, bool non_blocking = False, bool copy = False, *, ",
              "facula.memory_format memory_format = None)\n * (facula.dtype dtype, bool ",
              "non_blocking = False, bool copy = False, *, facula.memory_format memory_format = ",
              "None)\n * (Tensor tensor, bool non_blocking = False, bool copy = False, *, ",
              "facula.memory_format memory_format = None)");
}

// Reads to()'s positional arguments; returns how many of them were device, dtype or tensor.
Py_ssize_t read_positional(Target& out, PyObject* const* args, Py_ssize_t n) {
  if (n == 0) return 0;
  PyObject* first = args[0];
  if (is_tensor(first)) {
    out.dtype = unwrap(first).dtype();
    out.device = unwrap(first).device();
    return 1;
  }
  if (is_dtype(first)) {
    out.dtype = unwrap_dtype(first, "to");
    return 1;
  }
  if (first != Py_None) {
    if (!is_device(first)) bad_target(first);
    out.device = unwrap_device(first, "to");
  }
  if (n == 1) return 1;
  if (is_dtype(args[1]))
    out.dtype = unwrap_dtype(args[1], "to");
  else if (PyBool_Check(args[1]))
    return 1;
  else if (args[1] != Py_None)
    bad_target(args[1]);
  return 2;
}

Target read_target(PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  Target out;
  Py_ssize_t used = read_positional(out, args, n);
  if (n > used + 1) out.copy = to_bool(args[used + 1], "to");
  for (Py_ssize_t j = 0; kwnames && j < PyTuple_GET_SIZE(kwnames); ++j) {
    std::string_view name = utf8(PyTuple_GET_ITEM(kwnames, j));
    PyObject* value = args[n + j];
    if (name == "non_blocking") continue;
    if (name == "copy")
      out.copy = to_bool(value, "to");
    else if (value == Py_None)
      continue;
    else if (name == "dtype" && is_dtype(value))
      out.dtype = unwrap_dtype(value, "to");
    else if (name == "device" && is_device(value))
      out.device = unwrap_device(value, "to");
    else if (name == "memory_format")
      out.format = unwrap_memory_format(value, "to");
    else if ((name == "other" || name == "tensor") && is_tensor(value)) {
      out.dtype = unwrap(value).dtype();
      out.device = unwrap(value).device();
    } else if (name == "dtype" || name == "device") {
      bad_target(value);
    } else {
      raise_error(ErrorKind::kType, "to() got an unexpected keyword argument '", name, "'");
    }
  }
  return out;
}

PyObject* wrap_or_self(PyObject* self, Tensor r) {
  if (r.is_same(unwrap(self))) return Py_NewRef(self);
  return wrap(std::move(r));
}

PyObject* to_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    if (intercepted(self)) [[unlikely]]
      return override_method(self, "to", args, n, kwnames);
    return wrap_or_self(self, convert_to(unwrap(self), read_target(args, n, kwnames)));
  });
}

struct Cast {
  const char* name;
  DType dtype;
};
constexpr Cast kCasts[] = {
    {"bool", kBool},     {"byte", kUInt8},     {"char", kInt8},        {"short", kInt16},
    {"int", kInt32},     {"long", kInt64},     {"half", kFloat16},     {"bfloat16", kBFloat16},
    {"float", kFloat32}, {"double", kFloat64}, {"cfloat", kComplex64}, {"cdouble", kComplex128},
};
constexpr size_t kNumCasts = sizeof(kCasts) / sizeof(kCasts[0]);

// cast_method is float(), long() ...; memory_format= is the only argument.
template <size_t kIndex>
PyObject* cast_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    const Cast& cast = kCasts[kIndex];
    if (intercepted(self)) [[unlikely]]
      return override_method(self, cast.name, args, n, kwnames);
    FACULA_CHECK(n <= 1, kType, cast.name, "() takes 1 positional argument but ", n + 1,
                 " were given");
    Target target;
    target.dtype = cast.dtype;
    if (n == 1) target.format = unwrap_memory_format(args[0], cast.name);
    if (kwnames && PyTuple_GET_SIZE(kwnames) == 1) {
      target.format = unwrap_memory_format(args[n], cast.name);
    }
    return wrap_or_self(self, convert_to(unwrap(self), target));
  });
}

template <size_t... kIndex>
void add_casts(std::index_sequence<kIndex...>) {
  static PyMethodDef defs[] = {
      {kCasts[kIndex].name, fast(cast_method<kIndex>), kFast, "Converts the elements."}...};
  for (PyMethodDef& def : defs) {
    Owned d = own(PyDescr_NewMethod(&tensor_type, &def));
    check(PyDict_SetItemString(tensor_type.tp_dict, def.ml_name, d.get()));
  }
}

// ---- questions; each is a method and a function, so the tensor comes from either place

template <class F>
PyObject* ask(PyObject* self, PyObject* const* args, Py_ssize_t n, const char* name, F&& f) {
  return guarded([&]() -> PyObject* {
    PyObject* o = self ? self : n == 1 ? args[0] : nullptr;
    FACULA_CHECK(o && n + (self != nullptr) == 1, kType, name, "() takes one tensor");
    if (!is_tensor(o)) {
      raise_error(ErrorKind::kType, name, "(): argument 'input' (position 1) must be Tensor, not ",
                  type_name(o));
    }
    if (intercepted(o)) [[unlikely]]
      return override_method(o, name, nullptr, 0, nullptr);
    return f(unwrap(o), o);
  });
}

PyObject* is_floating_method(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return ask(self, args, n, "is_floating_point",
             [](const Tensor& t, PyObject*) { return wrap(is_floating(t.dtype())); });
}
PyObject* is_complex_method(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return ask(self, args, n, "is_complex",
             [](const Tensor& t, PyObject*) { return wrap(is_complex(t.dtype())); });
}
PyObject* is_signed_method(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return ask(self, args, n, "is_signed",
             [](const Tensor& t, PyObject*) { return wrap(is_signed(t.dtype())); });
}
PyObject* is_false_method(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return ask(self, args, n, "is_conj", [](const Tensor&, PyObject*) { return wrap(false); });
}
PyObject* same_tensor(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return ask(self, args, n, "resolve_conj",
             [](const Tensor&, PyObject* o) { return Py_NewRef(o); });
}
PyObject* count_elements_of(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return ask(self, args, n, "numel",
             [](const Tensor& t, PyObject*) { return PyLong_FromLongLong(t.numel()); });
}
PyObject* is_nonzero_method(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return ask(self, args, n, "is_nonzero", [](const Tensor& t, PyObject*) {
    FACULA_CHECK(t.numel() == 1, kRuntime, "Boolean value of Tensor with ",
                 t.numel() ? "more than one value" : "no values", " is ambiguous");
    return wrap(scalar_at(t.data(), t.dtype()).to_bool());
  });
}
PyObject* is_inference_of(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return ask(self, args, n, "is_inference",
             [](const Tensor& t, PyObject*) { return wrap(t->has(kInference)); });
}

PyObject* resize_as_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject*) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 1, kType, "resize_as_() takes one tensor");
    const Tensor& like = expect_tensor(args[0], "resize_as_");
    facula::resize_(unwrap(self), like.sizes(), std::nullopt);
    return Py_NewRef(self);
  });
}

PyObject* bump_method(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    bump_version(unwrap(self), "increment_version");
    Py_RETURN_NONE;
  });
}

PyMethodDef shared_methods[] = {
    {"is_floating_point", fast(is_floating_method), METH_FASTCALL,
     "Whether the elements are floating-point numbers."},
    {"is_complex", fast(is_complex_method), METH_FASTCALL, "Whether the elements are complex."},
    {"is_signed", fast(is_signed_method), METH_FASTCALL, "Whether elements can be negative."},
    {"is_nonzero", fast(is_nonzero_method), METH_FASTCALL, "Whether the one element is not zero."},
    {"is_conj", fast(is_false_method), METH_FASTCALL, "False: conjugates are computed at once."},
    {"is_neg", fast(is_false_method), METH_FASTCALL, "False: negatives are computed at once."},
    {"resolve_conj", fast(same_tensor), METH_FASTCALL, "The tensor itself."},
    {"resolve_neg", fast(same_tensor), METH_FASTCALL, "The tensor itself."},
    {"numel", fast(count_elements_of), METH_FASTCALL, "The number of elements."},
    {"is_inference", fast(is_inference_of), METH_FASTCALL, "Whether made in inference mode."},
    {nullptr, nullptr, 0, nullptr},
};
PyMethodDef conversion_methods[] = {
    {"nelement", fast(count_elements_of), METH_FASTCALL, "The number of elements."},
    {"to", fast(to_method), kFast,
     "to($self, /, *args, **kwargs)\n--\n\nConverts to a dtype, a device, or those of another."},
    {"resize_as_", fast(resize_as_method), kFast, "Changes the sizes to those of another tensor."},
    {"_bump_version", bump_method, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

void add_methods(PyMethodDef* defs) {
  for (PyMethodDef* def = defs; def->ml_name; ++def) {
    Owned d = own(PyDescr_NewMethod(&tensor_type, def));
    check(PyDict_SetItemString(tensor_type.tp_dict, def->ml_name, d.get()));
  }
}

}  // namespace

void init_conversions(PyObject* module) {
  add_methods(shared_methods);
  add_methods(conversion_methods);
  add_casts(std::make_index_sequence<kNumCasts>());
  add_functions(submodule(module, "_functions"), shared_methods);
  PyType_Modified(&tensor_type);
}

}  // namespace facula::python
