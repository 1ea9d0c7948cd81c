// Settings of the process and the thread: threads, default dtype and device, memory statistics; and
// small questions about dtypes.
#include <algorithm>

#include "facula/base/parallel.h"
#include "facula/core/allocator.h"
#include "facula/ops/warn.h"
#include "facula/python/arguments.h"
#include "facula/python/module.h"
#include "facula/python/package_name.h"
#include "facula/python/types.h"

namespace facula::python {

namespace {

PyObject* get_num_threads(PyObject*, PyObject*) { return PyLong_FromLong(num_threads()); }
PyObject* py_set_num_threads(PyObject*, PyObject* n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(is_integer(n), kType, "set_num_threads expects an int, but got ", type_name(n));
    int64_t count = to_int64(n, "set_num_threads");
    set_num_threads(static_cast<int>(std::clamp<int64_t>(count, 0, 65536)));
    Py_RETURN_NONE;
  });
}

PyObject* get_default_dtype(PyObject*, PyObject*) {
  return Py_NewRef(dtype_object(default_dtype()));
}
PyObject* py_set_default_dtype(PyObject*, PyObject* d) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(is_dtype(d), kType, "invalid dtype object: only floating-point types are ",
                 "supported as the default type");
    DType t = unwrap_dtype(d, "set_default_dtype");
    FACULA_CHECK(is_floating(t), kType, "only floating-point types are supported as the default ",
                 "type");
    set_default_dtype(t);
    Py_RETURN_NONE;
  });
}

PyObject* get_factory_device(PyObject*, PyObject*) {
  return guarded([] { return device_object(has_factory_device ? factory_device : kCpu); });
}
PyObject* set_factory_device(PyObject*, PyObject* d) {
  return guarded([&]() -> PyObject* {
    has_factory_device = d != Py_None;
    if (has_factory_device) factory_device = unwrap_device(d, "set_default_device");
    Py_RETURN_NONE;
  });
}

DType dtype_argument(PyObject* o, const char* op) {
  FACULA_CHECK(is_dtype(o), kType, op, "(): expected a dtype, got ", type_name(o));
  return unwrap_dtype(o, op);
}

PyObject* py_promote_types(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 2, kType, "promote_types() takes 2 positional arguments but ", n,
                 " were given");
    return wrap(promote(dtype_argument(args[0], "promote_types"),
                        dtype_argument(args[1], "promote_types")));
  });
}
PyObject* py_can_cast(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 2, kType, "can_cast() takes 2 positional arguments but ", n, " were given");
    return wrap(can_cast(dtype_argument(args[0], "can_cast"), dtype_argument(args[1], "can_cast")));
  });
}

PyObject* is_tensor_object(PyObject*, PyObject* o) { return PyBool_FromLong(is_tensor(o)); }

void put_number(PyObject* dict, const char* name, int64_t value) {
  Owned v = own(PyLong_FromLongLong(value));
  check(PyDict_SetItemString(dict, name, v.get()));
}

PyObject* memory_stats(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    MemoryStats s = cpu_allocator().stats();
    Owned d = own(PyDict_New());
    const std::pair<const char*, const MemoryCounter*> counters[] = {
        {"allocated_bytes", &s.allocated},
        {"reserved_bytes", &s.reserved},
        {"cached_bytes", &s.cached}};
    for (auto& [name, c] : counters) {
      put_number(d.get(), str(name, ".current").c_str(), c->current);
      put_number(d.get(), str(name, ".peak").c_str(), c->peak);
    }
    put_number(d.get(), "num_alloc", s.num_alloc);
    put_number(d.get(), "num_free", s.num_free);
    put_number(d.get(), "num_system_alloc", s.num_system_alloc);
    put_number(d.get(), "num_system_free", s.num_system_free);
    put_number(d.get(), "num_alloc_retries", s.num_alloc_retries);
    put_number(d.get(), "num_ooms", s.num_out_of_memory);
    return d.release();
  });
}
PyObject* empty_cache(PyObject*, PyObject*) {
  return PyLong_FromSize_t(cpu_allocator().empty_cache());
}
PyObject* reset_peak(PyObject*, PyObject*) {
  cpu_allocator().reset_peak_stats();
  Py_RETURN_NONE;
}

PyObject* set_warnings_repeat(PyObject*, PyObject* on) {
  return guarded([&] { return wrap(warnings_repeat.exchange(to_bool(on, "set_warn_always"))); });
}

PyMethodDef settings_functions[] = {
    {"get_num_threads", get_num_threads, METH_NOARGS,
     "get_num_threads()\n--\n\nThe number of threads that an operator may use."},
    {"set_num_threads", py_set_num_threads, METH_O,
     "set_num_threads(n, /)\n--\n\nSets the number of threads that an operator may use."},
    {"get_default_dtype", get_default_dtype, METH_NOARGS,
     "get_default_dtype()\n--\n\nThe dtype of tensors made from Python floats."},
    {"set_default_dtype", py_set_default_dtype, METH_O,
     "set_default_dtype(d, /)\n--\n\nSets the dtype of tensors made from Python floats."},
    {"get_default_device", get_factory_device, METH_NOARGS,
     "get_default_device()\n--\n\nThe device of new tensors."},
    {"set_default_device", set_factory_device, METH_O,
     "set_default_device(device, /)\n--\n\nSets the device of new tensors; None for the CPU."},
    {"promote_types", fast(py_promote_types), METH_FASTCALL,
     "promote_types(type1, type2, /)\n--\n\nThe dtype that holds both."},
    {"can_cast", fast(py_can_cast), METH_FASTCALL,
     "can_cast(from_, to, /)\n--\n\nWhether results of one dtype may be stored in another."},
    {"is_tensor", is_tensor_object, METH_O, "is_tensor(obj, /)\n--\n\nWhether it is a Tensor."},
    {"_set_warnings_repeat", set_warnings_repeat, METH_O,
     "Sets whether warnings that are given once are given at every call; returns what was set."},
    {"_memory_stats", memory_stats, METH_NOARGS, "Statistics of the CPU's memory."},
    {"_empty_cache", empty_cache, METH_NOARGS, "Returns idle blocks to the system."},
    {"_reset_peak_memory_stats", reset_peak, METH_NOARGS, "Makes peaks equal current values."},
    {nullptr, nullptr, 0, nullptr},
};

// show_in_python puts a warning on the line of the Python program that made the call.
void show_in_python(const std::string& text) {
  if (!python_lives()) return;
  PyGILState_STATE state = PyGILState_Ensure();
  int failed = PyErr_WarnEx(PyExc_UserWarning, in_package_words(text).c_str(), 1);
  PyGILState_Release(state);
  if (failed) throw PythonError();
}

}  // namespace

void init_settings(PyObject* module) {
  add_functions(module, settings_functions);
  show_warning = show_in_python;
}

}  // namespace facula::python
