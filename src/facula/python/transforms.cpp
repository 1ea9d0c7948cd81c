// What facula.func is written with: levels of vmap, batched tensors, and a question about graphs.
#include <unordered_set>

#include "facula/autograd/accumulate.h"
#include "facula/modes/forward.h"
#include "facula/modes/vmap.h"
#include "facula/python/arguments.h"
#include "facula/python/module.h"
#include "facula/python/tensor_type.h"

namespace facula::python {

namespace {

// The running vmap of a number; null for 0.
const Vmap* vmap_of(PyObject* number) {
  int64_t level = to_int64(number, "vmap");
  for (const Vmap* v : active_vmaps()) {
    if (v->level() == level) return v;
  }
  FACULA_CHECK(level == 0, kRuntime, "vmap: level ", level, " has ended already");
  return nullptr;
}

// _vmap_push(size, randomness, under=0) starts a level, beneath another or as the innermost one,
// and gives its number.
PyObject* vmap_push(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 2 || n == 3, kType, "_vmap_push() takes 2 or 3 arguments");
    auto randomness = static_cast<Randomness>(to_int64(args[1], "vmap"));
    Aside above(n == 3 ? vmap_of(args[2]) : nullptr);
    return PyLong_FromLongLong(push_vmap(to_int64(args[0], "vmap"), randomness));
  });
}

// _vmap_pop(level)
PyObject* vmap_pop(PyObject*, PyObject* level) {
  return guarded([&]() -> PyObject* {
    take_off(vmap_of(level));
    Py_RETURN_NONE;
  });
}

// _vmap_levels() lists (level, size) of the running vmaps, outermost first.
PyObject* vmap_levels(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    std::vector<const Vmap*> levels = active_vmaps();
    Owned out = own(PyTuple_New(static_cast<Py_ssize_t>(levels.size())));
    for (size_t i = 0; i < levels.size(); ++i) {
      Owned pair = own(Py_BuildValue("(LL)", static_cast<long long>(levels[i]->level()),
                                     static_cast<long long>(levels[i]->size())));
      PyTuple_SET_ITEM(out.get(), static_cast<Py_ssize_t>(i), pair.release());
    }
    return out.release();
  });
}

// _vmap_hide(tensor, level) makes dimension 0 the samples of a level.
PyObject* vmap_hide(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 2, kType, "_vmap_hide() takes 2 arguments");
    return wrap(hide_batch(expect_tensor(args[0], "vmap"), to_int64(args[1], "vmap")));
  });
}

// _vmap_show(tensor, level, size) brings the samples back as dimension 0.
PyObject* vmap_show(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 3, kType, "_vmap_show() takes 3 arguments");
    return wrap(show_batch(expect_tensor(args[0], "vmap"), to_int64(args[1], "vmap"),
                           to_int64(args[2], "vmap")));
  });
}

// _is_batched(tensor, level=None)
PyObject* batched_query(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 1 || n == 2, kType, "_is_batched() takes 1 or 2 arguments");
    if (!is_tensor(args[0])) Py_RETURN_FALSE;
    const Tensor& t = unwrap(args[0]);
    return PyBool_FromLong(n == 1 ? is_batched(t) : is_batched_at(t, to_int64(args[1], "vmap")));
  });
}

// _batch_value(tensor) gives (level, value), for printing.
PyObject* batch_parts(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    Tensor t = expect_tensor(o, "vmap");
    FACULA_CHECK(is_batched(t), kValue, "_batch_value: the tensor is not batched");
    Owned value = own(wrap(batch_value(t)));
    return Py_BuildValue("(LO)", static_cast<long long>(batch_level(t)), value.get());
  });
}

Tensor plain(Tensor t) {
  while (is_batched(t)) t = Tensor(batch_value(t));
  return t;
}

void collect(PyObject* sequence, std::vector<Tensor>& out) {
  Owned list = own(PySequence_Fast(sequence, "expected a sequence of tensors"));
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
    PyObject* item = PySequence_Fast_GET_ITEM(list.get(), i);
    if (is_tensor(item)) out.push_back(plain(unwrap(item)));
  }
}

// _depends_on_others(tensors, leaves): whether the graph of the tensors ends in other leaves too.
PyObject* depends_on_others(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 2, kType, "_depends_on_others() takes 2 arguments");
    std::vector<Tensor> roots, leaves;
    collect(args[0], roots);
    collect(args[1], leaves);
    std::unordered_set<const TensorImpl*> own_leaves;
    for (const Tensor& t : leaves) own_leaves.insert(t.impl());
    std::unordered_set<const Node*> seen;
    std::vector<Node*> open;
    for (const Tensor& t : roots) {
      if (!requires_grad(t)) continue;
      if (Node* node = grad_fn(t)) {
        if (seen.insert(node).second) open.push_back(node);
      } else if (!own_leaves.contains(t.impl())) {
        Py_RETURN_TRUE;
      }
    }
    while (!open.empty()) {
      Node* node = open.back();
      open.pop_back();
      if (node->is_accumulator()) {
        if (!own_leaves.contains(static_cast<AccumulateGrad*>(node)->leaf())) Py_RETURN_TRUE;
        continue;
      }
      for (const Edge& e : node->edges) {
        if (e.valid() && seen.insert(e.node.get()).second) open.push_back(e.node.get());
      }
    }
    Py_RETURN_FALSE;
  });
}

// ---- forward mode: a level is a capsule, which may be asked after it has ended.

constexpr const char* kLevel = "facula.forward_level";

const std::shared_ptr<Forward>& level_of(PyObject* o) {
  void* p = PyCapsule_GetPointer(o, kLevel);
  if (!p) throw PythonError();
  return *static_cast<std::shared_ptr<Forward>*>(p);
}

// _forward_push(under) starts a level for the calling thread, beneath a vmap or, for 0, above all.
PyObject* forward_push(PyObject*, PyObject* under) {
  return guarded([&]() -> PyObject* {
    Aside above(vmap_of(under));
    auto level = std::make_unique<std::shared_ptr<Forward>>(std::make_shared<Forward>());
    Owned capsule = own(PyCapsule_New(level.get(), kLevel, [](PyObject* o) {
      delete static_cast<std::shared_ptr<Forward>*>(PyCapsule_GetPointer(o, kLevel));
    }));
    InterpreterStack::of_thread().push(StackSide::kAbove, *level.release());
    return capsule.release();
  });
}

// _forward_pop(level)
PyObject* forward_pop(PyObject*, PyObject* level) {
  return guarded([&]() -> PyObject* {
    take_off(level_of(level).get());
    Py_RETURN_NONE;
  });
}

// _forward_set(level, tensor, tangent, linked) gives a tensor its tangent.
PyObject* forward_set(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 4, kType, "_forward_set() takes 4 arguments");
    Tensor tangent = args[2] == Py_None ? Tensor() : expect_tensor(args[2], "forward mode");
    level_of(args[0])->set(expect_tensor(args[1], "forward mode"), tangent, args[3] == Py_True);
    Py_RETURN_NONE;
  });
}

// _forward_get(level, tensor) gives (whether its tangent is known, the tangent; None for zeros).
PyObject* forward_get(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 2, kType, "_forward_get() takes 2 arguments");
    Tangent found = level_of(args[0])->of(expect_tensor(args[1], "forward mode"));
    Owned tangent = own(wrap(found.value));
    return PyTuple_Pack(2, found.known ? Py_True : Py_False, tangent.get());
  });
}

PyMethodDef functions[] = {
    {"_forward_push", forward_push, METH_O, nullptr},
    {"_forward_pop", forward_pop, METH_O, nullptr},
    {"_forward_set", fast(forward_set), METH_FASTCALL, nullptr},
    {"_forward_get", fast(forward_get), METH_FASTCALL, nullptr},
    {"_vmap_push", fast(vmap_push), METH_FASTCALL, nullptr},
    {"_vmap_pop", vmap_pop, METH_O, nullptr},
    {"_vmap_levels", vmap_levels, METH_NOARGS, nullptr},
    {"_vmap_hide", fast(vmap_hide), METH_FASTCALL, nullptr},
    {"_vmap_show", fast(vmap_show), METH_FASTCALL, nullptr},
    {"_is_batched", fast(batched_query), METH_FASTCALL, nullptr},
    {"_batch_value", batch_parts, METH_O, nullptr},
    {"_depends_on_others", fast(depends_on_others), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// Warns once for each operator.
void warn_of_loop(const char* op) {
  static std::unordered_set<std::string> warned;
  PyGILState_STATE state = PyGILState_Ensure();
  bool fresh = warned.insert(op).second;
  int failed = 0;
  if (fresh) {
    failed = PyErr_WarnFormat(PyExc_UserWarning, 1,
                              "There is a performance drop because we have not yet implemented the "
                              "batching rule for %s: vmap runs it sample by sample.",
                              op);
  }
  PyGILState_Release(state);
  if (failed) throw PythonError();
}

}  // namespace

void init_transforms(PyObject* module) {
  add_functions(module, functions);
  vmap_warning = warn_of_loop;
}

}  // namespace facula::python
