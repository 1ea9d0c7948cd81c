// The Python side of graph nodes: wrappers of C++ nodes, nodes of custom Functions written in
// Python, and hooks that are Python callables.
#pragma once
#include "facula/autograd/engine.h"
#include "facula/autograd/node.h"
#include "facula/python/object.h"

namespace facula::python {

// PyNode is the Python object of a node made in C++. It keeps the node alive.
struct PyNode {
  PyObject_HEAD Node* node;  // counted
  PyObject* dict;
  PyObject* weak;
  PyObject* metadata;
};
extern PyTypeObject node_type;  // facula.autograd.graph.Node

// wrap_node gives the Python object of a node (None for null): its wrapper, or the context of a
// custom Function.
PyObject* wrap_node(Node* node);
// unwrap_node gives the node behind a wrapper or context; raises for anything else and for
// contexts whose graph is gone.
Node* unwrap_node(PyObject* o);
// backward_ends reads a tensor, a GradientEdge or a sequence of them; None gives nothing.
std::vector<BackwardEnd> backward_ends(PyObject* o, const char* op);

// PyFunctionContext is `ctx`, and the grad_fn, of a custom Function.
struct FunctionNode;
struct PyFunctionContext {
  PyObject_HEAD PyObject* dict;
  PyObject* weak;
  FunctionNode* node;  // not counted: the node owns the context
  PyObject* to_save;   // a tuple, until forward has ended
  PyObject* dirty;
  PyObject* non_differentiable;
  PyObject* needs_input_grad;
  PyObject* metadata;
  std::vector<SavedTensor>* saved;
  bool materialize;
  bool freed;             // whether the node is gone and had let go of what was saved
  PyObject* for_forward;  // what save_for_forward was given, until apply has ended
  bool in_jvp;            // whether jvp runs, whose saved tensors those are
};
extern PyTypeObject function_context_type;  // facula._C._FunctionBase
inline PyFunctionContext* as_context(PyObject* o) {
  return reinterpret_cast<PyFunctionContext*>(o);
}

// FunctionNode runs the backward method of a custom Function; it owns the context.
struct FunctionNode final : Node {
  PyFunctionContext* context = nullptr;  // counted
  std::string title;
  InlineVector<bool, 4> tensor_inputs;   // which arguments of forward were tensors
  InlineVector<bool, 2> tensor_outputs;  // which results were

  ~FunctionNode() override;
  const char* name() const override { return title.c_str(); }
  void apply(Gradients& grads, Gradients& grads_in) override;
  void release_saved() override;
  void visit_saved(void (*f)(void*, TensorImpl*), void* context) const override;
  bool takes_undefined() const override { return true; }
};

// visit_graph lets the garbage collector see what a node, of which the caller is the only owner,
// keeps alive.
int visit_graph(Node* n, visitproc visit, void* arg);

// PyHook calls a Python callable with gradients.
struct PyHook final : Hook {
  enum class Kind : uint8_t { kTensor, kNodePre, kNodePost, kAccumulated };
  PyHook(PyObject* f, Kind kind);
  ~PyHook() override;
  void call(Gradients& grads, const Gradients* outer) override;
  void* python() const override { return callable; }
  PyObject* callable;  // counted
  Kind kind;
};

// remove_node_hook takes a hook away by its id; one that is about to run is skipped.
void remove_node_hook(std::vector<NodeHooks::NodeHook>& list, uint64_t id);

// gradients_tuple makes a tuple of gradients, None for undefined ones.
Owned gradients_tuple(const Gradients& grads);

void init_node_types(PyObject* module);
void init_function_type(PyObject* module);
void init_function_apply(PyObject* module);

}  // namespace facula::python
