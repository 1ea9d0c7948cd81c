// The rules of forward mode. Linear rows apply themselves to tangents; pointwise rows scale them by
// the derivative that their node knows; products, normalizations and selections have rules by hand.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <utility>
#include <unordered_map>

#include "facula/autograd/meta.h"
#include "facula/autograd/pruning.h"
#include "facula/modes/forward.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/pool_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/softmax_functions.h"

namespace facula {
namespace forward_rules {

using Tangents = std::vector<Tensor>;

std::vector<Value> copied(const ForwardCall& c) { return {c.args.begin(), c.args.end()}; }

Tensor plus(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return a.defined() ? a : b;
  return add(a, b);
}

// The results of a call as tangents.
Tangents tangents_of(const Values& results) {
  Tangents out;
  for (const Value& v : results) {
    if (v.is<std::vector<Tensor>>()) {
      for (const Tensor& t : v.as<std::vector<Tensor>>()) out.push_back(t);
    } else {
      out.push_back(v.is<Tensor>() ? v.as<Tensor>() : Tensor());
    }
  }
  return out;
}

// The arguments that have gradients, replaced by their tangents.
std::vector<Value> on_tangents(const ForwardCall& c) {
  std::vector<Value> args = copied(c);
  for (size_t i = 0; i < args.size(); ++i) {
    if (!(c.op.gradients >> i & 1)) continue;
    if (args[i].is<Tensor>()) {
      args[i] = Value(c.filled(i));
    } else if (args[i].is<std::vector<Tensor>>()) {
      std::vector<Tensor> list = args[i].as<std::vector<Tensor>>();
      for (size_t k = 0; k < list.size(); ++k) {
        Tensor t = c.tangents[i][k];
        list[k] = t.defined() ? t : zeros_like(list[k]);
      }
      args[i] = Value(std::move(list));
    }
  }
  return args;
}

Tangents linear(const ForwardCall& c) {
  std::vector<Value> args = on_tangents(c);
  return tangents_of(c.op.call(args));
}

// Views that ask for a layout, which a tangent need not have.
Tangents dense_view(const ForwardCall& c) {
  std::vector<Value> args = on_tangents(c);
  args[0] = Value(to_contiguous(args[0].as<Tensor>()));
  return tangents_of(c.op.call(args));
}

// Affine in argument 0: the constant in argument K counts as zero.
template <size_t K>
Tangents without_constant(const ForwardCall& c) {
  std::vector<Value> args = copied(c);
  args[0] = Value(c.filled(0));
  args[K] = Value(Scalar(int64_t{0}));
  return tangents_of(c.op.call(args));
}

// Applies the node of a pointwise call to the tangents: what it makes of a gradient, element by
// element, is the derivative times it. Complex derivatives would come out conjugated.
Tangents pointwise(const ForwardCall& c) {
  const Tensor& r = c.result(0);
  Node* node = grad_fn(r);
  if (!node || r.is_complex()) return {};
  PruningScope all(nullptr);
  Tensor total;
  for (size_t i = 0; i < c.args.size(); ++i) {
    if (c.args[i].is<Tensor>() && c.value(i).is_complex()) return {};
    Tensor t = c.tangent(i);
    if (!t.defined()) continue;
    auto edge = static_cast<size_t>(std::popcount(c.op.tensors & ((1u << i) - 1)));
    Gradients grads(1), grads_in(node->edges.size());
    grads[0] = expand(cast(t, r.dtype()), r.sizes());
    node->apply(grads, grads_in);
    if (edge >= grads_in.size() || !node->needs(edge)) return {};
    if (grads_in[edge].defined()) total = plus(total, expand(grads_in[edge], r.sizes()));
  }
  return {total.defined() ? total : zeros_like(r)};
}

// The product without what is added to it: linear in each of arguments A and B.
template <size_t A, size_t B>
Tensor product_tangent(const ForwardCall& c, std::vector<Value> args) {
  Tensor total;
  for (auto [at, t] : {std::pair(A, c.tangent(A)), std::pair(B, c.tangent(B))}) {
    if (!t.defined()) continue;
    std::vector<Value> with = args;
    with[at] = Value(t);
    Values part = c.op.call(with);
    total = plus(total, unbox_tensor(part[0]));
  }
  return total;
}

template <size_t A, size_t B>
Tangents bilinear(const ForwardCall& c) {
  return {product_tangent<A, B>(c, copied(c))};
}

// With a bias in argument 2, which stands at dimension kDim of the result (from the end if < 0).
template <int64_t kDim>
Tangents biased_product(const ForwardCall& c) {
  std::vector<Value> args = copied(c);
  args[2] = Value();
  Tensor total = product_tangent<0, 1>(c, std::move(args)), bias = c.tangent(2);
  const Tensor& r = c.result(0);
  if (bias.defined()) {
    Sizes sizes(static_cast<size_t>(r.dim()), 1);
    sizes[static_cast<size_t>(kDim < 0 ? r.dim() + kDim : kDim)] = bias.numel();
    total = plus(total, expand(view(to_contiguous(bias), sizes), r.sizes()));
  }
  return {total};
}

// beta * self + alpha * product of arguments 1 and 2.
Tangents added_product(const ForwardCall& c) {
  const Tensor& r = c.result(0);
  Tensor total;
  for (size_t at : {1, 2}) {
    if (!c.tangent(at).defined()) continue;
    std::vector<Value> args = copied(c);
    args[0] = Value(zeros_like(r));
    args[at] = Value(c.tangent(at));
    total = plus(total, c.op.call(args)[0].as<Tensor>());
  }
  if (Tensor t = c.tangent(0); t.defined()) {
    total = plus(total, expand(mul(t, c.args[3].scalar()), r.sizes()));
  }
  return {total};
}

Tensor along(const Tensor& t, int64_t dim) { return sum(t, IntList({dim}), true); }

Tangents softmax_rule(const ForwardCall& c) {
  const Tensor& r = c.result(0);
  Tensor t = cast(c.tangent(0), r.dtype());
  return {mul(r, sub(t, along(mul(r, t), c.args[1].integer())))};
}

Tangents log_softmax_rule(const ForwardCall& c) {
  const Tensor& r = c.result(0);
  Tensor t = cast(c.tangent(0), r.dtype());
  return {sub(t, along(mul(exp(r), t), c.args[1].integer()))};
}

// sum exp(x - r) * t over what came before, in logarithms: nothing overflows. Real tangents go
// apart by their sign. Where only -inf came before, any tangent serves; it is 0.
Tangents logcumsumexp_rule(const ForwardCall& c) {
  const Tensor &x = c.value(0), &r = c.result(0);
  if (r.dim() == 0 || r.numel() == 0) return {};
  int64_t dim = c.args[1].integer();
  bool complex = r.is_complex();
  Tensor t = c.tangent(0), none = full_like(t, Scalar(-INFINITY)), zero = eq(t, 0);
  Tensor empty = eq(complex ? real(r) : r, -INFINITY), base = where(empty, 0, r);
  Tensor filled = where(zero, 1, t), size = log(complex ? filled : abs(filled));
  auto weighed = [&](const Tensor& left_out) {
    return exp(sub(logcumsumexp(add(x, where(left_out, none, size)), dim), base));
  };
  Tensor total = complex ? weighed(zero) : sub(weighed(le(t, 0)), weighed(ge(t, 0)));
  return {where(empty, 0, total)};
}

// Operators that pick elements along a dimension: results are values and positions.
template <bool kKeeps>
Tangents picked(const ForwardCall& c) {
  size_t at = c.op.dim;
  int64_t dim = c.args[at].integer();
  Tensor t = c.tangent(0), where = c.result(1);
  if (t.dim() == 0) return {t, Tensor()};
  bool keeps = kKeeps || c.args[at + 1].boolean();
  Tensor r = gather(t, dim, keeps ? where : unsqueeze(where, dim));
  return {keeps ? r : squeeze_dim(r, IntList({dim})), Tensor()};
}

Tangents max_pool_rule(const ForwardCall& c) {
  if (!c.result(1).defined()) return {};
  int64_t spatial = c.args[1].ints().ssize();
  return {max_pool_gather(c.tangent(0), c.result(1), spatial), Tensor()};
}

// With r = (x - mean) * rstd: dr = rstd * (dx - mean(dx) - r * mean(r * dx)) over the row.
Tangents layer_norm_rule(const ForwardCall& c) {
  const Tensor &x = c.value(0), &mean_of = c.result(1), &rstd_of = c.result(2);
  int64_t n = c.args[1].ints().ssize(), rank = x.dim();
  Sizes rows(static_cast<size_t>(rank), 1), dims;
  for (int64_t d = 0; d < rank - n; ++d) rows[static_cast<size_t>(d)] = x.sizes()[d];
  for (int64_t d = rank - n; d < rank; ++d) dims.push_back(d);
  Tensor rstd = reshape(rstd_of, rows);
  Tensor r = mul(sub(x, reshape(mean_of, rows)), rstd), total;
  if (Tensor t = c.tangent(0); t.defined()) {
    Tensor centred = sub(t, mean(t, dims, true));
    total = mul(rstd, sub(centred, mul(r, mean(mul(r, t), dims, true))));
    if (c.value(2).defined()) total = mul(total, c.value(2));
  }
  if (Tensor t = c.tangent(2); t.defined()) total = plus(total, mul(r, t));
  if (Tensor t = c.tangent(3); t.defined()) total = plus(total, expand(t, x.sizes()));
  return {cast(total, c.result(0).dtype()), Tensor(), Tensor()};
}

Tangents cross_entropy_rule(const ForwardCall& c) {
  if (c.args[5].real() != 0) return {};
  Tensor x = c.value(0), t = c.tangent(0);
  if (!t.defined()) return {};
  int64_t dim = x.dim() == 1 ? 0 : 1;
  Tensor log_p = sub(t, along(mul(softmax(x, dim), t), dim));
  auto [loss, total] = nll_loss_classes(log_p, c.value(1), c.value(2), c.args[3].integer(),
                                        c.args[4].as<std::string>());
  return {loss, Tensor(), Tensor()};
}

const std::unordered_map<std::string_view, ForwardRule>& rules() {
  static const std::unordered_map<std::string_view, ForwardRule> table{
      {"view", dense_view},
      {"view_as_complex", dense_view},
      {"as_strided", nullptr},  // its positions are those of the argument's own memory
      {"constant_pad_nd", without_constant<2>},
      {"scatter_value", without_constant<3>},
      {"index_fill", without_constant<3>},
      {"mm", bilinear<0, 1>},
      {"bmm", bilinear<0, 1>},
      {"mv", bilinear<0, 1>},
      {"dot", bilinear<0, 1>},
      {"vdot", bilinear<0, 1>},
      {"linear_input_grad", bilinear<0, 1>},
      {"linear_weight_grad", bilinear<0, 1>},
      {"linear_product", biased_product<-1>},
      {"convolution", biased_product<1>},
      {"addmm", added_product},
      {"baddbmm", added_product},
      {"addmv", added_product},
      {"softmax", softmax_rule},
      {"log_softmax", log_softmax_rule},
      {"logcumsumexp", logcumsumexp_rule},
      {"max_dim", picked<false>},
      {"min_dim", picked<false>},
      {"mode", picked<false>},
      {"kthvalue", picked<false>},
      {"median_dim", picked<false>},
      {"sort", picked<true>},
      {"topk", picked<true>},
      {"cummax", picked<true>},
      {"cummin", picked<true>},
      {"max_pool", max_pool_rule},
      {"layer_norm_rows", layer_norm_rule},
      {"cross_entropy_classes", cross_entropy_rule},
  };
  return table;
}

}  // namespace forward_rules

ForwardRule forward_rule(const BoxedOp& op) {
  auto& named = forward_rules::rules();
  if (auto at = named.find(op.name); at != named.end()) return at->second;
  if (op.kind == BoxedOp::kPointwise) return forward_rules::pointwise;
  return op.kind == BoxedOp::kView || op.linear ? forward_rules::linear : nullptr;
}

}  // namespace facula
