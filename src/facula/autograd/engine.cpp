// The engine: runs nodes from the latest to the earliest, each once, with the sum of the gradients
// that arrived. Arguments of backward() and grad() are checked in backward.cpp.
#include "facula/autograd/engine.h"

#include <sched.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "facula/autograd/accumulate.h"
#include "facula/autograd/detach.h"
#include "facula/autograd/pruning.h"
#include "facula/base/error.h"
#include "facula/core/intercept.h"
#include "facula/core/observer.h"

namespace facula {

GradientOps gradient_ops;

namespace {

std::atomic<uint64_t> task_counter{1};
std::atomic<bool> anomaly_on{false}, anomaly_nan{false};

class Task;

// What a thread's running passes share.
struct EngineState {
  int depth = 0;
  Task* innermost = nullptr;
  std::vector<std::pair<void (*)(void*), void*>> callbacks;
};
thread_local EngineState engine_state;

// Task is one backward pass. A node's gradients wait in the node itself, unless another pass (of an
// outer level or another thread) has it: then they wait in a map here.
class Task {
 public:
  Task(const BackwardOptions& options, const std::vector<Edge>& captures)
      : id_(task_counter.fetch_add(1, std::memory_order_relaxed)),
        keep_(options.retain_graph || options.create_graph),
        accumulate_(options.accumulate),
        captures_(captures),
        observer_(call_observer()),
        outer_(std::exchange(engine_state.innermost, this)) {}
  ~Task();
  Task(const Task&) = delete;

  std::vector<Tensor> run(const std::vector<Edge>& roots, Gradients seeds);
  uint64_t id() const { return id_; }
  const std::unordered_set<const Node*>& reached();

 private:
  struct Entry {
    uint64_t sequence;
    Node* node;
    bool operator<(const Entry& o) const { return sequence < o.sequence; }
  };

  static bool wants(const void* task, const Node* next) {
    return static_cast<const Task*>(task)->needed_.contains(next);
  }
  void find_needed(const std::vector<Edge>& roots);
  bool is_captured(const Node* n) const {
    for (const Edge& e : captures_) {
      if (e.node.get() == n) return true;
    }
    return false;
  }
  void deliver(const Edge& edge, Tensor gradient, const char* from, size_t index);
  Gradients& slots(Node* n);
  void queue(Node* n);
  Gradients take(Node* n, bool& owned);
  void process(Node* n, Gradients grads, bool owned);
  void run_leaf(AccumulateGrad* leaf, Gradients grads);
  void accumulate(AccumulateGrad* leaf, Tensor gradient);
  void accumulate_observed(AccumulateGrad* leaf, Tensor gradient);
  void capture(Node* n, const Gradients& grads);
  void apply(Node* n, Gradients& grads, Gradients& grads_in);
  void finish(Node* n, bool owned);
  void give_up(Node* n);

  uint64_t id_;
  bool keep_, accumulate_;
  const std::vector<Edge>& captures_;
  CallObserver* const observer_;  // of the profiler, null where none runs
  Task* const outer_;             // the pass around this one
  const std::vector<Edge>* roots_ = nullptr;
  std::unordered_set<const Node*> reached_;  // from the roots; collected when somebody asks
  std::vector<Tensor> captured_;
  std::unordered_set<const Node*> needed_;  // nodes that lead to a capture; unused without captures
  std::vector<Entry> heap_;
  std::vector<Node*> leaves_;  // those that wait for the end of the pass, in order of arrival
  std::unordered_map<Node*, Gradients> spilled_;
};

// Adds a gradient to what waits for a node.
void add_to(Tensor& slot, Tensor gradient) {
  constexpr uint8_t kNotInPlace = kInterceptHidden | kInterceptSparse;
  if (!slot.defined()) {
    slot = std::move(gradient);
  } else if (grad_enabled() || ((slot->intercept | gradient->intercept) & kNotInPlace) ||
             !is_unshared(slot) || !is_dense(slot) || requires_grad(slot)) {
    slot = gradient_ops.add(slot, gradient);
  } else {
    gradient_ops.add_inplace(slot, gradient);
  }
}

// How gradients look before a hook runs. A hook may change them in place too, so what they looked
// like is noted, not the tensors themselves.
class Looks {
 public:
  explicit Looks(const Gradients& grads) {
    for (const Tensor& g : grads) {
      looks_.push_back(g.defined() ? Look{true, sparse(g), GradMeta(g)} : Look{});
    }
  }

  // check refuses gradients that look otherwise now: formulas and kernels trust sizes, dtype,
  // device and layout of the gradient that they get.
  void check(const Gradients& grads) const {
    for (size_t i = 0; i < looks_.size(); ++i) {
      if (grads[i].defined()) compare(looks_[i], grads[i]);
    }
  }

 private:
  struct Look {
    bool defined = false;
    bool sparse = false;
    GradMeta meta;
  };
  static bool sparse(const Tensor& t) { return t->intercept & kInterceptSparse; }

  static void compare(const Look& before, const Tensor& after) {
    const GradMeta& meta = before.meta;
    FACULA_CHECK(before.defined, kRuntime, "can't replace a None gradient with a non-None value");
    FACULA_CHECK(after.sizes() == IntList(meta.sizes), kRuntime,
                 "hook has changed the size of value: it was ", list_text(meta.sizes),
                 " and is now ", list_text(after.sizes()));
    FACULA_CHECK(after.dtype() == meta.dtype, kRuntime,
                 "hook has changed the type of value: it was ", dtype_name(meta.dtype),
                 " and is now ", dtype_name(after.dtype()));
    FACULA_CHECK(after.device().type == meta.device.type, kRuntime,
                 "hook has changed the type of value: it was on ", device_text(meta.device),
                 " and is now on ", device_text(after.device()));
    FACULA_CHECK(sparse(after) == before.sparse, kRuntime,
                 "hook has changed the type of value: its layout was ",
                 before.sparse ? "sparse" : "strided", " and is now ",
                 before.sparse ? "strided" : "sparse");
  }

  std::vector<Look> looks_;
};

// The hooks are copied, because a hook may remove itself or add others.
void call_tensor_hooks(std::vector<NodeHooks::TensorHook> list, Gradients& grads) {
  for (const auto& h : list) {
    if (h.hook->removed.load(std::memory_order_relaxed) || !grads[h.output_nr].defined()) continue;
    Gradients one(1);
    one[0] = grads[h.output_nr];
    const Looks before(one);
    h.hook->call(one, nullptr);
    FACULA_CHECK(one[0].defined(), kRuntime, "a hook has taken the gradient away");
    before.check(one);
    grads[h.output_nr] = std::move(one[0]);
  }
}

void call_node_hooks(std::vector<NodeHooks::NodeHook> list, Gradients& grads,
                     const Gradients* outer) {
  for (const auto& h : list) {
    if (h.hook->removed.load(std::memory_order_relaxed)) continue;
    const Looks before(grads);
    h.hook->call(grads, outer);
    before.check(grads);
  }
}

// Hooks after accumulation get the leaf itself, which they may change as they like.
void call_accumulated_hooks(std::vector<NodeHooks::NodeHook> list, TensorImpl* leaf) {
  Gradients self(1);
  self[0] = Tensor::borrow(leaf);
  for (const auto& h : list) {
    if (!h.hook->removed.load(std::memory_order_relaxed)) h.hook->call(self, nullptr);
  }
}

void call_pre_hooks(Node* n, Gradients& grads) {
  call_tensor_hooks(n->hooks->tensor_pre, grads);
  call_tensor_hooks(n->hooks->retain_grad, grads);
}

Task::~Task() {
  engine_state.innermost = outer_;
  for (const Entry& e : heap_) give_up(e.node);
  for (Node* n : leaves_) give_up(n);
}

// Frees a node that a failed pass leaves waiting.
void Task::give_up(Node* n) {
  if (n->owner.load(std::memory_order_relaxed) != id_) return;
  n->pending.clear();
  n->owner.store(0, std::memory_order_release);
}

void Task::queue(Node* n) {
  if (n->is_accumulator()) {
    leaves_.push_back(n);
    return;
  }
  heap_.push_back({n->sequence, n});
  std::push_heap(heap_.begin(), heap_.end());
}

// Takes a node for a pass. If another has it, what the node saved outlives that one.
bool claim(Node* n, uint64_t pass) {
  uint64_t owner = n->owner.load(std::memory_order_acquire);
  if (owner == 0 && n->owner.compare_exchange_strong(owner, pass, std::memory_order_acq_rel)) {
    return true;
  }
  uint8_t idle = Node::kIdle;
  n->state.compare_exchange_strong(idle, Node::kContended, std::memory_order_acq_rel);
  return false;
}

// The pass that has a node may be freeing what the node saved; if so, that ends soon.
void await_release(const Node* n) {
  for (int i = 0; n->state.load(std::memory_order_acquire) == Node::kReleasing && !n->released &&
                  n->owner.load(std::memory_order_acquire) != 0 && i < 100000;
       ++i) {
    sched_yield();
  }
}

Gradients& Task::slots(Node* n) {
  if (!spilled_.empty()) [[unlikely]] {
    auto it = spilled_.find(n);
    if (it != spilled_.end()) return it->second;
  }
  if (n->owner.load(std::memory_order_acquire) == id_) return n->pending;
  if (claim(n, id_)) {
    n->pending.resize(n->outputs.size());
    queue(n);
    return n->pending;
  }
  Gradients& waiting = spilled_[n];
  waiting.resize(n->outputs.size());
  queue(n);
  return waiting;
}

Gradients Task::take(Node* n, bool& owned) {
  if (!spilled_.empty()) [[unlikely]] {
    auto it = spilled_.find(n);
    if (it != spilled_.end()) {
      owned = false;
      Gradients out = std::move(it->second);
      spilled_.erase(it);
      await_release(n);
      return out;
    }
  }
  owned = true;
  return std::move(n->pending);
}

void Task::accumulate_observed(AccumulateGrad* leaf, Tensor gradient) {
  ObservedNode whole(observer_, CallObserver::kEvaluate, *leaf);
  ObservedNode inner(observer_, CallObserver::kApply, *leaf);
  leaf->accumulate(std::move(gradient));
}

inline void Task::accumulate(AccumulateGrad* leaf, Tensor gradient) {
  if (observer_) [[unlikely]]
    return accumulate_observed(leaf, std::move(gradient));
  leaf->accumulate(std::move(gradient));
}

// Makes a gradient look as the node that gets it expects.
void fit_to(const Edge& edge, Tensor& gradient, const char* from, size_t index) {
  Node* n = edge.node.get();
  if (n->is_accumulator()) [[unlikely]] {
    return fit_gradient(static_cast<AccumulateGrad*>(n)->leaf_meta(), gradient, from, index);
  }
  if (gradient->intercept & kInterceptSparse) [[unlikely]]
    gradient = fit_layout_of_gradient(gradient, *n);
  fit_gradient(n->outputs[edge.input_nr], gradient, from, index);
}

void Task::deliver(const Edge& edge, Tensor gradient, const char* from, size_t index) {
  Node* n = edge.node.get();
  if (!captures_.empty() && !needed_.contains(n)) return;
  auto* leaf = n->is_accumulator() ? static_cast<AccumulateGrad*>(n) : nullptr;
  if (leaf && captures_.empty() && !accumulate_) return;
  fit_to(edge, gradient, from, index);
  if (leaf && accumulate_ && !leaf->has_hooks()) return accumulate(leaf, std::move(gradient));
  add_to(slots(n)[edge.input_nr], std::move(gradient));
}

// Collects the nodes from which a capture can be reached, without recursion. A node can only lead
// to nodes with smaller sequence numbers.
void Task::find_needed(const std::vector<Edge>& roots) {
  uint64_t least = UINT64_MAX;
  for (const Edge& e : captures_) {
    needed_.insert(e.node.get());
    least = std::min(least, e.node->sequence);
  }
  struct Frame {
    const Node* node;
    size_t next;
  };
  std::unordered_set<const Node*> seen;
  std::vector<Frame> stack;
  auto enter = [&](const Node* n) {
    if (n->sequence > least && seen.insert(n).second) stack.push_back({n, 0});
  };
  for (const Edge& root : roots) {
    enter(root.node.get());
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.node->edges.size()) {
        const Node* child = top.node->edges[top.next++].node.get();
        if (child) enter(child);
        continue;
      }
      for (const Edge& e : top.node->edges) {
        if (e.valid() && needed_.contains(e.node.get())) needed_.insert(top.node);
      }
      stack.pop_back();
    }
  }
}

const std::unordered_set<const Node*>& Task::reached() {
  if (!captures_.empty()) return needed_;
  if (reached_.empty()) {
    std::vector<const Node*> open;
    auto enter = [&](const Edge& e) {
      if (e.valid() && reached_.insert(e.node.get()).second) open.push_back(e.node.get());
    };
    for (const Edge& root : *roots_) enter(root);
    while (!open.empty()) {
      const Node* next = open.back();
      open.pop_back();
      for (const Edge& e : next->edges) enter(e);
    }
  }
  return reached_;
}

void Task::capture(Node* n, const Gradients& grads) {
  for (size_t i = 0; i < captures_.size(); ++i) {
    if (captures_[i].node.get() == n) captured_[i] = grads[captures_[i].input_nr];
  }
}

bool any_defined(const Gradients& grads) {
  return std::any_of(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined(); });
}

void fill_undefined(Node* n, Gradients& grads) {
  if (grads.size() == 1 || n->takes_undefined()) return;
  for (size_t i = 0; i < grads.size(); ++i) {
    if (grads[i].defined()) continue;
    const GradMeta& meta = n->outputs[i];
    grads[i] = gradient_ops.zeros(meta.sizes, meta.dtype, meta.device);
  }
}

// Notes in the message of an error which call's gradient failed.
[[noreturn]] FACULA_COLD void explain(const Error& e, const Node& n) {
  std::string where = n.where.text();
  fail(e.kind(), str(e.message(), "\nError detected in ", n.name(),
                     where.empty() ? "" : ", which was recorded at ", where));
}

void check_nan(const Node& n, const Gradients& grads) {
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined() || !gradient_ops.has_nan || !gradient_ops.has_nan(grads[i])) continue;
    raise_error(ErrorKind::kRuntime, "Function '", n.name(), "' returned nan values in its ", i,
                "th output.");
  }
}

void apply_node(Node* n, Gradients& grads, Gradients& grads_in) {
  if (!anomaly_on.load(std::memory_order_relaxed)) [[likely]]
    return n->apply(grads, grads_in);
  try {
    n->apply(grads, grads_in);
    if (anomaly_nan.load(std::memory_order_relaxed)) check_nan(*n, grads_in);
  } catch (const Error& e) {
    explain(e, *n);
  }
}

void Task::apply(Node* n, Gradients& grads, Gradients& grads_in) {
  Pruning pruning{n, &Task::wants, this};
  PruningScope scope(captures_.empty() ? nullptr : &pruning);
  ObservedNode observed(observer_, CallObserver::kApply, *n);
  apply_node(n, grads, grads_in);
}

// Ends the run of a node: frees what it saved, and lets other passes have it.
void Task::finish(Node* n, bool owned) {
  if (!keep_) {
    uint8_t idle = Node::kIdle;
    if (owned && n->state.compare_exchange_strong(idle, Node::kReleasing)) {
      n->release_saved();
    } else if (owned && idle == Node::kReleasing) {
      n->release_saved();  // a node that an earlier pass released and that saved again
    }
    n->released = true;
  }
  if (owned) n->owner.store(0, std::memory_order_release);
}

void Task::process(Node* n, Gradients grads, bool owned) {
  ObservedNode observed(observer_, CallObserver::kEvaluate, *n);
  if (n->hooks) [[unlikely]]
    call_pre_hooks(n, grads);
  if (!captures_.empty()) {
    capture(n, grads);
    bool leads_on = false;
    for (const Edge& e : n->edges) leads_on |= e.valid() && needed_.contains(e.node.get());
    if (!leads_on) {
      if (owned) n->owner.store(0, std::memory_order_release);
      return;
    }
  }
  Gradients outer;
  bool taken = false;  // hooks have left no gradient: there are none of the inputs either
  if (n->hooks) [[unlikely]] {
    call_node_hooks(n->hooks->pre, grads, nullptr);
    taken = !n->takes_undefined() && !any_defined(grads);
    if (!n->hooks->post.empty()) outer = grads;
  }
  Gradients grads_in(n->edges.size());
  if (!taken) [[likely]] {
    fill_undefined(n, grads);
    apply(n, grads, grads_in);
  }
  grads.clear();
  if (n->hooks && !n->hooks->post.empty()) [[unlikely]] {
    for (size_t i = 0; i < grads_in.size(); ++i) {
      const Edge& e = n->edges[i];
      if (!e.valid() || !grads_in[i].defined()) continue;
      fit_gradient(e.node->outputs[e.input_nr], grads_in[i], n->name(), i);
    }
    call_node_hooks(n->hooks->post, grads_in, &outer);
    outer.clear();
  }
  finish(n, owned);
  observed.end();
  for (size_t i = 0; i < n->edges.size(); ++i) {
    if (!n->edges[i].valid() || !grads_in[i].defined()) continue;
    deliver(n->edges[i], std::move(grads_in[i]), n->name(), i);
  }
}

void Task::run_leaf(AccumulateGrad* leaf, Gradients grads) {
  ObservedNode observed(observer_, CallObserver::kEvaluate, *leaf);
  if (leaf->hooks) call_pre_hooks(leaf, grads);
  if (!accumulate_) return capture(leaf, grads);
  Gradients none;
  if (leaf->hooks) call_node_hooks(leaf->hooks->pre, grads, nullptr);
  Gradients outer;
  if (leaf->hooks && !leaf->hooks->post.empty()) outer = grads;
  if (grads[0].defined()) {
    ObservedNode inner(observer_, CallObserver::kApply, *leaf);
    leaf->apply(grads, none);
  }
  if (!leaf->hooks) return;
  call_node_hooks(leaf->hooks->post, none, &outer);
  call_accumulated_hooks(leaf->hooks->accumulated, leaf->leaf());
}

std::vector<Tensor> Task::run(const std::vector<Edge>& roots, Gradients seeds) {
  roots_ = &roots;
  captured_.resize(captures_.size());
  if (!captures_.empty()) find_needed(roots);
  for (size_t i = 0; i < roots.size(); ++i) {
    deliver(roots[i], std::move(seeds[i]), "backward", i);
  }
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end());
    Node* n = heap_.back().node;
    bool owned;
    Gradients grads = take(n, owned);
    try {
      heap_.pop_back();
      process(n, std::move(grads), owned);
    } catch (...) {
      if (owned) give_up(n);
      throw;
    }
  }
  for (size_t i = 0; i < leaves_.size(); ++i) {
    Node* n = leaves_[i];
    bool owned;
    Gradients grads = take(n, owned);
    if (owned) n->owner.store(0, std::memory_order_release);
    run_leaf(static_cast<AccumulateGrad*>(n), std::move(grads));
  }
  leaves_.clear();
  return std::move(captured_);
}

// Counts the passes that run in this thread, and calls back after the outermost.
class Depth {
 public:
  Depth() { ++engine_state.depth; }
  ~Depth() {
    if (--engine_state.depth == 0) engine_state.callbacks.clear();
  }
  void call_back() {
    if (engine_state.depth != 1) return;
    for (size_t i = 0; i < engine_state.callbacks.size(); ++i) {  // they may queue others
      auto [f, context] = engine_state.callbacks[i];
      f(context);
    }
  }
};

const std::unordered_set<const Node*>& nodes_of_pass() {
  FACULA_CHECK(engine_state.innermost, kRuntime,
               "whether a node will run can only be asked during a backward pass");
  return engine_state.innermost->reached();
}

}  // namespace

std::vector<Tensor> run_graph(const std::vector<Edge>& roots, Gradients seeds,
                              const BackwardOptions& options, const std::vector<Edge>& captures) {
  GradMode mode(options.create_graph);
  Depth depth;
  std::vector<Tensor> captured;
  {
    PruningScope scope(nullptr);
    Task task(options, captures);
    captured = task.run(roots, std::move(seeds));
  }
  depth.call_back();
  return captured;
}

Gradients run_node(Node& node, Gradients gradients) {
  struct Claim {
    Node* node;
    bool owned;
    ~Claim() {
      if (owned) node->owner.store(0, std::memory_order_release);
    }
  } claimed{&node, claim(&node, task_counter.fetch_add(1, std::memory_order_relaxed))};
  if (!claimed.owned) await_release(&node);
  PruningScope scope(nullptr);
  Gradients of_inputs(node.edges.size());
  fill_undefined(&node, gradients);
  apply_node(&node, gradients, of_inputs);
  for (size_t i = 0; i < of_inputs.size(); ++i) {
    if (!node.edges[i].valid() || !of_inputs[i].defined()) continue;
    fit_to(node.edges[i], of_inputs[i], node.name(), i);
  }
  return of_inputs;
}

void queue_callback(void (*f)(void*), void* context) {
  FACULA_CHECK(engine_state.depth > 0, kRuntime,
               "Final callbacks can only be installed during backward pass.");
  engine_state.callbacks.emplace_back(f, context);
}

int64_t current_pass() {
  return engine_state.innermost ? static_cast<int64_t>(engine_state.innermost->id()) : -1;
}

bool will_run(const Node& node) { return nodes_of_pass().contains(&node); }

bool will_run(uint64_t sequence) {
  const auto& nodes = nodes_of_pass();
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const Node* n) { return n->sequence == sequence; });
}

bool anomaly_mode() { return anomaly_on.load(std::memory_order_relaxed); }

bool anomaly_checks_nan() { return anomaly_nan.load(std::memory_order_relaxed); }

void set_anomaly_mode(bool on, bool check_nan) {
  anomaly_on.store(on, std::memory_order_relaxed);
  anomaly_nan.store(check_nan, std::memory_order_relaxed);
}

}  // namespace facula
