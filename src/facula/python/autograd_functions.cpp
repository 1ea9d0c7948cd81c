// backward() and grad() for Python, the modes of recording, anomaly detection, and source
// locations.
#include "facula/autograd/engine.h"
#include "facula/core/unlocked.h"
#include "facula/ops/warn.h"
#include "facula/python/arguments.h"
#include "facula/python/dispatch_classes.h"
#include "facula/python/module.h"
#include "facula/python/node_type.h"

namespace facula::python {

namespace {

std::vector<Tensor> tensor_list(PyObject* o, const char* op, bool none_allowed) {
  std::vector<Tensor> out;
  if (o == Py_None) return out;
  Owned list = own(PySequence_Fast(o, "expected a sequence of tensors"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(list.get(), i);
    if (none_allowed && item == Py_None)
      out.emplace_back();
    else
      out.push_back(expect_tensor(item, op));
  }
  return out;
}

// is_edge says whether an object is a GradientEdge: a named tuple of a node and an output number.
bool is_edge_object(PyObject* o) {
  return PyTuple_Check(o) && PyTuple_GET_SIZE(o) >= 2 && !is_tensor(PyTuple_GET_ITEM(o, 0)) &&
         PyLong_Check(PyTuple_GET_ITEM(o, 1));
}

BackwardEnd end_of(PyObject* o, const char* op) {
  if (!is_edge_object(o)) return {expect_tensor(o, op), {}};
  Edge e;
  e.node = Ref<Node>::share(unwrap_node(PyTuple_GET_ITEM(o, 0)));
  int64_t number = to_int64(PyTuple_GET_ITEM(o, 1), op);
  int64_t outputs = static_cast<int64_t>(e.node->outputs.size());
  FACULA_CHECK(0 <= number && number < outputs, kRuntime, op, ": expected the number of one of ",
               outputs, " outputs in a GradientEdge, got ", number);
  e.input_nr = static_cast<uint32_t>(number);
  return {Tensor(), e};
}

}  // namespace

std::vector<BackwardEnd> backward_ends(PyObject* o, const char* op) {
  std::vector<BackwardEnd> out;
  if (o == Py_None) return out;
  if (is_tensor(o) || is_edge_object(o)) {
    out.push_back(end_of(o, op));
    return out;
  }
  Owned list = own(PySequence_Fast(o, "expected a sequence of tensors"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
    out.push_back(end_of(PySequence_Fast_GET_ITEM(list.get(), i), op));
  }
  return out;
}

namespace {

// _run_backward(roots, seeds, retain_graph, create_graph, inputs, allow_unused, accumulate)
PyObject* run_backward(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 7, kType, "_run_backward() takes 7 arguments");
    BackwardOptions options;
    options.retain_graph = to_bool(args[2], "backward");
    options.create_graph = to_bool(args[3], "backward");
    options.allow_unused = to_bool(args[5], "backward");
    options.accumulate = to_bool(args[6], "backward");
    if (options.create_graph && options.accumulate) warn_of_kept_graph();
    std::vector<Tensor> seeds = tensor_list(args[1], "backward", true);
    std::vector<BackwardEnd> roots = backward_ends(args[0], "backward");
    if (seeds.empty()) seeds.resize(roots.size());
    for (size_t i = 0; i < roots.size() && i < seeds.size(); ++i) {
      if (!roots[i].tensor.defined()) continue;
      seeds[i] = dispatched_seed(roots[i].tensor, std::move(seeds[i]));
    }
    std::vector<Tensor> found =
        differentiate(roots, seeds, options, backward_ends(args[4], "backward"));
    if (options.accumulate) Py_RETURN_NONE;
    return wrap(found);
  });
}

PyObject* set_grad_enabled(PyObject*, PyObject* on) {
  bool before = !tls.no_grad;
  int truth = PyObject_IsTrue(on);
  if (truth < 0) return nullptr;
  tls.no_grad = truth == 0;
  return Py_NewRef(before ? Py_True : Py_False);
}
PyObject* is_grad_enabled(PyObject*, PyObject*) {
  return Py_NewRef(tls.no_grad ? Py_False : Py_True);
}
PyObject* is_inference_mode(PyObject*, PyObject*) {
  return Py_NewRef(tls.inference ? Py_True : Py_False);
}

PyObject* set_anomaly(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n >= 1, kType, "set_anomaly_enabled() missing argument 'mode'");
    set_anomaly_mode(to_bool(args[0], "set_anomaly_enabled"),
                     n < 2 || to_bool(args[1], "set_anomaly_enabled"));
    Py_RETURN_NONE;
  });
}
PyObject* is_anomaly(PyObject*, PyObject*) { return PyBool_FromLong(anomaly_mode()); }

PyObject* queue_python_callback(PyObject*, PyObject* f) {
  return guarded([&]() -> PyObject* {
    queue_callback(
        [](void* context) {
          Owned callable(static_cast<PyObject*>(context));
          Owned r(PyObject_CallNoArgs(callable.get()));
          if (!r) throw PythonError();
        },
        Py_NewRef(f));
    Py_RETURN_NONE;
  });
}

PyObject* current_graph_task(PyObject*, PyObject*) { return PyLong_FromLongLong(current_pass()); }

PyObject* will_engine_execute(PyObject*, PyObject* node) {
  return guarded([&]() -> PyObject* {
    if (!PyLong_Check(node)) return PyBool_FromLong(will_run(*unwrap_node(node)));
    uint64_t sequence = PyLong_AsUnsignedLongLong(node);
    if (PyErr_Occurred()) throw PythonError();
    return PyBool_FromLong(will_run(sequence));
  });
}

PyObject* gradient_edge_of(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    Edge e = gradient_edge(expect_tensor(o, "get_gradient_edge").impl());
    FACULA_CHECK(e.valid(), kRuntime, "It is not possible to get the gradient edge for a Tensor ",
                 "that does not require gradients");
    Owned node = own(wrap_node(e.node.get()));
    return Py_BuildValue("(OI)", node.get(), e.input_nr);
  });
}

PyObject* python_objects_owned(PyObject*, PyObject*) {
  return PyLong_FromLongLong(owned_by_cpp.load());
}

// _wants_some_gradients(): whether the node that runs belongs to a pass for chosen inputs only.
PyObject* wants_some_gradients(PyObject*, PyObject*) {
  return PyBool_FromLong(tls.pruning != nullptr);
}

PyMethodDef autograd_functions[] = {
    {"_wants_some_gradients", wants_some_gradients, METH_NOARGS,
     "Whether the node that runs belongs to a backward pass for chosen inputs only."},
    {"_run_backward", fast(run_backward), METH_FASTCALL, nullptr},
    {"_set_grad_enabled", set_grad_enabled, METH_O, nullptr},
    {"is_grad_enabled", is_grad_enabled, METH_NOARGS,
     "is_grad_enabled()\n--\n\nWhether operators record their gradients in this thread."},
    {"is_inference_mode_enabled", is_inference_mode, METH_NOARGS,
     "is_inference_mode_enabled()\n--\n\nWhether inference mode is on in this thread."},
    {"set_anomaly_enabled", fast(set_anomaly), METH_FASTCALL,
     "set_anomaly_enabled(mode, check_nan=True, /)\n--\n\nSwitches anomaly detection."},
    {"is_anomaly_enabled", is_anomaly, METH_NOARGS,
     "is_anomaly_enabled()\n--\n\nWhether gradients are checked for NaN."},
    {"_queue_callback", queue_python_callback, METH_O, nullptr},
    {"_current_graph_task_id", current_graph_task, METH_NOARGS, nullptr},
    {"_will_engine_execute_node", will_engine_execute, METH_O, nullptr},
    {"_gradient_edge", gradient_edge_of, METH_O, nullptr},
    {"_python_objects_owned", python_objects_owned, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// ---- modes as context managers

// PyMode is the base of no_grad, enable_grad, set_grad_enabled and inference_mode.
struct PyMode {
  PyObject_HEAD PyObject* dict;
  bool no_grad;       // what to set
  bool inference;     // what to set, for inference_mode
  bool is_inference;  // whether it is inference_mode
  bool grad_before;
  bool inference_before;
};
PyTypeObject mode_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyMode* as_mode(PyObject* o) { return reinterpret_cast<PyMode*>(o); }

PyObject* mode_enter(PyObject* self, PyObject*) {
  PyMode* m = as_mode(self);
  m->grad_before = tls.no_grad;
  m->inference_before = tls.inference;
  if (m->is_inference) {
    tls.inference = m->inference;
    tls.no_grad = m->inference;
  } else {
    tls.no_grad = m->no_grad;
  }
  Py_RETURN_NONE;
}

PyObject* mode_exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  PyMode* m = as_mode(self);
  tls.no_grad = m->grad_before;
  tls.inference = m->inference_before;
  Py_RETURN_NONE;
}

// _set(no_grad, inference, is_inference)
PyObject* mode_set(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  if (n != 3) {
    PyErr_SetString(PyExc_TypeError, "_set() takes 3 arguments");
    return nullptr;
  }
  as_mode(self)->no_grad = args[0] == Py_True;
  as_mode(self)->inference = args[1] == Py_True;
  as_mode(self)->is_inference = args[2] == Py_True;
  Py_RETURN_NONE;
}

// A fresh object switches recording off: the commonest use, no_grad().
PyObject* mode_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* o = type->tp_alloc(type, 0);
  if (o) as_mode(o)->no_grad = true;
  return o;
}

void mode_dealloc(PyObject* self) {
  Py_CLEAR(as_mode(self)->dict);
  Py_TYPE(self)->tp_free(self);
}

PyMethodDef mode_methods[] = {
    {"__enter__", mode_enter, METH_NOARGS, nullptr},
    {"__exit__", fast(mode_exit), METH_FASTCALL, nullptr},
    {"_set", fast(mode_set), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// ---- source locations: the code object and instruction of the frame that called an operator

SourceLocation capture_location() {
  if (!PyGILState_Check()) return SourceLocation();
  PyFrameObject* frame = PyEval_GetFrame();
  if (!frame) return SourceLocation();
  int offset = PyFrame_GetLasti(frame);
  return SourceLocation(PyFrame_GetCode(frame), offset);
}

void release_location(void* code) {
  if (!python_lives()) return;
  if (PyGILState_Check()) {
    Py_DECREF(static_cast<PyObject*>(code));
    return;
  }
  PyGILState_STATE gil = PyGILState_Ensure();
  Py_DECREF(static_cast<PyObject*>(code));
  PyGILState_Release(gil);
}

std::string resolve_location(void* code, int offset) {
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  std::string text;
  int line = PyCode_Addr2Line(static_cast<PyCodeObject*>(code), offset);
  Owned file(PyObject_GetAttrString(static_cast<PyObject*>(code), "co_filename"));
  if (file && PyUnicode_Check(file.get())) {
    const char* name = PyUnicode_AsUTF8(file.get());
    if (name) text = std::string(name) + ":" + std::to_string(line);
  }
  PyErr_Restore(type, value, trace);
  PyGILState_Release(gil);
  return text;
}

// ---- the lock, released by long kernels

void* unlock() { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; }
void relock(void* token) { PyEval_RestoreThread(static_cast<PyThreadState*>(token)); }

}  // namespace

void init_autograd(PyObject* module) {
  SourceLocation::capture = capture_location;
  SourceLocation::release = release_location;
  SourceLocation::resolve = resolve_location;
  Unlocked::unlock = unlock;
  Unlocked::relock = relock;
  add_functions(module, autograd_functions);
  PyTypeObject& type = mode_type;
  type.tp_name = "facula._C._GradMode";
  type.tp_basicsize = sizeof(PyMode);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  type.tp_doc = "The base of the context managers that switch the recording of gradients.";
  type.tp_new = mode_new;
  type.tp_dealloc = mode_dealloc;
  type.tp_methods = mode_methods;
  type.tp_dictoffset = offsetof(PyMode, dict);
  check(PyType_Ready(&type));
  add_object(module, "_GradMode", reinterpret_cast<PyObject*>(&type));
}

}  // namespace facula::python
