// Most losses are one operator; the others are formulas of a line or two.
#include "facula/nn/criteria.h"

#include "facula/core/thread_state.h"
#include "facula/nn/options.h"
#include "facula/nn/values.h"

namespace facula::nn {

void check_reduction(const char* name, const std::string& reduction) {
  check_option(name, "reduction", reduction, {"mean", "sum", "none"});
}

Tensor reduced(const char* name, const Tensor& losses, const std::string& reduction) {
  check_reduction(name, reduction);
  if (reduction == "mean") return mean(losses);
  return reduction == "sum" ? sum(losses) : losses;
}

namespace {

void check_margin(double margin) {
  FACULA_CHECK(margin > 0, kValue, "margin must be greater than 0, got ", margin);
}

}  // namespace

Tensor HuberLossOptions::call(const Tensor& x, const Tensor& target) const {
  return huber_loss(x, target, reduction, delta);
}
void KLDivLossOptions::check() const {
  check_option(kName, "reduction", reduction, {"mean", "sum", "none", "batchmean"});
}
Tensor KLDivLossOptions::call(const Tensor& x, const Tensor& target) const {
  if (reduction != "batchmean") return kl_div(x, target, reduction, log_target);
  Tensor total = kl_div(x, target, "sum", log_target);
  return x.dim() == 0 ? total : total / x.size(0);
}
Tensor PoissonNLLLossOptions::call(const Tensor& x, const Tensor& target) const {
  return poisson_nll_loss(x, target, log_input, full, eps, reduction);
}
Tensor GaussianNLLLossOptions::call(const Tensor& x, const Tensor& target,
                                    const Tensor& var) const {
  FACULA_CHECK(!item_int(any(lt(var, 0))), kValue, "var has negative entry/entries");
  bool one_short = var.dim() + 1 == x.dim();
  Tensor v = one_short ? unsqueeze(var, -1) : var;
  FACULA_CHECK(v.dim() == x.dim(), kValue, "var is of incorrect size");
  for (int64_t d = 0; d < x.dim(); ++d) {
    FACULA_CHECK(v.size(d) == x.size(d) || v.size(d) == 1, kValue, "var is of incorrect size");
  }
  v = clone(v);
  {
    NoGrad off;
    clamp_(v, Scalar(eps));
  }
  Tensor difference = x - target;
  Tensor losses = (log(v) + difference * difference / v) * 0.5;
  if (full) losses = losses + 0.9189385332046727;  // log(2 pi) / 2
  return reduced(kName, losses, reduction);
}
Tensor HingeEmbeddingLossOptions::call(const Tensor& x, const Tensor& target) const {
  return hinge_embedding_loss(x, target, margin, reduction);
}
Tensor CosineEmbeddingLossOptions::call(const Tensor& x1, const Tensor& x2,
                                        const Tensor& target) const {
  return cosine_embedding_loss(x1, x2, target, margin, reduction);
}
Tensor MarginRankingLossOptions::call(const Tensor& x1, const Tensor& x2,
                                      const Tensor& target) const {
  bool same = x1.dim() == x2.dim() && x1.dim() == target.dim();
  FACULA_CHECK(same, kRuntime,
               "margin_ranking_loss : All input tensors should have same dimension but got sizes: ",
               list_text(x1.sizes()), ", ", list_text(x2.sizes()), ", ", list_text(target.sizes()));
  return margin_ranking_loss(x1, x2, target, margin, reduction);
}
Tensor SoftMarginLossOptions::call(const Tensor& x, const Tensor& target) const {
  return soft_margin_loss(x, target, reduction);
}
Tensor MultiLabelMarginLossOptions::call(const Tensor& x, const Tensor& target) const {
  return multilabel_margin_loss(x, target, reduction);
}
Tensor MultiLabelSoftMarginLossOptions::call(const Tensor& x, const Tensor& target) const {
  Tensor losses = -(target * logsigmoid(x) + (1 - target) * logsigmoid(-x));
  if (weight.defined()) losses = losses * weight;
  return reduced(kName, sum(losses, IntList({-1})) / x.size(-1), reduction);
}
void MultiMarginLossOptions::check() const {
  check_reduction(kName, reduction);
  FACULA_CHECK(p == 1 || p == 2, kValue, "only p == 1 and p == 2 supported");
  FACULA_CHECK(!weight.defined() || weight.dim() == 1, kValue, "weight must be one-dimensional");
}
Tensor MultiMarginLossOptions::call(const Tensor& x, const Tensor& target) const {
  return multi_margin_loss(x, target, p, margin, weight, reduction);
}
void TripletMarginLossOptions::check() const {
  check_reduction(kName, reduction);
  check_margin(margin);
}
Tensor TripletMarginLossOptions::call(const Tensor& anchor, const Tensor& positive,
                                      const Tensor& negative) const {
  return triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction);
}
void TripletMarginWithDistanceLossOptions::check() const {
  check_reduction(kName, reduction);
  check_margin(margin);
}
Tensor TripletMarginWithDistanceLossOptions::call(const Tensor& anchor, const Tensor& positive,
                                                  const Tensor& negative) const {
  FACULA_CHECK(anchor.dim() == positive.dim() && anchor.dim() == negative.dim(), kRuntime,
               "The anchor, positive, and negative tensors are expected to have the same number of "
               "dimensions, but got: anchor ",
               anchor.dim(), "D, positive ", positive.dim(), "D, and negative ", negative.dim(),
               "D inputs");
  auto distance = [&](const Tensor& a, const Tensor& b) {
    return distance_function ? distance_function(a, b) : pairwise_distance(a, b);
  };
  Tensor near = distance(anchor, positive), far = distance(anchor, negative);
  if (swap) far = minimum(far, distance(positive, negative));
  return reduced(kName, clamp_min_any(near - far + margin, 0), reduction);
}
Tensor CTCLossOptions::call(const Tensor& log_probs, const Tensor& targets, IntList input_lengths,
                            IntList target_lengths) const {
  return ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, reduction,
                  zero_infinity);
}

}  // namespace facula::nn
