// facula.device: a kind and an index; as a context manager it becomes the device of factories.
#include "facula/python/arguments.h"
#include "facula/python/types.h"

namespace facula::python {

PyTypeObject device_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
[[gnu::tls_model("initial-exec")]] thread_local bool has_factory_device = false;
thread_local Device factory_device;

namespace {

struct SavedDevice {
  bool present;
  Device device;
};
thread_local std::vector<SavedDevice> factory_stack;

Device device_of(PyObject* o) { return reinterpret_cast<PyDevice*>(o)->value; }

std::string kind_name(Device d) { return device_text(Device{d.type, -1}); }

Device with_index(std::string_view kind, PyObject* index) {
  if (kind.find(':') != std::string_view::npos) {
    raise_error(
        ErrorKind::kRuntime,
        "type (string) must not include an index because index was passed explicitly: ", kind);
  }
  int64_t i = to_int64(index, "device");
  if (i < 0) raise_error(ErrorKind::kRuntime, "Device index must not be negative");
  return parse_device(str(kind, ":", i));
}

PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"type", "index", nullptr};
    PyObject *kind = nullptr, *index = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:device", const_cast<char**>(names), &kind,
                                     &index)) {
      return nullptr;
    }
    if (PyUnicode_Check(kind) && index && index != Py_None) {
      return device_object(with_index(utf8(kind), index));
    }
    return device_object(unwrap_device(kind, "device"));
  });
}

PyObject* device_repr(PyObject* self) {
  Device d = device_of(self);
  std::string kind = kind_name(d);
  if (d.index < 0) return PyUnicode_FromFormat("device(type='%s')", kind.c_str());
  return PyUnicode_FromFormat("device(type='%s', index=%d)", kind.c_str(), d.index);
}
PyObject* device_str(PyObject* self) {
  return guarded([&] { return PyUnicode_FromString(device_text(device_of(self)).c_str()); });
}
Py_hash_t device_hash(PyObject* self) {
  Device d = device_of(self);
  return static_cast<Py_hash_t>(d.type) * 1000 + d.index + 2;
}
PyObject* device_compare(PyObject* a, PyObject* b, int op) {
  if (Py_TYPE(b) != &device_type || (op != Py_EQ && op != Py_NE)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((device_of(a) == device_of(b)) == (op == Py_EQ));
}
PyObject* device_kind(PyObject* self, void*) {
  return PyUnicode_InternFromString(kind_name(device_of(self)).c_str());
}
PyObject* device_index(PyObject* self, void*) {
  Device d = device_of(self);
  if (d.index < 0) Py_RETURN_NONE;
  return PyLong_FromLong(d.index);
}
PyObject* device_reduce(PyObject* self, PyObject*) {
  Device d = device_of(self);
  auto* type = reinterpret_cast<PyObject*>(&device_type);
  std::string kind = kind_name(d);
  if (d.index < 0) return Py_BuildValue("O(s)", type, kind.c_str());
  return Py_BuildValue("O(si)", type, kind.c_str(), static_cast<int>(d.index));
}
PyObject* device_enter(PyObject* self, PyObject*) {
  factory_stack.push_back({has_factory_device, factory_device});
  has_factory_device = true;
  factory_device = device_of(self);
  return Py_NewRef(self);
}
PyObject* device_exit(PyObject*, PyObject*) {
  if (!factory_stack.empty()) {
    has_factory_device = factory_stack.back().present;
    factory_device = factory_stack.back().device;
    factory_stack.pop_back();
  }
  Py_RETURN_NONE;
}

PyGetSetDef device_getset[] = {
    {"type", device_kind, nullptr, "The kind, as 'cpu' or 'meta'.", nullptr},
    {"index", device_index, nullptr, "The index, or None for the current device.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef device_methods[] = {
    {"__reduce__", device_reduce, METH_NOARGS, nullptr},
    {"__enter__", device_enter, METH_NOARGS, nullptr},
    {"__exit__", device_exit, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* device_object(Device d) {
  static PyObject* cpu = nullptr;
  if (cpu && d == kCpu) return Py_NewRef(cpu);
  PyObject* o = check(device_type.tp_alloc(&device_type, 0));
  reinterpret_cast<PyDevice*>(o)->value = d;
  if (d == kCpu) cpu = Py_NewRef(o);
  return o;
}

bool is_device(PyObject* o) {
  return Py_TYPE(o) == &device_type || PyUnicode_Check(o) || is_integer(o);
}

Device unwrap_device(PyObject* o, const char* op) {
  if (Py_TYPE(o) == &device_type) return device_of(o);
  if (PyUnicode_Check(o)) return parse_device(utf8(o));
  if (is_integer(o)) return with_index("cuda", o);
  raise_error(ErrorKind::kType, op, ": expected a device or a string, got ", type_name(o));
}

void init_device_type(PyObject* module) {
  PyTypeObject& type = device_type;
  type.tp_name = "facula.device";
  type.tp_basicsize = sizeof(PyDevice);
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_doc = "device(type, index=None)\n--\n\nWhere a tensor's bytes live.";
  type.tp_new = device_new;
  type.tp_repr = device_repr;
  type.tp_str = device_str;
  type.tp_hash = device_hash;
  type.tp_richcompare = device_compare;
  type.tp_getset = device_getset;
  type.tp_methods = device_methods;
  check(PyType_Ready(&type));
  add_object(module, "device", reinterpret_cast<PyObject*>(&type));
}

}  // namespace facula::python
