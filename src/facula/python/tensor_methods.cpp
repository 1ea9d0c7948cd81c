// Methods of Tensor that are not operators: values, geometry, gradient and hooks, NumPy, storage.
#include "facula/autograd/accumulate.h"
#include "facula/autograd/engine.h"
#include "facula/core/intercept.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/warn.h"
#include "facula/python/arguments.h"
#include "facula/python/construct.h"
#include "facula/python/dispatch_classes.h"
#include "facula/python/foreign.h"
#include "facula/python/given.h"
#include "facula/python/node_type.h"
#include "facula/python/overrides.h"
#include "facula/python/storage_type.h"
#include "facula/python/types.h"

namespace facula::python {

namespace {

// method runs the body of a method, unless a subclass overrides it.
template <class F>
PyObject* method(PyObject* self, const char* name, PyObject* const* args, Py_ssize_t n,
                 PyObject* kwnames, F&& body) {
  return guarded([&]() -> PyObject* {
    if (intercepted(self)) [[unlikely]]
      return override_method(self, name, args, n, kwnames);
    return body(unwrap(self));
  });
}
template <class F>
PyObject* method(PyObject* self, const char* name, F&& body) {
  return method(self, name, nullptr, 0, nullptr, std::forward<F>(body));
}

PyObject* element(const Tensor& t, int64_t offset) {
  const char* data = t->storage->data();
  return scalar_object(scalar_at(data ? data + offset * item_size(t.dtype()) : nullptr, t.dtype()));
}

PyObject* item(PyObject* self, PyObject*) {
  return method(self, "item", [](const Tensor& t) {
    FACULA_CHECK(t.numel() == 1, kRuntime, "a Tensor with ", t.numel(),
                 " elements cannot be converted to Scalar");
    FACULA_CHECK(!t.is_meta(), kRuntime, "Tensor.item() cannot be called on meta tensors");
    if (t->intercept & kInterceptDispatch) return scalar_object(dispatched_value(t));
    return element(t, t.storage_offset());
  });
}

PyObject* nested_list(const Tensor& t, int d, int64_t offset) {
  if (d == t.dim()) return element(t, offset);
  int64_t n = t->sizes[d];
  Owned list = own(PyList_New(n));
  for (int64_t i = 0; i < n; ++i) {
    PyList_SET_ITEM(list.get(), i, check(nested_list(t, d + 1, offset + i * t->strides[d])));
  }
  return list.release();
}

PyObject* tolist(PyObject* self, PyObject*) {
  return method(self, "tolist", [&](const Tensor& t) {
    FACULA_CHECK(!t.is_meta(), kNotImplemented, "Tensor.tolist() cannot be called on meta tensors");
    FACULA_CHECK(!(t->intercept & kInterceptDispatch), kRuntime,
                 ".tolist() is not supported for tensor subclasses, got ", type_name(self));
    return nested_list(t, 0, t.storage_offset());
  });
}

PyObject* numpy(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return method(self, "numpy", args, n, kwnames, [&](const Tensor& t) -> PyObject* {
    FACULA_CHECK(n == 0, kType, "numpy() takes 0 positional arguments but ", n, " were given");
    auto [f] = given("numpy", {"force"}, args, n, kwnames);
    bool force = f && to_bool(f, "numpy");
    FACULA_CHECK(!(t->intercept & kInterceptDispatch), kRuntime,
                 ".numpy() is not supported for tensor subclasses.");
    if (requires_grad(t) && grad_enabled() && !force) {
      raise_error(ErrorKind::kRuntime, "Can't call numpy() on Tensor that requires grad. Use ",
                  "tensor.detach().numpy() instead.");
    }
    if (requires_grad(t)) {
      Owned plain = own(wrap(detach(t)));
      return array_from_tensor(plain.get());
    }
    return array_from_tensor(self);
  });
}

// __array__(dtype=None, copy=None)
PyObject* array(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return method(self, "__array__", args, n, kwnames, [&](const Tensor& t) -> PyObject* {
    auto [dtype, copy] = given("__array__", {"dtype", "copy"}, args, n, kwnames);
    Owned a = own(numpy(self, nullptr, 0, nullptr));
    if (dtype && dtype != Py_None) {
      Owned have = own(PyObject_GetAttrString(a.get(), "dtype"));
      int same = PyObject_RichCompareBool(have.get(), dtype, Py_EQ);
      check(same);
      if (!same) {
        FACULA_CHECK(copy != Py_False, kValue, "Unable to avoid copy while creating an array");
        return PyObject_CallMethod(a.get(), "astype", "O", dtype);
      }
    }
    if (copy == Py_True) return PyObject_CallMethod(a.get(), "copy", nullptr);
    return a.release();
  });
}

PyObject* size_or_stride(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames,
                         bool strides) {
  const char* name = strides ? "stride" : "size";
  return method(self, name, args, n, kwnames, [&](const Tensor& t) -> PyObject* {
    auto [dim] = given(name, {"dim"}, args, n, kwnames);
    IntList list = strides ? t.strides() : t.sizes();
    if (!dim || dim == Py_None) {
      if (!strides) return size_object(list);
      Owned tuple = own(PyTuple_New(list.ssize()));
      for (int i = 0; i < list.ssize(); ++i) {
        PyTuple_SET_ITEM(tuple.get(), i, PyLong_FromLongLong(list[static_cast<size_t>(i)]));
      }
      return tuple.release();
    }
    if (!is_integer(dim) && !is_tensor(dim)) {
      raise_error(ErrorKind::kType, name, "(): argument 'dim' (position 1) must be int, not ",
                  type_name(dim));
    }
    FACULA_CHECK(t.dim() > 0, kIndex, "Dimension specified as ", to_int64(dim, name),
                 " but tensor has no dimensions");
    int64_t d = wrap_dim(to_int64(dim, name), t.dim(), name);
    return PyLong_FromLongLong(list[static_cast<size_t>(d)]);
  });
}
PyObject* size(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kw) {
  return size_or_stride(self, args, n, kw, false);
}
PyObject* stride(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kw) {
  return size_or_stride(self, args, n, kw, true);
}

PyObject* dim(PyObject* self, PyObject*) {
  return method(self, "dim", [](const Tensor& t) { return PyLong_FromLongLong(t.dim()); });
}
PyObject* storage_offset(PyObject* self, PyObject*) {
  return method(self, "storage_offset",
                [](const Tensor& t) { return PyLong_FromLongLong(t.storage_offset()); });
}
PyObject* element_size(PyObject* self, PyObject*) {
  return method(self, "element_size",
                [](const Tensor& t) { return PyLong_FromLongLong(item_size(t.dtype())); });
}
PyObject* data_ptr(PyObject* self, PyObject*) {
  return method(self, "data_ptr", [](const Tensor& t) -> PyObject* {
    if (!t.data() || t.numel() == 0) return PyLong_FromLong(0);
    return PyLong_FromVoidPtr(t.data());
  });
}
PyObject* get_device(PyObject* self, PyObject*) {
  return method(self, "get_device",
                [](const Tensor& t) { return PyLong_FromLong(t.device().index); });
}
PyObject* is_contiguous(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return method(self, "is_contiguous", args, n, kwnames, [&](const Tensor& t) {
    auto [f] = given("is_contiguous", {"memory_format"}, args, n, kwnames);
    if (!f) return wrap(t.is_contiguous());
    return wrap(is_contiguous_as(t, unwrap_memory_format(f, "is_contiguous")));
  });
}
PyObject* untyped_storage(PyObject* self, PyObject*) {
  return method(self, "untyped_storage", [](const Tensor& t) {
    FACULA_CHECK(!(t->intercept & kInterceptBatched), kRuntime,
                 "untyped_storage: a tensor inside vmap has no storage");
    FACULA_CHECK(!(t->intercept & kInterceptDispatch) || t->storage->data(), kRuntime,
                 "untyped_storage: a tensor that its class made by _make_wrapper_subclass has no "
                 "storage");
    return wrap_storage(t->storage);
  });
}

Py_ssize_t length(PyObject* self) {
  Py_ssize_t n = -1;
  guarded_status([&] {
    const Tensor& t = unwrap(self);
    if (intercepted(self) && !(t->intercept & kInterceptSparse)) [[unlikely]] {
      Owned answer = own(override_method(self, "__len__", nullptr, 0, nullptr));
      Py_ssize_t length = PyLong_AsSsize_t(answer.get());
      if (length == -1 && PyErr_Occurred()) return -1;
      FACULA_CHECK(length >= 0, kValue, "__len__() should return >= 0");
      n = length;
      return 0;
    }
    FACULA_CHECK(t.dim() > 0, kType, "len() of a 0-d tensor");
    n = t.sizes()[0];
    return 0;
  });
  return n;
}

// ---- autograd

PyObject* requires_grad_(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return method(self, "requires_grad_", args, n, kwnames, [&](const Tensor& t) {
    auto [v] = given("requires_grad_", {"requires_grad"}, args, n, kwnames);
    if (v && !PyBool_Check(v)) {
      raise_error(ErrorKind::kType, "requires_grad_(): argument 'requires_grad' (position 1) ",
                  "must be bool, not ", type_name(v));
    }
    bool on = !v || v == Py_True;
    if (on != requires_grad(t)) set_requires_grad(t, on);
    return Py_NewRef(self);
  });
}

PyObject* detach_method(PyObject* self, PyObject*) {
  return method(self, "detach", [](const Tensor& t) { return wrap(detach(t)); });
}
PyObject* detach_in_place(PyObject* self, PyObject*) {
  return method(self, "detach_", [&](const Tensor& t) {
    detach_(t);
    return Py_NewRef(self);
  });
}
PyObject* retain_grad_method(PyObject* self, PyObject*) {
  return method(self, "retain_grad", [](const Tensor& t) -> PyObject* {
    retain_grad(t);
    Py_RETURN_NONE;
  });
}

bool flag(PyObject* v, bool otherwise) {
  return !v || v == Py_None ? otherwise : to_bool(v, "backward");
}

// backward(gradient=None, retain_graph=None, create_graph=False, inputs=None)
PyObject* backward_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return method(self, "backward", args, n, kwnames, [&](const Tensor& t) -> PyObject* {
    auto [gradient, retain, create, wanted] =
        given("backward", {"gradient", "retain_graph", "create_graph", "inputs"}, args, n, kwnames);
    BackwardOptions options;
    options.create_graph = flag(create, false);
    if (options.create_graph) warn_of_kept_graph();
    options.retain_graph = flag(retain, options.create_graph);
    Tensor seed;
    if (gradient && gradient != Py_None) {
      FACULA_CHECK(is_tensor(gradient), kType, "gradients can be either Tensors or None, but got ",
                   type_name(gradient));
      seed = unwrap(gradient);
    }
    std::vector<BackwardEnd> inputs;
    if (wanted && wanted != Py_None) {
      inputs = backward_ends(wanted, "backward");
      FACULA_CHECK(!inputs.empty(), kRuntime, "'inputs' argument to backward() cannot be empty.");
    }
    seed = dispatched_seed(t, std::move(seed));
    differentiate({{t, {}}}, {&seed, 1}, options, inputs);
    Py_RETURN_NONE;
  });
}

PyObject* register_hook(PyObject* self, PyObject* f) {
  return method(self, "_register_hook", &f, 1, nullptr, [&](const Tensor& t) {
    FACULA_CHECK(requires_grad(t), kRuntime,
                 "cannot register a hook on a tensor that doesn't require gradient");
    uint64_t id = add_hook(t, std::make_shared<PyHook>(f, PyHook::Kind::kTensor));
    return PyLong_FromUnsignedLongLong(id);
  });
}
PyObject* remove_hook_method(PyObject* self, PyObject* id) {
  return guarded([&]() -> PyObject* {
    remove_hook(unwrap(self), static_cast<uint64_t>(to_int64(id, "remove")));
    Py_RETURN_NONE;
  });
}

PyObject* register_post_hook(PyObject* self, PyObject* f) {
  return method(self, "_register_post_hook", &f, 1, nullptr, [&](const Tensor& t) {
    FACULA_CHECK(requires_grad(t), kRuntime,
                 "cannot register a hook on a tensor that doesn't require gradient");
    FACULA_CHECK(is_leaf(t), kRuntime,
                 "post accumulate grad hooks cannot be registered on non-leaf tensors");
    uint64_t id = add_accumulated_hook(t, std::make_shared<PyHook>(f, PyHook::Kind::kAccumulated));
    return PyLong_FromUnsignedLongLong(id);
  });
}
PyObject* remove_post_hook(PyObject* self, PyObject* id) {
  return guarded([&]() -> PyObject* {
    AutogradMeta* m = find_meta(unwrap(self).impl());
    AccumulateGrad* a = m ? m->accumulator.load() : nullptr;
    auto wanted = static_cast<uint64_t>(to_int64(id, "remove"));
    if (a && a->hooks) remove_node_hook(a->hooks->accumulated, wanted);
    Py_RETURN_NONE;
  });
}

// ---- subclasses

PyObject* as_subclass(PyObject* self, PyObject* cls) {
  return method(self, "as_subclass", &cls, 1, nullptr, [&](const Tensor& t) {
    FACULA_CHECK(PyType_Check(cls), kType, "cls must be a type (got ", type_name(cls), ")");
    return wrap_as(reinterpret_cast<PyTypeObject*>(cls), facula::view(t, t.sizes()));
  });
}

// _make_subclass(cls, data, require_grad=False, ...)
PyObject* make_subclass(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n >= 2 && PyType_Check(args[0]), kType, "cls must be a type");
    // The last four name dispatch keys of PyTorch that a strided tensor does not have.
    PyObject* grad = given("_make_subclass",
                           {"cls", "data", "require_grad", "dispatch_sizes_strides_policy",
                            "dispatch_device", "dispatch_layout", "device_for_backend_keys"},
                           args, n, kwnames)[2];
    const Tensor& data = expect_tensor(args[1], "_make_subclass");
    bool asks = data->intercept & kInterceptDispatch;
    Tensor t = alias_unversioned(asks ? detach(data) : data);
    if (grad && to_bool(grad, "_make_subclass")) set_requires_grad(t, true);
    return wrap_as(reinterpret_cast<PyTypeObject*>(args[0]), std::move(t));
  });
}

PyObject* is_set_to(PyObject* self, PyObject* other) {
  return guarded([&] {
    const Tensor &a = unwrap(self), &b = expect_tensor(other, "is_set_to");
    return wrap(a->storage == b->storage && a.storage_offset() == b.storage_offset() &&
                a.sizes() == b.sizes() && a.strides() == b.strides());
  });
}

PyObject* is_view(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(unwrap(self)->base != nullptr); });
}

// set_(source=None, storage_offset=0, size=None, stride=None): another storage, or another
// tensor's.
PyObject* set_(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return method(self, "set_", args, n, kwnames, [&](const Tensor& t) -> PyObject* {
    auto [source, offset, size, stride] =
        given("set_", {"source", "storage_offset", "size", "stride"}, args, n, kwnames);
    check_inplace(t, "set_");
    FACULA_CHECK(!source || !is_tensor(source) || !unwrap(source)->intercept, kRuntime,
                 "set_: the source must be a strided tensor");
    // What a graph saved is no longer there; and tensors that shared the old bytes note it too.
    auto replace = [&](Storage* storage) {
      bump_version(t, "set_");
      replace_storage(t.impl(), storage);
    };
    if (!source) {
      Storage* empty = Storage::make(0, t.device());
      replace(empty);
      empty->release();
      set_geometry(t.impl(), {int64_t{0}}, {int64_t{1}}, 0);
      return Py_NewRef(self);
    }
    if (is_tensor(source) && !size) {
      const Tensor& s = unwrap(source);
      FACULA_CHECK(s.dtype() == t.dtype(), kRuntime, "set_: expected ", dtype_name(t.dtype()),
                   ", got ", dtype_name(s.dtype()));
      replace(s->storage);
      set_geometry(t.impl(), s.sizes(), s.strides(), s.storage_offset());
      return Py_NewRef(self);
    }
    Storage* storage = is_tensor(source) ? unwrap(source)->storage : expect_storage(source, "set_");
    Sizes sizes;
    int64_t at = offset ? to_int64(offset, "set_") : 0;
    if (size)
      sizes = to_sizes(size, "set_");
    else
      sizes.push_back(static_cast<int64_t>(storage->bytes()) / item_size(t.dtype()) - at);
    Sizes strides = stride ? to_sizes(stride, "set_") : contiguous_strides(sizes);
    // Bounds are checked by making a tensor of this geometry first.
    Tensor checked = tensor_over(storage, sizes, strides, at, t.dtype());
    replace(storage);
    set_geometry(t.impl(), sizes, strides, at);
    return Py_NewRef(self);
  });
}

}  // namespace

PyObject* tensor_iterate(PyObject* self) {
  return guarded([&]() -> PyObject* {
    static PyObject* name = intern("unbind");
    FACULA_CHECK(unwrap(self).dim() > 0, kType, "iteration over a 0-d tensor");
    Owned slices = own(PyObject_CallMethodNoArgs(self, name));
    return PyObject_GetIter(slices.get());
  });
}
PySequenceMethods tensor_sequence = {.sq_length = length};
Py_ssize_t tensor_length(PyObject* self) { return length(self); }

PyMethodDef tensor_methods[] = {
    {"item", item, METH_NOARGS, "item($self, /)\n--\n\nThe value of a tensor of one element."},
    {"tolist", tolist, METH_NOARGS, "tolist($self, /)\n--\n\nThe values as nested lists."},
    {"numpy", fast(numpy), kFast,
     "numpy($self, /, *, force=False)\n--\n\nAn array over the same memory."},
    {"__array__", fast(array), kFast, nullptr},
    {"size", fast(size), kFast, "size($self, /, dim=None)\n--\n\nThe sizes, or one of them."},
    {"stride", fast(stride), kFast, "stride($self, /, dim=None)\n--\n\nThe strides, or one."},
    {"dim", dim, METH_NOARGS, "dim($self, /)\n--\n\nThe number of dimensions."},
    {"ndimension", dim, METH_NOARGS, "ndimension($self, /)\n--\n\nThe number of dimensions."},
    {"storage_offset", storage_offset, METH_NOARGS,
     "storage_offset($self, /)\n--\n\nThe place of the first element in the storage."},
    {"element_size", element_size, METH_NOARGS,
     "element_size($self, /)\n--\n\nBytes of one element."},
    {"data_ptr", data_ptr, METH_NOARGS, "data_ptr($self, /)\n--\n\nThe first element's address."},
    {"get_device", get_device, METH_NOARGS,
     "get_device($self, /)\n--\n\nThe index of the device, -1 for the CPU."},
    {"is_contiguous", fast(is_contiguous), kFast,
     "is_contiguous($self, /, memory_format=None)\n--\n\nWhether the strides are row-major."},
    {"untyped_storage", untyped_storage, METH_NOARGS,
     "untyped_storage($self, /)\n--\n\nThe storage."},
    {"requires_grad_", fast(requires_grad_), kFast,
     "requires_grad_($self, /, requires_grad=True)\n--\n\nMarks a leaf that wants a gradient."},
    {"detach", detach_method, METH_NOARGS,
     "detach($self, /)\n--\n\nA tensor over the same data without history."},
    {"detach_", detach_in_place, METH_NOARGS, "detach_($self, /)\n--\n\nDrops the history."},
    {"retain_grad", retain_grad_method, METH_NOARGS,
     "retain_grad($self, /)\n--\n\nKeeps the gradient of a tensor that is not a leaf."},
    {"backward", fast(backward_method), kFast,
     "backward($self, /, gradient=None, retain_graph=None, create_graph=False, inputs=None)\n--\n\n"
     "Computes the gradients of the leaves."},
    {"_register_hook", register_hook, METH_O, nullptr},
    {"_remove_hook", remove_hook_method, METH_O, nullptr},
    {"_register_post_hook", register_post_hook, METH_O, nullptr},
    {"_remove_post_hook", remove_post_hook, METH_O, nullptr},
    {"as_subclass", as_subclass, METH_O,
     "as_subclass($self, cls, /)\n--\n\nThe tensor as an instance of a subclass."},
    {"_make_subclass", fast(make_subclass), kFast | METH_STATIC, nullptr},
    {"is_set_to", is_set_to, METH_O,
     "is_set_to($self, tensor, /)\n--\n\nWhether both are the same view of one storage."},
    {"_is_view", is_view, METH_NOARGS, nullptr},
    {"set_", fast(set_), kFast,
     "set_($self, /, source=None, storage_offset=0, size=None, stride=None)\n--\n\n"
     "Points the tensor at another storage."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace facula::python
