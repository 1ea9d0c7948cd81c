// Node: one recorded call of the graph, its edges and hooks, and what it saves for its backward
// pass. The engine that runs nodes is in engine.h; the nodes of operators are generated and know
// their formulas.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "facula/base/inline_vector.h"
#include "facula/core/allocator.h"
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
  // Called with the gradients of the node's outputs (pre) or of its inputs (post; then `outer` are
  // those of the outputs); may replace them. A tensor hook sees one gradient; a hook that runs
  // after accumulation sees the leaf itself.
  virtual void call(Gradients& grads, const Gradients* outer) = 0;
  virtual void* python() const { return nullptr; }  // for the garbage collector's walk
  std::atomic<bool> removed{false};  // set by whoever holds the handle: the hook is skipped
};

// NodeHooks holds the hooks of a node; most nodes have none.
struct NodeHooks {
  struct TensorHook {
    uint32_t output_nr;
    uint64_t id;
    std::shared_ptr<Hook> hook;  // sees one gradient
  };
  struct NodeHook {
    uint64_t id;
    std::shared_ptr<Hook> hook;
  };
  std::vector<TensorHook> tensor_pre;   // Tensor.register_hook, in order of registration
  std::vector<TensorHook> retain_grad;  // after the tensor hooks
  std::vector<NodeHook> pre, post;
  std::vector<NodeHook> accumulated;  // of leaves, after accumulation
};

// next_hook_id gives the next handle number of the process.
FACULA_API uint64_t next_hook_id();

// Node is a counted graph node. `apply` turns gradients of outputs into gradients of inputs.
class FACULA_API Node {
 public:
  Node();
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

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

  // needs says whether the gradient of edge i is wanted, by this backward pass if one runs.
  bool needs(size_t i) const {
    return i < edges.size() && edges[i].valid() && (!tls.pruning || wanted(i));
  }
  // add_edge appends the gradient edge of an input (an empty one when it needs no gradient).
  void add_edge(const Tensor& input) { add_edge(input.impl()); }
  void add_edge(TensorImpl* input);
  // set_history notes a forward output and makes this node its history. Outputs without gradients
  // (integers, undefined tensors) are only counted.
  void set_history(const Tensor& output);
  // set_history of several outputs; those that are views refuse in-place writes from then on.
  void set_history(TensorList list);
  NodeHooks& make_hooks();
  bool is_accumulator() const { return is_accumulator_; }

  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept {
    if (is_accumulator_) [[unlikely]]
      return release_accumulator();
    if (count_.load(std::memory_order_acquire) == 1 ||
        count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const_cast<Node*>(this)->dispose();
    }
  }
  uint32_t use_count() const noexcept { return count_.load(std::memory_order_acquire); }

  static void* operator new(size_t size) { return allocate_cpu(size); }
  static void operator delete(void* p, size_t size) { deallocate_cpu(p, size); }

  InlineVector<Edge, 2> edges;
  InlineVector<GradMeta, 1> outputs;
  uint64_t sequence;
  SourceLocation where;
  std::unique_ptr<NodeHooks> hooks;
  _object* python = nullptr;  // wrapper object, borrowed
  bool released = false;      // the saved tensors are gone

  // The engine's scratch: gradients that wait for this node, owned by the task in `owner`.
  enum State : uint8_t { kIdle, kContended, kReleasing };
  std::atomic<uint64_t> owner{0};
  std::atomic<uint8_t> state{kIdle};
  Gradients pending;

 protected:
  struct AccumulatorTag {};
  explicit Node(AccumulatorTag);  // of accumulators: sequence and count start at zero

  mutable std::atomic<uint32_t> count_;

 private:
  bool wanted(size_t i) const;
  void release_accumulator() const noexcept;
  void dispose() noexcept;  // keeps deep graphs off the call stack

  const bool is_accumulator_;
  Node* next_dead_ = nullptr;
};

// next_sequence gives the next number of the one counter of the process.
FACULA_API uint64_t next_sequence();

// operator_name gives the name of the call that a node recorded: "Silu" of "SiluBackward0".
FACULA_API std::string operator_name(const Node& node);

// Pruning is set while a node runs in a pass that wants only some gradients.
struct Pruning {
  const Node* node;
  bool (*wants)(const void* task, const Node* next);
  const void* task;
};

// SavedTensorHooks replace what saved tensors keep (checkpointing, offloading). The innermost hooks
// of the thread apply while a call is recorded.
struct SavedTensorHooks {
  virtual ~SavedTensorHooks() = default;
  virtual std::shared_ptr<void> pack(const Tensor& t) = 0;
  virtual Tensor unpack(const std::shared_ptr<void>& packed) = 0;
};
// push_saved_hooks and pop_saved_hooks change the calling thread's stack of hooks.
FACULA_API void push_saved_hooks(std::shared_ptr<SavedTensorHooks> hooks);
FACULA_API void pop_saved_hooks();

// SavedTensor keeps an input or output of a call for its backward pass.
class FACULA_API SavedTensor {
 public:
  SavedTensor() = default;
  // save_input keeps `t` with its history.
  void save_input(const Tensor& t);
  void save_input(TensorImpl* t) { save_input(Tensor::borrow(t)); }
  // save_input of an in-place call that writes to `written` keeps a copy if that is the input.
  void save_input(const Tensor& t, const Tensor& written) {
    t.is_same(written) ? save_before_write(t) : save_input(t);
  }
  // save_before_write keeps a copy of an input that the call is about to overwrite.
  void save_before_write(const Tensor& t);
  // save_output keeps a result without its node, so that no cycle arises. Call it after the node
  // became the history of `t` and, in place, after the write was noted.
  void save_output(const Tensor& t);
  // unpack gives the tensor back; raises when it was overwritten (naming both operators and both
  // source lines) or released by an earlier backward.
  Tensor unpack(const Node* node) const;
  bool defined() const { return was_set_ && (tensor_.defined() || extra_); }
  void reset();
  TensorImpl* peek() const { return tensor_.impl(); }

 private:
  // History to restore, where the tensor kept is not the one that was saved.
  struct Extra {
    Edge edge;
    std::shared_ptr<SavedTensorHooks> hooks;
    std::shared_ptr<void> packed;
  };
  void pack(const Tensor& t, bool with_history);
  Tensor restore(const Node* node) const;
  [[noreturn]] void fail_modified(const Node* node) const;

  Tensor tensor_;
  std::unique_ptr<Extra> extra_;
  uint32_t version_ = 0;
  uint16_t output_nr_ = 0;
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
    if (is_tensor)
      tensor.save_input(v.tensor);
    else
      scalar = v.scalar;
  }
  void save_input(const TensorOrScalar& v, const Tensor& written) {
    v.tensor == written.impl() ? save_before_write(written) : save_input(v);
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
