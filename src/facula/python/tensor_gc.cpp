// Garbage collection through the graph. A cycle can run from a tensor over the nodes and saved
// tensors that C++ holds back to a Python object that C++ keeps alive (a flipped tensor, a hook,
// the context of a custom Function). The walk starts at a tensor with one owner; what it meets is
// ours when every reference to it came from the walk, and only then are its Python objects visited.
#include <Python.h>
#include <structmember.h>

#include <unordered_map>

#include "facula/autograd/accumulate.h"
#include "facula/python/node_type.h"
#include "facula/python/tensor_type.h"

namespace facula::python {

namespace {

class GraphWalk {
 public:
  // The walk starts at `root`, whose references it counts but does not follow again.
  explicit GraphWalk(TensorImpl* root = nullptr) : root_(root) {}

  void tensor(TensorImpl* t) {
    if (t && t == root_) {
      ++root_references_;
      return;
    }
    if (!t || !all_seen(t, t->refs.load(std::memory_order_relaxed))) return;
    if (t->flags & kOwnsPython) {
      found_.push_back(t->python);
    } else if (t->python) {
      return;  // Python holds it too; that object is walked on its own
    }
    inside(t);
  }

  // inside follows what a tensor that is ours holds.
  void inside(TensorImpl* t) {
    if (t->base) tensor(t->base);
    if (AutogradMeta* m = find_meta(t)) {
      if (m->grad.defined()) tensor(m->grad.impl());
      if (AccumulateGrad* a = m->accumulator.load(std::memory_order_relaxed)) {
        if (a->hooks) hooks(*a->hooks);
      }
    }
    if (t->grad_fn) node(static_cast<Node*>(t->grad_fn));
  }

  void node(Node* n) {
    if (all_seen(n, n->use_count())) stack_.push_back(n);
  }

  void run() {
    while (!stack_.empty()) {
      Node* n = stack_.back();
      stack_.pop_back();
      if (n->is_accumulator()) {
        tensor(static_cast<AccumulateGrad*>(n)->leaf());
        continue;
      }
      for (Edge& e : n->edges) {
        if (e.valid()) node(e.node.get());
      }
      n->visit_saved([](void* self, TensorImpl* t) { static_cast<GraphWalk*>(self)->tensor(t); },
                     this);
      if (n->hooks) hooks(*n->hooks);
      if (auto* f = dynamic_cast<FunctionNode*>(n)) {
        if (f->context) found_.push_back(reinterpret_cast<PyObject*>(f->context));
      }
    }
  }

  const std::vector<PyObject*>& found() const { return found_; }
  // root_references counts the references to the root that the walk met.
  uint32_t root_references() const { return root_references_; }

 private:
  bool all_seen(const void* p, uint32_t owners) { return ++seen_[p] == owners; }
  void hook(const std::shared_ptr<Hook>& h) {
    if (h && h.use_count() == 1 && h->python()) {
      found_.push_back(static_cast<PyObject*>(h->python()));
    }
  }
  void hooks(const NodeHooks& all) {
    for (auto& h : all.tensor_pre) hook(h.hook);
    for (auto& h : all.retain_grad) hook(h.hook);
    for (const auto* list : {&all.pre, &all.post, &all.accumulated}) {
      for (auto& h : *list) hook(h.hook);
    }
  }

  TensorImpl* root_;
  uint32_t root_references_ = 0;
  std::unordered_map<const void*, uint32_t> seen_;
  std::vector<Node*> stack_;
  std::vector<PyObject*> found_;
};

}  // namespace

int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  auto* o = reinterpret_cast<PyTensor*>(self);
  Py_VISIT(o->dict);
  for (PyTypeObject* t = Py_TYPE(self); t != &tensor_type; t = t->tp_base) {
    if (!(t->tp_flags & Py_TPFLAGS_HEAPTYPE)) break;
    auto* member =
        reinterpret_cast<PyMemberDef*>(reinterpret_cast<char*>(t) + Py_TYPE(t)->tp_basicsize);
    for (Py_ssize_t i = 0; i < Py_SIZE(t); ++i, ++member) {
      if (member->type != T_OBJECT_EX) continue;
      Py_VISIT(*reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + member->offset));
    }
  }
  if (Py_TYPE(self) != &tensor_type) Py_VISIT(Py_TYPE(self));
  TensorImpl* p = o->impl;
  if (!p || owned_by_cpp.load(std::memory_order_relaxed) == 0) return 0;
  if (!p->grad_fn && !p->meta && !p->base) return 0;
  bool flipped = p->flags & kOwnsPython;
  uint32_t references = p->refs.load(std::memory_order_relaxed);
  // Only leaves may be part of a cycle that leads through their own gradient.
  if ((flipped || references != 1) && !holds_itself(p)) return 0;
  GraphWalk walk(p);
  walk.inside(p);
  walk.run();
  if (walk.root_references() + (flipped ? 0 : 1) != references) return 0;
  for (PyObject* found : walk.found()) Py_VISIT(found);
  if (flipped) Py_VISIT(self);
  return 0;
}

bool holds_itself(const TensorImpl* p) {
  if (p->grad_fn || !p->meta) return false;
  const AutogradMeta* m = find_meta(p);
  if (m->grad.defined() && m->grad->grad_fn) return true;
  AccumulateGrad* a = m->accumulator.load(std::memory_order_relaxed);
  return a && a->has_hooks();
}

int visit_graph(Node* n, visitproc visit, void* arg) {
  if (owned_by_cpp.load(std::memory_order_relaxed) == 0 || n->use_count() != 1) return 0;
  GraphWalk walk;
  walk.node(n);
  walk.run();
  for (PyObject* found : walk.found()) Py_VISIT(found);
  return 0;
}

int tensor_clear(PyObject* self) {
  auto* o = reinterpret_cast<PyTensor*>(self);
  TensorImpl* p = o->impl;
  Py_CLEAR(o->dict);
  if (!p) return 0;
  bool only_python = !(p->flags & kOwnsPython) && p->refs.load(std::memory_order_relaxed) == 1;
  if (!only_python && !holds_itself(p)) return 0;
  // What is taken out here dies at the end, when p may be gone with it.
  Tensor grad;
  std::unique_ptr<NodeHooks> hooks;
  Node* node = nullptr;
  if (AutogradMeta* m = find_meta(p)) {
    grad = std::move(m->grad);
    if (AccumulateGrad* a = m->accumulator.load(std::memory_order_relaxed)) {
      hooks = std::move(a->hooks);
    }
  }
  if (only_python) node = std::exchange(p->grad_fn, nullptr);
  if (node) node->release();
  return 0;
}

}  // namespace facula::python
