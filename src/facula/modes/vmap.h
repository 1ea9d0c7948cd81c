// vmap: the interpreter that runs operators on all samples of batched tensors at once. An operator
// without a batching rule is run sample by sample, with a warning.
#pragma once
#include "facula/modes/batched.h"
#include "facula/ops/boxed.h"

namespace facula {

// Randomness says what random operators do inside a vmap.
enum class Randomness : uint8_t { kError, kSame, kDifferent };

// Vmap is one level. Calls with tensors batched at the level are batched; others pass down.
class FACULA_API Vmap final : public Interpreter {
 public:
  Vmap(int64_t level, int64_t size, Randomness randomness)
      : level_(level), size_(size), randomness_(randomness) {}
  const char* name() const override { return "vmap"; }
  Values call(const OpInfo& op, std::span<Value> args) override;
  int64_t level() const { return level_; }
  int64_t size() const { return size_; }
  Randomness randomness() const { return randomness_; }

 private:
  int64_t level_, size_;
  Randomness randomness_;
};

// push_vmap starts a level for the calling thread and gives its number; who pops the interpreter
// ends it.
FACULA_API int64_t push_vmap(int64_t size, Randomness randomness);
// active_vmaps lists the levels that calls of this thread go to, outermost first.
FACULA_API std::vector<const Vmap*> active_vmaps();

// vmap_warning is called with the name of an operator that is run sample by sample.
extern FACULA_API void (*vmap_warning)(const char* op);

// BatchCall is a call on its way through a rule: its arguments, and the level they are batched at.
struct BatchCall {
  const BoxedOp& op;
  std::span<Value> args;
  int64_t level, size;

  // batched says whether argument i is a tensor with samples at this level.
  bool batched(size_t i) const { return args[i].is<Tensor>() && has_samples(args[i].as<Tensor>()); }
  bool has_samples(const Tensor& t) const { return batch_level(t) == level; }
  bool only_batched(size_t i) const;  // no other tensor is
  // rank counts the dimensions of a sample of argument i.
  int64_t rank(size_t i) const { return args[i].as<Tensor>().dim(); }
  // value gives argument i with its samples in front if it has any; an undefined tensor for None.
  Tensor value(size_t i) const;
  // front expands arguments without samples to have them in front too.
  Tensor front(size_t i) const;
  Tensor front(const Tensor& t) const;
  // again calls the operator on other arguments, and hide makes dimension 0 of results the samples.
  Values again(std::vector<Value> args) const { return op.call(args); }
  Values hide(Values results) const;
  Values hide(const Tensor& result) const;
  // done is hide; of an operator that writes, the first argument is the result.
  Values done(Values results) const {
    return op.writes ? Values{args[0]} : hide(std::move(results));
  }
};

// with_rank inserts dimensions of size 1 behind the samples of a value, until a sample has `rank`.
Tensor with_rank(const Tensor& value, int64_t rank);
// fold_samples makes [B * N, ...] of [B, N, ...], and unfold_samples undoes it.
Tensor fold_samples(const Tensor& value);
Tensor unfold_samples(const Tensor& t, int64_t samples);
// into_channels makes [N, B * C, ...] of [B, N, C, ...], and out_of_channels undoes it.
Tensor into_channels(const Tensor& value);
Tensor out_of_channels(const Tensor& t, int64_t samples);
// prepended puts a size in front of others.
Sizes prepended(IntList sizes, int64_t first);

// A rule computes a call, or gives no results where it does not apply; then the samples are looped
// over.
using BatchRule = Values (*)(BatchCall& call);
// batch_rule finds the rule of an operator by its name; null if there is none.
BatchRule batch_rule(const char* op);
// add_batch_rules is called while the library is loaded, by each file of rules.
struct NamedRule {
  const char* op;
  BatchRule rule;
};
void add_batch_rules(std::span<const NamedRule> rules);

// row_rule runs a call as its row says (`batch=` in the table), if it does.
Values row_rule(BatchCall& call);
// leading_rule runs an operator that samples in front of its first argument do not matter to.
Values leading_rule(BatchCall& call);
// pointwise_rule aligns the samples' dimensions and calls the operator once.
Values pointwise_rule(BatchCall& call);
// loop_over_samples runs an operator for each sample; `reset` is called before each.
Values loop_over_samples(BatchCall& call, bool warn, void (*reset)(void*), void* context);
// random_call runs a random operator as `randomness` says.
bool is_random(const char* op);
Values random_call(BatchCall& call, Randomness randomness, bool any_samples);

}  // namespace facula
