// The Python objects of graph nodes (grad_fn) and hooks written in Python.
#include "facula/python/node_type.h"

#include <structmember.h>

#include <map>

#include "facula/autograd/accumulate.h"
#include "facula/autograd/engine.h"
#include "facula/core/intercept.h"
#include "facula/python/arguments.h"

namespace facula::python {

PyTypeObject node_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

Owned gradients_tuple(const Gradients& grads) {
  Owned tuple = own(PyTuple_New(static_cast<Py_ssize_t>(grads.size())));
  for (size_t i = 0; i < grads.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), check(wrap(grads[i])));
  }
  return tuple;
}

void remove_node_hook(std::vector<NodeHooks::NodeHook>& list, uint64_t id) {
  std::erase_if(list, [&](NodeHooks::NodeHook& h) {
    if (h.id != id) return false;
    h.hook->removed = true;
    return true;
  });
}

// ---- hooks

PyHook::PyHook(PyObject* f, Kind k) : callable(Py_NewRef(f)), kind(k) {
  owned_by_cpp.fetch_add(1, std::memory_order_relaxed);
}

PyHook::~PyHook() {
  owned_by_cpp.fetch_sub(1, std::memory_order_relaxed);
  if (!python_lives()) return;
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  Py_CLEAR(callable);
  PyErr_Restore(type, value, trace);
  PyGILState_Release(gil);
}

namespace {

class GilHeld {
 public:
  GilHeld() : state_(PyGILState_Ensure()) {}
  ~GilHeld() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

void take_one(Gradients& grads, size_t i, PyObject* value) {
  if (value == Py_None) {
    return;
  }
  if (!is_tensor(value)) {
    raise_error(ErrorKind::kType, "expected Variable, but hook returned '", type_name(value), "'");
  }
  grads[i] = unwrap(value);
}

// take_all replaces gradients by what a node hook returned.
void take_all(Gradients& grads, PyObject* result) {
  if (result == Py_None) return;
  if (is_tensor(result) && grads.size() == 1) return take_one(grads, 0, result);
  Owned items(PySequence_Fast(result, "a hook must return a tuple of tensors or None"));
  if (!items) throw PythonError();
  Py_ssize_t n = PySequence_Fast_GET_SIZE(items.get());
  FACULA_CHECK(static_cast<size_t>(n) == grads.size(), kRuntime,
               "hook has returned an incorrect number of values (got ", n, ", but expected ",
               grads.size(), ")");
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* value = PySequence_Fast_GET_ITEM(items.get(), i);
    if (value == Py_None)
      grads[static_cast<size_t>(i)] = Tensor();
    else
      take_one(grads, static_cast<size_t>(i), value);
  }
}

}  // namespace

void PyHook::call(Gradients& grads, const Gradients* outer) {
  GilHeld gil;
  if (!callable) return;
  Owned f = Owned::share(callable);
  switch (kind) {
    case Kind::kTensor: {
      if (grads.empty() || !grads[0].defined()) return;
      Owned g = own(wrap(grads[0]));
      Owned r = own(PyObject_CallOneArg(f.get(), g.get()));
      take_one(grads, 0, r.get());
      return;
    }
    case Kind::kAccumulated: {
      Owned leaf = own(wrap(grads[0]));
      Owned r = own(PyObject_CallOneArg(f.get(), leaf.get()));
      Gradients unused(1);  // a hook that writes to the leaf may return it, as `p.add_(...)` does
      take_one(unused, 0, r.get());
      return;
    }
    case Kind::kNodePre: {
      Owned g = gradients_tuple(grads);
      Owned r = own(PyObject_CallOneArg(f.get(), g.get()));
      take_all(grads, r.get());
      return;
    }
    case Kind::kNodePost: {
      Owned inner = gradients_tuple(grads);
      Owned outside = outer ? gradients_tuple(*outer) : own(PyTuple_New(0));
      Owned r = own(PyObject_CallFunctionObjArgs(f.get(), inner.get(), outside.get(), nullptr));
      take_all(grads, r.get());
      return;
    }
  }
}

// ---- wrappers of C++ nodes

namespace {

PyNode* as_node(PyObject* o) { return reinterpret_cast<PyNode*>(o); }

void node_dealloc(PyObject* self) {
  PyNode* o = as_node(self);
  PyObject_GC_UnTrack(self);
  // Finalizers and callbacks of weak references may ask the graph for this node: they must get a
  // new object, not this one that dies.
  Node* n = std::exchange(o->node, nullptr);
  if (n) n->python = nullptr;
  if (o->weak) PyObject_ClearWeakRefs(self);
  Py_CLEAR(o->dict);
  Py_CLEAR(o->metadata);
  if (n) n->release();
  Py_TYPE(self)->tp_free(self);
}

int node_traverse(PyObject* self, visitproc visit, void* arg) {
  PyNode* o = as_node(self);
  Py_VISIT(o->dict);
  Py_VISIT(o->metadata);
  return o->node ? visit_graph(o->node, visit, arg) : 0;
}

int node_clear(PyObject* self) {
  PyNode* o = as_node(self);
  Py_CLEAR(o->dict);
  Py_CLEAR(o->metadata);
  return 0;
}

PyObject* node_repr(PyObject* self) {
  return guarded(
      [&] { return PyUnicode_FromFormat("<%s object at %p>", unwrap_node(self)->name(), self); });
}

PyObject* node_name(PyObject* self, PyObject*) {
  return guarded([&] { return PyUnicode_FromString(unwrap_node(self)->name()); });
}

PyObject* node_next(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    Node* n = unwrap_node(self);
    Owned tuple = own(PyTuple_New(static_cast<Py_ssize_t>(n->edges.size())));
    for (size_t i = 0; i < n->edges.size(); ++i) {
      const Edge& e = n->edges[i];
      Owned next = own(wrap_node(e.node.get()));
      Owned pair = own(Py_BuildValue("(OI)", next.get(), e.input_nr));
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), pair.release());
    }
    return tuple.release();
  });
}

PyObject* node_sequence(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromUnsignedLongLong(unwrap_node(self)->sequence); });
}

PyObject** metadata_of(PyObject* self) {
  if (PyObject_TypeCheck(self, &function_context_type)) {
    return &as_context(self)->metadata;
  }
  return &as_node(self)->metadata;
}

PyObject* node_metadata(PyObject* self, void*) {
  PyObject** at = metadata_of(self);
  if (!*at) *at = PyDict_New();
  return Py_XNewRef(*at);
}

PyObject* node_input_metadata(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    Node* n = unwrap_node(self);
    Owned list = own(PyTuple_New(static_cast<Py_ssize_t>(n->outputs.size())));
    for (size_t i = 0; i < n->outputs.size(); ++i) {
      PyTuple_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), wrap(n->outputs[i].sizes));
    }
    return list.release();
  });
}

PyObject* node_variable(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    Node* n = unwrap_node(self);
    FACULA_CHECK(n->is_accumulator(), kAttribute, "'", n->name(),
                 "' object has no attribute 'variable'");
    return wrap(Tensor::borrow(static_cast<AccumulateGrad*>(n)->leaf()));
  });
}

// _register(kind, callable) -> id; _remove(kind, id). Kinds: 0 after the node, 1 before it.
PyObject* node_register(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 2, kType, "_register() takes 2 arguments");
    bool pre = to_int64(args[0], "register_hook") == 1;
    NodeHooks& hooks = unwrap_node(self)->make_hooks();
    uint64_t id = next_hook_id();
    auto kind = pre ? PyHook::Kind::kNodePre : PyHook::Kind::kNodePost;
    (pre ? hooks.pre : hooks.post).push_back({id, std::make_shared<PyHook>(args[1], kind)});
    return PyLong_FromUnsignedLongLong(id);
  });
}

PyObject* node_remove(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 2, kType, "_remove() takes 2 arguments");
    Node* node = unwrap_node(self);
    auto id = static_cast<uint64_t>(to_int64(args[1], "remove"));
    if (node->hooks) {
      bool pre = to_int64(args[0], "remove") == 1;
      remove_node_hook(pre ? node->hooks->pre : node->hooks->post, id);
    }
    Py_RETURN_NONE;
  });
}

PyObject* node_saved(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Owned list = own(PyList_New(0));
    unwrap_node(self)->visit_saved(
        [](void* c, TensorImpl* t) {
          Owned o(wrap(Tensor::borrow(t)));
          PyList_Append(static_cast<PyObject*>(c), o.get());
        },
        list.get());
    return PyList_AsTuple(list.get());
  });
}

PyTypeObject* type_of_name(const char* name) {
  static std::map<std::string, PyTypeObject*> types;
  auto [it, fresh] = types.try_emplace(name, nullptr);
  if (!fresh && it->second) return it->second;
  auto* type = PyObject_CallFunction(reinterpret_cast<PyObject*>(&PyType_Type), "s(O){ss}", name,
                                     reinterpret_cast<PyObject*>(&node_type), "__module__",
                                     "facula.autograd.graph");
  it->second = reinterpret_cast<PyTypeObject*>(check(type));
  return it->second;
}

// A gradient that was given by hand must look as the engine's do: formulas rely on it.
Tensor expect_gradient(const Node& n, size_t i, PyObject* o) {
  if (o == Py_None) return Tensor();
  FACULA_CHECK(is_tensor(o), kType, "argument ", i, " is not a Variable");
  const Tensor& g = unwrap(o);
  const GradMeta meta =
      n.is_accumulator() ? static_cast<const AccumulateGrad&>(n).leaf_meta() : n.outputs[i];
  FACULA_CHECK(g.sizes() == IntList(meta.sizes), kRuntime, n.name(),
               ": expected a gradient of shape ", list_text(meta.sizes), ", got ",
               list_text(g.sizes()));
  FACULA_CHECK(g.device().type == meta.device.type && !(g->intercept & kInterceptSparse), kRuntime,
               n.name(), ": expected a strided gradient on the device of the result");
  return g.dtype() == meta.dtype ? g : gradient_ops.cast(g, meta.dtype);
}

// grad_fn(*gradients): the gradients of the inputs, one of them alone as it is.
PyObject* node_call(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(!kwargs || PyDict_GET_SIZE(kwargs) == 0, kType,
                 "keyword arguments are not supported");
    Node* n = unwrap_node(self);
    const size_t count = n->is_accumulator() ? 1 : n->outputs.size();
    const auto got = static_cast<size_t>(PyTuple_GET_SIZE(args));
    FACULA_CHECK(got == count, kType, "expected ", count, " arguments, got ", got, " instead");
    Gradients grads(count);
    bool any = false;
    for (size_t i = 0; i < count; ++i) {
      grads[i] = expect_gradient(*n, i, PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i)));
      any |= grads[i].defined();
    }
    Gradients inner = any ? run_node(*n, std::move(grads)) : Gradients(n->edges.size());
    Owned results = gradients_tuple(inner);
    return inner.size() == 1 ? Py_NewRef(PyTuple_GET_ITEM(results.get(), 0)) : results.release();
  });
}

PyObject* node_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError, "cannot create '%s' instances", type->tp_name);
  return nullptr;
}

}  // namespace

PyGetSetDef node_getset[] = {
    {"next_functions", node_next, nullptr, "The nodes that gradients go to next.", nullptr},
    {"metadata", node_metadata, nullptr, "A dict for notes.", nullptr},
    {"variable", node_variable, nullptr, "The leaf of an accumulator.", nullptr},
    {"_input_metadata", node_input_metadata, nullptr, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyMethodDef node_methods[] = {
    {"name", node_name, METH_NOARGS, "name($self, /)\n--\n\nThe name of the node."},
    {"_sequence_nr", node_sequence, METH_NOARGS, nullptr},
    {"_register", fast(node_register), METH_FASTCALL, nullptr},
    {"_remove", fast(node_remove), METH_FASTCALL, nullptr},
    {"_saved_tensors", node_saved, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyObject* wrap_node(Node* node) {
  if (!node) Py_RETURN_NONE;
  if (auto* f = dynamic_cast<FunctionNode*>(node)) {
    if (f->context) return Py_NewRef(reinterpret_cast<PyObject*>(f->context));
  }
  if (node->python) return Py_NewRef(node->python);
  PyTypeObject* type = type_of_name(node->name());
  PyObject* o = check(type->tp_alloc(type, 0));
  node->retain();
  as_node(o)->node = node;
  node->python = o;
  return o;
}

Node* unwrap_node(PyObject* o) {
  if (PyObject_TypeCheck(o, &node_type)) return as_node(o)->node;
  if (PyObject_TypeCheck(o, &function_context_type)) {
    Node* n = as_context(o)->node;
    FACULA_CHECK(n, kRuntime, "the graph of this custom function is gone");
    return n;
  }
  raise_error(ErrorKind::kType, "expected a graph node, got ", type_name(o));
}

void init_node_types(PyObject* module) {
  PyTypeObject& type = node_type;
  type.tp_name = "facula._C._NodeBase";
  type.tp_basicsize = sizeof(PyNode);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  type.tp_doc = "A recorded call of the autograd graph.";
  type.tp_new = node_new;
  type.tp_dealloc = node_dealloc;
  type.tp_traverse = node_traverse;
  type.tp_clear = node_clear;
  type.tp_free = PyObject_GC_Del;
  type.tp_repr = node_repr;
  type.tp_call = node_call;
  type.tp_methods = node_methods;
  type.tp_getset = node_getset;
  type.tp_dictoffset = offsetof(PyNode, dict);
  type.tp_weaklistoffset = offsetof(PyNode, weak);
  check(PyType_Ready(&type));
  type.tp_flags &= ~static_cast<unsigned long>(Py_TPFLAGS_IMMUTABLETYPE);
  add_object(module, "_NodeBase", reinterpret_cast<PyObject*>(&type));
}

}  // namespace facula::python
