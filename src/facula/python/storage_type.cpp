// UntypedStorage: size, address, bytes through the buffer protocol, copies and resizing.
#include "facula/python/storage_type.h"

#include <structmember.h>

#include "facula/core/lent.h"
#include "facula/core/writable.h"
#include "facula/python/arguments.h"
#include "facula/python/given.h"
#include "facula/python/types.h"

namespace facula::python {

PyTypeObject storage_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

namespace {

Storage* storage_of(PyObject* o) { return reinterpret_cast<PyStorage*>(o)->storage; }

PyObject* make_object(PyTypeObject* type, Storage* counted) {
  PyObject* o = type->tp_alloc(type, 0);
  if (!o) {
    counted->release();
    throw PythonError();
  }
  reinterpret_cast<PyStorage*>(o)->storage = counted;
  return o;
}

// UntypedStorage(size=0, *, device="cpu") or UntypedStorage(bytes).
PyObject* storage_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"size", "device", nullptr};
    PyObject *size = nullptr, *device = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$O:UntypedStorage", const_cast<char**>(names),
                                     &size, &device)) {
      return nullptr;
    }
    Device d = device && device != Py_None ? unwrap_device(device, "UntypedStorage") : kCpu;
    if (!size) return make_object(type, Storage::make(0, d));
    if (is_integer(size)) {
      int64_t n = to_int64(size, "UntypedStorage");
      FACULA_CHECK(n >= 0, kRuntime, "UntypedStorage: expected a size of at least 0, got ", n);
      return make_object(type, Storage::make(static_cast<size_t>(n), d));
    }
    Owned bytes = own(PyBytes_FromObject(size));
    auto n = static_cast<size_t>(PyBytes_GET_SIZE(bytes.get()));
    Storage* s = Storage::make(n, d);
    if (n && s->data()) std::memcpy(s->data(), PyBytes_AS_STRING(bytes.get()), n);
    return make_object(type, s);
  });
}

void storage_dealloc(PyObject* self) {
  auto* o = reinterpret_cast<PyStorage*>(self);
  if (o->weak) PyObject_ClearWeakRefs(self);
  Py_CLEAR(o->dict);
  if (o->storage) o->storage->release();
  Py_TYPE(self)->tp_free(self);
}

PyObject* storage_nbytes(PyObject* self, PyObject*) {
  return PyLong_FromSize_t(storage_of(self)->bytes());
}
PyObject* storage_data_ptr(PyObject* self, PyObject*) {
  return PyLong_FromVoidPtr(storage_of(self)->data());
}
Py_ssize_t storage_length(PyObject* self) {
  return static_cast<Py_ssize_t>(storage_of(self)->bytes());
}
PyObject* storage_element_size(PyObject*, PyObject*) { return PyLong_FromLong(1); }

PyObject* storage_item(PyObject* self, PyObject* index) {
  return guarded([&]() -> PyObject* {
    Owned view = own(PyMemoryView_FromObject(self));
    if (PySlice_Check(index)) {
      Owned part = own(PyObject_GetItem(view.get(), index));
      Owned bytes = own(PyBytes_FromObject(part.get()));
      return PyObject_CallOneArg(reinterpret_cast<PyObject*>(&storage_type), bytes.get());
    }
    return PyObject_GetItem(view.get(), index);
  });
}

PyObject* storage_clone(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Storage* from = storage_of(self);
    Storage* s = Storage::make(from->bytes(), from->device());
    if (from->bytes() && from->data()) std::memcpy(s->data(), from->data(), from->bytes());
    return make_object(&storage_type, s);
  });
}

PyObject* storage_resize(PyObject* self, PyObject* size) {
  return guarded([&]() -> PyObject* {
    int64_t n = to_int64(size, "resize_");
    FACULA_CHECK(n >= 0, kRuntime, "resize_: expected a size of at least 0, got ", n);
    storage_of(self)->resize(static_cast<size_t>(n));
    return Py_NewRef(self);
  });
}

PyObject* storage_copy(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    PyObject* source = given("copy_", {"source", "non_blocking"}, args, n, kwnames)[0];
    FACULA_CHECK(source, kType, "copy_() missing 1 required positional argument: 'source'");
    Storage* to = storage_of(self);
    Storage* from = expect_storage(source, "copy_");
    FACULA_CHECK(to->bytes() == from->bytes(), kRuntime, "copy_: expected ", to->bytes(),
                 " bytes, got ", from->bytes());
    FACULA_CHECK(!to->bytes() || (to->data() && from->data()), kNotImplemented,
                 "copy_: a storage on meta has no data");
    check_writable(*to, "copy_");
    if (to->bytes()) std::memmove(to->data(), from->data(), to->bytes());
    to->version.value.fetch_add(1, std::memory_order_relaxed);
    return Py_NewRef(self);
  });
}

PyObject* storage_fill(PyObject* self, PyObject* value) {
  return guarded([&]() -> PyObject* {
    Storage* s = storage_of(self);
    int byte = static_cast<int>(to_int64(value, "fill_"));
    check_writable(*s, "fill_");
    if (s->bytes() && s->data()) std::memset(s->data(), byte, s->bytes());
    s->version.value.fetch_add(1, std::memory_order_relaxed);
    return Py_NewRef(self);
  });
}

PyObject* storage_tolist(PyObject* self, PyObject*) { return PySequence_List(self); }
PyObject* storage_untyped(PyObject* self, PyObject*) { return Py_NewRef(self); }
PyObject* storage_use_count(PyObject* self, PyObject*) {
  return PyLong_FromUnsignedLong(storage_of(self)->use_count());
}

PyObject* storage_device(PyObject* self, void*) {
  return guarded([&] { return device_object(storage_of(self)->device()); });
}
PyObject* get_false(PyObject*, void*) { Py_RETURN_FALSE; }
PyObject* get_cdata(PyObject* self, void*) { return PyLong_FromVoidPtr(storage_of(self)); }

PyObject* storage_compare(PyObject* a, PyObject* b, int op) {
  if (!PyObject_TypeCheck(b, &storage_type) || (op != Py_EQ && op != Py_NE)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return PyBool_FromLong((storage_of(a) == storage_of(b)) == (op == Py_EQ));
}
Py_hash_t storage_hash(PyObject* self) { return _Py_HashPointer(storage_of(self)); }

PyObject* storage_repr(PyObject* self) {
  return PyUnicode_FromFormat("<UntypedStorage of %zu bytes at %p>", storage_of(self)->bytes(),
                              static_cast<void*>(storage_of(self)->data()));
}

int storage_buffer(PyObject* self, Py_buffer* view, int flags) {
  Storage* s = storage_of(self);
  if (s->bytes() && !s->data()) {
    PyErr_SetString(PyExc_BufferError, "a meta storage has no bytes");
    return -1;
  }
  static char nothing;
  int failed = PyBuffer_FillInfo(view, self, s->data() ? s->data() : &nothing,
                                 static_cast<Py_ssize_t>(s->bytes()), s->read_only(), flags);
  if (!failed) lend(s);
  return failed;
}
void release_storage_buffer(PyObject* self, Py_buffer*) { give_back(storage_of(self)); }

PyMethodDef storage_methods[] = {
    {"nbytes", storage_nbytes, METH_NOARGS, "The size in bytes."},
    {"size", storage_nbytes, METH_NOARGS, "The size in bytes."},
    {"data_ptr", storage_data_ptr, METH_NOARGS, "The address of the first byte."},
    {"element_size", storage_element_size, METH_NOARGS, "1: the elements are bytes."},
    {"clone", storage_clone, METH_NOARGS, "A copy."},
    {"resize_", storage_resize, METH_O, "Grows or shrinks; the common prefix stays."},
    {"copy_", fast(storage_copy), kFast, "Copies the bytes of another storage of this size."},
    {"fill_", storage_fill, METH_O, "Sets every byte."},
    {"tolist", storage_tolist, METH_NOARGS, "The bytes as a list of ints."},
    {"untyped", storage_untyped, METH_NOARGS, "This storage."},
    {"use_count", storage_use_count, METH_NOARGS, "How many tensors and objects share it."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef storage_getset[] = {
    {"device", storage_device, nullptr, nullptr, nullptr},
    {"is_cuda", get_false, nullptr, nullptr, nullptr},
    {"is_sparse", get_false, nullptr, nullptr, nullptr},
    {"_cdata", get_cdata, nullptr, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMappingMethods storage_mapping = {storage_length, storage_item, nullptr};
PySequenceMethods storage_sequence;
PyBufferProcs storage_buffer_procs = {storage_buffer, release_storage_buffer};

PyObject* storage_sequence_item(PyObject* self, Py_ssize_t i) {
  Storage* s = storage_of(self);
  if (i < 0 || static_cast<size_t>(i) >= s->bytes()) {
    PyErr_SetString(PyExc_IndexError, "storage index out of range");
    return nullptr;
  }
  if (!s->data()) {
    PyErr_SetString(PyExc_RuntimeError, "a meta storage has no bytes");
    return nullptr;
  }
  return PyLong_FromLong(static_cast<unsigned char>(s->data()[i]));
}

}  // namespace

PyObject* wrap_storage(Storage* storage) {
  storage->retain();
  return make_object(&storage_type, storage);
}

Storage* expect_storage(PyObject* o, const char* op) {
  if (PyObject_TypeCheck(o, &storage_type)) return storage_of(o);
  Owned inner(PyObject_GetAttrString(o, "_untyped_storage"));
  if (inner && PyObject_TypeCheck(inner.get(), &storage_type)) return storage_of(inner.get());
  PyErr_Clear();
  raise_error(ErrorKind::kType, op, ": expected a storage, got ", type_name(o));
}

void init_storage_type(PyObject* module) {
  storage_sequence.sq_length = storage_length;
  storage_sequence.sq_item = storage_sequence_item;
  PyTypeObject& type = storage_type;
  type.tp_name = "facula.UntypedStorage";
  type.tp_basicsize = sizeof(PyStorage);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  type.tp_doc = "UntypedStorage(size=0, *, device=None)\n--\n\nThe bytes behind tensors.";
  type.tp_new = storage_new;
  type.tp_dealloc = storage_dealloc;
  type.tp_repr = storage_repr;
  type.tp_hash = storage_hash;
  type.tp_richcompare = storage_compare;
  type.tp_methods = storage_methods;
  type.tp_getset = storage_getset;
  type.tp_as_mapping = &storage_mapping;
  type.tp_as_sequence = &storage_sequence;
  type.tp_as_buffer = &storage_buffer_procs;
  type.tp_dictoffset = offsetof(PyStorage, dict);
  type.tp_weaklistoffset = offsetof(PyStorage, weak);
  check(PyType_Ready(&type));
  type.tp_flags &= ~static_cast<unsigned long>(Py_TPFLAGS_IMMUTABLETYPE);
  add_object(module, "UntypedStorage", reinterpret_cast<PyObject*>(&type));
}

}  // namespace facula::python
