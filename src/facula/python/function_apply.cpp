// Calls of custom autograd Functions: forward runs, its results become outputs of a node that the
// context belongs to. function_type.cpp has the two.
#include <Python.h>

#include <optional>

#include "facula/autograd/engine.h"
#include "facula/autograd/function.h"
#include "facula/core/observer.h"
#include "facula/python/arguments.h"
#include "facula/python/function_jvp.h"
#include "facula/python/node_type.h"

namespace facula::python {

namespace {

bool contains(PyObject* tuple, const Tensor& t) {
  if (!tuple) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    PyObject* o = PyTuple_GET_ITEM(tuple, i);
    if (is_tensor(o) && impl(o) == t.impl()) return true;
  }
  return false;
}

// shares_storage says whether a result is a view of one of the arguments.
bool is_view_of_input(const Tensor& t, PyObject* args) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
    PyObject* o = PyTuple_GET_ITEM(args, i);
    if (is_tensor(o) && t->base && impl(o)->storage == t->storage) return true;
  }
  return false;
}

// record_output makes a result of forward an output of the node; the object to return.
Owned record_output(FunctionNode& node, PyObject* o, PyObject* args) {
  PyFunctionContext* c = node.context;
  node.tensor_outputs.push_back(is_tensor(o));
  if (!is_tensor(o)) {
    node.set_history(Tensor());
    return Owned::share(o);
  }
  const Tensor& t = unwrap(o);
  bool is_input = contains(args, t);
  if (contains(c->non_differentiable, t)) {
    node.set_history(Tensor());
    node.tensor_outputs.back() = true;
    if (!is_input && !t->grad_fn) return Owned::share(o);
    return own(wrap(detach(t)));
  }
  if (is_input && contains(c->dirty, t)) {
    node.retain();
    set_history_inplace(t, Ref<Node>::adopt(&node));
    return Owned::share(o);
  }
  if (is_input || requires_grad(t)) {
    Owned twin = own(wrap(detach(t)));
    const Tensor& fresh = unwrap(twin.get());
    node.set_history(fresh);
    fresh->flags |= kCustomView;
    return twin;
  }
  node.set_history(t);
  if (is_view_of_input(t, args)) {
    t->flags |= kCustomView;
  } else if (t->base) {
    // What forward wrote to a tensor of its own does not concern this history.
    t->view_version = t->version->value.load(std::memory_order_relaxed);
  }
  return Owned::share(o);
}

// check_dirty refuses marks on what is no tensor, and on inputs that forward did not return.
void check_dirty(const PyFunctionContext* c, PyObject* output) {
  if (!c->dirty) return;
  Owned results = PyTuple_Check(output) ? Owned::share(output) : own(PyTuple_Pack(1, output));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(c->dirty); ++i) {
    PyObject* o = PyTuple_GET_ITEM(c->dirty, i);
    FACULA_CHECK(is_tensor(o), kRuntime, "mark_dirty can only accept variables, but argument ", i,
                 " is of type ", type_name(o));
    FACULA_CHECK(contains(results.get(), unwrap(o)), kRuntime, kDirtyNotReturned);
  }
}

void save_tensors(FunctionNode& node) {
  PyFunctionContext* c = node.context;
  if (!c->to_save) return;
  auto saved = std::make_unique<std::vector<SavedTensor>>();
  auto n = static_cast<size_t>(PyTuple_GET_SIZE(c->to_save));
  saved->resize(n);
  for (size_t i = 0; i < n; ++i) {
    PyObject* o = PyTuple_GET_ITEM(c->to_save, static_cast<Py_ssize_t>(i));
    if (o == Py_None) continue;
    const Tensor& t = unwrap(o);
    if (t->grad_fn == static_cast<Node*>(&node))
      (*saved)[i].save_output(t);
    else
      (*saved)[i].save_input(t);
  }
  c->saved = saved.release();
  Py_CLEAR(c->to_save);
}

// ForwardOf is what an observer is told of the forward function of a class.
struct ForwardOf {
  PyObject* cls;
  uint64_t sequence = UINT64_MAX;
  const char* name() const { return reinterpret_cast<PyTypeObject*>(cls)->tp_name; }
};

Owned call_forward(PyObject* cls, PyObject* ctx, PyObject* args, PyObject* kwargs) {
  static PyObject *forward = intern("forward"), *setup = intern("setup_context");
  static PyObject* plain = intern("_has_setup_context");
  NoGrad off;
  ObservedNode observed(call_observer(), CallObserver::kForward, ForwardOf{cls});
  Owned f = own(PyObject_GetAttr(cls, forward));
  Owned separate = own(PyObject_GetAttr(cls, plain));
  if (separate.get() == Py_True) {
    Owned output = own(PyObject_Call(f.get(), args, kwargs));
    Owned s = own(PyObject_GetAttr(cls, setup));
    Owned done = own(PyObject_CallFunctionObjArgs(s.get(), ctx, args, output.get(), nullptr));
    return output;
  }
  Py_ssize_t n = PyTuple_GET_SIZE(args);
  Owned all = own(PyTuple_New(n + 1));
  PyTuple_SET_ITEM(all.get(), 0, Py_NewRef(ctx));
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyTuple_SET_ITEM(all.get(), i + 1, Py_NewRef(PyTuple_GET_ITEM(args, i)));
  }
  return own(PyObject_Call(f.get(), all.get(), kwargs));
}

Ref<FunctionNode> make_node(PyObject* cls, PyObject* ctx, PyObject* args) {
  Ref<FunctionNode> node = Ref<FunctionNode>::adopt(new FunctionNode());
  Owned name = own(PyObject_GetAttrString(cls, "__name__"));
  node->title = str(utf8(name.get()), "Backward");
  node->context = as_context(Py_NewRef(ctx));
  owned_by_cpp.fetch_add(1, std::memory_order_relaxed);
  node->context->node = node.get();
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
    PyObject* o = PyTuple_GET_ITEM(args, i);
    node->tensor_inputs.push_back(is_tensor(o));
    if (is_tensor(o)) node->add_edge(unwrap(o));
  }
  return node;
}

// Inside vmap a Function runs by its own rule, or sample by sample.
bool has_samples(PyObject* args) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
    PyObject* o = PyTuple_GET_ITEM(args, i);
    if (is_tensor(o) && (unwrap(o)->intercept & kInterceptBatched)) return true;
  }
  return false;
}

PyObject* apply_in_vmap(PyObject* cls, PyObject* args, PyObject* kwargs) {
  Owned module = own(PyImport_ImportModule("facula.func._vmap"));
  Owned f = own(PyObject_GetAttrString(module.get(), "apply_function"));
  Owned none = own(PyDict_New());
  return check(
      PyObject_CallFunctionObjArgs(f.get(), cls, args, kwargs ? kwargs : none.get(), nullptr));
}

// _function_apply(cls, *args, **kwargs): runs forward and records the call.
PyObject* function_apply(PyObject*, PyObject* all, PyObject* kwargs) {
  static PyObject* context_class = intern("_backward_cls");
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(PyTuple_GET_SIZE(all) > 0, kType, "apply() needs a Function");
    PyObject* cls = PyTuple_GET_ITEM(all, 0);
    Owned rest = own(PyTuple_GetSlice(all, 1, PyTuple_GET_SIZE(all)));
    PyObject* args = rest.get();
    if (has_samples(args)) [[unlikely]]
      return apply_in_vmap(cls, args, kwargs);
    Owned type = own(PyObject_GetAttr(cls, context_class));
    Owned ctx = own(PyObject_CallNoArgs(type.get()));
    Py_ssize_t n = PyTuple_GET_SIZE(args);
    Owned needs = own(PyTuple_New(n));
    bool any = false;
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* o = PyTuple_GET_ITEM(args, i);
      bool wants = is_tensor(o) && requires_grad(unwrap(o));
      any |= wants;
      PyTuple_SET_ITEM(needs.get(), i, Py_NewRef(wants ? Py_True : Py_False));
    }
    as_context(ctx.get())->needs_input_grad = needs.release();
    bool record = any && grad_enabled();
    Ref<FunctionNode> node;
    if (record) node = make_node(cls, ctx.get(), args);
    std::optional<FunctionTangents> tangents;
    if (record && tls.above) [[unlikely]]
      tangents.emplace(args);
    Owned output = call_forward(cls, ctx.get(), args, kwargs);
    check_dirty(as_context(ctx.get()), output.get());
    if (!record) {
      Py_CLEAR(as_context(ctx.get())->to_save);
      Py_CLEAR(as_context(ctx.get())->for_forward);
      return output.release();
    }
    Owned result;
    if (PyTuple_Check(output.get())) {
      Py_ssize_t count = PyTuple_GET_SIZE(output.get());
      result = own(PyTuple_New(count));
      for (Py_ssize_t i = 0; i < count; ++i) {
        PyTuple_SET_ITEM(result.get(), i,
                         record_output(*node, PyTuple_GET_ITEM(output.get(), i), args).release());
      }
    } else {
      result = record_output(*node, output.get(), args);
    }
    save_tensors(*node);
    if (tangents) tangents->carry(cls, *node, args, result.get());
    Py_CLEAR(node->context->for_forward);
    Py_CLEAR(node->context->dirty);
    Py_CLEAR(node->context->non_differentiable);
    return result.release();
  });
}

PyMethodDef apply_def = {
    "apply", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function_apply)),
    METH_VARARGS | METH_KEYWORDS, "Runs forward and records the call."};

// ErrorNode stands where a second derivative is wanted that does not exist.
struct ErrorNode final : Node {
  std::string message;
  const char* name() const override { return "DelayedError"; }
  void apply(Gradients&, Gradients&) override { raise_error(ErrorKind::kRuntime, message); }
};

// _delayed_error(message, tensors): twins of the tensors whose backward raises.
PyObject* delayed_error(PyObject*, PyObject* args) {
  return guarded([&]() -> PyObject* {
    const char* message;
    PyObject* tensors;
    if (!PyArg_ParseTuple(args, "sO!", &message, &PyTuple_Type, &tensors)) return nullptr;
    Ref<ErrorNode> node = Ref<ErrorNode>::adopt(new ErrorNode());
    node->message = message;
    Py_ssize_t n = PyTuple_GET_SIZE(tensors);
    Owned result = own(PyTuple_New(n));
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyObject* o = PyTuple_GET_ITEM(tensors, i);
      if (!is_tensor(o)) {
        PyTuple_SET_ITEM(result.get(), i, Py_NewRef(o));
        continue;
      }
      Tensor twin = detach(unwrap(o));
      node->set_history(twin);
      PyTuple_SET_ITEM(result.get(), i, check(wrap(std::move(twin))));
    }
    return result.release();
  });
}

PyMethodDef delayed_def[] = {
    {"_delayed_error", delayed_error, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void init_function_apply(PyObject* module) {
  Owned apply = own(PyCFunction_New(&apply_def, nullptr));
  add_object(module, "_function_apply", apply.get());
  add_functions(module, delayed_def, "facula._C");
}

}  // namespace facula::python
