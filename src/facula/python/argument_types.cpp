// What each type of parameter accepts, its name in messages, and the TypeError for calls that fit
// no overload.
#include "facula/autograd/meta.h"
#include "facula/python/arguments.h"
#include "facula/python/types.h"

namespace facula::python {

namespace {

bool is_list(PyObject* o) { return PyTuple_Check(o) || PyList_Check(o); }

template <class F>
bool all_items(PyObject* o, F&& f) {
  if (!is_list(o)) return false;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) {
    if (!f(PySequence_Fast_GET_ITEM(o, i))) return false;
  }
  return true;
}

bool fits_tensor(PyObject* o) { return is_tensor(o); }
// A tensor stands for a number where no gradient would be lost.
bool zero_dim(PyObject* o) {
  return is_tensor(o) && unwrap(o).dim() == 0 && !requires_grad(unwrap(o));
}
bool fits_int(PyObject* o) {
  return is_integer(o) || (zero_dim(o) && is_integral(unwrap(o).dtype()));
}
bool fits_number(PyObject* o) { return is_number(o) || zero_dim(o); }
bool fits_real(PyObject* o) {
  if (PyComplex_Check(o)) return false;
  return is_number(o) || (zero_dim(o) && !is_complex(unwrap(o).dtype()));
}
bool fits_bool(PyObject* o) {
  if (PyBool_Check(o)) return true;
  return is_numpy_scalar(o) && strstr(type_name(o), "bool");
}
bool fits_ints(PyObject* o) { return fits_int(o) || all_items(o, fits_int); }
bool fits_reals(PyObject* o) { return fits_real(o) || all_items(o, fits_real); }

}  // namespace

bool fits(ArgType type, PyObject* o) {
  bool none = o == Py_None;
  switch (type) {
    case ArgType::kTensor: return fits_tensor(o);
    case ArgType::kOptTensor: return none || fits_tensor(o);
    case ArgType::kTensorList: return all_items(o, fits_tensor);
    case ArgType::kOptTensorList:
      return all_items(o, [](PyObject* t) { return t == Py_None || is_tensor(t); });
    case ArgType::kOperand: return is_tensor(o) || is_number(o);
    case ArgType::kScalar: return fits_number(o);
    case ArgType::kOptScalar: return none || fits_number(o);
    case ArgType::kInt: return fits_int(o);
    case ArgType::kOptInt: return none || fits_int(o);
    case ArgType::kIntList:
    case ArgType::kVarInts: return fits_ints(o);
    case ArgType::kOptIntList: return none || fits_ints(o);
    case ArgType::kFloat: return fits_real(o);
    case ArgType::kOptFloat: return none || fits_real(o);
    case ArgType::kFloatList: return fits_reals(o);
    case ArgType::kOptFloatList: return none || fits_reals(o);
    case ArgType::kBool: return fits_bool(o);
    case ArgType::kOptBool: return none || fits_bool(o);
    case ArgType::kStr: return PyUnicode_Check(o);
    case ArgType::kOptStr: return none || PyUnicode_Check(o);
    case ArgType::kDType: return is_dtype(o);
    case ArgType::kOptDType: return none || is_dtype(o);
    case ArgType::kOptDevice: return none || is_device(o);
    case ArgType::kOptGenerator: return none || is_generator(o);
    case ArgType::kOptMemoryFormat: return none || is_memory_format(o);
    case ArgType::kOptLayout: return none || is_layout(o);
    case ArgType::kOut: return none || is_tensor(o) || all_items(o, fits_tensor);
  }
  return false;
}

const char* type_title(ArgType type) {
  switch (type) {
    case ArgType::kTensor:
    case ArgType::kOptTensor:
    case ArgType::kOut: return "Tensor";
    case ArgType::kTensorList:
    case ArgType::kOptTensorList: return "tuple of Tensors";
    case ArgType::kOperand: return "Tensor";
    case ArgType::kScalar:
    case ArgType::kOptScalar: return "Number";
    case ArgType::kInt:
    case ArgType::kOptInt: return "int";
    case ArgType::kIntList:
    case ArgType::kOptIntList:
    case ArgType::kVarInts: return "tuple of ints";
    case ArgType::kFloat:
    case ArgType::kOptFloat: return "float";
    case ArgType::kFloatList:
    case ArgType::kOptFloatList: return "tuple of floats";
    case ArgType::kBool:
    case ArgType::kOptBool: return "bool";
    case ArgType::kStr:
    case ArgType::kOptStr: return "str";
    case ArgType::kDType:
    case ArgType::kOptDType: return "facula.dtype";
    case ArgType::kOptDevice: return "facula.device";
    case ArgType::kOptGenerator: return "facula.Generator";
    case ArgType::kOptMemoryFormat: return "facula.memory_format";
    case ArgType::kOptLayout: return "facula.layout";
  }
  return "object";
}

namespace {

// describe names the type of an argument that was given: "tuple of (int, str)".
std::string describe(PyObject* o, int depth = 0) {
  if (is_tensor(o)) return is_exact_tensor(o) ? "Tensor" : type_name(o);
  if (!is_list(o) || depth > 2) return type_name(o);
  bool tuple = PyTuple_Check(o);
  std::string text = tuple ? "tuple of (" : "list of [";
  Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (i) text += ", ";
    if (i == 8) {
      text += "...";
      break;
    }
    text += describe(PySequence_Fast_GET_ITEM(o, i), depth + 1);
  }
  if (tuple && n == 1) text += ",";
  return text + (tuple ? ")" : "]");
}

// text_of gives a signature as an error shows it: methods take no out=, which comes last.
std::string text_of(const Signature& s, bool method) {
  std::string text = s.text;
  if (!method || s.params[s.count - 1].type != ArgType::kOut) return text;
  text.resize(text.rfind(", "));
  if (text.ends_with(", *")) text.resize(text.size() - 3);
  return text + ")";
}

}  // namespace

void raise_no_overload(const Entry* entries, int count, PyObject* self, PyObject* const* args,
                       Py_ssize_t nargs, PyObject* kwnames) {
  // One overload alone may take this number of arguments: its own complaint says more.
  int candidates = 0, last = 0;
  for (int i = 0; i < count; ++i) {
    Bound b;
    if (bind(b, *entries[i].signature, self, args, nargs, kwnames, false)) {
      ++candidates;
      last = i;
    }
  }
  std::string text = str(entries[0].signature->name, "() received an invalid combination of ",
                         "arguments - got (");
  const char* comma = "";
  for (Py_ssize_t i = 0; i < nargs; ++i, comma = ", ") text += str(comma, describe(args[i]));
  Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t j = 0; j < named; ++j, comma = ", ") {
    text += str(comma, utf8(PyTuple_GET_ITEM(kwnames, j)), "=", describe(args[nargs + j]));
  }
  text += "), but expected one of:";
  for (int i = 0; i < count; ++i) {
    text += str("\n * ", text_of(*entries[i].signature, self != nullptr));
    if (candidates == 1 && i == last) {
      Bound b;
      bind(b, *entries[i].signature, self, args, nargs, kwnames, false);
      for (int k = 0; k < b.sig->count; ++k) {
        if (!b.v[k] || b.var || fits(b.sig->params[k].type, b.v[k])) continue;
        text += str("\n      argument '", shown_name(b.sig->params[k]), "' must be ",
                    type_title(b.sig->params[k].type), ", not ", describe(b.v[k]));
        break;
      }
    }
  }
  PyErr_SetString(PyExc_TypeError, text.c_str());
}

}  // namespace facula::python
