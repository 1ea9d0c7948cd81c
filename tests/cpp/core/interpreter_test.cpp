// Tests of boxed values and of the order in which interpreters get calls.
#include "facula/core/interpreter.h"

#include <gtest/gtest.h>

#include "facula/base/error.h"
#include "facula/core/observer.h"

namespace facula {
namespace {

std::string order;

// An operator that offers itself to both sides, as generated ones do.
Values call_op(std::span<Value> args);
const OpInfo op{"op", "op(Tensor self) -> Tensor", call_op};

Values call_op(std::span<Value> args) {
  Values out;
  const Tensor& self = args[0].as<Tensor>();
  if (intercepted(self)) {
    if (intercept(StackSide::kAbove, op, args, out)) return out;
    order += tls.no_grad ? "" : "g";  // autograd
    if (intercept(StackSide::kBelow, op, args, out)) return out;
  }
  order += "k";  // the kernel
  out.push_back(args[0]);
  return out;
}

struct Named final : Interpreter {
  std::string text;
  bool pass_on;
  explicit Named(std::string t, bool p = true) : text(std::move(t)), pass_on(p) {}
  const char* name() const override { return text.c_str(); }
  Values call(const OpInfo& o, std::span<Value> args) override {
    order += text;
    if (pass_on) return o.call(args);
    Values out;
    out.push_back(args[0]);
    return out;
  }
};

std::string run(const Tensor& t) {
  order.clear();
  Value args[] = {t};
  call_op(args);
  return order;
}

TEST(Value, HoldsWhatItIsGiven) {
  EXPECT_EQ(Value(3).as<int64_t>(), 3);
  EXPECT_EQ(Value(true).boolean(), true);
  EXPECT_EQ(Value(2.5).scalar().to_double(), 2.5);
  EXPECT_EQ(Value("mean").as<std::string>(), "mean");
  EXPECT_EQ(Value(IntList({1, 2})).ints(), IntList({1, 2}));
  EXPECT_TRUE(Value(Tensor()).is_none());
  EXPECT_FALSE(Value(Tensor()).tensor().defined());
  EXPECT_TRUE(Value(std::optional<int64_t>()).is_none());
  EXPECT_EQ(Value(std::optional<DType>(kInt8)).as<DType>(), kInt8);
  EXPECT_TRUE(Value(TensorOrScalar(2)).is<Scalar>());
  EXPECT_STREQ(Value(2.5).kind_name(), "float");
  try {
    Value(2.5).as<Tensor>();
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kType);
    EXPECT_EQ(e.message(), "expected a boxed Tensor, got float");
  }
}

TEST(Interpreters, TheLastPushedComesFirst) {
  Tensor t = new_empty({1}, kFloat32);
  EXPECT_FALSE(intercepted(t));
  EXPECT_EQ(run(t), "k");
  PushInterpreter a(StackSide::kAbove, std::make_shared<Named>("a"));
  PushInterpreter x(StackSide::kBelow, std::make_shared<Named>("x"));
  PushInterpreter b(StackSide::kAbove, std::make_shared<Named>("b"));
  PushInterpreter y(StackSide::kBelow, std::make_shared<Named>("y"));
  EXPECT_TRUE(intercepted(t));
  EXPECT_EQ(run(t), "bagyxk");
  EXPECT_EQ(run(t), "bagyxk");  // everything is back on
  EXPECT_FALSE(tls.no_grad);
}

TEST(Interpreters, OnesThatAnswerEndTheCall) {
  Tensor t = new_empty({1}, kFloat32);
  PushInterpreter x(StackSide::kBelow, std::make_shared<Named>("x", false));
  EXPECT_EQ(run(t), "gx");
  EXPECT_EQ(tls.above, 0u);
}

TEST(Interpreters, BitsOfTensorsFindTheirHandler) {
  Tensor plain = new_empty({1}, kFloat32), fake = new_empty({1}, kFloat32);
  fake->intercept = kInterceptFake;
  EXPECT_EQ(run(fake), "gk");  // nobody cares
  InterpreterStack::set_handler(kInterceptFake, std::make_shared<Named>("f"));
  EXPECT_EQ(run(fake), "gfk");
  EXPECT_EQ(run(plain), "k");
  PushInterpreter a(StackSide::kAbove, std::make_shared<Named>("a"));
  PushInterpreter x(StackSide::kBelow, std::make_shared<Named>("x"));
  EXPECT_EQ(run(fake), "agxfk");
  uint8_t before = InterpreterStack::of_thread().without_bits(kInterceptFake);
  EXPECT_EQ(run(fake), "agxk");
  InterpreterStack::of_thread().restore_bits(before);
  InterpreterStack::set_handler(kInterceptFake, nullptr);
}

// Pushes another interpreter while it runs.
struct Pushing final : Interpreter {
  const char* name() const override { return "p"; }
  Values call(const OpInfo& o, std::span<Value> args) override {
    order += "p";
    PushInterpreter inner(StackSide::kAbove, std::make_shared<Named>("i"));
    return o.call(args);
  }
};

TEST(Interpreters, MayPushOthersWhileTheyRun) {
  Tensor t = new_empty({1}, kFloat32);
  PushInterpreter a(StackSide::kAbove, std::make_shared<Named>("a"));
  PushInterpreter p(StackSide::kAbove, std::make_shared<Pushing>());
  PushInterpreter b(StackSide::kAbove, std::make_shared<Named>("b"));
  EXPECT_EQ(run(t), "bpiak");
  EXPECT_EQ(InterpreterStack::of_thread().active(StackSide::kAbove).size(), 3u);
}

TEST(Interpreters, ErrorsPutEverythingBack) {
  struct Failing final : Interpreter {
    const char* name() const override { return "failing"; }
    Values call(const OpInfo&, std::span<Value>) override { fail(ErrorKind::kRuntime, "no"); }
  };
  Tensor t = new_empty({1}, kFloat32);
  {
    PushInterpreter f(StackSide::kBelow, std::make_shared<Failing>());
    EXPECT_THROW(run(t), Error);
    EXPECT_EQ(tls.below, 1u);
    EXPECT_FALSE(tls.no_grad);
  }
  EXPECT_EQ(tls.below, 0u);
  EXPECT_THROW(InterpreterStack::of_thread().pop(StackSide::kBelow), Error);
}

// Notes calls as "<op", and their ends as ">" or, where they have raised, "!".
struct Noting final : CallObserver {
  uint64_t next = 0;
  std::vector<uint64_t> open;
  uint64_t begin_call(const OpInfo& o, std::span<const Value> args) override {
    order += str("<", o.name, args.size());
    open.push_back(++next);
    return next;
  }
  uint64_t begin_node(NodePart, const char*, uint64_t) override { return 0; }
  void end(uint64_t token, const Values* results) noexcept override {
    EXPECT_EQ(token, open.back());
    open.pop_back();
    order += results ? ">" : "!";
  }
};

struct Observe {
  Noting noting;
  CallObserver* before = set_call_observer(&noting);
  ~Observe() { set_call_observer(before); }
};

// An operator that is made of two calls of the other one.
Values call_outer(std::span<Value> args);
const OpInfo outer{"outer", "outer(Tensor self) -> Tensor", call_outer};
Values call_outer(std::span<Value> args) {
  Values out;
  if (tls.above && intercept(StackSide::kAbove, outer, args, out)) return out;
  call_op(args);
  return call_op(args);
}

TEST(Observers, SeeEachCallOnceAndThoseInside) {
  Tensor t = new_empty({1}, kFloat32);
  order.clear();
  {
    Observe observe;
    EXPECT_EQ(tls.above, 1u);
    EXPECT_EQ(call_observer(), &observe.noting);
    Value args[] = {t};
    EXPECT_TRUE(call_outer(args)[0].as<Tensor>().is_same(t));
  }
  EXPECT_EQ(order, "<outer1<op1gk><op1gk>>");
  EXPECT_EQ(tls.above, 0u);
  EXPECT_EQ(run(t), "k");
}

TEST(Observers, StayWhileInterpretersRun) {
  Tensor t = new_empty({1}, kFloat32);
  Observe observe;
  PushInterpreter a(StackSide::kAbove, std::make_shared<Named>("a"));
  PushInterpreter b(StackSide::kAbove, std::make_shared<Named>("b"));
  EXPECT_EQ(run(t), "<op1b<op1a<op1gk>>>");
  EXPECT_EQ(tls.above, 3u);
}

Values call_failing(std::span<Value> args);
const OpInfo failing{"failing", "failing(Tensor self) -> Tensor", call_failing};
Values call_failing(std::span<Value> args) {
  Values out;
  if (tls.above && intercept(StackSide::kAbove, failing, args, out)) return out;
  raise_error(ErrorKind::kValue, "no");
}

TEST(Observers, AreToldOfCallsThatRaise) {
  Tensor t = new_empty({1}, kFloat32);
  Observe observe;
  order.clear();
  Value args[] = {t};
  EXPECT_THROW(call_failing(args), Error);
  EXPECT_EQ(order, "<failing1!");
  EXPECT_EQ(run(t), "<op1gk>");  // the next call is seen as ever
}

}  // namespace
}  // namespace facula
