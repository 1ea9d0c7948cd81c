// ModuleBase, the C base class of nn.Module: calls go straight to forward when there are no hooks,
// attributes are looked up without entering Python, and errors of the library name the module path.
// All state lives in the instance's __dict__; the Python class nn.Module does the rest.
#include <Python.h>
#include <structmember.h>

#include <vector>

#include "facula/python/arguments.h"
#include "facula/python/module.h"

namespace facula::python {

namespace {

struct PyModule {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* dict;
  PyObject* weak;
};

PyTypeObject module_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
bool global_hooks = false;

struct Names {
  PyObject *forward, *training, *parameters, *buffers, *modules;
  PyObject *forward_hooks, *forward_pre_hooks, *backward_hooks, *backward_pre_hooks;
  PyObject *call_with_hooks, *set_registered, *delete_registered, *getattr, *getattribute;
} names;

PyObject* dict_of(PyObject* self) { return reinterpret_cast<PyModule*>(self)->dict; }

bool filled(PyObject* dict, PyObject* name) {
  PyObject* d = PyDict_GetItemWithError(dict, name);
  return d && PyDict_Check(d) && PyDict_GET_SIZE(d) > 0;
}

bool has_hooks(PyObject* dict) {
  if (global_hooks) return true;
  // A module without hooks has the four entries that __new__ made and what users set.
  return filled(dict, names.forward_hooks) || filled(dict, names.forward_pre_hooks) ||
         filled(dict, names.backward_hooks) || filled(dict, names.backward_pre_hooks);
}

// ---- the module path in errors

// The modules that an exception has passed through, from the inside out, as addresses to compare.
struct Trail {
  const void* error = nullptr;
  std::vector<PyObject*> modules;  // owned
};
// Plain data, so that a call costs one instruction; the trail is made for the first error.
[[gnu::tls_model("initial-exec")]] thread_local int call_depth = 0;
[[gnu::tls_model("initial-exec")]] thread_local Trail* trail = nullptr;

std::string child_name(PyObject* parent, PyObject* child) {
  PyObject* dict = dict_of(parent);
  PyObject* modules = dict ? PyDict_GetItem(dict, names.modules) : nullptr;
  if (!modules || !PyDict_Check(modules)) return "";
  PyObject *key, *value;
  Py_ssize_t pos = 0;
  while (PyDict_Next(modules, &pos, &key, &value)) {
    if (value == child && PyUnicode_Check(key)) return std::string(utf8(key));
  }
  // Not a direct child (called through a list of the user's): its class must do.
  return type_name(child);
}

void amend_message(PyObject* error) {
  std::string path = type_name(trail->modules.back());
  size_t dot = path.rfind('.');
  if (dot != path.npos) path = path.substr(dot + 1);
  for (size_t i = trail->modules.size() - 1; i-- > 0;) {
    path += str(".", child_name(trail->modules[i + 1], trail->modules[i]));
  }
  Owned args(PyObject_GetAttrString(error, "args"));
  if (!args || !PyTuple_Check(args.get()) || PyTuple_GET_SIZE(args.get()) != 1) return;
  PyObject* message = PyTuple_GET_ITEM(args.get(), 0);
  if (!PyUnicode_Check(message)) return;
  std::string inner = type_name(trail->modules.front());
  dot = inner.rfind('.');
  if (dot != inner.npos) inner = inner.substr(dot + 1);
  if (path != inner) path += str(" (", inner, ")");
  Owned text(PyUnicode_FromFormat("%U\n  in module %s", message, path.c_str()));
  Owned changed(text ? PyTuple_Pack(1, text.get()) : nullptr);
  if (changed) PyObject_SetAttrString(error, "args", changed.get());
}

void drop_trail() {
  std::vector<PyObject*> modules = std::move(trail->modules);
  trail->modules.clear();
  trail->error = nullptr;
  for (PyObject* m : modules) Py_DECREF(m);
}

// note_error is called when forward of a module failed.
[[gnu::cold]] void note_error(PyObject* self) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (!trail) trail = new Trail();
  if (value && value == last_library_error) {
    if (trail->error != value) drop_trail();
    trail->error = value;
    trail->modules.push_back(Py_NewRef(self));
    if (call_depth == 1) {
      try {
        amend_message(value);
      } catch (...) {
      }
      PyErr_Clear();
      last_library_error = nullptr;
    }
  }
  if (call_depth == 1) drop_trail();
  PyErr_Restore(type, value, trace);
}

// ---- calls

PyObject* call_prepended(PyObject* f, PyObject* self, PyObject* const* args, size_t flags,
                         PyObject* kwnames) {
  Py_ssize_t n = PyVectorcall_NARGS(flags);
  if (flags & PY_VECTORCALL_ARGUMENTS_OFFSET) {
    auto** a = const_cast<PyObject**>(args) - 1;
    PyObject* keep = a[0];
    a[0] = self;
    PyObject* result = PyObject_Vectorcall(f, a, static_cast<size_t>(n) + 1, kwnames);
    a[0] = keep;
    return result;
  }
  Py_ssize_t total = n + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
  PyObject* few[8];
  std::vector<PyObject*> many;
  PyObject** a = few;
  if (total >= 8) {
    many.resize(static_cast<size_t>(total) + 1);
    a = many.data();
  }
  a[0] = self;
  for (Py_ssize_t i = 0; i < total; ++i) a[i + 1] = args[i];
  return PyObject_Vectorcall(f, a, static_cast<size_t>(n) + 1, kwnames);
}

PyObject* call_method(PyObject* self, PyObject* name, PyObject* const* args, size_t flags,
                      PyObject* kwnames) {
  PyObject* f = type_lookup(Py_TYPE(self), name);
  if (f && PyType_HasFeature(Py_TYPE(f), Py_TPFLAGS_METHOD_DESCRIPTOR)) {
    Owned keep = Owned::share(f);
    return call_prepended(f, self, args, flags, kwnames);
  }
  Owned bound(PyObject_GetAttr(self, name));
  if (!bound) return nullptr;
  return PyObject_Vectorcall(bound.get(), args, static_cast<size_t>(PyVectorcall_NARGS(flags)),
                             kwnames);
}

PyObject* run_forward(PyObject* self, PyObject* const* args, size_t flags, PyObject* kwnames) {
  PyObject* dict = dict_of(self);
  if (dict) {
    if (has_hooks(dict)) [[unlikely]] {
      return call_method(self, names.call_with_hooks, args, flags, kwnames);
    }
    if (PyObject* own_forward = PyDict_GetItemWithError(dict, names.forward)) {
      Owned keep = Owned::share(own_forward);
      return PyObject_Vectorcall(own_forward, args, static_cast<size_t>(PyVectorcall_NARGS(flags)),
                                 kwnames);
    }
  }
  return call_method(self, names.forward, args, flags, kwnames);
}

PyObject* call_module(PyObject* self, PyObject* const* args, size_t flags, PyObject* kwnames) {
  if (Py_EnterRecursiveCall(" while calling a module")) return nullptr;
  ++call_depth;
  PyObject* result = run_forward(self, args, flags, kwnames);
  if (!result) [[unlikely]] {
    note_error(self);
  } else if (call_depth == 1 && trail && trail->error) [[unlikely]] {
    drop_trail();  // of an error that forward caught
  }
  --call_depth;
  Py_LeaveRecursiveCall();
  return result;
}

// module_call is what super().__call__ of a class with a __call__ of its own comes to.
PyObject* module_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  PyObject** positional = reinterpret_cast<PyTupleObject*>(args)->ob_item;
  auto count = static_cast<size_t>(PyTuple_GET_SIZE(args));
  if (!kwargs || PyDict_GET_SIZE(kwargs) == 0) {
    return call_module(self, positional, count, nullptr);
  }
  Owned names(PyTuple_New(PyDict_GET_SIZE(kwargs)));
  if (!names) return nullptr;
  std::vector<PyObject*> all(positional, positional + count);
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0, i = 0; PyDict_Next(kwargs, &at, &key, &value); ++i) {
    PyTuple_SET_ITEM(names.get(), i, Py_NewRef(key));
    all.push_back(value);
  }
  return call_module(self, all.data(), count, names.get());
}

PyObject* module_vectorcall(PyObject* self, PyObject* const* args, size_t flags,
                            PyObject* kwnames) {
  if (Py_TYPE(self)->tp_call != module_call) [[unlikely]] {
    // A class got its own __call__ after instances were made.
    return _PyObject_MakeTpCall(PyThreadState_Get(), self, args, PyVectorcall_NARGS(flags),
                                kwnames);
  }
  return call_module(self, args, flags, kwnames);
}

// first_call stands in for module_vectorcall until it is known that the module was made in full: by
// Module.__init__, or by taking over the attributes of another.
PyObject* first_call(PyObject* self, PyObject* const* args, size_t flags, PyObject* kwnames) {
  PyObject* dict = dict_of(self);
  if (!dict || PyDict_Contains(dict, names.parameters) != 1) {
    if (!PyErr_Occurred()) {
      PyErr_Format(PyExc_AttributeError, "cannot call a %s before Module.__init__() call",
                   type_name(self));
    }
    return nullptr;
  }
  reinterpret_cast<PyModule*>(self)->vectorcall = module_vectorcall;
  return module_vectorcall(self, args, flags, kwnames);
}

// ---- attributes

PyObject* registered(PyObject* dict, PyObject* name) {
  for (PyObject* where : {names.parameters, names.buffers, names.modules}) {
    PyObject* d = PyDict_GetItemWithError(dict, where);
    if (!d || !PyDict_Check(d) || PyDict_GET_SIZE(d) == 0) continue;
    if (PyObject* v = PyDict_GetItemWithError(d, name)) return v;
  }
  return nullptr;
}

// Python asks for attributes by str; callers of __getattr__ may name anything.
bool is_attribute_name(PyObject* name) {
  if (PyUnicode_Check(name)) return true;
  PyErr_Format(PyExc_TypeError, "attribute name must be string, not '%.200s'", type_name(name));
  return false;
}

PyObject* no_attribute(PyObject* self, PyObject* name) {
  const char* type = strrchr(type_name(self), '.');
  PyErr_Format(PyExc_AttributeError, "'%s' object has no attribute '%U'",
               type ? type + 1 : type_name(self), name);
  return nullptr;
}

PyObject* module_getattro(PyObject* self, PyObject* name) {
  if (!is_attribute_name(name)) return nullptr;
  if (PyObject* found = type_lookup(Py_TYPE(self), name)) {
    // Data descriptors, methods and class attributes go by Python's rules. What is registered
    // under the name of a plain class attribute stays behind it, as in PyTorch.
    (void)found;
    return PyObject_GenericGetAttr(self, name);
  }
  PyObject* dict = dict_of(self);
  if (dict) {
    if (PyObject* v = PyDict_GetItemWithError(dict, name)) return Py_NewRef(v);
    if (PyErr_Occurred()) return nullptr;
    if (PyObject* v = registered(dict, name)) return Py_NewRef(v);
    if (PyErr_Occurred()) return nullptr;
  }
  return no_attribute(self, name);
}

PyObject* module_getattr(PyObject* self, PyObject* name) {
  if (!is_attribute_name(name)) return nullptr;
  PyObject* dict = dict_of(self);
  if (dict) {
    if (PyObject* v = registered(dict, name)) return Py_NewRef(v);
    if (PyErr_Occurred()) return nullptr;
  }
  return no_attribute(self, name);
}

// __setattr__ and __delattr__ are methods, not slots, so that object.__setattr__(module, ...) stays
// allowed: programs use it to hide a module from registration.
bool is_registered(PyObject* self, PyObject* name, PyObject* value) {
  PyObject* dict = dict_of(self);
  if (value && (is_tensor(value) || PyObject_TypeCheck(value, &module_type))) return true;
  if (!dict) return false;
  for (PyObject* where : {names.parameters, names.buffers, names.modules}) {
    PyObject* d = PyDict_GetItemWithError(dict, where);
    if (d && PyDict_Check(d) && PyDict_Contains(d, name) == 1) return true;
  }
  return false;
}

PyObject* module_setattr(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  if (n != 2) {
    PyErr_Format(PyExc_TypeError, "__setattr__: expected 2 arguments, got %zd", n);
    return nullptr;
  }
  const bool registered_here = is_registered(self, args[0], args[1]);
  if (PyErr_Occurred()) return nullptr;
  if (registered_here) {
    return PyObject_CallMethodObjArgs(self, names.set_registered, args[0], args[1], nullptr);
  }
  if (PyObject_GenericSetAttr(self, args[0], args[1]) < 0) return nullptr;
  Py_RETURN_NONE;
}

PyObject* module_delattr(PyObject* self, PyObject* name) {
  const bool registered_here = is_registered(self, name, nullptr);
  if (PyErr_Occurred()) return nullptr;
  if (registered_here) {
    return PyObject_CallMethodObjArgs(self, names.delete_registered, name, nullptr);
  }
  if (PyObject_GenericSetAttr(self, name, nullptr) < 0) return nullptr;
  Py_RETURN_NONE;
}

// ---- the type

PyObject* module_new(PyTypeObject* type, PyObject*, PyObject*) {
  Owned o(type->tp_alloc(type, 0));
  if (!o) return nullptr;
  auto* m = reinterpret_cast<PyModule*>(o.get());
  m->vectorcall = first_call;
  m->dict = PyDict_New();
  return m->dict ? o.release() : nullptr;
}

// begin_module is the start of Module.__init__: training mode, and nothing registered.
PyObject* begin_module(PyObject*, PyObject* self) {
  if (!PyObject_TypeCheck(self, &module_type)) {
    PyErr_Format(PyExc_TypeError, "Module.__init__: expected a Module, got %s", type_name(self));
    return nullptr;
  }
  PyObject* dict = dict_of(self);
  if (PyDict_SetItem(dict, names.training, Py_True) < 0) return nullptr;
  for (PyObject* name : {names.parameters, names.buffers, names.modules}) {
    Owned d(PyDict_New());
    if (!d || PyDict_SetItem(dict, name, d.get()) < 0) return nullptr;
  }
  reinterpret_cast<PyModule*>(self)->vectorcall = module_vectorcall;
  Py_RETURN_NONE;
}

int module_init(PyObject*, PyObject*, PyObject*) { return 0; }

int module_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(dict_of(self));
  return 0;
}
int module_clear(PyObject* self) {
  Py_CLEAR(reinterpret_cast<PyModule*>(self)->dict);
  return 0;
}
void module_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (reinterpret_cast<PyModule*>(self)->weak) PyObject_ClearWeakRefs(self);
  module_clear(self);
  Py_TYPE(self)->tp_free(self);
}

// Subclasses written in Python get Python's slow slots; those that change nothing get ours back.
PyObject* module_init_subclass(PyObject* cls, PyObject*, PyObject*) {
  auto* t = reinterpret_cast<PyTypeObject*>(cls);
  if (t->tp_call == module_call) t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  bool plain = type_lookup(t, names.getattr) == type_lookup(&module_type, names.getattr) &&
               type_lookup(t, names.getattribute) == type_lookup(&module_type, names.getattribute);
  if (plain) t->tp_getattro = module_getattro;
  Py_RETURN_NONE;
}

PyObject* set_global_hooks(PyObject*, PyObject* on) {
  global_hooks = on == Py_True;
  Py_RETURN_NONE;
}

PyMethodDef module_methods[] = {
    {"__init_subclass__",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(module_init_subclass)),
     METH_CLASS | METH_VARARGS | METH_KEYWORDS, nullptr},
    {"__getattr__", module_getattr, METH_O, nullptr},
    {"__setattr__", fast(module_setattr), METH_FASTCALL, nullptr},
    {"__delattr__", module_delattr, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef module_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef module_functions[] = {
    {"_set_global_module_hooks", set_global_hooks, METH_O,
     "Says whether there are hooks that every module runs."},
    {"_begin_module", begin_module, METH_O, "The start of Module.__init__."},
    {nullptr, nullptr, 0, nullptr},
};

void fill_names() {
  names = {intern("forward"),
           intern("training"),
           intern("_parameters"),
           intern("_buffers"),
           intern("_modules"),
           intern("_forward_hooks"),
           intern("_forward_pre_hooks"),
           intern("_backward_hooks"),
           intern("_backward_pre_hooks"),
           intern("_call_with_hooks"),
           intern("_set_registered"),
           intern("_delete_registered"),
           intern("__getattr__"),
           intern("__getattribute__")};
}

}  // namespace

void init_module_base(PyObject* module) {
  fill_names();
  PyTypeObject& type = module_type;
  type.tp_name = "facula._C.ModuleBase";
  type.tp_basicsize = sizeof(PyModule);
  type.tp_flags =
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL;
  type.tp_doc = "The fast part of nn.Module.";
  type.tp_vectorcall_offset = offsetof(PyModule, vectorcall);
  type.tp_call = module_call;
  type.tp_new = module_new;
  type.tp_init = module_init;
  type.tp_traverse = module_traverse;
  type.tp_clear = module_clear;
  type.tp_dealloc = module_dealloc;
  type.tp_free = PyObject_GC_Del;
  type.tp_getattro = module_getattro;
  type.tp_methods = module_methods;
  type.tp_getset = module_getset;
  type.tp_dictoffset = offsetof(PyModule, dict);
  type.tp_weaklistoffset = offsetof(PyModule, weak);
  check(PyType_Ready(&type));
  add_object(module, "ModuleBase", reinterpret_cast<PyObject*>(&type));
  add_functions(module, module_functions, "facula._C");
}

}  // namespace facula::python
