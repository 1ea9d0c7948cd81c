// Node: one recorded call of the graph, its edges and hooks. The engine that runs nodes is in
// engine.h; the nodes of operators are generated and know their formulas.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "facula/base/inline_vector.h"
#include "facula/core/location.h"
#include "facula/core/tensor.h"
#include "facula/core/thread_state.h"

namespace facula {

class Node;

// Edge leads from a node to the node that made one of its inputs (or accumulates into a leaf).
struct Edge {
  Ref<Node> node;
  uint32_t input_nr = 0;
  bool valid() const { return node.get() != nullptr; }
};

// GradMeta is what a gradient has to look like: shape, type and device of the forward output.
// The engine sums, casts and takes the real part so that it does.
struct GradMeta {
  DType dtype = kFloat32;
  Device device;
  Sizes sizes;
  GradMeta() = default;
  explicit GradMeta(const Tensor& t) : dtype(t.dtype()), device(t.device()) {
    sizes.assign(t.sizes().begin(), t.sizes().end());
  }
};

using Gradients = InlineVector<Tensor, 2>;

// Hook is called with gradients before or after a node runs; the Python layer derives from it.
struct Hook {
  virtual ~Hook() = default;
  // Called with the gradients of the node's outputs (pre) or of its inputs (post); may replace them.
  virtual void call(Gradients& grads, const Gradients* outer) = 0;
  virtual void* python() const { return nullptr; }  // for the garbage collector's walk
};

// NodeHooks holds the hooks of a node; most nodes have none.
struct NodeHooks {
  struct TensorHook {
    uint32_t output_nr;
    uint64_t id;
    std::shared_ptr<Hook> hook;  // sees one gradient
  };
  std::vector<TensorHook> tensor_pre;   // Tensor.register_hook, in order of registration
  std::vector<TensorHook> retain_grad;  // after the tensor hooks
  std::vector<std::pair<uint64_t, std::shared_ptr<Hook>>> pre, post;
};

// Node is a counted graph node. `apply` turns gradients of outputs into gradients of inputs.
class FACULA_API Node : public Counted {
 public:
  Node();
  ~Node() override;

  // name gives "SiluBackward0", as Python shows it.
  virtual const char* name() const = 0;
  // apply fills grads_in[i] for each edge i that is valid; undefined gradients are skipped.
  // grads has one entry an output, at least one of them defined.
  virtual void apply(Gradients& grads, Gradients& grads_in) = 0;
  // release_saved drops the saved tensors once they are no longer needed.
  virtual void release_saved() {}
  // visit_saved calls f for each saved tensor (garbage collection, `_saved_*`).
  virtual void visit_saved(void (*)(void*, TensorImpl*), void*) const {}
  // takes_undefined says that apply handles undefined gradients; others get zeros in their place.
  virtual bool takes_undefined() const { return false; }

  bool needs(size_t i) const { return i < edges.size() && edges[i].valid(); }
  // add_edge appends the gradient edge of an input (an empty one when it needs no gradient).
  void add_edge(const Tensor& input);
  void add_edge(TensorImpl* input);
  // add_output notes a forward output and makes this node its history.
  void set_history(const Tensor& output);
  NodeHooks& make_hooks();

  InlineVector<Edge, 2> edges;
  InlineVector<GradMeta, 1> outputs;
  uint64_t sequence;
  SourceLocation where;
  bool released = false;
  std::unique_ptr<NodeHooks> hooks;
  _object* python = nullptr;  // wrapper object, borrowed

  // The engine's scratch: gradients that wait for this node, owned by the task in `owner`.
  std::atomic<uint64_t> owner{0};
  Gradients pending;

 protected:
  void dispose() noexcept override;  // keeps deep graphs off the call stack
};

// next_sequence gives the next number of the one counter of the process.
FACULA_API uint64_t next_sequence();

// SavedTensor keeps an input or output of a call for its backward pass.
class FACULA_API SavedTensor {
 public:
  SavedTensor() = default;
  // save_input keeps `t` with its history; save it before an in-place write.
  void save_input(const Tensor& t);
  void save_input(TensorImpl* t) { save_input(Tensor::borrow(t)); }
  // save_detached keeps the geometry and data of an input that the call is about to overwrite.
  void save_before_write(const Tensor& t);
  // save_output keeps a result without its node, so that no cycle arises.
  void save_output(const Tensor& t);
  // unpack gives the tensor back; raises when it was overwritten (naming both operators and both
  // source lines) or released by an earlier backward.
  Tensor unpack(const Node* node) const;
  bool defined() const { return tensor_.defined(); }
  void reset() {
    tensor_ = Tensor();
    edge_ = Edge();
  }
  TensorImpl* peek() const { return tensor_.impl(); }

 private:
  [[noreturn]] void fail_modified(const Node* node) const;
  Tensor tensor_;
  Edge edge_;  // history to restore on unpacking, of save_before_write
  uint32_t version_ = 0;
  uint32_t output_nr_ = 0;
  bool is_output_ = false;
  bool was_set_ = false;
};

// Operand owns what a SavedOperand unpacks to: a tensor or a number.
struct Operand {
  Tensor tensor;
  Scalar scalar;
  explicit Operand(Tensor t) : tensor(std::move(t)) {}
  explicit Operand(Scalar s) : scalar(s) {}
  operator TensorOrScalar() const {
    return tensor.defined() ? TensorOrScalar(tensor) : TensorOrScalar(scalar);
  }
};

// SavedOperand is a saved Tensor|Scalar.
struct SavedOperand {
  SavedTensor tensor;
  Scalar scalar;
  bool is_tensor = false;
  void save_input(const TensorOrScalar& v) {
    is_tensor = v.is_tensor();
    if (is_tensor) tensor.save_input(v.tensor);
    else scalar = v.scalar;
  }
  void save_before_write(const Tensor& t) {
    is_tensor = true;
    tensor.save_before_write(t);
  }
  Operand unpack(const Node* node) const {
    return is_tensor ? Operand(tensor.unpack(node)) : Operand(scalar);
  }
  void reset() { tensor.reset(); }
};

}  // namespace facula
