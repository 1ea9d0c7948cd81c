// dispatch: matches the arguments of a call to the overloads of a name, hands it to
// __torch_function__ where one is in play, and calls the row.
#include "facula/python/arguments.h"
#include "facula/python/called_name.h"
#include "facula/python/old_orders.h"
#include "facula/python/overrides.h"
#include "facula/python/types.h"

namespace facula::python {

namespace {

// The other names that a keyword may go by.
struct Alias {
  const char* given;
  const char* name;
};
constexpr Alias kAliases[] = {
    {"self", "input"},
    {"input", "self"},
    {"x", "input"},
    {"x", "self"},
    {"a", "input"},
    {"a", "self"},
    {"x1", "input"},
    {"x1", "self"},
    {"x2", "other"},
    {"axis", "dim"},
    {"keepdims", "keepdim"},
    {"tensor", "input"},
    {"tensor", "self"},
    {"split_size_or_sections", "split_size"},
    {"split_size_or_sections", "split_sizes"},
    {"split_size", "split_sizes"},
    {"axis0", "dim0"},
    {"axis1", "dim1"},
};

bool same_name(Param& p, PyObject* name) {
  if (!p.interned) p.interned = intern(p.name);
  if (p.interned == name) return true;
  return PyUnicode_CompareWithASCIIString(name, p.name) == 0;
}

int find_param(const Signature& s, PyObject* name) {
  for (int i = 0; i < s.count; ++i) {
    if (s.params[i].interned == name && name) return i;
  }
  for (int i = 0; i < s.count; ++i) {
    if (same_name(s.params[i], name)) return i;
  }
  for (const Alias& a : kAliases) {
    if (PyUnicode_CompareWithASCIIString(name, a.given) != 0) continue;
    for (int i = 0; i < s.count; ++i) {
      if (strcmp(s.params[i].name, a.name) == 0) return i;
    }
  }
  return -1;
}

// is_plain says whether an argument is of a type that overrides nothing and holds nothing that
// does.
inline bool is_plain(PyObject* o) {
  PyTypeObject* t = Py_TYPE(o);
  return t == &tensor_type || t == &PyLong_Type || t == &PyFloat_Type || t == &PyBool_Type;
}

bool int_like(PyObject* o) { return is_integer(o) || (is_tensor(o) && unwrap(o).dim() == 0); }

void explain_count(const Signature& s, Py_ssize_t given) {
  PyErr_Format(PyExc_TypeError, "%s() takes %d positional argument%s but %zd %s given", s.name,
               s.positional, s.positional == 1 ? "" : "s", given, given == 1 ? "was" : "were");
}

void explain_missing(const Bound& b, const Signature& s) {
  std::string names;
  int n = 0;
  for (int i = 0; i < s.count; ++i) {
    if (b.v[i] || s.params[i].has_default) continue;
    names += str(n ? ", \"" : "\"", shown_name(s.params[i]), "\"");
    ++n;
  }
  PyErr_Format(PyExc_TypeError, "%s() missing %d required positional arguments: %s", s.name, n,
               names.c_str());
}

bool bind_keywords(Bound& b, const Signature& s, PyObject* const* values, PyObject* kwnames,
                   bool explain) {
  Py_ssize_t n = PyTuple_GET_SIZE(kwnames);
  for (Py_ssize_t j = 0; j < n; ++j) {
    PyObject* name = PyTuple_GET_ITEM(kwnames, j);
    if (!PyUnicode_Check(name)) {
      if (explain) PyErr_SetString(PyExc_TypeError, "keywords must be strings");
      return false;
    }
    int i = find_param(s, name);
    bool out = i >= 0 && s.params[i].type == ArgType::kOut;
    // NumPy's functions hand out=None to the methods they call.
    if (out && values[j] == Py_None) continue;
    if (i < 0 || (out && b.is_method)) {
      if (explain) {
        PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", s.name, name);
      }
      return false;
    }
    if (b.v[i]) {
      if (explain) {
        PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", s.name, name);
      }
      return false;
    }
    b.v[i] = values[j];
  }
  return true;
}

bool bind_slow(Bound& b, const Signature& s, PyObject* self, PyObject* const* args,
               Py_ssize_t nargs, PyObject* kwnames, bool explain) {
  for (int i = 0; i < s.count; ++i) b.v[i] = nullptr;
  int k = 0;
  if (self) b.v[k++] = self;
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    if (k < s.positional && s.params[k].type == ArgType::kVarInts && int_like(args[i])) {
      b.v[k++] = args[i];
      b.var = args + i;
      b.var_count = nargs - i;
      break;
    }
    if (k >= s.positional) {
      if (explain) explain_count(s, nargs + (self != nullptr));
      return false;
    }
    b.v[k++] = args[i];
  }
  if (kwnames && !bind_keywords(b, s, args + nargs, kwnames, explain)) return false;
  for (int i = 0; i < s.count; ++i) {
    if (b.v[i] || s.params[i].has_default) continue;
    if (s.params[i].type == ArgType::kVarInts && nargs > 0) continue;
    if (explain) explain_missing(b, s);
    return false;
  }
  return true;
}

bool all_fit(const Bound& b) {
  const Signature& s = *b.sig;
  for (int i = 0; i < s.count; ++i) {
    if (!b.v[i]) continue;
    if (s.params[i].type == ArgType::kVarInts && b.var) {
      for (Py_ssize_t k = 0; k < b.var_count; ++k) {
        if (!int_like(b.var[k])) return false;
      }
      continue;
    }
    if (!fits(s.params[i].type, b.v[i])) return false;
  }
  return true;
}

bool is_number_type(ArgType type) {
  switch (type) {
    case ArgType::kScalar:
    case ArgType::kOptScalar:
    case ArgType::kInt:
    case ArgType::kOptInt:
    case ArgType::kFloat:
    case ArgType::kOptFloat: return true;
    default: return false;
  }
}

// reads_tensor says whether a call would take a 0-d tensor for a number.
bool reads_tensor(const Bound& b) {
  for (int i = 0; i < b.sig->count; ++i) {
    if (b.v[i] && is_number_type(b.sig->params[i].type) && is_tensor(b.v[i])) return true;
  }
  return false;
}

PyObject* run(const Entry& e, Bound& b, PyObject* self) {
  if ((!b.plain || modes_active) && has_bound_override(b)) [[unlikely]] {
    return override_bound(b, self != nullptr);
  }
  return e.call(b);
}

// Runs the overload that fits, or a later one that takes as tensors the 0-d tensors that it would
// read: their dtype counts then, and they may have no data (inside vmap).
PyObject* run_for_tensors(const Entry* entries, int count, int at, Bound& fitting, PyObject* self,
                          PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  for (int i = at + 1; i < count; ++i) {
    Bound b;
    if (!bind(b, *entries[i].signature, self, args, nargs, kwnames, false)) continue;
    if (all_fit(b) && !reads_tensor(b)) return run(entries[i], b, self);
  }
  return run(entries[at], fitting, self);
}

// An override sees the overload that fits the call. Where none does, or the one that fits would
// take what overrides for a number, it sees the first that binds.
PyObject* dispatch_overloads(const Entry* entries, int count, PyObject* self, PyObject* const* args,
                             Py_ssize_t nargs, PyObject* kwnames) {
  Bound overridden;
  overridden.sig = nullptr;
  for (int i = 0; i < count; ++i) {
    Bound b;
    if (!bind(b, *entries[i].signature, self, args, nargs, kwnames, false)) continue;
    if (all_fit(b)) {
      if (overridden.sig && !has_bound_override(b)) break;
      if (reads_tensor(b)) return run_for_tensors(entries, count, i, b, self, args, nargs, kwnames);
      return run(entries[i], b, self);
    }
    if (!overridden.sig && has_bound_override(b)) overridden = b;
  }
  if (overridden.sig) return override_bound(overridden, self != nullptr);
  raise_no_overload(entries, count, self, args, nargs, kwnames);
  return call_in_old_order(entries, count, self, args, nargs, kwnames);
}

}  // namespace

bool bind(Bound& b, const Signature& s, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
          PyObject* kwnames, bool explain) {
  b.sig = &s;
  b.is_method = self != nullptr;
  Py_ssize_t k = b.is_method;
  if (kwnames || nargs + k > s.positional) [[unlikely]] {
    return bind_slow(b, s, self, args, nargs, kwnames, explain);
  }
  bool plain = true;
  if (self) {
    b.v[0] = self;
    plain = is_exact_tensor(self);
  }
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    plain &= is_plain(args[i]);
    b.v[k++] = args[i];
  }
  b.plain = plain;
  for (; k < s.count; ++k) {
    if (!s.params[k].has_default) return bind_slow(b, s, self, args, nargs, kwnames, explain);
    b.v[k] = nullptr;
  }
  return true;
}

PyObject* dispatch(const Entry* entries, int count, PyObject* self, PyObject* const* args,
                   Py_ssize_t nargs, PyObject* kwnames) {
  try {
    if (count != 1) return dispatch_overloads(entries, count, self, args, nargs, kwnames);
    Bound b;
    if (!bind(b, *entries->signature, self, args, nargs, kwnames, true)) [[unlikely]] {
      return call_in_old_order(entries, count, self, args, nargs, kwnames);
    }
    return run(*entries, b, self);
  } catch (...) {
    raise_from_exception();
  }
  name_the_call(entries->signature->name);
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return nullptr;
  try {
    return call_with_numbers(entries, count, self, args, nargs, kwnames);
  } catch (...) {
    return raise_from_exception();
  }
}

}  // namespace facula::python
