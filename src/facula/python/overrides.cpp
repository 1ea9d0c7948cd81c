// The __torch_function__ protocol: overloaded arguments, modes, and the default implementation.
#include "facula/python/overrides.h"

#include <unordered_map>

#include "facula/python/arguments.h"
#include "facula/python/dispatch_classes.h"
#include "facula/sparse/parts.h"

namespace facula::python {

[[gnu::tls_model("initial-exec")]] thread_local bool overrides_disabled = false;
[[gnu::tls_model("initial-exec")]] thread_local bool modes_active = false;

namespace {

thread_local std::vector<PyObject*>* mode_stack = nullptr;
PyObject* disabled_override = nullptr;
PyObject* default_override = nullptr;  // the function behind Tensor.__torch_function__
PyObject* extension = nullptr;         // facula._C

std::vector<PyObject*>& modes() {
  if (!mode_stack) mode_stack = new std::vector<PyObject*>();
  return *mode_stack;
}

PyObject* protocol_name() {
  static PyObject* name = intern("__torch_function__");
  return name;
}

enum class Look : uint8_t { kNo, kValue, kList };
Look look_of(ArgType t) {
  switch (t) {
    case ArgType::kTensor:
    case ArgType::kOptTensor:
    case ArgType::kOperand:
    case ArgType::kScalar: return Look::kValue;
    case ArgType::kOut:
    case ArgType::kTensorList:
    case ArgType::kOptTensorList: return Look::kList;
    default: return Look::kNo;
  }
}

// parameters_of lists the parameters of a signature, "(Tensor input, *, int dim=-1)" or a
// function's own "(input, *, dim=-1)", without types; and without defaults where only names are
// asked for.
std::vector<std::string> parameters_of(std::string_view text, bool only_names) {
  std::vector<std::string> found;
  int depth = 0;
  size_t start = 1;
  for (size_t i = 1; i < text.size(); ++i) {
    char c = text[i];
    if (c == '(' || c == '[') ++depth;
    if (depth == 0 && (c == ',' || c == ')')) {
      std::string_view item = text.substr(start, i - start);
      size_t sign = item.find('=');
      size_t space = item.substr(0, sign).rfind(' ');
      if (only_names) item = item.substr(0, sign);
      if (space != item.npos) item.remove_prefix(space + 1);
      if (!only_names || item != "*") found.emplace_back(item);
      if (c == ')') break;
      start = i + 1;
      while (start < text.size() && text[start] == ' ') ++start;
    }
    if (c == ')' || c == ']') --depth;
  }
  return found;
}

// likeness says how well a function of the extension matches the signature of a row: 2 where all
// parameters and defaults agree, 1 where the names do. `linalg.svd` and `svd` share their name
// only.
int likeness(PyObject* function, const Signature& s) {
  if (!PyCFunction_Check(function)) return 0;
  const char* doc = reinterpret_cast<PyCFunctionObject*>(function)->m_ml->ml_doc;
  const char* open = doc ? strchr(doc, '(') : nullptr;
  if (!open) return 0;
  if (parameters_of(open, false) == parameters_of(s.text, false)) return 2;
  return parameters_of(open, true) == parameters_of(s.text, true);
}

// public_function finds the object that users call a row by; it is what an override receives.
PyObject* public_function(const Signature& s, bool is_method) {
  static std::unordered_map<const void*, PyObject*> cache[2];
  auto [it, fresh] = cache[is_method].try_emplace(&s, nullptr);
  if (!fresh) return it->second;
  Owned name = own(PyUnicode_FromString(s.name));
  PyObject* found = nullptr;
  if (is_method) {
    found = type_lookup(&tensor_type, name.get());
  }
  if (!found) {
    int best = -1;
    for (const char* part : {"_functions", "_nn", "_linalg", "_special", "_fft"}) {
      PyObject* m = PyDict_GetItemString(PyModule_GetDict(extension), part);
      PyObject* candidate = m ? PyDict_GetItem(PyModule_GetDict(m), name.get()) : nullptr;
      if (int like = candidate ? likeness(candidate, s) : -1; like > best) {
        found = candidate;
        best = like;
      }
    }
  }
  if (!found) found = type_lookup(&tensor_type, name.get());
  if (!found) found = PyDict_GetItem(PyModule_GetDict(extension), name.get());
  it->second = Py_XNewRef(found);
  return it->second;
}

// Overrides of sparse tensors stay on: operators on strided tensors must not see them.
bool switched_off(PyObject* o) {
  if (!overrides_disabled || !is_tensor(o)) return false;
  const TensorImpl* p = reinterpret_cast<PyTensor*>(o)->impl;
  return !p || !(p->intercept & kInterceptSparse);
}

class DisableOverrides {
 public:
  DisableOverrides() : before_(overrides_disabled) { overrides_disabled = true; }
  ~DisableOverrides() { overrides_disabled = before_; }

 private:
  bool before_;
};

Owned call_protocol(PyObject* where, PyObject* func, PyObject* types, PyObject* args,
                    PyObject* kwargs) {
  Owned f = own(PyObject_GetAttr(where, protocol_name()));
  PyObject* items[] = {func, types, args, kwargs};
  return own(PyObject_Vectorcall(f.get(), items, kwargs ? 4 : 3, nullptr));
}

// call_mode runs the innermost mode with itself off the stack.
Owned call_mode(PyObject* func, PyObject* types, PyObject* args, PyObject* kwargs) {
  std::vector<PyObject*>& all = modes();
  PyObject* mode = all.back();
  all.pop_back();
  modes_active = !all.empty();
  struct Restore {
    std::vector<PyObject*>& all;
    PyObject* mode;
    ~Restore() {
      all.push_back(mode);
      modes_active = true;
    }
  } restore{all, mode};
  return call_protocol(mode, func, types, args, kwargs);
}

}  // namespace

bool has_override_slow(PyObject* o) {
  PyObject* f = type_lookup(Py_TYPE(o), protocol_name());
  return f && f != disabled_override && Py_TYPE(o) != &tensor_type;
}

void collect_override(std::vector<PyObject*>& overloaded, PyObject* o) {
  if (switched_off(o) || !has_override(o)) return;
  size_t at = overloaded.size();
  for (size_t i = 0; i < overloaded.size(); ++i) {
    if (Py_TYPE(overloaded[i]) == Py_TYPE(o)) return;
    if (at == overloaded.size() && PyType_IsSubtype(Py_TYPE(o), Py_TYPE(overloaded[i]))) at = i;
  }
  overloaded.insert(overloaded.begin() + static_cast<std::ptrdiff_t>(at), o);
}

PyObject* call_override(PyObject* func, const std::vector<PyObject*>& overloaded, PyObject* args,
                        PyObject* kwargs) {
  Owned types = own(PyTuple_New(static_cast<Py_ssize_t>(overloaded.size())));
  for (size_t i = 0; i < overloaded.size(); ++i) {
    PyTuple_SET_ITEM(types.get(), static_cast<Py_ssize_t>(i),
                     Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(overloaded[i]))));
  }
  if (modes_active) {
    Owned r = call_mode(func, types.get(), args, kwargs);
    if (r.get() != Py_NotImplemented) return r.release();
  }
  for (PyObject* o : overloaded) {
    Owned r = call_protocol(o, func, types.get(), args, kwargs);
    if (r.get() != Py_NotImplemented) return r.release();
  }
  PyErr_Format(PyExc_TypeError,
               "no implementation found for '%S' on types that implement __torch_function__: %R",
               func, types.get());
  return nullptr;
}

bool has_bound_override(const Bound& b) {
  if (modes_active) [[unlikely]]
    return true;
  const Signature& s = *b.sig;
  for (int i = 0; i < s.count; ++i) {
    PyObject* o = b.v[i];
    if (!o || Py_TYPE(o) == &tensor_type || Py_TYPE(o) == &PyFloat_Type ||
        Py_TYPE(o) == &PyLong_Type) {
      continue;
    }
    Look look = look_of(s.params[i].type);
    if (look == Look::kNo) continue;
    if (look == Look::kList && (PyTuple_Check(o) || PyList_Check(o))) {
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); ++k) {
        PyObject* item = PySequence_Fast_GET_ITEM(o, k);
        if (Py_TYPE(item) == &tensor_type) continue;
        if (has_override(item) && !switched_off(item)) return true;
      }
      continue;
    }
    if (has_override(o) && !switched_off(o)) return true;
  }
  return false;
}

PyObject* override_bound(const Bound& b, bool is_method) {
  const Signature& s = *b.sig;
  std::vector<PyObject*> overloaded;
  std::vector<PyObject*> given;
  Owned kwargs;
  for (int i = 0; i < s.count; ++i) {
    PyObject* o = b.v[i];
    if (!o) continue;
    if (s.params[i].type == ArgType::kVarInts && b.var) {
      given.insert(given.end(), b.var, b.var + b.var_count);
      continue;
    }
    Look look = look_of(s.params[i].type);
    if (look == Look::kList && (PyTuple_Check(o) || PyList_Check(o))) {
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); ++k) {
        collect_override(overloaded, PySequence_Fast_GET_ITEM(o, k));
      }
    } else if (look != Look::kNo) {
      collect_override(overloaded, o);
    }
    bool by_name = s.params[i].keyword_only || static_cast<size_t>(i) != given.size() || kwargs;
    if (!by_name) {
      given.push_back(o);
      continue;
    }
    if (!kwargs) kwargs = own(PyDict_New());
    check(PyDict_SetItemString(kwargs.get(), s.params[i].name, o));
  }
  Owned args = own(PyTuple_New(static_cast<Py_ssize_t>(given.size())));
  for (size_t i = 0; i < given.size(); ++i) {
    PyTuple_SET_ITEM(args.get(), static_cast<Py_ssize_t>(i), Py_NewRef(given[i]));
  }
  PyObject* func = public_function(s, is_method);
  if (!func) raise_error(ErrorKind::kRuntime, s.name, ": has no public function to override");
  return call_override(func, overloaded, args.get(), kwargs.get());
}

PyObject* override_getter(PyObject* self, const char* name) {
  Owned key = own(PyUnicode_InternFromString(name));
  PyObject* descriptor = type_lookup(&tensor_type, key.get());
  Owned func = own(PyObject_GetAttrString(descriptor, "__get__"));
  Owned args = own(PyTuple_Pack(1, self));
  std::vector<PyObject*> overloaded;
  collect_override(overloaded, self);
  return call_override(func.get(), overloaded, args.get(), nullptr);
}

int override_setter(PyObject* self, const char* name, PyObject* value) {
  Owned key = own(PyUnicode_InternFromString(name));
  PyObject* descriptor = type_lookup(&tensor_type, key.get());
  Owned func = own(PyObject_GetAttrString(descriptor, value ? "__set__" : "__delete__"));
  Owned args = own(value ? PyTuple_Pack(2, self, value) : PyTuple_Pack(1, self));
  std::vector<PyObject*> overloaded;
  collect_override(overloaded, self);
  Owned r(call_override(func.get(), overloaded, args.get(), nullptr));
  return r ? 0 : -1;
}

PyObject* override_method(PyObject* self, const char* name, PyObject* const* args, Py_ssize_t n,
                          PyObject* kwnames) {
  Owned key = own(PyUnicode_InternFromString(name));
  PyObject* func = type_lookup(&tensor_type, key.get());
  if (!func) raise_error(ErrorKind::kAttribute, name);
  Owned all = own(PyTuple_New(n + 1));
  PyTuple_SET_ITEM(all.get(), 0, Py_NewRef(self));
  std::vector<PyObject*> overloaded;
  collect_override(overloaded, self);
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyTuple_SET_ITEM(all.get(), i + 1, Py_NewRef(args[i]));
    collect_override(overloaded, args[i]);
  }
  Owned kwargs;
  if (kwnames && PyTuple_GET_SIZE(kwnames)) {
    kwargs = own(PyDict_New());
    for (Py_ssize_t j = 0; j < PyTuple_GET_SIZE(kwnames); ++j) {
      check(PyDict_SetItem(kwargs.get(), PyTuple_GET_ITEM(kwnames, j), args[n + j]));
      collect_override(overloaded, args[n + j]);
    }
  }
  return call_override(func, overloaded, all.get(), kwargs.get());
}

namespace {

// convert makes results of the default implementation instances of the subclass. A fresh tensor
// changes its object; others get an alias.
Owned convert(Owned result, PyTypeObject* cls) {
  PyObject* o = result.get();
  if (is_tensor(o)) {
    if (PyType_IsSubtype(Py_TYPE(o), cls)) return result;
    auto* t = reinterpret_cast<PyTensor*>(o);
    if (is_exact_tensor(o) && Py_REFCNT(o) == 1 && !t->dict && !t->weak) {
      TensorImpl* p = std::exchange(t->impl, nullptr);
      p->python = nullptr;
      return Owned(wrap_as(cls, Tensor::steal(p)));
    }
    static PyObject* as_subclass = intern("as_subclass");
    DisableOverrides off;
    return own(PyObject_CallMethodOneArg(o, as_subclass, reinterpret_cast<PyObject*>(cls)));
  }
  bool tuple = PyTuple_Check(o);
  if (!tuple && !PyList_CheckExact(o)) return result;
  if (tuple && PyObject_HasAttrString(o, "numel")) return result;  // a Size
  Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
  Owned items = own(tuple ? PyTuple_New(n) : PyList_New(n));
  bool changed = false;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(o, i);
    Owned c = convert(Owned::share(item), cls);
    changed |= c.get() != item;
    if (tuple)
      PyTuple_SET_ITEM(items.get(), i, c.release());
    else
      PyList_SET_ITEM(items.get(), i, c.release());
  }
  if (!changed) return result;
  if (tuple && Py_TYPE(o) != &PyTuple_Type) {
    return own(PyObject_CallOneArg(reinterpret_cast<PyObject*>(Py_TYPE(o)), items.get()));
  }
  return items;
}

PyObject* default_torch_function(PyObject* cls, PyObject* const* args, Py_ssize_t n,
                                 PyObject* kwnames) {
  return guarded([&]() -> PyObject* {
    PyObject* v[4] = {nullptr, nullptr, nullptr, nullptr};
    static const char* names[] = {"func", "types", "args", "kwargs"};
    FACULA_CHECK(n <= 4, kType, "__torch_function__() takes at most 4 arguments");
    for (Py_ssize_t i = 0; i < n; ++i) v[i] = args[i];
    for (Py_ssize_t j = 0; kwnames && j < PyTuple_GET_SIZE(kwnames); ++j) {
      for (int i = 0; i < 4; ++i) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, j), names[i]) == 0) {
          v[i] = args[n + j];
        }
      }
    }
    FACULA_CHECK(v[0] && v[1], kType, "__torch_function__() needs func and types");
    Owned types = own(PySequence_Tuple(v[1]));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types.get()); ++i) {
      int sub = PyObject_IsSubclass(cls, PyTuple_GET_ITEM(types.get(), i));
      check(sub);
      if (!sub) Py_RETURN_NOTIMPLEMENTED;
    }
    Owned positional = v[2] ? own(PySequence_Tuple(v[2])) : own(PyTuple_New(0));
    PyObject* kwargs = v[3] == Py_None ? nullptr : v[3];
    Owned result;
    {
      DisableOverrides off;
      result = own(PyObject_Call(v[0], positional.get(), kwargs));
    }
    auto* type = reinterpret_cast<PyTypeObject*>(cls);
    if (type == &tensor_type || !PyType_IsSubtype(type, &tensor_type)) return result.release();
    // The gradient and the base of a view stay what they are.
    if (PyObject_HasAttrString(v[0], "__self__")) {
      Owned descriptor(PyObject_GetAttrString(v[0], "__self__"));
      if (descriptor && Py_TYPE(descriptor.get()) == &PyGetSetDescr_Type) {
        const char* name =
            PyDescr_NAME(descriptor.get()) ? PyUnicode_AsUTF8(PyDescr_NAME(descriptor.get())) : "";
        for (const char* plain : {"grad", "_grad", "_base"}) {
          if (name && strcmp(name, plain) == 0) return result.release();
        }
      }
    }
    return convert(std::move(result), type).release();
  });
}

PyObject* disabled(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject*) {
  // Called as a static method of types that opted out: runs the function without overrides.
  if (n < 2) {
    PyErr_SetString(PyExc_TypeError, "__torch_function__() needs func and types");
    return nullptr;
  }
  Owned positional(n > 2 ? PySequence_Tuple(args[2]) : PyTuple_New(0));
  if (!positional) return nullptr;
  DisableOverrides off;
  PyObject* kwargs = n > 3 && args[3] != Py_None ? args[3] : nullptr;
  return PyObject_Call(args[0], positional.get(), kwargs);
}

// Set: the next question of a function written in Python is answered no.
thread_local bool skip_once = false;

bool tuple_has_override(PyObject* const* items, Py_ssize_t n) {
  if (skip_once) {
    skip_once = false;
    return false;
  }
  if (modes_active) return true;
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (has_override(items[i]) && !(overrides_disabled && is_tensor(items[i]))) return true;
  }
  return false;
}

PyObject* py_has(PyObject*, PyObject* arg) {
  Owned list(PySequence_Fast(arg, "expected a sequence"));
  if (!list) return nullptr;
  return PyBool_FromLong(
      tuple_has_override(PySequence_Fast_ITEMS(list.get()), PySequence_Fast_GET_SIZE(list.get())));
}
PyObject* py_has_unary(PyObject*, PyObject* arg) {
  return PyBool_FromLong(tuple_has_override(&arg, 1));
}
PyObject* py_has_variadic(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return PyBool_FromLong(tuple_has_override(args, n));
}

// _handle_torch_function(public_api, relevant_args, args, kwargs)
PyObject* py_handle(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 4, kType, "_handle_torch_function() takes 4 arguments");
    Owned relevant = own(PySequence_Tuple(args[1]));
    std::vector<PyObject*> overloaded;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(relevant.get()); ++i) {
      collect_override(overloaded, PyTuple_GET_ITEM(relevant.get(), i));
    }
    return call_override(args[0], overloaded, args[2], args[3] == Py_None ? nullptr : args[3]);
  });
}

PyObject* py_push_mode(PyObject*, PyObject* mode) {
  modes().push_back(Py_NewRef(mode));
  modes_active = true;
  Py_RETURN_NONE;
}
PyObject* py_pop_mode(PyObject*, PyObject*) {
  if (modes().empty()) {
    PyErr_SetString(PyExc_RuntimeError, "no function mode is on");
    return nullptr;
  }
  PyObject* mode = modes().back();
  modes().pop_back();
  modes_active = !modes().empty();
  return mode;
}
PyObject* py_count_modes(PyObject*, PyObject*) { return PyLong_FromSize_t(modes().size()); }
PyObject* py_set_disabled(PyObject*, PyObject* on) {
  bool before = overrides_disabled;
  overrides_disabled = on == Py_True;
  return PyBool_FromLong(before);
}

PyObject* py_skip_once(PyObject*, PyObject* on) {
  skip_once = on == Py_True;
  Py_RETURN_NONE;
}

PyMethodDef protocol_functions[] = {
    {"_has_torch_function", py_has, METH_O, "Whether one of the objects overrides functions."},
    {"_has_torch_function_unary", py_has_unary, METH_O, "Whether the object overrides functions."},
    {"_has_torch_function_variadic", fast(py_has_variadic), METH_FASTCALL,
     "Whether one of the arguments overrides functions."},
    {"_handle_torch_function", fast(py_handle), METH_FASTCALL,
     "Calls the overrides of the relevant arguments."},
    {"_push_torch_function_mode", py_push_mode, METH_O, nullptr},
    {"_pop_torch_function_mode", py_pop_mode, METH_NOARGS, nullptr},
    {"_len_torch_function_mode", py_count_modes, METH_NOARGS, nullptr},
    {"_set_torch_function_disabled", py_set_disabled, METH_O,
     "Switches overrides by subclasses off or on; returns what it was."},
    {"_skip_overrides_once", py_skip_once, METH_O,
     "Sets whether the next function written in Python does without its overrides."},
    {"_disabled_torch_function_impl", fast(disabled), kFast,
     "The __torch_function__ of types whose functions are not overridden."},
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef default_def = {"__torch_function__", fast(default_torch_function), kFast | METH_CLASS,
                           "Runs the function and makes its results instances of the subclass."};

}  // namespace

int leave_functions_to_dispatch(PyTypeObject* type) {
  if (!has_dispatch(type) || type_lookup(type, protocol_name()) != default_override) return 0;
  auto* cls = reinterpret_cast<PyObject*>(type);
  return PyObject_SetAttr(cls, protocol_name(), disabled_override);
}

void init_overrides(PyObject* module) {
  extension = module;
  add_functions(module, protocol_functions, "facula._C");
  disabled_override =
      PyDict_GetItemString(PyModule_GetDict(module), "_disabled_torch_function_impl");
  Owned f = own(PyDescr_NewClassMethod(&tensor_type, &default_def));
  default_override = f.get();
  check(PyDict_SetItemString(tensor_type.tp_dict, "__torch_function__", f.get()));
  PyType_Modified(&tensor_type);
}

}  // namespace facula::python
