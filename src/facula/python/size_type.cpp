// facula.Size: a tuple of sizes; slices, sums and repetitions of it are Sizes again.
#include "facula/python/arguments.h"
#include "facula/python/package_name.h"
#include "facula/python/types.h"

namespace facula::python {

PyTypeObject size_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

namespace {

PyObject* as_size(PyObject* tuple) {
  if (!tuple || Py_TYPE(tuple) == &size_type || !PyTuple_Check(tuple)) return tuple;
  Py_ssize_t n = PyTuple_GET_SIZE(tuple);
  PyObject* o = size_type.tp_alloc(&size_type, n);
  if (o) {
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyTuple_SET_ITEM(o, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
    }
  }
  Py_DECREF(tuple);
  return o;
}

PyObject* size_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    Owned o = own(PyTuple_Type.tp_new(type, args, kwargs));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o.get()); ++i) {
      PyObject* item = PyTuple_GET_ITEM(o.get(), i);
      if (PyLong_Check(item)) continue;
      bool ok = PyIndex_Check(item) && (is_tensor(item) || is_integer(item));
      FACULA_CHECK(ok, kType, "Size() takes an iterable of 'int' (item ", i, " is '",
                   type_name(item), "')");
      Owned index = own(PyNumber_Index(item));
      PyTuple_SET_ITEM(o.get(), i, index.release());
      Py_DECREF(item);
    }
    return o.release();
  });
}

PyObject* size_repr(PyObject* self) {
  Owned list(PySequence_List(self));
  if (!list) return nullptr;
  return PyUnicode_FromFormat("%s.Size(%R)", package_name, list.get());
}
PyObject* size_concat(PyObject* a, PyObject* b) {
  return as_size(PyTuple_Type.tp_as_sequence->sq_concat(a, b));
}
PyObject* size_repeat(PyObject* a, Py_ssize_t n) {
  return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(a, n));
}
PyObject* size_subscript(PyObject* self, PyObject* index) {
  PyObject* r = PyTuple_Type.tp_as_mapping->mp_subscript(self, index);
  return PySlice_Check(index) ? as_size(r) : r;
}
// number slot: (1, 2) + Size, which tuple's own concatenation would make a plain tuple.
PyObject* size_add(PyObject* a, PyObject* b) {
  if (!PyTuple_Check(a) || !PyTuple_Check(b)) Py_RETURN_NOTIMPLEMENTED;
  return as_size(PyTuple_Type.tp_as_sequence->sq_concat(a, b));
}
PyObject* size_numel(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    int64_t n = 1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
      n *= to_int64(PyTuple_GET_ITEM(self, i), "numel");
    }
    return PyLong_FromLongLong(n);
  });
}
PyObject* size_reduce(PyObject* self, PyObject*) {
  Owned plain(PySequence_Tuple(self));
  Owned items(PyTuple_New(PyTuple_GET_SIZE(self)));
  if (!items) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
    PyTuple_SET_ITEM(items.get(), i, Py_NewRef(PyTuple_GET_ITEM(self, i)));
  }
  return Py_BuildValue("O(O)", reinterpret_cast<PyObject*>(&size_type), items.get());
}

PyMethodDef size_methods[] = {
    {"numel", size_numel, METH_NOARGS, "numel($self, /)\n--\n\nThe product of the sizes."},
    {"__reduce__", size_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PySequenceMethods size_sequence;
PyMappingMethods size_mapping;
PyNumberMethods size_number;

}  // namespace

PyObject* size_object(IntList sizes) {
  PyObject* o = check(size_type.tp_alloc(&size_type, sizes.ssize()));
  for (int i = 0; i < sizes.ssize(); ++i) {
    PyTuple_SET_ITEM(o, i, check(PyLong_FromLongLong(sizes[static_cast<size_t>(i)])));
  }
  return o;
}

void init_size_type(PyObject* module) {
  size_sequence.sq_concat = size_concat;
  size_sequence.sq_repeat = size_repeat;
  size_mapping.mp_subscript = size_subscript;
  size_number.nb_add = size_add;
  PyTypeObject& type = size_type;
  type.tp_name = "facula.Size";
  type.tp_base = &PyTuple_Type;
  type.tp_flags =
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_TUPLE_SUBCLASS | Py_TPFLAGS_BASETYPE;
  type.tp_doc = "The sizes of a tensor, a tuple of ints.";
  type.tp_traverse = PyTuple_Type.tp_traverse;
  type.tp_new = size_new;
  type.tp_repr = size_repr;
  type.tp_as_sequence = &size_sequence;
  type.tp_as_mapping = &size_mapping;
  type.tp_as_number = &size_number;
  type.tp_methods = size_methods;
  check(PyType_Ready(&type));
  add_object(module, "Size", reinterpret_cast<PyObject*>(&type));
}

}  // namespace facula::python
