// The interpreter of vmap: levels, dispatch to rules, alignment of pointwise operators, and the
// loop over samples.
#include "facula/modes/vmap.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "facula/base/error.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/pointwise.h"
#include "facula/ops/shape_functions.h"

namespace facula {

void (*vmap_warning)(const char* op) = nullptr;

namespace {

std::unordered_map<std::string_view, BatchRule>& rules() {
  static auto& table = *new std::unordered_map<std::string_view, BatchRule>;
  return table;
}

bool has_samples(const BatchCall& call) {
  for (size_t i = 0; i < call.args.size(); ++i) {
    if (call.batched(i)) return true;
    if (!call.args[i].is<std::vector<Tensor>>()) continue;
    for (const Tensor& t : call.args[i].as<std::vector<Tensor>>()) {
      if (call.has_samples(t)) return true;
    }
  }
  return false;
}

// Raises where the samples of other arguments would have to be written into one tensor.
void check_writes(const BatchCall& call) {
  if (!call.op.writes || call.batched(0)) return;
  raise_error(
      ErrorKind::kRuntime, "vmap: inplace arithmetic(self, *extra_args) is not possible because ",
      "there exists a Tensor `other` in extra_args that has more elements than `self`. This "
      "happened due to `other` being vmapped over but `self` not being vmapped over at level ",
      call.level, " (", call.op.name, "); please use out-of-place operators instead.");
}

// Raises where samples that are written to one by one share memory, as those of an expanded tensor.
void check_apart(const BatchCall& call) {
  if (!call.op.writes || call.size < 2) return;
  const Tensor& value = batch_value(call.args[0].as<Tensor>());
  FACULA_CHECK(!overlaps_itself(value), kRuntime, "vmap: ", call.op.name,
               ": unsupported operation: more than one element of the written-to tensor refers to "
               "a single memory location, as its samples share memory. Please clone() the tensor "
               "before performing the operation.");
}

// common_type is the dtype that operands promote to as samples, where a sample of 0 dimensions has
// a say of its own and the values have one dimension more.
DType common_type(std::span<const TensorOrScalar> v) {
  DType all = result_type({v[0]});
  if (v.size() == 2) return result_type({v[0], v[1]});
  if (v.size() >= 3) all = result_type({v[0], v[1], v[2]});
  return all;
}

// align brings the operands of a pointwise call to one rank and, where a sample is 0-d, to the
// dtype that it promotes to.
void align(std::vector<Value>& args, const BatchCall& call, uint8_t bool_inputs) {
  int64_t rank = 0;
  bool scalars = false;
  std::vector<TensorOrScalar> voting;
  int input = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].is<Tensor>()) continue;
    const Tensor& t = args[i].as<Tensor>();
    rank = std::max(rank, t.dim());
    bool votes = !(bool_inputs >> input & 1);
    scalars |= votes && t.dim() == 0 && call.has_samples(t);
    if (votes) voting.emplace_back(t);
    ++input;
  }
  FACULA_CHECK(!call.op.writes || rank <= call.rank(0), kRuntime, call.op.name, ": an output of ",
               call.rank(0), " dimensions does not hold a result of ", rank);
  bool mixed = scalars && voting.size() > 1;
  DType type = mixed ? common_type(voting) : kFloat32;
  input = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].is<Tensor>()) continue;
    Tensor t = args[i].as<Tensor>();
    bool votes = !(bool_inputs >> input++ & 1);
    if (!call.has_samples(t)) continue;
    Tensor v = batch_value(t);
    if (mixed && votes && t.dim() == 0 && v.dtype() != type && !(call.op.writes && i == 0)) {
      v = cast(v, type);
    }
    args[i] = Value(call.op.writes && i == 0 ? v : with_rank(v, rank));
  }
}

std::atomic<int64_t> last_level{0};

// One sample of a value.
Value sample_of(const Value& v, const BatchCall& call, int64_t i) {
  if (v.is<Tensor>()) {
    const Tensor& t = v.as<Tensor>();
    return call.has_samples(t) ? Value(select(batch_value(t), 0, i)) : v;
  }
  if (!v.is<std::vector<Tensor>>()) return v;
  std::vector<Tensor> out;
  for (const Tensor& t : v.as<std::vector<Tensor>>()) {
    out.push_back(call.has_samples(t) ? select(batch_value(t), 0, i) : t);
  }
  return Value(std::move(out));
}

// For a vmap over nothing: one sample of zeros tells the shapes of the results.
Value blank_sample(const Value& v, const BatchCall& call) {
  auto blank = [&](const Tensor& t) {
    return call.has_samples(t) ? zeros(t.sizes(), t.dtype(), t.device()) : t;
  };
  if (v.is<Tensor>()) return Value(blank(v.as<Tensor>()));
  if (!v.is<std::vector<Tensor>>()) return v;
  std::vector<Tensor> out;
  for (const Tensor& t : v.as<std::vector<Tensor>>()) out.push_back(blank(t));
  return Value(std::move(out));
}

Tensor joined(const BatchCall& call, std::vector<Tensor> parts) {
  for (const Tensor& t : parts) {
    if (t.sizes() == parts[0].sizes()) continue;
    raise_error(ErrorKind::kRuntime, "vmap: ", call.op.name,
                " gives results of different shapes for different samples, ",
                list_text(parts[0].sizes()), " and ", list_text(t.sizes()),
                "; operators whose shape depends on the data cannot be mapped over");
  }
  return make_batched(stack(parts, 0), call.level);
}

// Joins what each sample gave: all[sample][result].
Values joined_results(const BatchCall& call, const std::vector<Values>& all) {
  Values out;
  for (size_t r = 0; r < all[0].size(); ++r) {
    const Value& first = all[0][r];
    if (first.is<std::vector<Tensor>>()) {
      std::vector<Tensor> list;
      for (size_t k = 0; k < first.as<std::vector<Tensor>>().size(); ++k) {
        std::vector<Tensor> parts;
        for (const Values& v : all) parts.push_back(v[r].as<std::vector<Tensor>>().at(k));
        list.push_back(joined(call, std::move(parts)));
      }
      out.push_back(Value(std::move(list)));
    } else if (first.is_none()) {
      out.push_back(Value());
    } else {
      FACULA_CHECK(first.is<Tensor>(), kRuntime, "vmap: ", call.op.name,
                   " gives a number that depends on the data of a tensor inside vmap");
      std::vector<Tensor> parts;
      for (const Values& v : all) parts.push_back(v[r].as<Tensor>());
      out.push_back(Value(joined(call, std::move(parts))));
    }
  }
  return out;
}

Values empty_results(const BatchCall& call, Values one) {
  for (Value& v : one) {
    auto none = [&](const Tensor& t) {
      return make_batched(narrow(unsqueeze(t, 0), 0, 0, 0), call.level);
    };
    if (v.is<Tensor>()) {
      v = Value(none(v.as<Tensor>()));
    } else if (v.is<std::vector<Tensor>>()) {
      for (Tensor& t : v.as<std::vector<Tensor>>()) t = none(t);
    }
  }
  return one;
}

}  // namespace

Sizes prepended(IntList sizes, int64_t first) {
  Sizes out = sizes.to_sizes();
  out.insert(out.begin(), first);
  return out;
}

Tensor with_rank(const Tensor& value, int64_t rank) {
  int64_t missing = rank + 1 - value.dim();
  if (missing <= 0) return value;
  Sizes sizes(static_cast<size_t>(rank + 1), 1);
  sizes[0] = value.sizes()[0];
  for (int64_t d = 1; d < value.dim(); ++d)
    sizes[static_cast<size_t>(d + missing)] = value.sizes()[d];
  return view(value, sizes);
}

Tensor fold_samples(const Tensor& value) {
  Sizes sizes(value.sizes().begin() + 1, value.sizes().end());
  sizes[0] = value.sizes()[0] * value.sizes()[1];
  return reshape(value, sizes);
}

Tensor unfold_samples(const Tensor& t, int64_t samples) {
  Sizes sizes = prepended(t.sizes(), samples);
  sizes[1] /= samples;
  return reshape(t, sizes);
}

Tensor into_channels(const Tensor& value) {
  Tensor y = transpose(value, 0, 1);
  Sizes sizes(y.sizes().begin() + 2, y.sizes().end());
  sizes[0] *= value.size(0);
  return reshape(y, prepended(sizes, value.size(1)));
}

Tensor out_of_channels(const Tensor& t, int64_t samples) {
  Sizes sizes = t.sizes().to_sizes();
  sizes[1] /= samples;
  sizes.insert(sizes.begin() + 1, samples);
  return transpose(reshape(t, sizes), 0, 1);
}

void add_batch_rules(std::span<const NamedRule> list) {
  for (const NamedRule& r : list) rules()[r.op] = r.rule;
}

BatchRule batch_rule(const char* op) {
  auto at = rules().find(op);
  return at == rules().end() ? nullptr : at->second;
}

bool BatchCall::only_batched(size_t i) const {
  for (size_t k = 0; k < args.size(); ++k) {
    if (k != i && batched(k)) return false;
    if (!args[k].is<std::vector<Tensor>>()) continue;
    for (const Tensor& t : args[k].as<std::vector<Tensor>>()) {
      if (has_samples(t)) return false;
    }
  }
  return batched(i);
}

Tensor BatchCall::value(size_t i) const {
  if (!args[i].is<Tensor>()) return {};
  const Tensor& t = args[i].as<Tensor>();
  return has_samples(t) ? batch_value(t) : t;
}

Tensor BatchCall::front(size_t i) const {
  return args[i].is<Tensor>() ? front(args[i].as<Tensor>()) : Tensor();
}

Tensor BatchCall::front(const Tensor& t) const {
  if (has_samples(t)) return batch_value(t);
  Sizes sizes = t.sizes().to_sizes();
  sizes.insert(sizes.begin(), size);
  return expand(unsqueeze(t, 0), sizes);
}

Values BatchCall::hide(Values results) const {
  for (Value& v : results) {
    if (v.is<Tensor>()) {
      v = Value(make_batched(v.as<Tensor>(), level));
    } else if (v.is<std::vector<Tensor>>()) {
      for (Tensor& t : v.as<std::vector<Tensor>>()) t = make_batched(t, level);
    }
  }
  return results;
}

Values BatchCall::hide(const Tensor& result) const {
  Values out;
  out.push_back(Value(make_batched(result, level)));
  return out;
}

Values pointwise_rule(BatchCall& call) {
  std::vector<Value> args(call.args.begin(), call.args.end());
  align(args, call, call.op.bool_inputs);
  Values results = call.again(std::move(args));
  if (!call.op.writes) return call.hide(std::move(results));
  Values out;
  out.push_back(call.args[0]);
  return out;
}

Values loop_over_samples(BatchCall& call, bool warn, void (*reset)(void*), void* context) {
  check_writes(call);
  check_apart(call);
  if (warn && vmap_warning) vmap_warning(call.op.name);
  if (call.size == 0) {
    if (call.op.writes) return Values{call.args[0]};
    std::vector<Value> args;
    for (const Value& v : call.args) args.push_back(blank_sample(v, call));
    return empty_results(call, call.again(std::move(args)));
  }
  std::vector<Values> all;
  for (int64_t i = 0; i < call.size; ++i) {
    if (reset) reset(context);
    std::vector<Value> args;
    for (const Value& v : call.args) args.push_back(sample_of(v, call, i));
    all.push_back(call.again(std::move(args)));
  }
  if (call.op.writes) return Values{call.args[0]};
  return joined_results(call, all);
}

Values Vmap::call(const OpInfo& info, std::span<Value> args) {
  BatchCall call{static_cast<const BoxedOp&>(info), args, level_, size_};
  bool any = has_samples(call);
  if (is_random(info.name)) return random_call(call, randomness_, any);
  if (!any) return info.call(args);
  check_writes(call);
  if (call.op.kind == BoxedOp::kPointwise) return pointwise_rule(call);
  BatchRule rule = batch_rule(info.name);
  Values out = rule ? rule(call) : row_rule(call);
  if (!out.empty()) return out;
  return loop_over_samples(call, true, nullptr, nullptr);
}

int64_t push_vmap(int64_t size, Randomness randomness) {
  int64_t level = ++last_level;
  InterpreterStack::of_thread().push(StackSide::kAbove,
                                     std::make_shared<Vmap>(level, size, randomness));
  return level;
}

std::vector<const Vmap*> active_vmaps() {
  std::vector<const Vmap*> out;
  for (const auto& i : InterpreterStack::of_thread().active(StackSide::kAbove)) {
    if (auto* v = dynamic_cast<const Vmap*>(i.get())) out.push_back(v);
  }
  return out;
}

}  // namespace facula
