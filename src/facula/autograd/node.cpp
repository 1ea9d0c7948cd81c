// Nodes: numbering, edges, outputs, and destruction that does not recurse.
#include "facula/autograd/node.h"

#include "facula/autograd/accumulate.h"

namespace facula {
namespace {

std::atomic<uint64_t> sequence_counter{1};
std::atomic<uint64_t> hook_counter{1};

// Tells the core how to give back the node of a tensor.
const bool installed = [] {
  release_node = [](Node* node) { node->release(); };
  return true;
}();

}  // namespace

uint64_t next_sequence() { return sequence_counter.fetch_add(1, std::memory_order_relaxed); }
uint64_t next_hook_id() { return hook_counter.fetch_add(1, std::memory_order_relaxed); }

Node::Node()
    : sequence(next_sequence()), where(current_location()), count_(1), is_accumulator_(false) {}

Node::Node(AccumulatorTag) : sequence(0), count_(0), is_accumulator_(true) {}

Node::~Node() = default;

void Node::add_edge(TensorImpl* input) {
  if (input && requires_grad(input))
    edges.emplace_back(gradient_edge(input));
  else
    edges.emplace_back();
}

void Node::set_history(const Tensor& output) {
  auto number = static_cast<uint32_t>(outputs.size());
  if (!output.defined()) {
    outputs.emplace_back();
    return;
  }
  outputs.emplace_back(output);
  if (!is_inexact(output.dtype())) return;
  TensorImpl* t = output.impl();
  Node* before = t->grad_fn;
  retain();
  t->grad_fn = this;
  t->output_nr = number;
  t->flags |= kRequiresGrad;
  if (before) before->release();
}

void Node::set_history(TensorList list) {
  for (const Tensor& t : list) {
    set_history(t);
    if (t.defined() && t->base) t->flags |= kMultiOutputView;
  }
}

NodeHooks& Node::make_hooks() {
  if (!hooks) hooks = std::make_unique<NodeHooks>();
  return *hooks;
}

bool Node::wanted(size_t i) const {
  const Pruning* p = tls.pruning;
  return p->node != this || p->wants(p->task, edges[i].node.get());
}

void Node::release_accumulator() const noexcept {
  const_cast<AccumulateGrad*>(static_cast<const AccumulateGrad*>(this))->drop_edge();
}

void Node::dispose() noexcept {
  // What dies with a node is queued, so that a chain of any length needs no stack.
  next_dead_ = static_cast<Node*>(tls.pending);
  tls.pending = this;
  if (tls.drain) return;
  tls.drain = 1;
  while (tls.pending) {
    Node* node = static_cast<Node*>(tls.pending);
    tls.pending = node->next_dead_;
    delete node;
  }
  tls.drain = 0;
}

std::string operator_name(const Node& node) {
  std::string name = node.name();
  size_t end = name.size();
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
  constexpr std::string_view kSuffix = "Backward";
  if (end >= kSuffix.size() && name.compare(end - kSuffix.size(), kSuffix.size(), kSuffix) == 0) {
    name.resize(end - kSuffix.size());
  }
  return name;
}

}  // namespace facula
