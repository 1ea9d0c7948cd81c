// Batching rules of matrix products and convolutions. Samples become batches of matrices; in
// convolutions they fold into the batch where the weight is shared, else into the groups.
#include "facula/base/error.h"
#include "facula/modes/vmap.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/conv_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/products.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace batch_linear {

// A sample must be of this rank, else the operator itself says what is wrong.
bool ranks_are(const BatchCall& call, size_t a, int64_t rank_a, size_t b, int64_t rank_b) {
  return call.rank(a) == rank_a && call.rank(b) == rank_b;
}

Values mm_rule(BatchCall& call) {
  if (!ranks_are(call, 0, 2, 1, 2)) return {};
  if (!call.batched(1)) return call.hide(matmul(call.value(0), call.value(1)));
  return call.hide(bmm(call.front(0), call.value(1)));
}

Values bmm_rule(BatchCall& call) {
  if (!ranks_are(call, 0, 3, 1, 3)) return {};
  return call.hide(matmul(call.value(0), call.value(1)));
}

Values mv_rule(BatchCall& call) {
  if (!ranks_are(call, 0, 2, 1, 1)) return {};
  if (!call.batched(0)) return call.hide(matmul(call.value(1), transpose(call.value(0), 0, 1)));
  if (!call.batched(1)) return call.hide(matmul(call.value(0), call.value(1)));
  return call.hide(squeeze_dim(bmm(call.value(0), unsqueeze(call.value(1), -1)), {-1}));
}

Tensor dot_samples(const BatchCall& call, bool conjugate) {
  Tensor a = call.front(0);
  if (conjugate) a = conj_complex(a);
  Tensor b = call.front(1);
  check_vectors(conjugate ? "vdot" : "dot", a, b);
  Tensor products = mul(a, b);
  return sum(products, IntList({1}), false, products.dtype());
}
Values dot_rule(BatchCall& call) {
  return ranks_are(call, 0, 1, 1, 1) ? call.hide(dot_samples(call, false)) : Values();
}
Values vdot_rule(BatchCall& call) {
  return ranks_are(call, 0, 1, 1, 1) ? call.hide(dot_samples(call, true)) : Values();
}

// beta * self + alpha * product, where a sample of self may have fewer dimensions.
Tensor plus_product(const BatchCall& call, const Tensor& product) {
  Scalar beta = call.args[3].scalar(), alpha = call.args[4].scalar();
  Tensor scaled_product = alpha.to_complex() == 1.0 ? product : mul(product, alpha);
  if (beta.to_complex() == 0.0) return scaled_product;
  Tensor self = call.value(0);
  if (call.batched(0)) self = with_rank(self, product.dim() - 1);
  return add(beta.to_complex() == 1.0 ? self : mul(self, beta), scaled_product);
}

// The product of arguments 1 and 2 by the rule of an operator without the sum.
template <BatchRule kProduct>
Values add_product(BatchCall& call) {
  if (call.op.writes) return {};
  Tensor product;
  if (call.batched(1) || call.batched(2)) {
    BatchCall inner{call.op, call.args.subspan(1, 2), call.level, call.size};
    Values out = kProduct(inner);
    if (out.empty()) return {};
    product = batch_value(out[0].as<Tensor>());
  } else {
    product = matmul(call.value(1), call.value(2));
    product = call.front(product);
  }
  return call.hide(plus_product(call, product));
}

// [B, ..., n] as [B, rows, n].
Tensor rows_of(const Tensor& x) { return reshape(x, {x.sizes()[0], -1, x.sizes().back()}); }

Tensor last_replaced(const Tensor& x, const Tensor& like) {
  Sizes sizes = like.sizes().to_sizes();
  sizes.back() = x.sizes().back();
  return reshape(x, sizes);
}

bool has_no_elements(const Tensor& t) { return t.numel() == 0; }

Values linear_rule(BatchCall& call) {
  if (call.rank(0) < 1 || call.rank(1) != 2) return {};
  Tensor x = call.value(0), bias = call.value(2);
  if (has_no_elements(call.front(0)) || has_no_elements(call.front(1))) return {};
  if (!call.batched(1) && !call.batched(2)) {
    return call.hide(call.again({Value(x), call.args[1], call.args[2]}));
  }
  Tensor wide = call.front(0), out;
  if (call.batched(1)) {
    out = last_replaced(bmm(rows_of(wide), transpose(call.value(1), 1, 2)), wide);
  } else {
    out = matmul(wide, transpose(call.value(1), 0, 1));
  }
  if (bias.defined()) {
    if (call.batched(2)) {
      Sizes sizes(static_cast<size_t>(out.dim()), 1);
      sizes[0] = call.size;
      sizes.back() = bias.sizes().back();
      bias = reshape(bias, sizes);
    }
    out = add(out, bias);
  }
  return call.hide(out);
}

// grad @ conj(weight).
Values linear_input_rule(BatchCall& call) {
  if (call.rank(0) < 1 || call.rank(1) != 2 || has_no_elements(call.front(0))) return {};
  if (!call.batched(1)) return call.hide(call.again({Value(call.value(0)), call.args[1]}));
  Tensor g = call.front(0);
  return call.hide(last_replaced(bmm(rows_of(g), conj_complex(call.value(1))), g));
}

// The transposed rows of the gradient times the conjugate ones of the input.
Values linear_weight_rule(BatchCall& call) {
  if (call.rank(0) < 1 || has_no_elements(call.front(0)) || has_no_elements(call.front(1)))
    return {};
  Tensor rows = conj_complex(rows_of(call.front(1)));
  return call.hide(bmm(transpose(rows_of(call.front(0)), 1, 2), rows));
}

// ---- convolutions

// What follows the tensors of a convolution in the list of arguments, from index `first`.
struct ConvArgs {
  IntList stride, padding, dilation, output_padding;
  bool transposed;
  int64_t groups;
  ConvArgs(std::span<Value> a, size_t first)
      : stride(a[first].ints()),
        padding(a[first + 1].ints()),
        dilation(a[first + 2].ints()),
        output_padding(a[first + 4].ints()),
        transposed(a[first + 3].boolean()),
        groups(a[first + 5].integer()) {}
};

Tensor with_bias(const BatchCall& call, const Tensor& out) {
  Tensor bias = call.value(2);
  if (!bias.defined()) return out;
  Sizes sizes(static_cast<size_t>(out.dim()), 1);
  if (call.batched(2)) sizes[0] = call.size;
  sizes[2] = bias.sizes().back();
  return add(out, reshape(bias, sizes));
}

Values convolution_rule(BatchCall& call) {
  if (call.rank(0) != call.rank(1) || call.size == 0) return {};
  ConvArgs c(call.args, 3);
  auto run = [&](const Tensor& x, const Tensor& w, const Tensor& b, int64_t groups) {
    return convolution(x, w, b, c.stride, c.padding, c.dilation, c.transposed, c.output_padding,
                       groups);
  };
  if (!call.batched(1)) {
    bool own_bias = call.batched(2);
    Tensor x = call.batched(0) ? fold_samples(call.value(0)) : call.value(0);
    Tensor out = run(x, call.value(1), own_bias ? Tensor() : call.value(2), c.groups);
    out = call.batched(0) ? unfold_samples(out, call.size) : call.front(out);
    return call.hide(own_bias ? with_bias(call, out) : out);
  }
  Tensor out = run(into_channels(call.front(0)), fold_samples(call.value(1)), Tensor(),
                   c.groups * call.size);
  return call.hide(with_bias(call, out_of_channels(out, call.size)));
}

// Arguments: grad_output, input, weight, the settings from 3, the mask of wanted gradients at 9.
Values convolution_backward_rule(BatchCall& call) {
  if (call.rank(1) != call.rank(2) || call.size == 0) return {};
  ConvArgs c(call.args, 3);
  uint64_t mask = unbox_mask(call.args[9]);
  auto run = [&](const Tensor& g, const Tensor& x, const Tensor& w, int64_t groups,
                 uint64_t wanted) {
    return convolution_backward(g, x, w, c.stride, c.padding, c.dilation, c.transposed,
                                c.output_padding, groups, wanted);
  };
  Tensor g = call.front(0), dx, dw, db;
  bool shared = !call.batched(2);
  if (shared && (mask & 1)) {
    dx = unfold_samples(
        std::get<0>(run(fold_samples(g), fold_samples(call.front(1)), call.value(2), c.groups, 1)),
        call.size);
  }
  uint64_t rest = mask & (shared ? 2 : 3);
  if (rest) {
    auto out = run(into_channels(g), into_channels(call.front(1)), fold_samples(call.front(2)),
                   c.groups * call.size, rest);
    if (rest & 1) dx = out_of_channels(std::get<0>(out), call.size);
    if (rest & 2) dw = unfold_samples(std::get<1>(out), call.size);
  }
  if (mask & 4) {
    Sizes dims{1};
    for (int64_t d = 3; d < g.dim(); ++d) dims.push_back(d);
    db = sum(g, dims, false);
  }
  Values out;
  for (const Tensor& t : {dx, dw, db}) {
    out.push_back(t.defined() ? Value(make_batched(t, call.level)) : Value());
  }
  return out;
}

constexpr NamedRule kRules[] = {
    {"mm", mm_rule},
    {"bmm", bmm_rule},
    {"mv", mv_rule},
    {"dot", dot_rule},
    {"vdot", vdot_rule},
    {"addmm", add_product<mm_rule>},
    {"baddbmm", add_product<bmm_rule>},
    {"addmv", add_product<mv_rule>},
    {"linear_product", linear_rule},
    {"linear_input_grad", linear_input_rule},
    {"linear_weight_grad", linear_weight_rule},
    {"convolution", convolution_rule},
    {"convolution_backward", convolution_backward_rule},
};

__attribute__((constructor)) static void register_rules() { add_batch_rules(kRules); }

}  // namespace batch_linear
}  // namespace facula
