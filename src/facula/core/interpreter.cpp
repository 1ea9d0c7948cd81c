// Boxed values, the stacks of interpreters, and telling the observer of a thread of its calls.
#include "facula/core/interpreter.h"

#include <atomic>

#include "facula/base/error.h"
#include "facula/core/observer.h"

namespace facula {
namespace {

constexpr const char* kKinds[] = {"None",  "Tensor", "Scalar",        "int",      "float",
                                  "bool",  "str",    "int[]",         "float[]",  "Tensor[]",
                                  "dtype", "device", "memory_format", "Generator"};
static_assert(std::size(kKinds) == std::variant_size_v<Value::Variant>);

constexpr int kBits = 8;

// Handlers are set while modules load and read at each intercepted call; a replaced one is kept, as
// another thread may be running it.
std::atomic<Interpreter*> handlers[kBits];

int bit_number(uint8_t bit) { return __builtin_ctz(bit); }

// The observer of a thread, and the call that it was told of and that is made again just now.
struct Observation {
  CallObserver* observer;
  const OpInfo* told;
};
thread_local constinit Observation observation{};

}  // namespace

Interpreter::~Interpreter() = default;

const char* Value::kind_name() const { return kKinds[v_.index()]; }

void Value::fail_type(size_t wanted) const {
  raise_error(ErrorKind::kType, "expected a boxed ", kKinds[wanted], ", got ", kind_name());
}

int64_t Value::integer() const { return is<Scalar>() ? as<Scalar>().to_int() : as<int64_t>(); }

double Value::real() const {
  if (is<Scalar>()) return as<Scalar>().to_double();
  return is<int64_t>() ? static_cast<double>(as<int64_t>()) : as<double>();
}

bool Value::boolean() const { return is<Scalar>() ? as<Scalar>().to_bool() : as<bool>(); }

Scalar Value::scalar() const {
  if (is<int64_t>()) return as<int64_t>();
  if (is<double>()) return as<double>();
  if (is<bool>()) return as<bool>();
  return as<Scalar>();
}

uint8_t Value::mask() const {
  if (is<Tensor>()) return intercept_mask(as<Tensor>());
  if (is<std::vector<Tensor>>()) return intercept_mask(TensorList(as<std::vector<Tensor>>()));
  return 0;
}

// Running takes an interpreter, and all above it, off the stacks while it works.
class InterpreterStack::Running {
 public:
  Running(InterpreterStack& stack, StackSide side, const Interpreter* interpreter, uint8_t bits)
      : stack_(stack),
        above_(stack.above_.active),
        below_(stack.below_.active),
        off_bits_(stack.off_bits_),
        no_grad_(tls.no_grad) {
    Side& own = stack.side(side);
    size_t place = own.active;
    while (place > 0 && own.items[place - 1].get() != interpreter) --place;
    if (place > 0)
      own.active = place - 1;
    else
      own.active = 0;  // a handler of bits is below all that was pushed
    stack.off_bits_ |= bits;
    if (side == StackSide::kBelow) {
      stack.above_.active = 0;
      stack.off_bits_ |= kInterceptAbove;
      tls.no_grad = true;  // autograd has been passed
    }
    stack.note();
  }
  ~Running() {
    stack_.above_.active = above_;
    stack_.below_.active = below_;
    stack_.off_bits_ = off_bits_;
    tls.no_grad = no_grad_;
    stack_.note();
  }
  Running(const Running&) = delete;

 private:
  InterpreterStack& stack_;
  size_t above_, below_;
  uint8_t off_bits_;
  bool no_grad_;
};

InterpreterStack& InterpreterStack::of_thread() {
  if (!tls.stack) {
    thread_local InterpreterStack stack;
    tls.stack = &stack;
  }
  return *tls.stack;
}

void InterpreterStack::note() {
  tls.above = static_cast<uint32_t>(above_.active + (observation.observer != nullptr));
  tls.below = static_cast<uint32_t>(below_.active);
}

void InterpreterStack::push(StackSide s, std::shared_ptr<Interpreter> interpreter) {
  Side& own = side(s);
  // Above a running interpreter those that it switched off stay off: the new one takes their place
  // until it is popped.
  own.items.insert(own.items.begin() + static_cast<ptrdiff_t>(own.active), std::move(interpreter));
  ++own.active;
  note();
}

std::shared_ptr<Interpreter> InterpreterStack::pop(StackSide s) {
  Side& own = side(s);
  FACULA_CHECK(own.active > 0, kRuntime, "pop: no interpreter is on the stack");
  auto place = own.items.begin() + static_cast<ptrdiff_t>(own.active - 1);
  std::shared_ptr<Interpreter> out = std::move(*place);
  own.items.erase(place);
  --own.active;
  note();
  return out;
}

std::span<const std::shared_ptr<Interpreter>> InterpreterStack::active(StackSide s) const {
  return {side(s).items.data(), side(s).active};
}

void InterpreterStack::set_handler(InterceptBit bit, std::shared_ptr<Interpreter> handler) {
  static std::vector<std::shared_ptr<Interpreter>>& kept =
      *new std::vector<std::shared_ptr<Interpreter>>;
  handlers[bit_number(bit)].store(handler.get(), std::memory_order_release);
  if (handler) kept.push_back(std::move(handler));
}

Interpreter* InterpreterStack::find(StackSide s, uint8_t mask) const {
  const Side& own = side(s);
  if (own.active) return own.items[own.active - 1].get();
  mask &= static_cast<uint8_t>(~off_bits_);
  mask &= s == StackSide::kAbove ? kInterceptAbove : kInterceptBelow;
  for (; mask; mask &= static_cast<uint8_t>(mask - 1)) {
    Interpreter* handler = handlers[bit_number(mask)].load(std::memory_order_acquire);
    if (handler) return handler;
  }
  return nullptr;
}

Values InterpreterStack::run(StackSide s, Interpreter* interpreter, const OpInfo& op,
                             std::span<Value> args) {
  uint8_t bits = 0;
  for (int i = 0; i < kBits; ++i) {
    if (handlers[i].load(std::memory_order_acquire) == interpreter) {
      bits |= static_cast<uint8_t>(1u << i);
    }
  }
  Running running(*this, s, interpreter, bits);
  return interpreter->call(op, args);
}

uint8_t InterpreterStack::without_bits(uint8_t bits) {
  uint8_t before = off_bits_;
  off_bits_ |= bits;
  return before;
}

CallObserver* call_observer() { return observation.observer; }

CallObserver* set_call_observer(CallObserver* observer) {
  CallObserver* before = std::exchange(observation.observer, observer);
  size_t active = InterpreterStack::of_thread().active(StackSide::kAbove).size();
  tls.above = static_cast<uint32_t>(active + (observer != nullptr));
  return before;
}

namespace {

bool offer(StackSide side, const OpInfo& op, std::span<Value> args, Values& out) {
  uint8_t mask = 0;
  for (const Value& v : args) mask |= v.mask();
  InterpreterStack& stack = InterpreterStack::of_thread();
  Interpreter* interpreter = stack.find(side, mask);
  if (!interpreter) return false;
  out = stack.run(side, interpreter, op, args);
  return true;
}

// Makes a call again between telling its observer that it begins and that it ends. The operator
// offers itself a second time, and is then let through.
void call_observed(const OpInfo& op, std::span<Value> args, Values& out) {
  struct Scope {
    CallObserver* observer = observation.observer;
    uint64_t token;
    const OpInfo* before = nullptr;
    const Values* results = nullptr;
    Scope(const OpInfo& op, std::span<Value> args)
        : token(observer->begin_call(op, args)), before(std::exchange(observation.told, &op)) {}
    ~Scope() {
      observation.told = before;
      observer->end(token, results);
    }
  } scope(op, args);
  out = op.call(args);
  scope.results = &out;
}

}  // namespace

bool intercept(StackSide side, const OpInfo& op, std::span<Value> args, Values& out) {
  if (side == StackSide::kAbove && observation.observer) {
    if (observation.told != &op) {
      call_observed(op, args, out);
      return true;
    }
    observation.told = nullptr;
  }
  return offer(side, op, args, out);
}

}  // namespace facula
