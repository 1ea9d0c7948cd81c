// Losses composed of other operators, with PyTorch's checks and reductions.
#include <cmath>

#include "facula/base/error.h"
#include "facula/ops/activation_functions.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/clamp_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/loss_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

Tensor reduced(const Tensor& t, std::string_view reduction) {
  if (reduction == "mean") return mean(t);
  if (reduction == "sum") return sum(t);
  if (reduction == "none") return t;
  fail(ErrorKind::kValue, str(reduction, " is not a valid value for reduction"));
}

void same_shapes(const Tensor& input, const Tensor& target, const char* op) {
  if (input.sizes() == target.sizes()) return;
  fail(ErrorKind::kValue,
       str("Using a target size (", list_text(target.sizes()),
           ") that is different to the input size (", list_text(input.sizes()), ") in ", op,
           " is deprecated. Please ensure they have the same size."));
}

Tensor weighted(const Tensor& loss, const Tensor& weight) {
  return weight.defined() ? as_dtype(mul(loss, weight), loss.dtype()) : loss;
}

}  // namespace

Tensor l1_loss(const Tensor& input, const Tensor& target, std::string_view reduction) {
  return reduced(abs(sub(input, target)), reduction);
}

Tensor mse_loss(const Tensor& input, const Tensor& target, std::string_view reduction) {
  return reduced(square(sub(input, target)), reduction);
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, std::string_view reduction,
                      double beta) {
  if (!(beta >= 0))
    fail(ErrorKind::kRuntime, "smooth_l1_loss does not support negative values for beta.");
  if (beta == 0) return l1_loss(input, target, reduction);
  Tensor z = abs(sub(input, target));
  return reduced(where(lt(z, beta), div(mul(mul(z, z), 0.5), beta), sub(z, 0.5 * beta)), reduction);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, std::string_view reduction,
                  double delta) {
  if (!(delta > 0))
    fail(ErrorKind::kRuntime, "huber_loss does not support non-positive values for delta.");
  Tensor z = abs(sub(input, target));
  Tensor loss = where(le(z, delta), mul(mul(z, z), 0.5), mul(sub(z, 0.5 * delta), delta));
  return reduced(input.is_floating_point() ? as_dtype(loss, input.dtype()) : loss, reduction);
}

Tensor soft_margin_loss(const Tensor& input, const Tensor& target, std::string_view reduction) {
  return reduced(softplus_value(neg(mul(input, target))), reduction);
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                            std::string_view reduction) {
  same_shapes(input, target, "binary_cross_entropy");
  {
    NoGrad no_grad;
    Tensor seen = all_samples(input);
    if (input.numel() && !input.is_meta() &&
        !allclose(seen, clamp(seen, Scalar(0.0), Scalar(1.0)), 0, 0, false)) {
      fail(ErrorKind::kRuntime, "all elements of input should be between 0 and 1");
    }
  }
  return reduced(weighted(probability_entropy(input, target), weight), reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const Tensor& weight, const Tensor& pos_weight,
                                        std::string_view reduction) {
  if (!(input.sizes() == target.sizes())) {
    fail(ErrorKind::kValue,
         str("Target size (", list_text(target.sizes()), ") must be the same as input size (",
             list_text(input.sizes()), ")"));
  }
  Tensor loss;
  if (pos_weight.defined()) {
    Tensor log_weight = add(mul(sub(pos_weight, 1), target), 1);
    loss = add(mul(sub(1, target), input), mul(log_weight, softplus_value(neg(input))));
  } else {
    loss = logit_entropy(input, target);
  }
  return reduced(weighted(loss, weight), reduction);
}

Tensor kl_div(const Tensor& input, const Tensor& target, std::string_view reduction,
              bool log_target) {
  Tensor loss = log_target ? mul(exp(target), sub(target, input))
                           : sub(xlogy(target, target), mul(target, input));
  return reduced(loss, reduction);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full,
                        double eps, std::string_view reduction) {
  Tensor loss = log_input ? sub(exp(input), mul(target, input))
                          : sub(input, mul(target, log(add(input, eps))));
  if (full) {
    Tensor stirling =
        add(sub(mul(target, log(target)), target), mul(log(mul(target, 2 * M_PI)), 0.5));
    loss = add(loss, where(le(target, 1), 0, stirling));
  }
  return reduced(loss, reduction);
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin,
                            std::string_view reduction) {
  Tensor negative = where(eq(target, 1), 0, clamp_min_any(sub(margin, input), 0));
  Tensor positive = where(eq(target, -1), 0, input);
  return reduced(add(negative, positive), reduction);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin, std::string_view reduction) {
  if (target.dim() > 1 || input1.dim() != target.dim() + 1 || input2.dim() != target.dim() + 1) {
    fail(ErrorKind::kRuntime,
         str(target.dim(), "D target tensor expects ", target.dim() + 1,
             "D input tensors, but found inputs with sizes ", list_text(input1.sizes()), " and ",
             list_text(input2.sizes()), "."));
  }
  constexpr double kEps = 1e-12;
  int64_t d = target.dim();
  Tensor dot = sum(mul(input1, input2), {d});
  Tensor a = add(sum(mul(input1, input1), {d}), kEps), b = add(sum(mul(input2, input2), {d}), kEps);
  Tensor cosine = div(dot, sqrt(mul(a, b)));
  Tensor positive = where(eq(target, 1), sub(1, cosine), 0);
  Tensor negative = where(eq(target, -1), clamp_min_any(sub(cosine, margin), 0), 0);
  return reduced(add(positive, negative), reduction);
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin, std::string_view reduction) {
  if (input1.dim() != input2.dim() || input1.dim() != target.dim()) {
    fail(ErrorKind::kRuntime,
         str("margin_ranking_loss : All input tensors should have same dimension but got sizes: "
             "input1: ",
             list_text(input1.sizes()), ", input2: ", list_text(input2.sizes()),
             ", target: ", list_text(target.sizes()), " "));
  }
  return reduced(clamp_min_any(add(mul(neg(target), sub(input1, input2)), margin), 0), reduction);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  return vector_norm(add(sub(x1, x2), eps), p, IntList({-1}), keepdim);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, bool swap,
                           std::string_view reduction) {
  if (!(margin > 0)) {
    fail(ErrorKind::kRuntime,
         str("triplet_margin_loss: expected margin to be greater than 0, got ", margin));
  }
  if (anchor.dim() != positive.dim() || anchor.dim() != negative.dim()) {
    fail(ErrorKind::kRuntime,
         str("The anchor, positive, and negative tensors are expected to have the same number of "
             "dimensions, but got: anchor ",
             anchor.dim(), "D, positive ", positive.dim(), "D, and negative ", negative.dim(),
             "D inputs"));
  }
  Tensor near = pairwise_distance(anchor, positive, p, eps, false);
  Tensor far = pairwise_distance(anchor, negative, p, eps, false);
  if (swap) far = minimum(far, pairwise_distance(positive, negative, p, eps, false));
  return reduced(clamp_min_any(sub(add(near, margin), far), 0), reduction);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  DType t = result_type({x1, x2});
  if (!is_inexact(t)) {
    fail(ErrorKind::kRuntime,
         str("expected common dtype to be floating point, yet common dtype is ", dtype_title(t)));
  }
  Sizes sizes = broadcast_sizes(x1.sizes(), x2.sizes(), "cosine_similarity");
  int64_t along = wrap_dim(dim, static_cast<int64_t>(sizes.size()), "cosine_similarity");
  // Vectors have the common length before their norms are taken; other dimensions stay narrow.
  auto vectors = [&](const Tensor& x) {
    Tensor typed = as_dtype(x, t);
    Sizes own(sizes.size(), 1);
    std::copy(x.sizes().begin(), x.sizes().end(), own.end() - x.dim());
    if (along < static_cast<int64_t>(own.size())) own[along] = sizes[along];
    return x.sizes() == IntList(own) ? typed : expand(typed, own);
  };
  Tensor a = vectors(x1), b = vectors(x2);
  Tensor na = clamp_min_any(vector_norm(a, 2, IntList(dim), true), eps),
         nb = clamp_min_any(vector_norm(b, 2, IntList(dim), true), eps);
  return sum(mul(div(a, na), div(b, nb)), {dim});
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target, const Scalar& p,
                         const Scalar& margin, const Tensor& weight, std::string_view reduction) {
  int64_t classes = input.dim() ? input.sizes().back() : 1;
  if (p.re != 1 && p.re != 2)
    fail(ErrorKind::kRuntime, "multi_margin_loss: Invalid p, expected 1 or 2");
  bool shapes_fit = input.dim() <= 2 && input.numel() > 0 && target.dim() <= 1 &&
                    target.numel() == (input.dim() == 2 ? input.sizes()[0] : 1);
  if (!shapes_fit && !(input.dim() == 2 && input.sizes()[0] == 0)) {
    fail(ErrorKind::kRuntime,
         str("multi_margin_loss: inconsistent target size, expected ",
             input.dim() == 2 ? input.sizes()[0] : 1, " but got ", list_text(target.sizes())));
  }
  if (weight.defined() && (weight.dim() > 1 || weight.numel() != classes)) {
    fail(ErrorKind::kRuntime, str("multi_margin_loss: inconsistent weight size, expected ", classes,
                                  " but got ", list_text(weight.sizes())));
  }
  if (weight.defined() && weight.dtype() != input.dtype()) {
    fail(ErrorKind::kRuntime,
         str("multi_margin_loss: expected weight of scalar type ", dtype_title(input.dtype()),
             " but found ", dtype_title(weight.dtype())));
  }
  Tensor x = reshape(input, {-1, classes}), t = reshape(target, {-1, 1});
  Tensor right = gather(x, 1, t);
  Tensor z = clamp_min_any(add(sub(x, right), margin), 0);
  if (p.re == 2) z = mul(z, z);
  if (weight.defined()) z = mul(z, reshape(index_select(weight, 0, reshape(t, {-1})), {-1, 1}));
  z = scatter_value(z, 1, t, Scalar(0.0));
  Tensor loss = div(sum(z, IntList({1})), static_cast<double>(classes));
  return reduced(input.dim() == 2 ? loss : reshape(loss, target.sizes()), reduction);
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              std::string_view reduction) {
  int64_t classes = input.dim() ? input.sizes().back() : 1;
  if (!(input.sizes() == target.sizes()) || input.dim() > 2) {
    fail(ErrorKind::kRuntime,
         str("multilabel_margin_loss: inconsistent target size: ", list_text(target.sizes()),
             " for input of size: ", list_text(input.sizes())));
  }
  Tensor x = reshape(input, {-1, classes}), t = reshape(target, {-1, classes});
  // the labels of a row end at the first -1
  Tensor valid = eq(cumsum(to_int64(lt(t, 0)), 1), 0);
  Tensor index = where(valid, t, 0);
  Tensor is_label = gt(scatter_add(zeros_like(t), 1, index, to_int64(valid)), 0);
  Tensor right = unsqueeze(gather(x, 1, index), 2);  // [n, label, 1]
  Tensor z = clamp_min_any(add(sub(unsqueeze(x, 1), right), 1), 0);
  Tensor counted = logical_and(unsqueeze(valid, 2), unsqueeze(logical_not(is_label), 1));
  Tensor loss = div(sum(where(counted, z, 0), IntList({1, 2})), static_cast<double>(classes));
  return reduced(input.dim() == 2 ? loss : reshape(loss, {}), reduction);
}

}  // namespace facula
