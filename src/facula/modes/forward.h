// Forward mode: the interpreter that carries tangents along while a program runs. Autograd records
// the same calls, so that what has no forward rule can still be differentiated in reverse.
#pragma once
#include <map>
#include <unordered_map>
#include <utility>

#include "facula/autograd/node.h"
#include "facula/core/interpreter.h"
#include "facula/ops/boxed.h"

namespace facula {

// Tangent is what is known of a tensor's derivative in the direction of a level. An undefined value
// stands for zeros.
struct Tangent {
  bool known = false;
  Tensor value;
};

// ForwardInputs are the tensors that a call reads, as they were before it.
struct ForwardInputs {
  bool known = true;    // whether all tangents are
  bool any = false;     // whether one of them is not zero
  bool linked = false;  // whether a tensor depends on others than the level's own leaves
  std::vector<std::vector<Tensor>> tangents;   // for each argument: one, or one an entry of a list
  std::vector<std::pair<Edge, Tensor>> edges;  // where their gradients flow, and their tangents
};

// Forward is one level. It sees every call while it is on the stack of its thread.
class FACULA_API Forward final : public Interpreter {
 public:
  Forward();
  const char* name() const override { return "forward"; }
  Values call(const OpInfo& op, std::span<Value> args) override;

  // set gives a tensor its tangent, of its shape; an undefined one says that it is constant.
  // Tangents of linked tensors may be differentiated in reverse, and are recorded.
  void set(const Tensor& t, Tensor tangent, bool linked);
  // of gives the tangent of a tensor; not known where a call that the level did not see was on the
  // way.
  Tangent of(const Tensor& t);

  // What calls of anything but operators are carried through with: look notes an argument;
  // by_reverse gives the tangents of the outputs of a recorded call, none at all where it is more
  // than one node. A formula that leaves the graph gives a constant, without a tangent; `whole`
  // refuses that with NotImplementedError, for formulas of which nobody knows that it is meant.
  // settle sets what was found; forget is for a tensor that was written to.
  void look(ForwardInputs& in, const Tensor& argument);
  std::vector<Tensor> by_reverse(TensorList outputs, const ForwardInputs& in, bool whole = false);
  void settle(TensorList outputs, const ForwardInputs& in, std::vector<Tensor> found);
  void forget(const Tensor& written);

 private:
  ForwardInputs look(std::span<const Value> args);
  void write(const Tensor& whole, const ForwardInputs& in);
  // Whether what is computed from a tensor depends on others than the level's own leaves.
  bool is_linked(const Tensor& t) const;

  struct Entry {
    Tensor tensor, tangent;  // the tensor is held, as its address is the key
    bool linked;
  };
  // The entry of a tensor, or of another with the same history, as saved results have.
  const Entry* find(const Tensor& t) const;

  std::unordered_map<const TensorImpl*, Entry> entries_;
  std::map<std::pair<const Node*, uint32_t>, const TensorImpl*> histories_;  // of those in entries_
  uint64_t start_;  // nodes with lower numbers are older than the level
};

// Aside takes an interpreter above autograd, and those above it, off the thread's stack for its
// scope; nothing if the interpreter is not on.
class FACULA_API Aside {
 public:
  explicit Aside(const Interpreter* first);
  ~Aside();
  Aside(const Aside&) = delete;

 private:
  std::vector<std::shared_ptr<Interpreter>> taken_;
};
// take_off ends an interpreter above autograd, wherever it is on the thread's stack.
FACULA_API void take_off(const Interpreter* one);

// ForwardCall is a call that has been made, with the tangents of its tensor arguments.
struct ForwardCall {
  const BoxedOp& op;
  std::span<Value> args;
  const Values& results;
  std::span<const std::vector<Tensor>>
      tangents;  // for each argument: one, or one an entry of a list

  // value and tangent are those of argument i; an undefined tangent stands for zeros.
  const Tensor& value(size_t i) const { return unbox_tensor(args[i]); }
  Tensor tangent(size_t i) const { return tangents[i].empty() ? Tensor() : tangents[i][0]; }
  // filled is tangent with zeros for undefined ones.
  Tensor filled(size_t i) const;
  const Tensor& result(size_t i) const { return unbox_tensor(results[i]); }
};

// A forward rule gives the tangents of the results, undefined for those without derivatives; none
// at all where it does not apply.
using ForwardRule = std::vector<Tensor> (*)(const ForwardCall& call);
// forward_rule finds the rule of an operator by its kind or its name; null if there is none.
ForwardRule forward_rule(const BoxedOp& op);

}  // namespace facula
