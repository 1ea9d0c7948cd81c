// How a custom Function's jvp is called, and what is checked of the tangents that it gives.
#include "facula/python/function_jvp.h"

#include <utility>

#include "facula/autograd/engine.h"
#include "facula/python/arguments.h"

namespace facula::python {
namespace {

bool is_marked(PyObject* marks, const Tensor& t) {
  if (!marks || !t.defined()) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(marks); ++i) {
    PyObject* o = PyTuple_GET_ITEM(marks, i);
    if (is_tensor(o) && unwrap(o).is_same(t)) return true;
  }
  return false;
}

bool hides_samples(const Tensor& t) { return t->intercept & kInterceptBatched; }

// What jvp is given for one argument. The tangent of one that forward wrote to is jvp's to write.
Tensor argument_tangent(const FunctionNode& node, const Tensor& argument, const Tensor& tangent) {
  if (!tangent.defined()) {
    if (!node.context->materialize || !is_inexact(argument.dtype())) return {};
    return gradient_ops.zeros(argument.sizes(), argument.dtype(), argument.device());
  }
  return is_marked(node.context->dirty, argument) ? gradient_ops.clone(tangent) : tangent;
}

// In place, the tangent has to be written in place as well.
void check_written(const Tensor& given, uint32_t version, const Tensor& got) {
  if (hides_samples(given)) return;
  FACULA_CHECK(given->version->value.load() != version, kRuntime,
               "An inplace custom Function is not modifying the forward mode gradients inplace. If "
               "the forward is modifying an input inplace, then the jvp function must modify the "
               "corresponding gradient inplace.");
  FACULA_CHECK(got.is_same(given), kRuntime,
               "An inplace custom Function is not returning the forward mode gradients as-is. If "
               "the forward is modifying an input inplace, then the jvp function must modify the "
               "gradient inplace and return it as-is.");
}

// JvpCall is one call of a jvp.
struct JvpCall {
  FunctionNode& node;
  PyObject* args;
  const ForwardInputs& in;
  std::vector<Tensor> given;  // the tangents of the arguments
  std::vector<uint32_t> versions;

  JvpCall(FunctionNode& n, PyObject* arguments, const ForwardInputs& inputs)
      : node(n), args(arguments), in(inputs) {
    for (size_t i = 0; i < in.tangents.size(); ++i) {
      PyObject* o = PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(i));
      Tensor t;
      if (is_tensor(o)) t = argument_tangent(node, unwrap(o), in.tangents[i][0]);
      versions.push_back(t.defined() ? t->version->value.load() : 0);
      given.push_back(std::move(t));
    }
  }

  std::vector<Tensor> run(const std::vector<Tensor>& outputs) {
    static PyObject* method = intern("apply_jvp");
    auto n = static_cast<Py_ssize_t>(given.size());
    Owned tangents = own(PyTuple_New(n));
    for (Py_ssize_t i = 0; i < n; ++i) {
      PyTuple_SET_ITEM(tangents.get(), i, check(wrap(given[static_cast<size_t>(i)])));
    }
    Owned f = own(PyObject_GetAttr(reinterpret_cast<PyObject*>(node.context), method));
    struct InJvp {
      PyFunctionContext* context;
      bool before = std::exchange(context->in_jvp, true);
      ~InJvp() { context->in_jvp = before; }
    };
    Owned result;
    {
      InJvp now{node.context};
      result = own(PyObject_CallObject(f.get(), tangents.get()));
    }
    if (!PyTuple_Check(result.get())) result = own(PyTuple_Pack(1, result.get()));
    auto got = static_cast<size_t>(PyTuple_GET_SIZE(result.get()));
    FACULA_CHECK(got == outputs.size(), kRuntime,
                 "Function's jvp returned an invalid number of forward gradients (expected ",
                 outputs.size(), " but got ", got, ")");
    std::vector<Tensor> found;
    for (size_t i = 0; i < got; ++i) {
      PyObject* o = PyTuple_GET_ITEM(result.get(), static_cast<Py_ssize_t>(i));
      found.push_back(checked(i, o, outputs[i]));
    }
    return found;
  }

  Tensor checked(size_t i, PyObject* o, const Tensor& output) const {
    if (o == Py_None) return {};
    FACULA_CHECK(requires_grad(output), kRuntime, "Function's jvp returned a gradient at position ",
                 i,
                 ", but the corresponding forward output is not a differentiable Tensor. You "
                 "should return None at that position instead.");
    FACULA_CHECK(is_tensor(o), kType, node.title, ": expected Tensor or None from jvp (got ",
                 type_name(o), ")");
    const Tensor& got = unwrap(o);
    if (!is_marked(node.context->dirty, output)) return got;
    for (size_t k = 0; k < given.size(); ++k) {
      PyObject* a = PyTuple_GET_ITEM(args, static_cast<Py_ssize_t>(k));
      bool moved = is_tensor(a) && unwrap(a).is_same(output) && in.tangents[k][0].defined();
      if (moved) check_written(given[k], versions[k], got);
    }
    return got;
  }
};

}  // namespace

FunctionTangents::FunctionTangents(PyObject* args) {
  for (const auto& each : InterpreterStack::of_thread().active(StackSide::kAbove)) {
    if (auto forward = std::dynamic_pointer_cast<Forward>(each)) levels_.push_back({forward, {}});
  }
  for (Level& level : levels_) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); ++i) {
      level.in.tangents.emplace_back();
      PyObject* o = PyTuple_GET_ITEM(args, i);
      if (is_tensor(o)) level.forward->look(level.in, unwrap(o));
    }
  }
}

void FunctionTangents::carry(PyObject* cls, FunctionNode& node, PyObject* args, PyObject* result) {
  static PyObject* flag = intern("_has_jvp");
  Owned has_jvp = own(PyObject_GetAttr(cls, flag));
  Owned tuple = PyTuple_Check(result) ? Owned::share(result) : own(PyTuple_Pack(1, result));
  std::vector<Tensor> outputs;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.get()); ++i) {
    PyObject* o = PyTuple_GET_ITEM(tuple.get(), i);
    outputs.push_back(is_tensor(o) ? unwrap(o) : Tensor());
  }
  for (Level& level : levels_) {
    for (const Tensor& t : outputs) {
      if (is_marked(node.context->dirty, t)) level.forward->forget(t);
    }
    if (!level.in.known) continue;
    std::vector<Tensor> found;
    if (level.in.any) {
      Aside aside(level.forward.get());
      GradMode mode(level.in.linked);
      found = has_jvp.get() == Py_True ? JvpCall(node, args, level.in).run(outputs)
                                       : level.forward->by_reverse(outputs, level.in, true);
      if (found.empty()) continue;
    }
    level.forward->settle(outputs, level.in, std::move(found));
  }
}

}  // namespace facula::python
