// Dispatch modes: interpreters above autograd that are written in Python. Each operator of the
// table is handed to the mode as (handle, name, schema, arguments); the mode calls it by its
// handle.
#include "facula/python/dispatch_modes.h"

#include <cstring>

#include "facula/modes/vmap.h"
#include "facula/python/arguments.h"
#include "facula/python/module.h"
#include "facula/python/tensor_type.h"
#include "facula/python/types.h"

namespace facula::python {
namespace {

constexpr const char* kHandle = "facula.operator";

template <class T, class F>
PyObject* list_of(const std::vector<T>& items, F&& item) {
  Owned out = own(PyList_New(static_cast<Py_ssize_t>(items.size())));
  for (size_t i = 0; i < items.size(); ++i) {
    PyList_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), check(item(items[i])));
  }
  return out.release();
}

PyObject* generator_object(Generator* g) {
  Owned o = own(generator_type.tp_alloc(&generator_type, 0));
  auto* made = reinterpret_cast<PyGenerator*>(o.get());
  g->retain();
  made->generator = g;
  made->owned = true;
  return o.release();
}

struct ToPython {
  PyObject* operator()(std::monostate) const { Py_RETURN_NONE; }
  PyObject* operator()(const Tensor& v) const { return wrap(v); }
  PyObject* operator()(const Scalar& v) const { return scalar_object(v); }
  PyObject* operator()(int64_t v) const { return PyLong_FromLongLong(v); }
  PyObject* operator()(double v) const { return PyFloat_FromDouble(v); }
  PyObject* operator()(bool v) const { return PyBool_FromLong(v); }
  PyObject* operator()(const std::string& v) const {
    return PyUnicode_FromStringAndSize(v.data(), static_cast<Py_ssize_t>(v.size()));
  }
  PyObject* operator()(const std::vector<int64_t>& v) const {
    return list_of(v, [](int64_t i) { return PyLong_FromLongLong(i); });
  }
  PyObject* operator()(const std::vector<double>& v) const {
    return list_of(v, [](double i) { return PyFloat_FromDouble(i); });
  }
  PyObject* operator()(const std::vector<Tensor>& v) const {
    return list_of(v, [](const Tensor& t) { return wrap(t); });
  }
  PyObject* operator()(DType v) const { return Py_NewRef(dtype_object(v)); }
  PyObject* operator()(Device v) const { return device_object(v); }
  PyObject* operator()(MemoryFormat v) const { return Py_NewRef(memory_format_object(v)); }
  PyObject* operator()(const Ref<Generator>& v) const { return generator_object(v.get()); }
};

// The items of a list or a tuple, as values of the type that a schema gives them.
Value list_value(PyObject* o, std::string_view type, const char* op) {
  Owned list = own(PySequence_Tuple(o));  // conversions may run Python code that changes a list
  Py_ssize_t n = PyTuple_GET_SIZE(list.get());
  PyObject* const* items = &PyTuple_GET_ITEM(list.get(), 0);
  if (type.starts_with("Tensor")) {
    std::vector<Tensor> out;
    for (Py_ssize_t i = 0; i < n; ++i) {
      out.push_back(items[i] == Py_None ? Tensor() : expect_tensor(items[i], op));
    }
    return Value(std::move(out));
  }
  if (type.starts_with("float")) {
    std::vector<double> out;
    for (Py_ssize_t i = 0; i < n; ++i) out.push_back(to_real(items[i], op));
    return Value(std::move(out));
  }
  std::vector<int64_t> out;
  for (Py_ssize_t i = 0; i < n; ++i) out.push_back(to_int64(items[i], op));
  return Value(std::move(out));
}

Value number_value(PyObject* o, std::string_view type, const char* op) {
  if (type.starts_with("float")) return Value(to_real(o, op));
  if (type.starts_with("bool") && PyBool_Check(o)) return Value(o == Py_True);
  if (type.starts_with("Scalar") || type.starts_with("Tensor")) return Value(to_scalar(o, op));
  return Value(to_int64(o, op));
}

// The value of a Python object for a parameter of a type; an empty type is that of a result.
Value to_value(PyObject* o, std::string_view type, const char* op) {
  if (o == Py_None) return Value();
  if (is_tensor(o)) return Value(Tensor(expect_tensor(o, op)));
  if (PyUnicode_Check(o) && !type.starts_with("Device")) return Value(utf8(o));
  if (is_memory_format(o)) return Value(unwrap_memory_format(o, op));
  if (type.starts_with("DType") || Py_TYPE(o) == &dtype_type) return Value(unwrap_dtype(o, op));
  if (type.starts_with("Device")) return Value(unwrap_device(o, op));
  if (is_generator(o)) return Value(reinterpret_cast<PyGenerator*>(o)->generator);
  if (PyList_Check(o) || PyTuple_Check(o)) {
    bool tensors = type.empty() && PySequence_Size(o) > 0;
    return list_value(o, tensors ? "Tensor" : type, op);
  }
  if (type.ends_with("[]") || type.ends_with("[]?") || type.ends_with("...")) {
    if (!type.starts_with("bool")) return Value(std::vector<int64_t>{to_int64(o, op)});
  }
  if (PyBool_Check(o) && type.empty()) return Value(o == Py_True);
  return number_value(o, type.empty() ? "Scalar" : type, op);
}

const BoxedOp& operator_of(PyObject* handle) {
  void* p = PyCapsule_GetPointer(handle, kHandle);
  if (!p) throw PythonError();
  return *static_cast<const BoxedOp*>(p);
}

}  // namespace

PyObject* boxed_object(const Value& v) { return check(std::visit(ToPython(), v.variant())); }

Owned boxed_objects(std::span<const Value> values) {
  Owned out = own(PyList_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i) {
    PyList_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), boxed_object(values[i]));
  }
  return out;
}

Values boxed_results(PyObject* result, const char* op) {
  Values out;
  if (PyTuple_Check(result)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(result); ++i) {
      out.push_back(to_value(PyTuple_GET_ITEM(result, i), "", op));
    }
  } else {
    out.push_back(to_value(result, "", op));
  }
  return out;
}

Owned operator_handle(const OpInfo& op) {
  return own(PyCapsule_New(const_cast<OpInfo*>(&op), kHandle, nullptr));
}

namespace {

// PythonMode asks a Python object what a call gives.
class PythonMode final : public Interpreter {
 public:
  explicit PythonMode(PyObject* taker) : taker_(Py_NewRef(taker)) {}
  ~PythonMode() override {
    if (!python_lives()) return;
    GilLock lock;
    Py_DECREF(taker_);
  }
  const char* name() const override { return "dispatch mode"; }
  PyObject* taker() const { return taker_; }

  Values call(const OpInfo& op, std::span<Value> args) override {
    GilLock lock;
    Owned values = boxed_objects(args);
    Owned handle = operator_handle(op);
    Owned result =
        own(PyObject_CallFunction(taker_, "OssO", handle.get(), op.name, op.schema, values.get()));
    return boxed_results(result.get(), op.name);
  }

 private:
  PyObject* taker_;
};

// _push_dispatch_mode(taker): taker(handle, name, schema, values) takes calls until it is popped.
PyObject* push_mode(PyObject*, PyObject* taker) {
  return guarded([&]() -> PyObject* {
    InterpreterStack::of_thread().push(StackSide::kAbove, std::make_shared<PythonMode>(taker));
    Py_RETURN_NONE;
  });
}

PyObject* pop_mode(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    InterpreterStack::of_thread().pop(StackSide::kAbove);
    Py_RETURN_NONE;
  });
}

// _dispatch_modes() lists the takers that calls go to, the next one last.
PyObject* active_modes(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    Owned out = own(PyList_New(0));
    for (const auto& i : InterpreterStack::of_thread().active(StackSide::kAbove)) {
      if (auto* mode = dynamic_cast<const PythonMode*>(i.get())) {
        check(PyList_Append(out.get(), mode->taker()));
      }
    }
    return out.release();
  });
}

// _run_operator(handle, types, values) calls an operator with one value for each parameter.
PyObject* run_operator(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 3 && PyTuple_Check(args[1]) && PyList_Check(args[2]) &&
                     PyTuple_GET_SIZE(args[1]) == PyList_GET_SIZE(args[2]),
                 kType, "_run_operator(handle, types, values): as many values as types");
    const BoxedOp& op = operator_of(args[0]);
    Owned given = own(PyList_AsTuple(args[2]));  // conversions may run code that changes the list
    std::vector<Value> values;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args[1]); ++i) {
      values.push_back(
          to_value(PyTuple_GET_ITEM(given.get(), i), utf8(PyTuple_GET_ITEM(args[1], i)), op.name));
    }
    Values out = op.call(values);
    if (out.size() == 1) return boxed_object(out[0]);
    Owned results = own(PyTuple_New(static_cast<Py_ssize_t>(out.size())));
    for (size_t i = 0; i < out.size(); ++i) {
      PyTuple_SET_ITEM(results.get(), static_cast<Py_ssize_t>(i), boxed_object(out[i]));
    }
    return results.release();
  });
}

PyMethodDef functions[] = {
    {"_push_dispatch_mode", push_mode, METH_O, nullptr},
    {"_pop_dispatch_mode", pop_mode, METH_NOARGS, nullptr},
    {"_dispatch_modes", active_modes, METH_NOARGS, nullptr},
    {"_run_operator", fast(run_operator), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void init_dispatch_modes(PyObject* module) { add_functions(module, functions); }

}  // namespace facula::python
