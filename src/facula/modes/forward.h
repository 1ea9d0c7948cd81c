// Forward mode: the interpreter that carries tangents along while a program runs. Autograd records
// the same calls, so that what has no forward rule can still be differentiated in reverse.
#pragma once
#include <unordered_map>

#include "facula/core/interpreter.h"
#include "facula/ops/boxed.h"

namespace facula {

// Tangent is what is known of a tensor's derivative in the direction of a level. An undefined value
// stands for zeros.
struct Tangent {
  bool known = false;
  Tensor value;
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
  // of gives the tangent of a tensor; not known where an operator without a rule was on the way.
  Tangent of(const Tensor& t) const;

 private:
  // Every element of the storage that was written has another tangent now.
  void forget(const Storage* storage);
  // Whether what is computed from a tensor depends on others than the level's own leaves.
  bool is_linked(const Tensor& t) const;

  struct Entry {
    Tensor tensor, tangent;  // the tensor is held, as its address is the key
    bool linked;
  };
  std::unordered_map<const TensorImpl*, Entry> entries_;
  uint64_t start_;  // nodes with lower numbers are older than the level
};

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
