// Random operators inside vmap: refused, drawn once for all samples, or drawn for each of them.
#include <array>
#include <unordered_set>

#include "facula/base/error.h"
#include "facula/core/generator.h"
#include "facula/modes/vmap.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/random_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace batch_random {

using State = std::array<std::byte, Generator::kStateBytes>;

// The generator that a call draws from.
Generator& generator_of(const BatchCall& call) {
  for (const Value& v : call.args) {
    if (v.is<Ref<Generator>>()) return *v.as<Ref<Generator>>();
  }
  return default_generator();
}

// Every sample starts from the same state of the generator.
struct Rewind {
  Generator& generator;
  State state;
  explicit Rewind(Generator& g) : generator(g) { g.get_state(state); }
  static void run(void* self) {
    auto* r = static_cast<Rewind*>(self);
    r->generator.set_state(r->state);
  }
};

bool is_dropout(std::string_view op) { return op == "dropout" || op == "feature_dropout"; }

// Dropout is linear in its input: the decisions for one sample are what it makes of ones.
Tensor same_dropout(BatchCall& call) {
  const Tensor& x = call.args[0].as<Tensor>();
  std::vector<Value> args(call.args.begin(), call.args.end());
  args[0] = Value(ones(x.sizes(), x.dtype(), x.device()));
  Tensor mask = call.again(std::move(args))[0].as<Tensor>();
  return mul(call.value(0), mask);
}

Tensor different_dropout(BatchCall& call) {
  std::vector<Value> args(call.args.begin(), call.args.end());
  Tensor x = call.front(0);
  bool by_feature = std::string_view(call.op.name) == "feature_dropout";
  Sizes sizes = x.sizes().to_sizes(), flat(sizes.begin() + 1, sizes.end());
  if (by_feature && !flat.empty()) flat[0] *= call.size;
  args[0] = Value(by_feature && !flat.empty() ? reshape(x, flat) : x);
  return reshape(call.again(std::move(args))[0].as<Tensor>(), sizes);
}

// Factories draw all samples at once; `place` is the argument with the shape.
int shape_argument(std::string_view op) {
  if (op == "rand" || op == "randn") return 0;
  if (op == "randint") return 1;
  if (op == "randint_low" || op == "normal_size") return 2;
  return -1;
}

bool is_like(std::string_view op) {
  return op == "rand_like" || op == "randn_like" || op == "randint_like" ||
         op == "randint_like_low" || op == "bernoulli" || op == "poisson" || op == "normal_mean" ||
         op == "normal_std";
}

Values different(BatchCall& call) {
  std::string_view op = call.op.name;
  if (is_dropout(op)) return call.hide(different_dropout(call));
  std::vector<Value> args(call.args.begin(), call.args.end());
  if (int at = shape_argument(op); at >= 0) {
    Sizes sizes = args[static_cast<size_t>(at)].ints().to_sizes();
    sizes.insert(sizes.begin(), call.size);
    args[static_cast<size_t>(at)] = Value(IntList(sizes));
    return call.hide(call.again(std::move(args)));
  }
  size_t at = op == "normal_std" ? 1 : 0;
  if (is_like(op) && args[at].is<Tensor>()) {
    args[at] = Value(call.front(at));
    return call.hide(call.again(std::move(args)));
  }
  if (call.op.writes && !call.batched(0)) {
    raise_error(
        ErrorKind::kRuntime,
        "vmap: Cannot ask for different inplace randomness on an unbatched "
        "tensor. This will appear like same randomness. If this is necessary for your usage, "
        "please file an issue with functorch.");
  }
  return loop_over_samples(call, false, nullptr, nullptr);
}

}  // namespace batch_random

bool is_random(const char* op) {
  static const std::unordered_set<std::string_view> names{"rand",
                                                          "randn",
                                                          "randint",
                                                          "randint_low",
                                                          "randperm",
                                                          "rand_like",
                                                          "randn_like",
                                                          "randint_like",
                                                          "randint_like_low",
                                                          "normal",
                                                          "normal_mean",
                                                          "normal_std",
                                                          "normal_size",
                                                          "uniform_",
                                                          "normal_",
                                                          "random_",
                                                          "random_below_",
                                                          "random_between_",
                                                          "exponential_",
                                                          "geometric_",
                                                          "cauchy_",
                                                          "log_normal_",
                                                          "bernoulli_",
                                                          "bernoulli_tensor_",
                                                          "bernoulli",
                                                          "bernoulli_p",
                                                          "multinomial",
                                                          "poisson",
                                                          "binomial",
                                                          "dropout",
                                                          "dropout_",
                                                          "feature_dropout",
                                                          "feature_dropout_",
                                                          "alpha_dropout",
                                                          "alpha_dropout_",
                                                          "feature_alpha_dropout",
                                                          "feature_alpha_dropout_",
                                                          "rrelu",
                                                          "rrelu_"};
  return names.contains(op);
}

Values random_call(BatchCall& call, Randomness randomness, bool any_samples) {
  if (randomness == Randomness::kError) {
    raise_error(
        ErrorKind::kRuntime,
        "vmap: called random operation while in randomness error mode. "
        "Please either use the 'same' or 'different' randomness flags on vmap or perform the "
        "randomness operation out of vmap (",
        call.op.name, ")");
  }
  using namespace batch_random;
  if (randomness == Randomness::kDifferent) return different(call);
  if (!any_samples) return call.op.call(call.args);
  if (is_dropout(call.op.name)) return call.hide(same_dropout(call));
  Rewind rewind(generator_of(call));
  return loop_over_samples(call, false, Rewind::run, &rewind);
}

namespace batch_random {

// The decisions of a dropout that was recorded before: the same for every sample, as its stream
// says.
Values dropout_with_rule(BatchCall& call) {
  if (call.op.writes || call.size == 0) return {};
  Tensor one = ones_like(select(call.value(0), 0, 0));  // in the layout that the numbering follows
  Tensor mask = dropout_with(one, call.args[1].real(), call.args[2].integer());
  return call.hide(mul(call.value(0), mask));
}

constexpr NamedRule kRules[] = {{"dropout_with", dropout_with_rule}};

__attribute__((constructor)) static void register_rules() { add_batch_rules(kRules); }

}  // namespace batch_random
}  // namespace facula
