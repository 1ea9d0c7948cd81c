// Small questions that are methods of Tensor and functions of the package alike, and what pickles
// and graphs ask a tensor for.
#include <sys/mman.h>

#include <mutex>
#include <unordered_map>

#include "facula/autograd/detach.h"
#include "facula/core/intercept.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/python/arguments.h"
#include "facula/python/dispatch_classes.h"
#include "facula/python/module.h"
#include "facula/python/overrides.h"

namespace facula::python {

namespace {

// ask takes the tensor from wherever the call has it: a method's self or the only argument.
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

PyObject* resolve_conj(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return ask(self, args, n, "resolve_conj",
             [](const Tensor&, PyObject* o) { return Py_NewRef(o); });
}
PyObject* resolve_neg(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return ask(self, args, n, "resolve_neg", [](const Tensor&, PyObject* o) { return Py_NewRef(o); });
}
PyObject* numel(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return ask(self, args, n, "numel",
             [](const Tensor& t, PyObject*) { return PyLong_FromLongLong(t.numel()); });
}

PyObject* as_complex(PyObject* self, PyObject*) {
  return ask(self, nullptr, 0, "__complex__", [](const Tensor& t, PyObject*) {
    FACULA_CHECK(t.numel() == 1, kValue,
                 "only one element tensors can be converted to Python scalars");
    FACULA_CHECK(!t.is_meta(), kRuntime, "complex: a meta tensor has no value");
    bool asks = t->intercept & kInterceptDispatch;
    Scalar s = asks ? dispatched_value(t) : scalar_at(t.data(), t.dtype());
    return PyComplex_FromDoubles(s.re, s.im);
  });
}

PyObject* resize_as(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject*) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 1, kType, "resize_as_() takes one tensor");
    facula::resize_(unwrap(self), expect_tensor(args[0], "resize_as_").sizes(), std::nullopt);
    return Py_NewRef(self);
  });
}

PyObject* note_write(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    bump_version(unwrap(self), "increment_version");
    Py_RETURN_NONE;
  });
}

// ---- memory that forked processes share

// The mappings that share_memory_ made, by address.
std::mutex shared_lock;
std::unordered_map<const void*, size_t> shared_mappings;

void unmap(void* address) {
  size_t bytes = 0;
  {
    std::lock_guard<std::mutex> lock(shared_lock);
    auto it = shared_mappings.find(address);
    if (it == shared_mappings.end()) return;
    bytes = it->second;
    shared_mappings.erase(it);
  }
  munmap(address, bytes);
}

bool in_shared_memory(const Tensor& t) {
  std::lock_guard<std::mutex> lock(shared_lock);
  return shared_mappings.contains(t->storage->data());
}

PyObject* is_shared(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(in_shared_memory(unwrap(self))); });
}

// share_memory_ moves the tensor's storage into memory that children of fork() see too.
PyObject* share_memory(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = unwrap(self);
    FACULA_CHECK(
        t.device().is_cpu() && !(t->intercept & kInterceptHidden), kRuntime,
        "share_memory_: expected a tensor of the CPU, outside vmap and of a class with memory");
    size_t bytes = t->storage->bytes();
    if (in_shared_memory(t) || bytes == 0) return Py_NewRef(self);
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    FACULA_CHECK(address != MAP_FAILED, kOutOfMemory, "share_memory_: no ", bytes,
                 " bytes of shared memory");
    {
      std::lock_guard<std::mutex> lock(shared_lock);
      shared_mappings.emplace(address, bytes);
    }
    Storage* storage = Storage::external(address, bytes, unmap, address);
    std::memcpy(address, t->storage->data(), bytes);
    replace_storage(t.impl(), storage);
    storage->release();
    return Py_NewRef(self);
  });
}

PyMethodDef shared_methods[] = {
    {"resolve_conj", fast(resolve_conj), METH_FASTCALL,
     "resolve_conj($self, /)\n--\n\nThe tensor itself: conjugates are computed at once."},
    {"resolve_neg", fast(resolve_neg), METH_FASTCALL,
     "resolve_neg($self, /)\n--\n\nThe tensor itself: negatives are computed at once."},
    {"numel", fast(numel), METH_FASTCALL, "numel($self, /)\n--\n\nThe number of elements."},
    {nullptr, nullptr, 0, nullptr},
};
PyMethodDef only_methods[] = {
    {"nelement", fast(numel), METH_FASTCALL, "nelement($self, /)\n--\n\nThe number of elements."},
    {"resize_as_", fast(resize_as), kFast,
     "resize_as_($self, other, /)\n--\n\nChanges the sizes to those of another tensor."},
    {"share_memory_", share_memory, METH_NOARGS,
     "share_memory_($self, /)\n--\n\nMoves the storage into memory that forked children share."},
    {"is_shared", is_shared, METH_NOARGS,
     "is_shared($self, /)\n--\n\nWhether forked children share the memory."},
    {"__complex__", as_complex, METH_NOARGS, nullptr},
    {"_bump_version", note_write, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

void add_methods(PyMethodDef* defs) {
  for (PyMethodDef* def = defs; def->ml_name; ++def) {
    Owned d = own(PyDescr_NewMethod(&tensor_type, def));
    check(PyDict_SetItemString(tensor_type.tp_dict, def->ml_name, d.get()));
  }
}

}  // namespace

void init_queries(PyObject* module) {
  add_methods(shared_methods);
  add_methods(only_methods);
  add_functions(submodule(module, "_functions"), shared_methods);
  PyType_Modified(&tensor_type);
}

}  // namespace facula::python
