// ctc_loss by the forward recursion of Graves et al. (2006), all samples of a batch at once. It is
// made of other operators, so that its derivatives, samples of vmap and meta tensors come from
// them.
#include <algorithm>
#include <limits>

#include "facula/base/error.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/clamp_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/counts.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/loss_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

// The logarithm of nothing; finite, so that the difference of two is no NaN.
constexpr double kNever = -1e30;

Tensor int_column(IntList values, Device device) {
  Tensor t = new_empty({values.ssize(), 1}, kInt64);
  std::copy(values.begin(), values.end(), t.data_as<int64_t>());
  return device.is_cpu() ? t : new_empty(t.sizes(), kInt64, device);
}

Tensor positions(int64_t count, Device device) {
  return arange(0, Scalar(count), 1, kInt64, device);
}

void check_lengths(IntList lengths, int64_t batch, int64_t most, const char* what) {
  FACULA_CHECK(lengths.ssize() == batch, kRuntime, what, " must be of size batch_size");
  for (int64_t n : lengths) {
    FACULA_CHECK(n >= 0, kRuntime, "Expected ", what, " to have value at least 0, but got ", n);
    FACULA_CHECK(n <= most, kRuntime, "Expected ", what, " to have value at most ", most,
                 ", but got ", n);
  }
}

// padded_labels gives targets as (batch, longest), with whatever behind the end of each.
Tensor padded_labels(const Tensor& targets, IntList lengths, int64_t longest) {
  FACULA_CHECK(is_integral(targets.dtype()), kRuntime, "ctc_loss: expected integer targets, got ",
               dtype_name(targets.dtype()));
  int64_t batch = lengths.ssize();
  if (targets.dim() == 1) {
    Sizes starts;
    int64_t total = 0;
    for (int64_t n : lengths) {
      starts.push_back(total);
      add_count("ctc_loss", total, n);
    }
    FACULA_CHECK(total == targets.numel(), kRuntime, "Expected target_lengths to have sum of ",
                 targets.numel(), ", but got ", total);
    Tensor at = add(int_column(starts, targets.device()), positions(longest, targets.device()));
    at = clamp(at, std::nullopt, Scalar(std::max<int64_t>(total - 1, 0)));
    return reshape(index_select(targets, 0, reshape(at, {-1})), {batch, longest});
  }
  FACULA_CHECK(targets.dim() == 2 && targets.size(0) == batch, kRuntime,
               "ctc_loss: expected targets of size (", batch, ", S) or (sum(target_lengths)), got ",
               list_text(targets.sizes()));
  FACULA_CHECK(longest <= targets.size(1), kRuntime, "Expected tensor to have size at least ",
               longest, " at dimension 1, but got size ", list_text(targets.sizes()),
               " for argument #2 'targets'");
  return narrow(targets, 1, 0, longest);
}

// extended_labels gives the labels with blanks between and around them, (batch, 2 * longest + 1).
Tensor extended_labels(const Tensor& targets, IntList lengths, int64_t blank) {
  int64_t batch = lengths.ssize(), longest = 0;
  for (int64_t n : lengths) longest = std::max(longest, n);
  Tensor labels = facula::cast(padded_labels(targets, lengths, longest), kInt64);
  Device device = targets.device();
  Tensor inside = lt(positions(longest, device), int_column(lengths, device));
  labels = where(inside, labels, Scalar(blank));
  Tensor blanks = full_like(labels, Scalar(blank));
  Tensor pairs = reshape(stack(std::vector<Tensor>{labels, blanks}, -1), {batch, 2 * longest});
  return cat(std::vector<Tensor>{full({batch, 1}, Scalar(blank), kInt64, device), pairs}, 1);
}

// skippable says from which labels the one before the last may be reached directly: a label
// follows the one before the blank unless it repeats it.
Tensor skippable(const Tensor& labels) {
  int64_t width = labels.size(1);
  Tensor odd = ne(remainder(positions(width, labels.device()), Scalar(2)), Scalar(0));
  Tensor differs = ne(narrow(labels, 1, 2, width - 2), narrow(labels, 1, 0, width - 2));
  Tensor none = zeros({labels.size(0), 2}, kBool, labels.device());
  return logical_and(cat(std::vector<Tensor>{none, differs}, 1), odd);
}

Tensor log_add(const std::vector<Tensor>& parts) {
  return logsumexp(stack(parts, 0), IntList(int64_t{0}));
}

// log_likelihoods gives the logarithm of the probability of each target, about kNever where it has
// none.
Tensor log_likelihoods(const Tensor& log_probs, const Tensor& labels, IntList inputs,
                       IntList lengths) {
  int64_t steps = log_probs.size(0), batch = log_probs.size(1), width = labels.size(1);
  Device device = log_probs.device();
  Tensor never = full({batch, width}, Scalar(kNever), log_probs.dtype(), device);
  Tensor at = gather(log_probs, 2, expand(unsqueeze(labels, 0), {steps, batch, width}));
  Tensor skips = width > 2 ? skippable(labels) : Tensor();
  Tensor ends = int_column(inputs, device);
  Tensor alpha = where(lt(positions(width, device), Scalar(2)), select(at, 0, 0), never);
  for (int64_t t = 1; t < steps; ++t) {
    std::vector<Tensor> parts{
        alpha, cat(std::vector<Tensor>{narrow(never, 1, 0, 1), narrow(alpha, 1, 0, width - 1)}, 1)};
    if (width > 2) {
      Tensor two =
          cat(std::vector<Tensor>{narrow(never, 1, 0, 2), narrow(alpha, 1, 0, width - 2)}, 1);
      parts.push_back(where(skips, two, never));
    }
    Tensor moved = add(log_add(parts), select(at, 0, t));
    alpha = where(gt(ends, Scalar(t)), clamp(moved, Scalar(2 * kNever)), alpha);
  }
  Tensor last = mul(int_column(lengths, device), Scalar(2));
  Tensor before = gather(alpha, 1, clamp(sub(last, Scalar(1)), Scalar(0)));
  before = where(gt(last, Scalar(0)), before, narrow(never, 1, 0, 1));
  return reshape(log_add({gather(alpha, 1, last), before}), {-1});
}

// probability_mass sums exp(log_probs) over the steps that count: it enters the gradient, which is
// that of logarithms of a softmax, but not the value.
Tensor probability_mass(const Tensor& log_probs, IntList inputs) {
  Device device = log_probs.device();
  Tensor times = unsqueeze(positions(log_probs.size(0), device), 1);
  Tensor alive = lt(times, reshape(int_column(inputs, device), {1, -1}));
  return sum(where(unsqueeze(alive, 2), exp(log_probs), Scalar(0.0)), IntList({0, 2}));
}

}  // namespace

Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, IntList input_lengths,
                IntList target_lengths, int64_t blank, std::string_view reduction,
                bool zero_infinity) {
  if (log_probs.dim() == 2) {
    Tensor loss = ctc_loss(unsqueeze(log_probs, 1), reshape(targets, {1, -1}), input_lengths,
                           target_lengths, blank, reduction, zero_infinity);
    return reduction == "none" ? squeeze_dim(loss, 0) : loss;
  }
  FACULA_CHECK(log_probs.dim() == 3, kRuntime,
               "ctc_loss: expected log_probs of size (T, N, C) or (T, C), got ",
               list_text(log_probs.sizes()));
  bool known = reduction == "mean" || reduction == "sum" || reduction == "none";
  FACULA_CHECK(known, kValue, reduction, " is not a valid value for reduction");
  int64_t steps = log_probs.size(0), batch = log_probs.size(1);
  FACULA_CHECK(blank >= 0 && blank < log_probs.size(2), kRuntime, "blank must be in label range");
  FACULA_CHECK(steps > 0, kRuntime, "ctc_loss: expected log_probs of at least one step");
  check_lengths(input_lengths, batch, steps, "input_lengths");
  check_lengths(target_lengths, batch, std::numeric_limits<int64_t>::max(), "target_lengths");
  Tensor labels = extended_labels(targets, target_lengths, blank);
  Tensor loss = neg(log_likelihoods(log_probs, labels, input_lengths, target_lengths));
  Tensor mass = probability_mass(log_probs, input_lengths);
  loss = add(loss, sub(mass, detach(mass)));
  double worst = zero_infinity ? 0.0 : std::numeric_limits<double>::infinity();
  loss = where(gt(loss, Scalar(-0.1 * kNever)), Scalar(worst), loss);
  if (reduction == "none") return loss;
  if (reduction == "sum") return sum(loss);
  Tensor counts = reshape(int_column(target_lengths, loss.device()), {-1});
  return mean(div(loss, facula::cast(clamp(counts, Scalar(1)), loss.dtype())));
}

}  // namespace facula
