// The Tensor type proper: creation and destruction of its objects, the ownership flip, and the
// metaclass that passes our deallocator on to Python subclasses.
#include "facula/python/tensor_type.h"

#include <structmember.h>

#include "facula/core/intercept.h"
#include "facula/python/dispatch_classes.h"
#include "facula/python/overrides.h"
#include "facula/python/sparse.h"

namespace facula::python {

std::atomic<int64_t> owned_by_cpp{0};

PyTypeObject tensor_meta_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject tensor_type = {PyVarObject_HEAD_INIT(&tensor_meta_type, 0)};

void null_tensor() {
  raise_error(ErrorKind::kRuntime,
              "tensor: this object has no tensor; a subclass must create it by __new__, "
              "as_subclass or _make_subclass");
}

const Tensor& expect_tensor(PyObject* o, const char* op) {
  if (!is_tensor(o)) raise_error(ErrorKind::kType, op, ": expected a Tensor, got ", type_name(o));
  return unwrap(o);
}

namespace {

// take_back gives the object that C++ kept: the handle's count becomes the object's.
PyObject* take_back(Tensor t) {
  TensorImpl* p = t.forget();
  p->flags &= static_cast<uint16_t>(~kOwnsPython);
  owned_by_cpp.fetch_sub(1, std::memory_order_relaxed);
  return p->python;
}

// The last C++ reference goes while C++ owns the Python object: Python owns the tensor again. If
// nobody got at the object through a weak reference, it dies here, and the tensor with it; its
// finalizers and weakref callbacks still find the tensor readable.
bool drop_python(TensorImpl* p) {
  if (!(p->flags & kOwnsPython) || !python_lives()) return false;
  PyGILState_STATE gil = PyGILState_Ensure();
  p->flags &= static_cast<uint16_t>(~kOwnsPython);
  owned_by_cpp.fetch_sub(1, std::memory_order_relaxed);
  p->refs.store(1, std::memory_order_relaxed);
  Py_DECREF(p->python);
  PyGILState_Release(gil);
  return true;
}

void clear_slots(PyObject* self, PyTypeObject* type) {
  for (PyTypeObject* t = type; t && t != &tensor_type; t = t->tp_base) {
    if (!(t->tp_flags & Py_TPFLAGS_HEAPTYPE)) continue;
    Py_ssize_t n = Py_SIZE(t);
    auto* member =
        reinterpret_cast<PyMemberDef*>(reinterpret_cast<char*>(t) + Py_TYPE(t)->tp_basicsize);
    for (Py_ssize_t i = 0; i < n; ++i, ++member) {
      if (member->type != T_OBJECT_EX || (member->flags & READONLY)) continue;
      auto** at = reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + member->offset);
      Py_CLEAR(*at);
    }
  }
}

void tensor_dealloc(PyObject* self) {
  auto* o = reinterpret_cast<PyTensor*>(self);
  PyTypeObject* type = Py_TYPE(self);
  bool exact = type == &tensor_type;
  TensorImpl* p = o->impl;
  bool shared = p && p->refs.load(std::memory_order_acquire) > 1;
  if (shared && (o->dict || o->weak || !exact || (p->meta && holds_itself(p)))) {
    Py_SET_REFCNT(self, 1);
    p->flags |= kOwnsPython;
    owned_by_cpp.fetch_add(1, std::memory_order_relaxed);
    release(p);
    return;
  }
  if (!exact) {
    if (type->tp_finalize && PyObject_CallFinalizerFromDealloc(self) < 0) return;
    if (type->tp_del) {
      Py_SET_REFCNT(self, 1);
      type->tp_del(self);
      Py_ssize_t left = Py_REFCNT(self) - 1;
      Py_SET_REFCNT(self, left);
      if (left > 0) return;
    }
  }
  PyObject_GC_UnTrack(self);
  if (o->weak) PyObject_ClearWeakRefs(self);
  if (!exact) clear_slots(self, type);
  Py_CLEAR(o->dict);
  if (p) {
    o->impl = nullptr;
    p->python = nullptr;
    release(p);
  }
  type->tp_free(self);
  if (!exact) Py_DECREF(type);
}

int meta_init(PyObject* cls, PyObject* args, PyObject* kwargs) {
  if (PyType_Type.tp_init(cls, args, kwargs) < 0) return -1;
  auto* type = reinterpret_cast<PyTypeObject*>(cls);
  type->tp_dealloc = tensor_dealloc;
  type->tp_traverse = tensor_traverse;
  type->tp_clear = tensor_clear;
  // Python takes __iadd__ for a concatenation of sequences too, whose NotImplemented is a result.
  if (type->tp_as_sequence) type->tp_as_sequence->sq_inplace_concat = nullptr;
  return leave_functions_to_dispatch(type);
}

// isinstance(x, FloatTensor) and friends ask the class; plain classes answer as type does.
PyMethodDef meta_methods[] = {{nullptr, nullptr, 0, nullptr}};

PyObject* tensor_repr(PyObject* self) {
  if (intercepted(self)) {
    Owned text;
    int status = guarded_status([&] {
      if (unwrap(self)->intercept & kInterceptSparse) return 0;
      text = own(override_method(self, "__repr__", nullptr, 0, nullptr));
      return 0;
    });
    if (status < 0) return nullptr;
    if (text) return text.release();
  }
  static PyObject* name = intern("_repr");
  Owned f(PyObject_GetAttr(self, name));
  if (!f) {
    PyErr_Clear();
    return PyUnicode_FromFormat("<%s object at %p>", Py_TYPE(self)->tp_name, self);
  }
  return PyObject_CallNoArgs(f.get());
}

}  // namespace

PyObject* wrap(Tensor t) {
  TensorImpl* p = t.impl();
  if (!p) Py_RETURN_NONE;
  if (PyObject* known = p->python) {
    if (p->flags & kOwnsPython) return take_back(std::move(t));
    Py_INCREF(known);
    return known;
  }
  if (p->intercept & kInterceptSparse) [[unlikely]]
    return wrap_sparse(std::move(t));
  PyTensor* o = PyObject_GC_New(PyTensor, &tensor_type);
  if (!o) throw PythonError();
  o->impl = t.forget();
  o->dict = o->weak = nullptr;
  p->python = reinterpret_cast<PyObject*>(o);
  PyObject_GC_Track(p->python);
  return p->python;
}

PyObject* wrap_as(PyTypeObject* type, Tensor t) {
  if (!PyType_IsSubtype(type, &tensor_type)) {
    raise_error(ErrorKind::kType, "expected a subclass of Tensor, got ", type->tp_name);
  }
  if (t.impl()->python) raise_error(ErrorKind::kRuntime, "the tensor has a Python object already");
  PyObject* o = check(type->tp_alloc(type, 0));
  TensorImpl* p = t.forget();
  p->python = o;
  p->intercept &= static_cast<uint8_t>(~kInterceptDispatch);
  if (has_dispatch(type)) p->intercept |= kInterceptDispatch;
  reinterpret_cast<PyTensor*>(o)->impl = p;
  return o;
}

void init_tensor_type(PyObject* module) {
  python_drop = drop_python;
  PyTypeObject& meta = tensor_meta_type;
  Py_SET_TYPE(&meta, &PyType_Type);
  meta.tp_name = "facula._C._TensorMeta";
  meta.tp_base = &PyType_Type;
  meta.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  meta.tp_init = meta_init;
  meta.tp_methods = meta_methods;
  check(PyType_Ready(&meta));

  fill_getset();
  PyTypeObject& type = tensor_type;
  type.tp_name = "facula.Tensor";
  type.tp_doc = "A strided, typed view of a storage, with its place in the autograd graph.";
  type.tp_basicsize = sizeof(PyTensor);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  type.tp_new = tensor_new;
  type.tp_dealloc = tensor_dealloc;
  type.tp_traverse = tensor_traverse;
  type.tp_clear = tensor_clear;
  type.tp_free = PyObject_GC_Del;
  type.tp_dictoffset = offsetof(PyTensor, dict);
  type.tp_weaklistoffset = offsetof(PyTensor, weak);
  type.tp_as_number = &tensor_number;
  type.tp_as_mapping = &tensor_mapping;
  type.tp_as_sequence = &tensor_sequence;
  type.tp_methods = tensor_methods;
  type.tp_getset = tensor_getset;
  type.tp_richcompare = tensor_richcompare;
  type.tp_iter = tensor_iterate;
  type.tp_hash = reinterpret_cast<hashfunc>(_Py_HashPointer);
  type.tp_repr = tensor_repr;
  check(PyType_Ready(&type));
  // Methods written in Python are attached when the package is imported, and users may add theirs.
  type.tp_flags &= ~static_cast<unsigned long>(Py_TPFLAGS_IMMUTABLETYPE);
  add_object(module, "_TensorMeta", reinterpret_cast<PyObject*>(&meta));
  add_object(module, "TensorBase", reinterpret_cast<PyObject*>(&type));
  add_object(module, "Tensor", reinterpret_cast<PyObject*>(&type));
}

}  // namespace facula::python
