// Custom autograd Functions written in Python: the context object, which is the node's Python
// object too, and the node that calls backward. function_apply.cpp records calls.
#include <Python.h>
#include <structmember.h>

#include "facula/autograd/engine.h"
#include "facula/autograd/function.h"
#include "facula/python/arguments.h"
#include "facula/python/node_type.h"

namespace facula::python {

PyTypeObject function_context_type = {PyVarObject_HEAD_INIT(nullptr, 0)};
extern PyGetSetDef node_getset[];
extern PyMethodDef node_methods[];

namespace {

class GilGuard {
 public:
  GilGuard() : state_(PyGILState_Ensure()) {}
  ~GilGuard() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

}  // namespace

// ---- the node

FunctionNode::~FunctionNode() {
  if (!context || !python_lives()) return;
  GilGuard gil;
  owned_by_cpp.fetch_sub(1, std::memory_order_relaxed);
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  context->freed = released;
  context->node = nullptr;
  Py_DECREF(reinterpret_cast<PyObject*>(std::exchange(context, nullptr)));
  PyErr_Restore(type, value, trace);
}

void FunctionNode::release_saved() {
  if (!context) return;
  GilGuard gil;
  if (context->saved) context->saved->clear();
}

void FunctionNode::visit_saved(void (*f)(void*, TensorImpl*), void* c) const {
  if (!context || !context->saved) return;
  for (const SavedTensor& s : *context->saved) {
    if (s.defined()) f(c, s.peek());
  }
}

namespace {

Tensor zeros_of(const GradMeta& m) { return gradient_ops.zeros(m.sizes, m.dtype, m.device); }

Owned backward_arguments(FunctionNode& node, const Gradients& grads) {
  size_t n = node.tensor_outputs.size();
  Owned args = own(PyTuple_New(static_cast<Py_ssize_t>(n)));
  for (size_t i = 0; i < n; ++i) {
    Tensor g = i < grads.size() ? grads[i] : Tensor();
    if (!g.defined() && node.tensor_outputs[i] && node.context->materialize &&
        i < node.outputs.size()) {
      g = zeros_of(node.outputs[i]);
    }
    PyTuple_SET_ITEM(args.get(), static_cast<Py_ssize_t>(i), check(wrap(std::move(g))));
  }
  return args;
}

void store_results(FunctionNode& node, PyObject* result, Gradients& grads_in) {
  Owned tuple = PyTuple_Check(result) ? Owned::share(result) : own(PyTuple_Pack(1, result));
  Py_ssize_t got = PyTuple_GET_SIZE(tuple.get());
  auto expected = static_cast<Py_ssize_t>(node.tensor_inputs.size());
  while (got > expected && PyTuple_GET_ITEM(tuple.get(), got - 1) == Py_None) --got;
  FACULA_CHECK(got == expected, kRuntime, "function ", node.title,
               " returned an incorrect number of gradients (expected ", expected, ", got ", got,
               ")");
  size_t edge = 0;
  for (Py_ssize_t i = 0; i < expected; ++i) {
    PyObject* g = PyTuple_GET_ITEM(tuple.get(), i);
    if (!node.tensor_inputs[static_cast<size_t>(i)]) {
      FACULA_CHECK(g == Py_None, kRuntime, "function ", node.title,
                   " returned a gradient different from None at position ", i + 1,
                   ", but the corresponding forward input was not a Variable");
      continue;
    }
    size_t at = edge++;
    if (g == Py_None || !node.needs(at)) continue;
    FACULA_CHECK(is_tensor(g), kType, "function ", node.title, ": expected Variable or None (got ",
                 type_name(g), ")");
    check_kind(node, at, unwrap(g));
    grads_in[at] = unwrap(g);
  }
}

}  // namespace

void FunctionNode::apply(Gradients& grads, Gradients& grads_in) {
  static PyObject* method = intern("apply");
  GilGuard gil;
  FACULA_CHECK(context, kRuntime, title, ": the context is gone");
  Owned self = Owned::share(reinterpret_cast<PyObject*>(context));
  Owned args = backward_arguments(*this, grads);
  Owned f = own(PyObject_GetAttr(self.get(), method));
  Owned result = own(PyObject_CallObject(f.get(), args.get()));
  if (grads_in.size() < edges.size()) grads_in.resize(edges.size());
  store_results(*this, result.get(), grads_in);
}

// ---- the context

namespace {

PyObject* context_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* o = type->tp_alloc(type, 0);
  if (o) as_context(o)->materialize = true;
  return o;
}

int context_clear(PyObject* self) {
  PyFunctionContext* c = as_context(self);
  Py_CLEAR(c->dict);
  Py_CLEAR(c->to_save);
  Py_CLEAR(c->for_forward);
  Py_CLEAR(c->dirty);
  Py_CLEAR(c->non_differentiable);
  Py_CLEAR(c->needs_input_grad);
  Py_CLEAR(c->metadata);
  if (c->saved) c->saved->clear();
  return 0;
}

int context_traverse(PyObject* self, visitproc visit, void* arg) {
  PyFunctionContext* c = as_context(self);
  Py_VISIT(c->dict);
  Py_VISIT(c->to_save);
  Py_VISIT(c->for_forward);
  Py_VISIT(c->dirty);
  Py_VISIT(c->non_differentiable);
  Py_VISIT(c->needs_input_grad);
  Py_VISIT(c->metadata);
  return 0;
}

void context_dealloc(PyObject* self) {
  PyFunctionContext* c = as_context(self);
  PyObject_GC_UnTrack(self);
  if (c->weak) PyObject_ClearWeakRefs(self);
  context_clear(self);
  delete std::exchange(c->saved, nullptr);
  Py_TYPE(self)->tp_free(self);
}

PyObject* save_for_backward(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
      PyObject* o = PyTuple_GET_ITEM(args, i);
      FACULA_CHECK(o == Py_None || is_tensor(o), kType,
                   "save_for_backward can only save variables, but argument ", i, " is of type ",
                   type_name(o));
    }
    Py_XSETREF(as_context(self)->to_save, Py_NewRef(args));
    Py_RETURN_NONE;
  });
}

PyObject* mark_dirty(PyObject* self, PyObject* args) {
  Py_XSETREF(as_context(self)->dirty, Py_NewRef(args));
  Py_RETURN_NONE;
}
PyObject* mark_non_differentiable(PyObject* self, PyObject* args) {
  Py_XSETREF(as_context(self)->non_differentiable, Py_NewRef(args));
  Py_RETURN_NONE;
}
PyObject* set_materialize(PyObject* self, PyObject* value) {
  int on = PyObject_IsTrue(value);
  if (on < 0) return nullptr;
  as_context(self)->materialize = on == 1;
  Py_RETURN_NONE;
}

PyObject* saved_tensors(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    PyFunctionContext* c = as_context(self);
    if (c->in_jvp && c->for_forward) return Py_NewRef(c->for_forward);
    if (c->node ? c->node->released : c->freed) {
      raise_error(ErrorKind::kRuntime, "Trying to backward through the graph a second time (or ",
                  "directly access saved tensors after they have already been freed). Saved ",
                  "intermediate values of the graph are freed when you call .backward() or ",
                  "autograd.grad(). Specify retain_graph=True if you need to backward through the ",
                  "graph a second time or if you need to access saved tensors after calling ",
                  "backward.");
    }
    if (!c->saved) return c->to_save ? Py_NewRef(c->to_save) : PyTuple_New(0);
    Owned tuple = own(PyTuple_New(static_cast<Py_ssize_t>(c->saved->size())));
    for (size_t i = 0; i < c->saved->size(); ++i) {
      const SavedTensor& s = (*c->saved)[i];
      PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                       check(wrap(s.defined() ? s.unpack(c->node) : Tensor())));
    }
    return tuple.release();
  });
}

PyObject* get_needs(PyObject* self, void*) {
  PyObject* v = as_context(self)->needs_input_grad;
  return Py_NewRef(v ? v : Py_None);
}
int set_needs(PyObject* self, PyObject* value, void*) {
  Py_XSETREF(as_context(self)->needs_input_grad, Py_XNewRef(value));
  return 0;
}
PyObject* get_for_forward(PyObject* self, void*) {
  PyObject* v = as_context(self)->for_forward;
  return Py_NewRef(v ? v : Py_None);
}
int set_for_forward(PyObject* self, PyObject* value, void*) {
  Py_XSETREF(as_context(self)->for_forward, value == Py_None ? nullptr : Py_XNewRef(value));
  return 0;
}
PyObject* get_materialize(PyObject* self, void*) {
  return PyBool_FromLong(as_context(self)->materialize);
}
int put_materialize(PyObject* self, PyObject* value, void*) {
  int on = value ? PyObject_IsTrue(value) : 0;
  as_context(self)->materialize = on == 1;
  return on < 0 ? -1 : 0;
}

PyMethodDef context_methods[] = {
    {"save_for_backward", save_for_backward, METH_VARARGS,
     "save_for_backward($self, /, *tensors)\n--\n\nKeeps tensors for backward."},
    {"mark_dirty", mark_dirty, METH_VARARGS,
     "mark_dirty($self, /, *args)\n--\n\nNotes inputs that forward modifies in place."},
    {"mark_non_differentiable", mark_non_differentiable, METH_VARARGS,
     "mark_non_differentiable($self, /, *args)\n--\n\nNotes outputs without gradients."},
    {"set_materialize_grads", set_materialize, METH_O,
     "set_materialize_grads($self, value, /)\n--\n\nWhether undefined gradients become zeros."},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef context_getset[] = {
    {"saved_tensors", saved_tensors, nullptr, "The tensors given to save_for_backward.", nullptr},
    {"saved_variables", saved_tensors, nullptr, nullptr, nullptr},
    {"saved_for_forward", get_for_forward, set_for_forward,
     "The tensors given to save_for_forward, until the call has ended.", nullptr},
    {"needs_input_grad", get_needs, set_needs, "Which inputs need a gradient.", nullptr},
    {"materialize_grads", get_materialize, put_materialize, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

void init_function_type(PyObject* module) {
  PyTypeObject& type = function_context_type;
  type.tp_name = "facula._C._FunctionBase";
  type.tp_basicsize = sizeof(PyFunctionContext);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  type.tp_doc = "The context of a custom autograd Function.";
  type.tp_new = context_new;
  type.tp_dealloc = context_dealloc;
  type.tp_traverse = context_traverse;
  type.tp_clear = context_clear;
  type.tp_free = PyObject_GC_Del;
  type.tp_methods = context_methods;
  type.tp_getset = context_getset;
  type.tp_dictoffset = offsetof(PyFunctionContext, dict);
  type.tp_weaklistoffset = offsetof(PyFunctionContext, weak);
  check(PyType_Ready(&type));
  // What nodes answer, contexts answer too.
  for (PyMethodDef* m = node_methods; m->ml_name; ++m) {
    Owned d = own(PyDescr_NewMethod(&type, m));
    check(PyDict_SetItemString(type.tp_dict, m->ml_name, d.get()));
  }
  for (PyGetSetDef* g = node_getset; g->name; ++g) {
    if (strcmp(g->name, "__dict__") == 0) continue;
    Owned d = own(PyDescr_NewGetSet(&type, g));
    check(PyDict_SetItemString(type.tp_dict, g->name, d.get()));
  }
  add_object(module, "_FunctionBase", reinterpret_cast<PyObject*>(&type));
  init_function_apply(module);
}

}  // namespace facula::python
