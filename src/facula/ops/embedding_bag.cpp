// embedding_bag: offsets are completed to one more than the bags, then the kernels reduce.
#include "facula/base/error.h"
#include "facula/kernels/bag.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/clamp_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/embedding_bag_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

// Operands as the kernels take them; offsets have one entry more than there are bags.
struct BagCall {
  Tensor indices, offsets;
  kernels::Bags bags{};

  BagCall(const Tensor& i, const Tensor& o, int64_t rows, int64_t dim, int64_t mode,
          int64_t padding)
      : indices(to_contiguous(to_dtype(i, kInt64))), offsets(to_contiguous(to_dtype(o, kInt64))) {
    bags = {offsets.numel() - 1,
            dim,
            rows,
            indices.data_as<int64_t>(),
            offsets.data_as<int64_t>(),
            padding,
            static_cast<int>(mode)};
  }
};

const void* data_or_null(const Tensor& t) { return t.defined() ? t.data() : nullptr; }

Tensor samples_of(const Tensor& t, DType dtype) {
  return t.defined() ? to_contiguous(to_dtype(t, dtype)) : t;
}

}  // namespace

namespace forward {

std::tuple<Tensor, Tensor> reduce_bags(const Tensor& weight, const Tensor& indices,
                                       const Tensor& offsets, const Tensor& per_sample_weights,
                                       int64_t mode, int64_t padding_idx, bool) {
  Tensor w = to_contiguous(weight);
  int64_t dim = w->sizes[1], count = offsets.numel() - 1;
  Tensor out = new_empty({count, dim}, w.dtype(), w.device()), chosen;
  if (mode == 2) chosen = new_empty({count, dim}, kInt64, w.device());
  if (out.is_meta()) return {out, chosen};
  BagCall c(indices, offsets, w->sizes[0], dim, mode, padding_idx);
  Tensor s = samples_of(per_sample_weights, w.dtype());
  kernels::Fault fault;
  kernels::bags->forward(w.dtype(), out.data(),
                         chosen.defined() ? chosen.data_as<int64_t>() : nullptr, w.data(),
                         data_or_null(s), c.bags, &fault);
  if (fault) {
    raise_error(ErrorKind::kRuntime,
                "embedding_bag: Expected idx >= 0 && idx < num_embeddings, got ", fault.value,
                " at position ", fault.position, " for ", fault.bound, " embeddings");
  }
  return {out, chosen};
}

Tensor reduce_bags_weight_grad(const Tensor& grad_output, const Tensor& indices,
                               const Tensor& offsets, const Tensor& per_sample_weights,
                               const Tensor& max_indices, int64_t rows, int64_t mode,
                               int64_t padding_idx, bool scale_grad_by_freq) {
  Tensor g = to_contiguous(grad_output);
  Tensor out = new_empty({rows, g->sizes[1]}, g.dtype(), g.device());
  if (out.is_meta()) return out;
  BagCall c(indices, offsets, rows, g->sizes[1], mode, padding_idx);
  Tensor s = samples_of(per_sample_weights, g.dtype()), counts;
  if (scale_grad_by_freq) {
    counts = new_empty({rows}, kInt64);
    fill_raw(counts, 0);
    for (int64_t i = 0; i < c.indices.numel(); ++i) {
      ++counts.data_as<int64_t>()[c.bags.indices[i]];
    }
  }
  kernels::bags->weight_grad(g.dtype(), out.data(), g.data(), data_or_null(s),
                             static_cast<const int64_t*>(data_or_null(max_indices)),
                             static_cast<const int64_t*>(data_or_null(counts)), c.bags);
  return out;
}

Tensor reduce_bags_sample_grad(const Tensor& grad_output, const Tensor& weight,
                               const Tensor& indices, const Tensor& offsets, int64_t padding_idx) {
  Tensor g = to_contiguous(grad_output), w = to_contiguous(weight);
  Tensor out = new_empty(indices.sizes(), g.dtype(), g.device());
  if (out.is_meta()) return out;
  BagCall c(indices, offsets, w->sizes[0], w->sizes[1], 0, padding_idx);
  kernels::bags->sample_grad(g.dtype(), out.data(), g.data(), w.data(), c.bags);
  return out;
}

}  // namespace forward

Tensor reduce_bags_again(const Tensor& weight, const Tensor& indices, const Tensor& offsets,
                         const Tensor& per_sample_weights, const Tensor& max_indices, int64_t mode,
                         int64_t padding_idx, bool scale_grad_by_freq) {
  if (mode == 2) {
    // Each element of a bag comes from the row that its maximum was in.
    Tensor rows = gather(weight, 0, clamp_min(max_indices, 0));
    return masked_fill(rows, lt(max_indices, 0), 0);
  }
  if (scale_grad_by_freq) {
    raise_error(ErrorKind::kNotImplemented,
                "embedding_bag: the derivative of its backward with scale_grad_by_freq");
  }
  return std::get<0>(
      reduce_bags(weight, indices, offsets, per_sample_weights, mode, padding_idx, false));
}

namespace {

void check_bags(const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t mode,
                bool sparse, const Tensor& per_sample_weights) {
  auto is_index = [](const Tensor& t) { return t.dtype() == kInt64 || t.dtype() == kInt32; };
  if (sparse && mode == 2) {
    raise_error(ErrorKind::kRuntime, "embedding_bag: max mode does not support sparse weights");
  }
  if (weight.dim() != 2 || indices.dim() != 1 || offsets.dim() != 1) {
    raise_error(ErrorKind::kValue,
                "embedding_bag: expected a 2-D weight, 1-D indices and 1-D offsets, ", "got ",
                list_text(weight.sizes()), ", ", list_text(indices.sizes()), ", ",
                list_text(offsets.sizes()));
  }
  if (!is_index(indices) || !is_index(offsets)) {
    raise_error(ErrorKind::kRuntime,
                "embedding_bag: Expected indices and offsets to be Int or Long, got ",
                dtype_title(indices.dtype()), " and ", dtype_title(offsets.dtype()));
  }
  if (mode < 0 || mode > 2) raise_error(ErrorKind::kValue, "embedding_bag: unknown mode ", mode);
  if (per_sample_weights.defined() && mode != 0) {
    raise_error(ErrorKind::kNotImplemented, "embedding_bag: per_sample_weights was not None. ",
                "per_sample_weights is only supported for mode='sum'");
  }
  if (per_sample_weights.defined() && !(per_sample_weights.sizes() == indices.sizes())) {
    raise_error(ErrorKind::kValue, "embedding_bag: If per_sample_weights (",
                list_text(per_sample_weights.sizes()), ") is not None, then it must have the same ",
                "shape as the input (", list_text(indices.sizes()), ')');
  }
}

// The offsets of all bags and of the end; RuntimeError where they do not cut the indices in order.
Tensor complete_offsets(const Tensor& offsets, int64_t count, int64_t total, bool has_last) {
  Tensor ends = new_empty({count + 1}, kInt64), starts = to_contiguous(to_dtype(offsets, kInt64));
  int64_t* e = ends.data_as<int64_t>();
  for (int64_t i = 0; i < count; ++i) e[i] = starts.data_as<int64_t>()[i];
  e[count] = has_last ? starts.data_as<int64_t>()[count] : total;
  for (int64_t i = 0; i < count; ++i) {
    if ((i == 0 && e[0] != 0) || e[i] > e[i + 1] || e[i + 1] > total) {
      raise_error(ErrorKind::kRuntime,
                  "embedding_bag: offsets must begin with 0, not decrease and not ",
                  "exceed the number of indices (", total, "), got ", e[i], " and ", e[i + 1]);
    }
  }
  return ends;
}

// sum_bags is reduce_bags put together from operators, so that the gradient of the weight is
// sparse.
Tensor sum_bags(const Tensor& weight, const Tensor& indices, const Tensor& bag_of,
                const Tensor& sizes, const Tensor& per_sample_weights, bool mean, int64_t padding) {
  Tensor rows = embedding(weight, indices, padding, false, true);
  if (per_sample_weights.defined()) rows = mul(rows, unsqueeze(per_sample_weights, 1));
  if (padding >= 0) rows = where(unsqueeze(eq(indices, Scalar(padding)), 1), Scalar(0), rows);
  Tensor out = index_add(zeros({sizes.numel(), weight.size(1)}, weight.dtype()), 0, bag_of, rows);
  if (!mean) return out;
  return div(out, cast(unsqueeze(clamp_min(sizes, Scalar(1)), 1), weight.dtype()));
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(
    const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq,
    int64_t mode, bool sparse, const Tensor& per_sample_weights, bool include_last_offset,
    std::optional<int64_t> padding_idx) {
  check_bags(weight, indices, offsets, mode, sparse, per_sample_weights);
  int64_t count = offsets.numel() - (include_last_offset ? 1 : 0), total = indices.numel();
  if (count < 0)
    raise_error(ErrorKind::kRuntime, "embedding_bag: include_last_offset needs an offset");
  if (weight.is_meta() || indices.is_meta() || offsets.is_meta()) {
    return {new_empty({count, weight->sizes[1]}, weight.dtype(), kMeta),
            new_empty({total}, kInt64, kMeta), new_empty({count}, kInt64, kMeta),
            new_empty({count}, kInt64, kMeta)};
  }
  Tensor ends = complete_offsets(offsets, count, total, include_last_offset);
  Tensor bag_of = new_empty({total}, kInt64), sizes = new_empty({count}, kInt64);
  int64_t padding = -1;
  if (padding_idx) {
    padding = *padding_idx < 0 ? *padding_idx + weight->sizes[0] : *padding_idx;
  }
  Tensor dense = to_contiguous(to_dtype(indices, kInt64));
  const int64_t* e = ends.data_as<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    int64_t n = 0;
    for (int64_t k = e[i]; k < e[i + 1]; ++k) {
      bag_of.data_as<int64_t>()[k] = i;
      n += dense.data_as<int64_t>()[k] != padding;
    }
    sizes.data_as<int64_t>()[i] = n;
  }
  Tensor none = new_empty({count}, kInt64);
  fill_raw(none, 0);
  if (sparse && recording(weight)) {
    return {sum_bags(weight, dense, bag_of, sizes, per_sample_weights, mode == 1, padding), bag_of,
            sizes, none};
  }
  auto [result, chosen] =
      reduce_bags(weight, dense, ends, per_sample_weights, mode, padding, scale_grad_by_freq);
  return {result, bag_of, sizes, chosen.defined() ? chosen : none};
}

}  // namespace facula
