// Attributes of Tensor: geometry, type and device, gradient and history, views of real parts.
#include "facula/autograd/meta.h"
#include "facula/core/intercept.h"
#include "facula/ops/assign_data.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/warn.h"
#include "facula/python/arguments.h"
#include "facula/python/node_type.h"
#include "facula/python/overrides.h"
#include "facula/python/package_name.h"
#include "facula/python/storage_type.h"
#include "facula/python/types.h"

namespace facula::python {

namespace {

// Attribute is the closure of an entry of the getset table.
struct Attribute {
  const char* name;
  PyObject* (*get)(const Tensor& t);
  void (*set)(const Tensor& t, PyObject* value);
};

PyObject* get_attribute(PyObject* self, void* closure) {
  auto* a = static_cast<const Attribute*>(closure);
  return guarded([&]() -> PyObject* {
    if (intercepted(self)) [[unlikely]]
      return override_getter(self, a->name);
    return a->get(unwrap(self));
  });
}

int set_attribute(PyObject* self, PyObject* value, void* closure) {
  auto* a = static_cast<const Attribute*>(closure);
  return guarded_status([&] {
    if (intercepted(self)) [[unlikely]]
      return override_setter(self, a->name, value);
    if (!a->set) {
      raise_error(ErrorKind::kAttribute, "attribute '", a->name, "' of '", package_name,
                  ".Tensor' objects is not writable");
    }
    a->set(unwrap(self), value);
    return 0;
  });
}

PyObject* bool_object(bool v) { return Py_NewRef(v ? Py_True : Py_False); }

PyObject* get_grad(const Tensor& t) {
  const AutogradMeta* meta = find_meta(t.impl());
  if (!is_leaf(t) && !(meta && (meta->grad.defined() || meta->retains_grad()))) {
    warn(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed: backward() "
        "does not fill it, unless .retain_grad() was called on the tensor before.");
  }
  if (!meta) Py_RETURN_NONE;
  return wrap(facula::grad(t));
}

void assign_grad(const Tensor& t, PyObject* value) {
  if (!value || value == Py_None) {
    if (t->meta) set_grad(t, Tensor());
    return;
  }
  if (!is_tensor(value)) {
    raise_error(ErrorKind::kType, "assigned grad expected to be a Tensor or None but got grad of ",
                "type ", type_name(value));
  }
  const Tensor& g = unwrap(value);
  FACULA_CHECK(!g.is_same(t), kRuntime, "can't assign Variable as its own grad");
  FACULA_CHECK(g.dtype() == t.dtype(), kRuntime,
               "assigned grad has data of a different type: ", "expected ", dtype_name(t.dtype()),
               ", got ", dtype_name(g.dtype()));
  FACULA_CHECK(g.device() == t.device(), kRuntime,
               "assigned grad has data located on a different device");
  FACULA_CHECK(g.sizes() == t.sizes(), kRuntime,
               "assigned grad has data of a different size: ", "expected ", list_text(t.sizes()),
               ", got ", list_text(g.sizes()));
  set_grad(t, g);
}

void assign_requires_grad(const Tensor& t, PyObject* value) {
  FACULA_CHECK(value, kRuntime, "requires_grad can't be deleted");
  if (!PyBool_Check(value)) {
    raise_error(ErrorKind::kRuntime, "requires_grad must be a bool");
  }
  bool on = value == Py_True;
  if (on == requires_grad(t)) return;
  set_requires_grad(t, on);
}

void assign_data(const Tensor& t, PyObject* value) {
  if (!value || !is_tensor(value)) {
    raise_error(ErrorKind::kType, "Variable data has to be a tensor, but got ",
                value ? type_name(value) : "nothing");
  }
  const Tensor& from = unwrap(value);
  if (from.is_same(t)) return;
  FACULA_CHECK(from->intercept == t->intercept, kRuntime, "incompatible tensor type: the layouts ",
               "of the tensor and of its new data differ");
  bool same_kind = is_inexact(from.dtype()) || !requires_grad(t);
  FACULA_CHECK(same_kind, kRuntime, "data set to a tensor that requires gradients must be ",
               "floating point or complex dtype");
  facula::assign_data(t, from);
}

PyObject* reversed(const Tensor& t) {
  Sizes dims;
  for (int64_t d = t.dim() - 1; d >= 0; --d) dims.push_back(d);
  return wrap(facula::permute(t, dims));
}

PyObject* get_T(const Tensor& t) {
  if (t.dim() != 2 && t.dim() != 0) {
    check(PyErr_WarnEx(PyExc_UserWarning,
                       "The use of `x.T` on tensors of dimension other than 0 or 2 is deprecated "
                       "and will throw an error in a future release. Consider `x.mT` to transpose "
                       "batches of matrices or `x.permute(*range(x.ndim - 1, -1, -1))` to reverse "
                       "the dimensions of a tensor.",
                       1));
  }
  if (t.dim() == 0) {
    warn("Tensor.T is deprecated on 0-D tensors, whose transpose is the tensor itself.");
  }
  return reversed(t);
}

Tensor matrix_transpose(const Tensor& t, const char* name) {
  FACULA_CHECK(t.dim() >= 2, kRuntime, "tensor.", name, " is only supported on matrices or ",
               "batches of matrices. Got ", t.dim(), "-D tensor.");
  return facula::transpose(t, -2, -1);
}

PyObject* get_H(const Tensor& t) {
  FACULA_CHECK(t.dim() == 2 || t.dim() == 0, kRuntime, "tensor.H is only supported on matrices ",
               "(2-D tensors). Got ", t.dim(), "-D tensor.");
  if (t.dim() == 0) warn("Tensor.H is deprecated on 0-D tensors: use x.conj().");
  Tensor v = t.dim() == 0 ? t : facula::transpose(t, 0, 1);
  return wrap(v.is_complex() ? facula::conj(v) : v);
}

PyObject* get_mH(const Tensor& t) {
  Tensor v = matrix_transpose(t, "mH");
  return wrap(v.is_complex() ? facula::conj(v) : v);
}

PyObject* get_real(const Tensor& t) { return wrap(t.is_complex() ? facula::real(t) : t); }
PyObject* get_imag(const Tensor& t) {
  FACULA_CHECK(t.is_complex(), kType, "imag is not implemented for tensors with non-complex ",
               "dtypes.");
  return wrap(facula::imag(t));
}
void assign_real(const Tensor& t, PyObject* value) {
  FACULA_CHECK(value && is_tensor(value), kType, "real: expected a Tensor");
  facula::copy_(t.is_complex() ? facula::real(t) : t, unwrap(value), false);
}
void assign_imag(const Tensor& t, PyObject* value) {
  FACULA_CHECK(value && is_tensor(value), kType, "imag: expected a Tensor");
  FACULA_CHECK(t.is_complex(), kType, "imag is not implemented for tensors with non-complex ",
               "dtypes.");
  facula::copy_(facula::imag(t), unwrap(value), false);
}

PyObject* get_name(const Tensor& t) {
  AutogradMeta* m = find_meta(t.impl());
  if (!m || m->name.empty()) Py_RETURN_NONE;
  return PyUnicode_FromString(m->name.c_str());
}

PyObject* get_names(const Tensor& t) {
  Owned names = own(PyTuple_New(t.dim()));
  for (int64_t d = 0; d < t.dim(); ++d) PyTuple_SET_ITEM(names.get(), d, Py_NewRef(Py_None));
  return names.release();
}

const Attribute kAttributes[] = {
    {"shape", [](const Tensor& t) { return size_object(t.sizes()); }, nullptr},
    {"dtype", [](const Tensor& t) { return Py_NewRef(dtype_object(t.dtype())); }, nullptr},
    {"device", [](const Tensor& t) { return device_object(t.device()); }, nullptr},
    {"layout", [](const Tensor&) { return Py_NewRef(layout_object()); }, nullptr},
    {"ndim", [](const Tensor& t) { return PyLong_FromLongLong(t.dim()); }, nullptr},
    {"itemsize", [](const Tensor& t) { return PyLong_FromLongLong(item_size(t.dtype())); },
     nullptr},
    {"nbytes",
     [](const Tensor& t) { return PyLong_FromLongLong(t.numel() * item_size(t.dtype())); },
     nullptr},
    // Inside vmap it is what the values want: a write may have changed it.
    {"requires_grad", [](const Tensor& t) { return bool_object(requires_grad(all_samples(t))); },
     assign_requires_grad},
    {"grad", get_grad, assign_grad},
    {"_grad", get_grad, assign_grad},
    {"grad_fn",
     [](const Tensor& t) {
       return (t->intercept & kInterceptBatched) ? Py_NewRef(Py_None)
                                                 : wrap_node(facula::grad_fn(t));
     },
     nullptr},
    {"is_leaf", [](const Tensor& t) { return bool_object(is_leaf(t)); }, nullptr},
    {"retains_grad",
     [](const Tensor& t) {
       AutogradMeta* m = find_meta(t.impl());
       return bool_object(m && m->retains_grad());
     },
     nullptr},
    {"output_nr",
     [](const Tensor& t) { return PyLong_FromUnsignedLong(t->grad_fn ? t->output_nr : 0); },
     nullptr},
    {"data",
     [](const Tensor& t) {
       bool asks = t->intercept & kInterceptDispatch;
       return wrap(asks ? detach(t) : alias_unversioned(t));
     },
     assign_data},
    {"_version",
     [](const Tensor& t) {
       FACULA_CHECK(!t->has(kInference), kRuntime,
                    "Inference tensors do not track version counter.");
       return PyLong_FromUnsignedLong(t->version->value.load(std::memory_order_relaxed));
     },
     nullptr},
    {"_base", [](const Tensor& t) { return wrap(Tensor::borrow(t->base)); }, nullptr},
    {"T", get_T, nullptr},
    {"mT", [](const Tensor& t) { return wrap(matrix_transpose(t, "mT")); }, nullptr},
    {"H", get_H, nullptr},
    {"mH", get_mH, nullptr},
    {"real", get_real, assign_real},
    {"imag", get_imag, assign_imag},
    {"name", get_name, nullptr},
    {"names", get_names, nullptr},
    {"is_cpu", [](const Tensor& t) { return bool_object(t.device().is_cpu()); }, nullptr},
    {"is_meta", [](const Tensor& t) { return bool_object(t.is_meta()); }, nullptr},
    {"is_cuda", [](const Tensor& t) { return bool_object(t.device().type == DeviceType::kCuda); },
     nullptr},
    {"is_sparse", [](const Tensor&) { return bool_object(false); }, nullptr},
    {"is_sparse_csr", [](const Tensor&) { return bool_object(false); }, nullptr},
    {"is_quantized", [](const Tensor&) { return bool_object(false); }, nullptr},
    {"is_nested", [](const Tensor&) { return bool_object(false); }, nullptr},
    {"is_mkldnn", [](const Tensor&) { return bool_object(false); }, nullptr},
    {"is_mps", [](const Tensor&) { return bool_object(false); }, nullptr},
    {"is_xpu", [](const Tensor&) { return bool_object(false); }, nullptr},
    {"is_xla", [](const Tensor&) { return bool_object(false); }, nullptr},
};
constexpr size_t kNumAttributes = sizeof(kAttributes) / sizeof(kAttributes[0]);

}  // namespace

PyGetSetDef tensor_getset[kNumAttributes + 2];

// fill_getset writes the table that the type points to; called before PyType_Ready.
void fill_getset() {
  size_t i = 0;
  for (const Attribute& a : kAttributes) {
    tensor_getset[i++] = {a.name, get_attribute, set_attribute, nullptr,
                          const_cast<Attribute*>(&a)};
  }
  tensor_getset[i] = {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr,
                      nullptr};
}

}  // namespace facula::python
