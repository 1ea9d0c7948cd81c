// From results to Python objects, out= arguments, and the registration of generated bindings.
#include <map>

#include "facula/autograd/engine.h"
#include "facula/python/arguments.h"
#include "facula/python/out_overlap.h"
#include "facula/python/package_name.h"
#include "facula/python/slots.h"
#include "facula/python/types.h"

namespace facula::python {

PyObject* wrap(const Scalar& s) { return scalar_object(s); }
PyObject* wrap(bool v) { return Py_NewRef(v ? Py_True : Py_False); }
PyObject* wrap(int64_t v) { return PyLong_FromLongLong(v); }
PyObject* wrap(double v) { return PyFloat_FromDouble(v); }
PyObject* wrap(const Sizes& v) { return size_object(v); }

PyObject* wrap(const std::vector<Tensor>& v) {
  Owned tuple = own(PyTuple_New(static_cast<Py_ssize_t>(v.size())));
  for (size_t i = 0; i < v.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), check(wrap(v[i])));
  }
  return tuple.release();
}

PyObject* wrap_self(Bound& b, int i) { return Py_NewRef(b.v[i]); }

namespace {

PyObject* return_types = nullptr;

// The repr of named results has one line a field, as PyTorch's.
PyObject* named_tuple_repr(PyObject* self) {
  return guarded([&]() -> PyObject* {
    std::string text = str(type_name(self), "(");
    Owned names = own(PyObject_GetAttrString(self, "__match_args__"));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
      Owned item = own(PyObject_Repr(PyTuple_GET_ITEM(self, i)));
      text += str(i ? ",\n" : "\n", utf8(PyTuple_GET_ITEM(names.get(), i)), "=", utf8(item.get()));
    }
    text += ")";
    return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  });
}

// named_tuple_type gives the type of named results, making it the first time.
PyTypeObject* named_tuple_type(const char* type_name, const char* const* fields, size_t n) {
  static std::map<std::string, PyTypeObject*> types;
  auto [it, fresh] = types.try_emplace(type_name, nullptr);
  if (!fresh) return it->second;
  auto* members = new PyStructSequence_Field[n + 1]();
  for (size_t i = 0; i < n; ++i) members[i] = {fields[i], nullptr};
  auto* full = new std::string(str(package_name, ".return_types.", type_name));
  PyStructSequence_Desc description = {full->c_str(), "Named results of an operator.", members,
                                       static_cast<int>(n)};
  PyTypeObject* type = PyStructSequence_NewType(&description);
  if (!type) {
    types.erase(it);
    throw PythonError();
  }
  type->tp_repr = named_tuple_repr;
  it->second = type;
  add_object(return_types, type_name, reinterpret_cast<PyObject*>(type));
  return type;
}

}  // namespace

PyObject* wrap_tuple(std::span<Tensor> items, const char* type_name, const char* const* fields) {
  Owned tuple;
  if (type_name) {
    tuple = own(PyStructSequence_New(named_tuple_type(type_name, fields, items.size())));
  } else {
    tuple = own(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  }
  for (size_t i = 0; i < items.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), check(wrap(std::move(items[i]))));
  }
  return tuple.release();
}

namespace {

void resize_out(const Tensor& out, const Tensor& result) {
  if (out.numel() != 0) {
    std::string text = str("An output with one or more elements was resized since it had shape ",
                           list_text(out.sizes()), ", which does not match the required output ",
                           "shape ", list_text(result.sizes()), ".");
    check(PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1));
  }
  Sizes strides = contiguous_strides(result.sizes());
  size_t bytes = static_cast<size_t>((out->offset + result.numel()) * item_size(out.dtype()));
  if (!out.is_meta() && bytes > out->storage->bytes()) out->storage->resize(bytes);
  set_geometry(out.impl(), result.sizes(), strides, out->offset);
}

void refuse_repeats(const char* name, const Tensor& out) {
  if (!overlaps_itself(out)) return;
  raise_error(ErrorKind::kRuntime, name, "(): unsupported operation: more than one element of the ",
              "written-to tensor refers to a single memory location. Please clone() the tensor ",
              "before performing the operation.");
}

// check_out refuses what an out= tensor cannot take. All of a call are checked before one is
// written.
void check_out(const Bound& b, int i, const Tensor& out, const Tensor& result, bool exact) {
  const char* name = b.sig->name;
  if (grad_enabled() && (requires_grad(result) || requires_grad(out))) {
    raise_error(ErrorKind::kRuntime, name, "(): functions with out=... arguments don't support ",
                "automatic differentiation, but one of the arguments requires grad.");
  }
  if (exact && result.dtype() != out.dtype()) {
    raise_error(ErrorKind::kRuntime, name, "(): Expected out tensor to have dtype ",
                dtype_name(result.dtype()), ", but got ", dtype_name(out.dtype()), " instead");
  }
  if (!can_cast(result.dtype(), out.dtype())) {
    raise_error(ErrorKind::kRuntime, name, "(): result type ", dtype_title(result.dtype()),
                " can't be cast to the desired output type ", dtype_title(out.dtype()));
  }
  if (!(out.device() == result.device())) {
    raise_error(ErrorKind::kRuntime, name, "(): Expected out tensor to have device ",
                device_text(result.device()), ", but got ", device_text(out.device()), " instead");
  }
  if (out.is_same(result)) return;
  refuse_overlap(b, i, out);
  if (b.sig->out == Sharing::kNone || out.sizes() == result.sizes()) refuse_repeats(name, out);
}

void store_out(const Tensor& out, const Tensor& result) {
  if (out.is_same(result)) return;
  if (!(out.sizes() == result.sizes())) resize_out(out, result);
  NoGrad off;
  gradient_ops.copy_inplace(out, result);
}

}  // namespace

PyObject* write_out(Bound& b, int i, std::span<Tensor> results, bool exact, const char* type_name,
                    const char* const* fields) {
  PyObject* out = b.v[i];
  const char* name = b.sig->name;
  if (results.size() == 1 && is_tensor(out)) {
    check_out(b, i, unwrap(out), results[0], exact);
    store_out(unwrap(out), results[0]);
    return Py_NewRef(out);
  }
  bool list = PyTuple_Check(out) || PyList_Check(out);
  if (!list || PySequence_Fast_GET_SIZE(out) != static_cast<Py_ssize_t>(results.size())) {
    raise_error(ErrorKind::kType, name, "(): argument 'out' must be ",
                results.size() == 1 ? "Tensor" : str("tuple of ", results.size(), " Tensors"),
                ", not ", python::type_name(out));
  }
  std::vector<Tensor> outs;
  for (size_t k = 0; k < results.size(); ++k) {
    PyObject* item = PySequence_Fast_GET_ITEM(out, static_cast<Py_ssize_t>(k));
    if (!is_tensor(item)) {
      raise_error(ErrorKind::kType, name, "(): argument 'out' must be tuple of Tensors, but found ",
                  "element of type ", python::type_name(item), " at pos ", k);
    }
    outs.push_back(unwrap(item));
  }
  refuse_shared_outs(name, outs);
  for (size_t k = 0; k < results.size(); ++k) check_out(b, i, outs[k], results[k], exact);
  for (size_t k = 0; k < results.size(); ++k) store_out(outs[k], results[k]);
  if (results.size() == 1) return Py_NewRef(out);
  // Programs that run when a warning is shown may have changed the list by now.
  if (!type_name) return wrap(outs);
  std::string named = str(type_name, "_out");
  Owned tuple = own(PyStructSequence_New(named_tuple_type(named.c_str(), fields, results.size())));
  for (size_t k = 0; k < results.size(); ++k) {
    auto at = static_cast<Py_ssize_t>(k);
    PyTuple_SET_ITEM(tuple.get(), at, check(wrap(outs[k])));
  }
  return tuple.release();
}

namespace {

// place splits "nn.functional.silu" into the module that holds the function and its public name.
PyObject* place(PyObject* module, std::string_view folder, std::string& public_module) {
  public_module = folder.empty() ? "facula" : str("facula.", folder);
  if (folder.empty()) return submodule(module, "_functions");
  if (folder == "nn.functional") return submodule(module, "_nn");
  return submodule(module, str("_", folder).c_str());
}

// _make(name, fields) makes a type of named results before an operator gives one.
PyObject* make_return_type(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 2 && PyTuple_Check(args[1]), kType, "_make() takes a name and a tuple");
    std::vector<const char*> fields;
    // Types keep pointers to the names of their fields.
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[1]); ++i) {
      fields.push_back((new std::string(utf8(PyTuple_GET_ITEM(args[1], i))))->c_str());
    }
    std::string name(utf8(args[0]));
    named_tuple_type(name.c_str(), fields.data(), fields.size());
    Py_RETURN_NONE;
  });
}

PyMethodDef return_type_functions[] = {
    {"_make", fast(make_return_type), METH_FASTCALL, "Makes a type of named results."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void register_bindings(PyObject* module, BindingRow* rows) {
  if (!return_types) {
    return_types = submodule(module, "_return_types");
    add_functions(return_types, return_type_functions, "facula._C");
  }
  for (BindingRow* row = rows; row->path; ++row) {
    std::string_view path = row->path;
    size_t dot = path.rfind('.');
    std::string_view folder = dot == path.npos ? std::string_view() : path.substr(0, dot);
    const char* name = row->path + (dot == path.npos ? 0 : dot + 1);
    auto entry = reinterpret_cast<FastMethod>(reinterpret_cast<void (*)()>(row->def.ml_meth));
    if (folder == "Tensor") {
      Owned method = own(PyDescr_NewMethod(&tensor_type, &row->def));
      check(PyDict_SetItemString(tensor_type.tp_dict, name, method.get()));
      note_slot(slot_entries, name, entry);
      continue;
    }
    if (folder.empty()) note_slot(function_entries, name, entry);
    std::string public_module;
    PyObject* where = place(module, folder, public_module);
    Owned owner = own(PyUnicode_InternFromString(public_module.c_str()));
    Owned f = own(PyCFunction_NewEx(&row->def, nullptr, owner.get()));
    add_object(where, name, f.get());
  }
  PyType_Modified(&tensor_type);
}

}  // namespace facula::python
