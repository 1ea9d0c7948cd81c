// The objects facula.float32 ..., facula.strided and facula.channels_last ..., one for each value.
#include <cctype>

#include "facula/python/arguments.h"
#include "facula/python/package_name.h"
#include "facula/python/tensor_type.h"
#include "facula/python/types.h"

namespace facula::python {

PyTypeObject dtype_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject layout_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject memory_format_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
const char* package_name = "facula";

namespace {

// goes_on says whether a word goes on from the text before it: as part of a longer name, or of a
// file's, which may be quoted. The names of classes are quoted, too.
bool goes_on(std::string_view before) {
  if (before.empty() || before.ends_with("<class '")) return false;
  const char last = before.back();
  return std::isalnum(static_cast<unsigned char>(last)) ||
         std::string_view("_.-/\\'\"").find(last) != std::string_view::npos;
}

}  // namespace

std::string in_package_words(std::string_view text) {
  constexpr std::string_view kOurs = "facula.", kKept = "facula.as_torch";
  std::string out;
  for (size_t from = 0;;) {
    size_t at = text.find(kOurs, from);
    out += text.substr(from, at - from);
    if (at == text.npos) return out;
    const bool other = goes_on(text.substr(0, at)) || text.substr(at).starts_with(kKept);
    out += other ? "facula" : package_name;
    from = at + kOurs.size() - 1;
  }
}

namespace {

PyObject* dtype_objects[kNumDTypes];

// MissingDType is a type of numbers that programs name and tensors do not have: its value is none
// of the DTypes.
struct MissingDType {
  PyDType head;
  const char* name;
  int64_t item_size;
  char kind;  // f floating, c complex, s signed, u unsigned
};

const MissingDType* as_missing(PyObject* o) {
  bool missing = static_cast<int>(reinterpret_cast<PyDType*>(o)->value) >= kNumDTypes;
  return missing ? reinterpret_cast<MissingDType*>(o) : nullptr;
}
PyObject* strided = nullptr;
PyObject* formats[4];

DType value_of(PyObject* o) { return reinterpret_cast<PyDType*>(o)->value; }

const char* dtype_text(PyObject* o) {
  const MissingDType* missing = as_missing(o);
  return missing ? missing->name : dtype_name(value_of(o));
}

PyObject* dtype_repr(PyObject* self) {
  return PyUnicode_FromFormat("%s.%s", package_name, dtype_text(self));
}
PyObject* dtype_reduce(PyObject* self, PyObject*) { return PyUnicode_FromString(dtype_text(self)); }
PyObject* dtype_to_real(PyObject* self, PyObject*) {
  if (const MissingDType* m = as_missing(self))
    return Py_NewRef(m->kind == 'c' ? dtype_object(kFloat16) : self);
  return Py_NewRef(dtype_object(real_type(value_of(self))));
}
PyObject* dtype_to_complex(PyObject* self, PyObject*) {
  if (const MissingDType* m = as_missing(self)) {
    if (m->kind == 'c') return Py_NewRef(self);
    PyErr_Format(PyExc_NotImplementedError, "to_complex: there is no complex type of %s.%s",
                 package_name, m->name);
    return nullptr;
  }
  return Py_NewRef(dtype_object(complex_type(value_of(self))));
}
PyObject* dtype_is_floating(PyObject* self, void*) {
  if (const MissingDType* m = as_missing(self)) return PyBool_FromLong(m->kind == 'f');
  return PyBool_FromLong(is_floating(value_of(self)));
}
PyObject* dtype_is_complex(PyObject* self, void*) {
  if (const MissingDType* m = as_missing(self)) return PyBool_FromLong(m->kind == 'c');
  return PyBool_FromLong(is_complex(value_of(self)));
}
PyObject* dtype_is_signed(PyObject* self, void*) {
  if (const MissingDType* m = as_missing(self)) return PyBool_FromLong(m->kind != 'u');
  return PyBool_FromLong(is_signed(value_of(self)));
}
PyObject* dtype_itemsize(PyObject* self, void*) {
  if (const MissingDType* m = as_missing(self)) return PyLong_FromLongLong(m->item_size);
  return PyLong_FromLongLong(item_size(value_of(self)));
}

PyGetSetDef dtype_getset[] = {
    {"is_floating_point", dtype_is_floating, nullptr, "True for floating types.", nullptr},
    {"is_complex", dtype_is_complex, nullptr, "True for complex types.", nullptr},
    {"is_signed", dtype_is_signed, nullptr, "True for types with negative values.", nullptr},
    {"itemsize", dtype_itemsize, nullptr, "Bytes of one element.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef dtype_methods[] = {
    {"to_real", dtype_to_real, METH_NOARGS, "The type of the real part."},
    {"to_complex", dtype_to_complex, METH_NOARGS, "The complex type with parts of this type."},
    {"__reduce__", dtype_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyObject* named_repr(PyObject* self) {
  return PyUnicode_FromFormat("%s.%s", package_name, reinterpret_cast<PyNamed*>(self)->name);
}
PyObject* named_reduce(PyObject* self, PyObject*) {
  return PyUnicode_FromString(reinterpret_cast<PyNamed*>(self)->name);
}
PyMethodDef named_methods[] = {
    {"__reduce__", named_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

void ready(PyTypeObject& type, const char* name, Py_ssize_t size, reprfunc repr,
           PyMethodDef* methods, const char* doc) {
  type.tp_name = name;
  type.tp_basicsize = size;
  type.tp_flags = Py_TPFLAGS_DEFAULT;
  type.tp_doc = doc;
  type.tp_repr = repr;
  type.tp_methods = methods;
  check(PyType_Ready(&type));
}

PyObject* make_named(PyTypeObject& type, const char* name, int value, PyObject* module) {
  PyObject* o = check(type.tp_alloc(&type, 0));
  reinterpret_cast<PyNamed*>(o)->name = name;
  reinterpret_cast<PyNamed*>(o)->value = value;
  add_object(module, name, o);
  return o;
}

}  // namespace

PyObject* dtype_object(DType t) { return dtype_objects[static_cast<int>(t)]; }

bool is_dtype(PyObject* o) {
  if (Py_TYPE(o) == &dtype_type) return true;
  return o == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
         o == reinterpret_cast<PyObject*>(&PyLong_Type) ||
         o == reinterpret_cast<PyObject*>(&PyBool_Type) ||
         o == reinterpret_cast<PyObject*>(&PyComplex_Type);
}

DType unwrap_dtype(PyObject* o, const char* op) {
  if (Py_TYPE(o) == &dtype_type) {
    if (const MissingDType* m = as_missing(o)) [[unlikely]] {
      raise_error(ErrorKind::kNotImplemented, op, ": tensors of ", package_name, ".", m->name,
                  " are not built");
    }
    return value_of(o);
  }
  if (o == reinterpret_cast<PyObject*>(&PyFloat_Type)) return kFloat64;
  if (o == reinterpret_cast<PyObject*>(&PyLong_Type)) return kInt64;
  if (o == reinterpret_cast<PyObject*>(&PyBool_Type)) return kBool;
  if (o == reinterpret_cast<PyObject*>(&PyComplex_Type)) return kComplex128;
  raise_error(ErrorKind::kType, op, ": expected a dtype, got ", type_name(o));
}

PyObject* layout_object() { return strided; }
PyObject* memory_format_object(MemoryFormat f) { return formats[static_cast<int>(f)]; }

MemoryFormat unwrap_memory_format(PyObject* o, const char* op) {
  if (!is_memory_format(o)) {
    raise_error(ErrorKind::kType, op, ": expected a memory_format, got ", type_name(o));
  }
  return static_cast<MemoryFormat>(reinterpret_cast<PyNamed*>(o)->value);
}

PyObject* wrap(DType v) { return Py_NewRef(dtype_object(v)); }

namespace {

// set_package_name also renames the types; their names live as long as the process.
PyObject* set_package_name(PyObject*, PyObject* name) {
  return guarded([&]() -> PyObject* {
    const char* text = PyUnicode_AsUTF8(name);
    if (!text) throw PythonError();
    package_name = (new std::string(text))->c_str();
    for (PyTypeObject* type : {&dtype_type, &device_type, &layout_type, &memory_format_type,
                               &size_type, &generator_type, &tensor_type}) {
      std::string_view full = type->tp_name;
      auto* renamed = new std::string(package_name);
      renamed->append(full.substr(full.rfind('.')));
      type->tp_name = renamed->c_str();
    }
    Py_RETURN_NONE;
  });
}

// _missing_dtype(name, itemsize, kind) makes a type of numbers that no tensor has.
PyObject* make_missing_dtype(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    const char* name;
    int size, kind;
    if (!PyArg_ParseTuple(args, "siC:_missing_dtype", &name, &size, &kind)) throw PythonError();
    PyObject* o = check(dtype_type.tp_alloc(&dtype_type, 0));
    auto* made = reinterpret_cast<MissingDType*>(o);
    made->head.value = static_cast<DType>(kNumDTypes);
    made->name = (new std::string(name))->c_str();  // these types live as long as the process
    made->item_size = size;
    made->kind = static_cast<char>(kind);
    return o;
  });
}

PyObject* package_words(PyObject*, PyObject* text) {
  return guarded([&] {
    const std::string words = in_package_words(utf8(text));
    return check(PyUnicode_FromStringAndSize(words.data(), std::ssize(words)));
  });
}

PyObject* get_package_name(PyObject*, PyObject*) { return PyUnicode_FromString(package_name); }

PyMethodDef package_functions[] = {
    {"_package_name", get_package_name, METH_NOARGS,
     "Gives the name of the package in the texts of types, dtypes and sizes."},
    {"_set_package_name", set_package_name, METH_O,
     "Sets the name of the package in the texts of types, dtypes and sizes."},
    {"_package_words", package_words, METH_O,
     "Gives a text in which the package has the name that the program knows it by."},
    {"_missing_dtype", make_missing_dtype, METH_VARARGS,
     "Makes a type of numbers that no tensor has: name, bytes of one, kind (f, c, s or u)."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void init_dtype_types(PyObject* module) {
  add_functions(module, package_functions, "facula._C");
  dtype_type.tp_getset = dtype_getset;
  ready(dtype_type, "facula.dtype", sizeof(MissingDType), dtype_repr, dtype_methods,
        "The element type of a tensor.");
  for (int i = 0; i < kNumDTypes; ++i) {
    PyObject* o = check(dtype_type.tp_alloc(&dtype_type, 0));
    reinterpret_cast<PyDType*>(o)->value = static_cast<DType>(i);
    dtype_objects[i] = o;
    add_object(module, dtype_name(static_cast<DType>(i)), o);
  }
  add_object(module, "dtype", reinterpret_cast<PyObject*>(&dtype_type));

  ready(layout_type, "facula.layout", sizeof(PyNamed), named_repr, named_methods,
        "How the elements of a tensor are stored.");
  strided = make_named(layout_type, "strided", 0, module);
  int layout = 0;  // numbered as the C++ enumeration Layout is
  for (const char* name : {"sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc",
                           "jagged", "_mkldnn"}) {
    make_named(layout_type, name, ++layout, module);
  }
  add_object(module, "layout", reinterpret_cast<PyObject*>(&layout_type));

  ready(memory_format_type, "facula.memory_format", sizeof(PyNamed), named_repr, named_methods,
        "An order of dense dimensions.");
  const char* names[] = {"contiguous_format", "channels_last", "channels_last_3d",
                         "preserve_format"};
  for (int i = 0; i < 4; ++i) formats[i] = make_named(memory_format_type, names[i], i, module);
  add_object(module, "memory_format", reinterpret_cast<PyObject*>(&memory_format_type));
}

}  // namespace facula::python
