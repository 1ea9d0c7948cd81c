// Interpreter: what takes over calls of operators (autocast, vmap, fake tensors, tracing ...), and
// the two ordered stacks of them that a thread has: above autograd and below it. Interpreters live
// in modes/; a call that none wants costs one OR and one branch here.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "facula/base/inline_vector.h"
#include "facula/core/generator.h"
#include "facula/core/intercept.h"
#include "facula/core/tensor.h"

namespace facula {

// Value is one boxed argument or result of an operator. An absent optional is None; an absent
// tensor in a list is an undefined one.
class Value {
 public:
  using None = std::monostate;
  using Variant = std::variant<None, Tensor, Scalar, int64_t, double, bool, std::string,
                               std::vector<int64_t>, std::vector<double>, std::vector<Tensor>,
                               DType, Device, MemoryFormat, Ref<Generator>>;

  Value() = default;
  Value(Tensor v) : v_(v.defined() ? Variant(std::move(v)) : Variant()) {}
  Value(Scalar v) : v_(v) {}
  Value(int v) : v_(int64_t{v}) {}
  Value(int64_t v) : v_(v) {}
  Value(double v) : v_(v) {}
  Value(bool v) : v_(v) {}
  Value(const char* v) : v_(std::string(v)) {}
  Value(std::string_view v) : v_(std::string(v)) {}
  Value(IntList v) : v_(std::vector<int64_t>(v.begin(), v.end())) {}
  Value(std::vector<int64_t> v) : v_(std::move(v)) {}
  Value(std::span<const double> v) : v_(std::vector<double>(v.begin(), v.end())) {}
  Value(std::vector<double> v) : v_(std::move(v)) {}
  Value(TensorList v) : v_(std::vector<Tensor>(v.begin(), v.end())) {}
  Value(std::vector<Tensor> v) : v_(std::move(v)) {}
  Value(DType v) : v_(v) {}
  Value(Device v) : v_(v) {}
  Value(MemoryFormat v) : v_(v) {}
  Value(Generator* v) : v_(v ? Variant(Ref<Generator>::share(v)) : Variant()) {}
  Value(const TensorOrScalar& v)
      : v_(v.tensor ? Variant(Tensor::borrow(v.tensor)) : Variant(v.scalar)) {}
  template <class T>
  Value(const std::optional<T>& v) {
    if (v) *this = Value(*v);
  }

  bool is_none() const { return v_.index() == 0; }
  template <class T>
  bool is() const {
    return std::holds_alternative<T>(v_);
  }
  // as gives the value of an alternative; TypeError when it holds another.
  template <class T>
  const T& as() const {
    if (const T* p = std::get_if<T>(&v_)) [[likely]]
      return *p;
    fail_type(Variant(std::in_place_type<T>).index());
  }
  template <class T>
  T& as() {
    return const_cast<T&>(static_cast<const Value*>(this)->as<T>());
  }
  // tensor gives an undefined tensor for None.
  Tensor tensor() const { return is_none() ? Tensor() : as<Tensor>(); }
  // integer, real and boolean also take a Scalar; operand a tensor or any number.
  FACULA_API int64_t integer() const;
  FACULA_API double real() const;
  FACULA_API bool boolean() const;
  FACULA_API Scalar scalar() const;
  // operand borrows the tensor, if it is one.
  TensorOrScalar operand() const {
    return is<Tensor>() ? TensorOrScalar(as<Tensor>()) : TensorOrScalar(scalar());
  }
  IntList ints() const { return IntList(as<std::vector<int64_t>>()); }
  // kind_name names what it holds: "Tensor", "int[]", "None" ...
  FACULA_API const char* kind_name() const;
  const Variant& variant() const { return v_; }
  // mask is the OR of the intercept masks of the tensors in it.
  FACULA_API uint8_t mask() const;

 private:
  [[noreturn]] FACULA_API void fail_type(size_t wanted) const;
  Variant v_;
};

using Values = InlineVector<Value, 2>;

// OpInfo describes an operator to interpreters. `call` makes the call again from boxed arguments,
// one for each parameter of the schema; it goes through the stacks as they then are.
struct OpInfo {
  const char* name;
  const char* schema;
  Values (*call)(std::span<Value> args);
};

// Interpreter takes boxed calls. While it runs, it and every interpreter above it are off the
// thread's stack; those below stay, so that an operator called from it goes to the next one down.
class FACULA_API Interpreter {
 public:
  virtual ~Interpreter();
  virtual const char* name() const = 0;
  virtual Values call(const OpInfo& op, std::span<Value> args) = 0;
};

enum class StackSide : uint8_t { kAbove, kBelow };

// InterpreterStack holds the interpreters of a thread. Calls go to the last pushed above first;
// then to the handler of the tensors' bits on that side; then the call is recorded by autograd, and
// the same follows below.
class FACULA_API InterpreterStack {
 public:
  // of_thread gives the calling thread's stack.
  static InterpreterStack& of_thread();

  void push(StackSide side, std::shared_ptr<Interpreter> interpreter);
  // pop takes off the last pushed; RuntimeError when there is none that is not running.
  std::shared_ptr<Interpreter> pop(StackSide side);
  // active lists the interpreters that calls go to, the next one last.
  std::span<const std::shared_ptr<Interpreter>> active(StackSide side) const;

  // set_handler makes `handler` take calls with tensors that carry `bit`, in all threads, when no
  // pushed interpreter of the side does; null takes it away.
  static void set_handler(InterceptBit bit, std::shared_ptr<Interpreter> handler);

  // find gives the interpreter that a call with these tensor masks goes to on a side, or null.
  Interpreter* find(StackSide side, uint8_t mask) const;
  // run lets an interpreter that find gave take a call.
  Values run(StackSide side, Interpreter* interpreter, const OpInfo& op, std::span<Value> args);

  // without_bits switches the handlers of some bits off and gives back those that were off before.
  uint8_t without_bits(uint8_t bits);
  void restore_bits(uint8_t bits) { off_bits_ = bits; }

 private:
  class Running;
  struct Side {
    std::vector<std::shared_ptr<Interpreter>> items;
    size_t active = 0;  // the first so many are on
  };
  Side& side(StackSide s) { return s == StackSide::kAbove ? above_ : below_; }
  const Side& side(StackSide s) const { return s == StackSide::kAbove ? above_ : below_; }
  void note();

  Side above_, below_;
  uint8_t off_bits_ = 0;
};

// PushInterpreter puts an interpreter on a stack for its scope.
class PushInterpreter {
 public:
  PushInterpreter(StackSide side, std::shared_ptr<Interpreter> interpreter) : side_(side) {
    InterpreterStack::of_thread().push(side, std::move(interpreter));
  }
  ~PushInterpreter() { InterpreterStack::of_thread().pop(side_); }
  PushInterpreter(const PushInterpreter&) = delete;

 private:
  StackSide side_;
};

// intercept offers a boxed call to a side; true: an interpreter took it and `out` has the results.
FACULA_API bool intercept(StackSide side, const OpInfo& op, std::span<Value> args, Values& out);

}  // namespace facula
