// Making sparse tensors from their parts, and what must hold for these.
#include "facula/autograd/detach.h"
#include "facula/base/error.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"
#include "facula/sparse/parts.h"

namespace facula {
namespace sparse {
namespace {

void check_coo(const Parts& p) {
  FACULA_CHECK(p.indices.dim() == 2, kRuntime,
               "indices must be sparse_dim x nnz, but got: ", list_text(p.indices.sizes()));
  FACULA_CHECK(p.values.dim() >= 1, kRuntime, "values must have at least one dimension, nnz");
  int64_t dims = p.indices.size(0), n = p.indices.size(1);
  int64_t dense = p.values.dim() - 1, all = static_cast<int64_t>(p.sizes.size());
  FACULA_CHECK(dims + dense == all, kRuntime, "number of dimensions must be sparse_dim (", dims,
               ") + dense_dim (", dense, "), but got ", all);
  FACULA_CHECK(p.values.size(0) == n, kRuntime,
               "indices and values must have same nnz, but got nnz from indices: ", n,
               ", nnz from values: ", p.values.size(0));
  Sizes wanted{n};
  for (int64_t d = dims; d < all; ++d) wanted.push_back(p.sizes[static_cast<size_t>(d)]);
  FACULA_CHECK(p.values.sizes() == IntList(wanted), kRuntime,
               "values has incorrect size, expected ", list_text(wanted), ", got ",
               list_text(p.values.sizes()));
  Tensor at = to_contiguous(p.indices);
  for (int64_t d = 0; d < dims; ++d) {
    int64_t size = p.sizes[static_cast<size_t>(d)];
    const int64_t* row = at.data_as<int64_t>() + d * n;
    for (int64_t i = 0; i < n; ++i) {
      FACULA_CHECK(row[i] >= 0, kRuntime, "found negative index ", row[i], " for dim ", d);
      FACULA_CHECK(row[i] < size, kRuntime, "size is inconsistent with indices: for dim ", d,
                   ", size is ", size, " but found index ", row[i]);
    }
  }
  // What is called coalesced is searched and merged later.
  if (!p.coalesced) return;
  Tensor k = keys(p);
  for (int64_t i = 1; i < n; ++i) {
    FACULA_CHECK(k.data_as<int64_t>()[i - 1] < k.data_as<int64_t>()[i], kRuntime,
                 "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor");
  }
}

void check_compressed_shapes(const Parts& p) {
  const char* name = layout_name(p.layout);
  int64_t nb = p.compressed.dim() - 1, block = p.is_blocked() ? 2 : 0;
  FACULA_CHECK(nb >= 0 && p.indices.dim() == nb + 1, kRuntime, name,
               ": compressed and plain indices must have the same number of dimensions, at least "
               "one, got ",
               nb + 1, " and ", p.indices.dim());
  FACULA_CHECK(p.compressed.dtype() == p.indices.dtype() &&
                   (p.indices.dtype() == kInt64 || p.indices.dtype() == kInt32),
               kRuntime, name, ": indices must both be int32 or int64, got ",
               dtype_name(p.compressed.dtype()), " and ", dtype_name(p.indices.dtype()));
  int64_t dense = p.values.dim() - nb - 1 - block, all = static_cast<int64_t>(p.sizes.size());
  FACULA_CHECK(dense >= 0 && all == nb + 2 + dense, kRuntime, name, ": size ", list_text(p.sizes),
               " does not fit ", nb, " batch dimensions and values of size ",
               list_text(p.values.sizes()));
  Sizes wanted;
  for (int64_t d = 0; d <= nb; ++d) wanted.push_back(p.indices.size(d));
  for (int64_t d = 0; d < block; ++d) wanted.push_back(p.values.size(nb + 1 + d));
  for (int64_t d = nb + 2; d < all; ++d) wanted.push_back(p.sizes[static_cast<size_t>(d)]);
  FACULA_CHECK(p.values.sizes() == IntList(wanted), kRuntime, name, ": expected values of size ",
               list_text(wanted), ", got ", list_text(p.values.sizes()));
  auto divides = [&](int d) {
    return p.block(d) > 0 && p.sizes[static_cast<size_t>(nb + d)] % p.block(d) == 0;
  };
  FACULA_CHECK(divides(0) && divides(1), kRuntime, name, ": size ", list_text(p.sizes),
               " must be divisible by the blocksize (", p.block(0), ", ", p.block(1), ")");
  for (int64_t d = 0; d < nb; ++d) {
    int64_t size = p.sizes[static_cast<size_t>(d)];
    FACULA_CHECK(p.compressed.size(d) == size && p.indices.size(d) == size, kRuntime, name,
                 ": batch dimension ", d, " of the indices must be ", size);
  }
  int64_t lines = p.by_rows() ? p.rows() : p.cols();
  FACULA_CHECK(p.compressed.size(-1) == lines + 1, kRuntime, name,
               ": the last dimension of compressed indices must be ", lines + 1, ", got ",
               p.compressed.size(-1));
}

void check_line(const Parts& p, const int64_t* at, int64_t begin, int64_t end, bool strict) {
  int64_t others = p.by_rows() ? p.cols() : p.rows();
  for (int64_t i = begin; i < end; ++i) {
    FACULA_CHECK(at[i] >= 0 && at[i] < others, kRuntime, layout_name(p.layout), ": `0 <= index < ",
                 others, "` is not satisfied: found ", at[i]);
    FACULA_CHECK(!strict || i == begin || at[i - 1] < at[i], kRuntime, layout_name(p.layout),
                 ": indices of a line must be sorted and distinct");
  }
}

void check_compressed(const Parts& p, bool strict) {
  check_compressed_shapes(p);
  Tensor starts = to_contiguous(to_dtype(p.compressed, kInt64));
  Tensor at = to_contiguous(to_dtype(p.indices, kInt64));
  int64_t lines = p.by_rows() ? p.rows() : p.cols(), n = p.nnz();
  int64_t batches = starts.numel() / (lines + 1);
  for (int64_t b = 0; b < batches; ++b) {
    const int64_t* start = starts.data_as<int64_t>() + b * (lines + 1);
    FACULA_CHECK(start[0] == 0, kRuntime, layout_name(p.layout),
                 ": compressed_indices[..., 0] must be 0, got ", start[0]);
    FACULA_CHECK(start[lines] == n, kRuntime, layout_name(p.layout),
                 ": compressed_indices[..., -1] must be nnz = ", n, ", got ", start[lines]);
    for (int64_t line = 0; line < lines; ++line) {
      FACULA_CHECK(start[line] <= start[line + 1] && start[line + 1] <= n, kRuntime,
                   layout_name(p.layout), ": compressed indices must not fall, got ", start[line],
                   " before ", start[line + 1]);
      check_line(p, at.data_as<int64_t>() + b * n, start[line], start[line + 1], strict);
    }
  }
}

int64_t one_more_than_largest(const Tensor& indices) {
  if (indices.numel() == 0) return 0;
  check_plain(indices);
  Tensor at = to_contiguous(to_dtype(indices, kInt64));
  const auto* p = at.data_as<int64_t>();
  int64_t top = *std::max_element(p, p + at.numel());
  FACULA_CHECK(top < INT64_MAX && *std::min_element(p, p + at.numel()) >= 0, kRuntime,
               "found negative index ", *std::min_element(p, p + at.numel()));
  return top + 1;
}

Sizes guess_coo_sizes(const Tensor& indices, const Tensor& values) {
  FACULA_CHECK(indices.dim() == 2, kRuntime,
               "indices must be sparse_dim x nnz, but got: ", list_text(indices.sizes()));
  FACULA_CHECK(values.dim() >= 1, kRuntime, "values must have at least one dimension, nnz");
  Sizes sizes;
  for (int64_t d = 0; d < indices.size(0); ++d) {
    sizes.push_back(one_more_than_largest(select(indices, 0, d)));
  }
  for (int64_t d = 1; d < values.dim(); ++d) sizes.push_back(values.size(d));
  return sizes;
}

Sizes guess_compressed_sizes(const Parts& p) {
  int64_t nb = p.compressed.dim() - 1, block = p.is_blocked() ? 2 : 0;
  FACULA_CHECK(nb >= 0 && p.values.dim() > nb + block && p.compressed.size(-1) > 0, kRuntime,
               layout_name(p.layout), ": size does not follow from compressed indices of size ",
               list_text(p.compressed.sizes()), " and values of size ",
               list_text(p.values.sizes()));
  Sizes sizes(p.compressed.sizes().begin(), p.compressed.sizes().begin() + nb);
  int64_t lines = p.compressed.size(-1) - 1, others = one_more_than_largest(p.indices);
  sizes.push_back((p.by_rows() ? lines : others) * p.block(0));
  sizes.push_back((p.by_rows() ? others : lines) * p.block(1));
  for (int64_t d = nb + 1 + block; d < p.values.dim(); ++d) sizes.push_back(p.values.size(d));
  return sizes;
}

void check_sizes(IntList sizes) {
  for (int64_t s : sizes) {
    FACULA_CHECK(s >= 0, kRuntime, "Trying to create tensor with negative dimension ", s, ": ",
                 list_text(sizes));
  }
  count_elements(sizes, "sparse tensor");
}

}  // namespace

void check_plain(const Tensor& t) {
  if (!t.defined()) return;
  FACULA_CHECK(t.device().is_cpu() && !(t->intercept & kInterceptHidden), kNotImplemented,
               "sparse tensors: not built for tensors of the meta device or inside vmap; use "
               "to_dense()");
}

void check_parts(const Parts& parts, bool strict) {
  for (const Tensor* t : {&parts.compressed, &parts.indices, &parts.values}) check_plain(*t);
  check_sizes(parts.sizes);
  if (!parts.is_coo()) return check_compressed(parts, strict);
  check_sizes(IntList(parts.sizes.data(),
                      std::min(parts.sizes.size(), static_cast<size_t>(parts.indices.size(0)))));
  check_coo(parts);
}

}  // namespace sparse

SparseTensor sparse_coo_tensor(const Tensor& indices, const Tensor& values, OptIntList sizes,
                               bool is_coalesced) {
  FACULA_CHECK(!is_sparse(indices) && !is_sparse(values), kRuntime,
               "sparse_coo_tensor: expected strided indices and values");
  FACULA_CHECK(is_integral(indices.dtype()) || indices.numel() == 0, kRuntime,
               "indices must be an int64 tensor, got ", dtype_name(indices.dtype()));
  sparse::Parts p;
  p.indices = to_dtype(detach(indices), kInt64);
  p.values = values;
  p.coalesced = is_coalesced;
  p.sizes = sizes ? sizes->to_sizes() : sparse::guess_coo_sizes(p.indices, values);
  FACULA_CHECK(p.indices.dim() == 2, kRuntime,
               "indices must be sparse_dim x nnz, but got: ", list_text(p.indices.sizes()));
  sparse::check_parts(p, false);
  if (p.nnz() < 2) p.coalesced = true;
  return SparseTensor(sparse::record(p, values));
}

SparseTensor sparse_compressed_tensor(const Tensor& compressed, const Tensor& plain,
                                      const Tensor& values, OptIntList sizes, Layout layout) {
  FACULA_CHECK(!is_sparse(compressed) && !is_sparse(plain) && !is_sparse(values), kRuntime,
               "sparse_compressed_tensor: expected strided indices and values");
  FACULA_CHECK(layout != Layout::kStrided && layout != Layout::kCoo, kRuntime,
               "sparse_compressed_tensor: expected a compressed layout, got ", layout_name(layout));
  FACULA_CHECK(is_integral(compressed.dtype()) && is_integral(plain.dtype()), kRuntime,
               layout_name(layout), ": indices must be int32 or int64, got ",
               dtype_name(compressed.dtype()), " and ", dtype_name(plain.dtype()));
  sparse::Parts p;
  p.layout = layout;
  p.compressed = detach(compressed);
  p.indices = detach(plain);
  p.values = values;
  FACULA_CHECK(!p.is_blocked() || values.dim() >= compressed.dim() + 2, kRuntime,
               layout_name(layout), ": values need two dimensions for blocks, got size ",
               list_text(values.sizes()));
  p.sizes = sizes ? sizes->to_sizes() : sparse::guess_compressed_sizes(p);
  FACULA_CHECK(static_cast<int64_t>(p.sizes.size()) >= compressed.dim() + 1, kRuntime,
               layout_name(layout), ": size ", list_text(p.sizes), " has too few dimensions");
  sparse::check_parts(p, false);
  return SparseTensor(sparse::record(p, values));
}

namespace {

using sparse::Parts;

Parts resizable(const SparseTensor& t, IntList sizes, int64_t sparse_dim, int64_t dense_dim) {
  Parts p = sparse::parts_of(t.handle());
  FACULA_CHECK(p.is_coo(), kRuntime,
               "sparse_resize_: expected a tensor of the layout sparse_coo, got ",
               layout_name(p.layout));
  bool splits = sparse_dim >= 0 && dense_dim >= 0 && sparse_dim + dense_dim == sizes.ssize();
  FACULA_CHECK(splits, kRuntime, "number of dimensions must be sparse_dim (", sparse_dim,
               ") + dense_dim (", dense_dim, "), but got ", sizes.ssize());
  return p;
}

// values_shape gives the shape of n elements of a tensor.
Sizes values_shape(int64_t n, IntList sizes, int64_t sparse_dim) {
  Sizes shape{n};
  for (int64_t d = sparse_dim; d < sizes.ssize(); ++d) shape.push_back(sizes[d]);
  return shape;
}

}  // namespace

void sparse_resize_and_clear_(const SparseTensor& t, IntList sizes, int64_t sparse_dim,
                              int64_t dense_dim) {
  Parts p = resizable(t, sizes, sparse_dim, dense_dim);
  for (int64_t n : sizes) {
    FACULA_CHECK(n >= 0, kRuntime, "sparse_resize_and_clear_: expected sizes that are not ",
                 "negative, got ", list_text(sizes));
  }
  p.indices = new_empty({sparse_dim, 0}, kInt64);
  p.values = new_empty(values_shape(0, sizes, sparse_dim), p.values.dtype());
  p.sizes = sizes.to_sizes();
  p.coalesced = true;
  sparse::replace_parts(t.handle(), std::move(p));
}

void sparse_resize_(const SparseTensor& t, IntList sizes, int64_t sparse_dim, int64_t dense_dim) {
  Parts p = resizable(t, sizes, sparse_dim, dense_dim);
  if (p.nnz() == 0) return sparse_resize_and_clear_(t, sizes, sparse_dim, dense_dim);
  FACULA_CHECK(sparse_dim == p.sparse_dim() && dense_dim == p.dense_dim(), kRuntime,
               "changing the number of sparse or dense dimensions on a non-empty sparse tensor is ",
               "not supported");
  for (int64_t d = 0; d < sizes.ssize(); ++d) {
    FACULA_CHECK(sizes[d] >= p.sizes[static_cast<size_t>(d)], kRuntime,
                 "shrinking the size of a non-empty sparse tensor is not supported; use ",
                 "sparse_resize_and_clear_");
  }
  Tensor values = zeros(values_shape(p.nnz(), sizes, sparse_dim), p.values.dtype());
  Tensor kept = values;
  for (int64_t d = 1; d < kept.dim(); ++d) kept = narrow(kept, d, 0, p.values.size(d));
  copy_(kept, p.values);
  p.values = values;
  p.sizes = sizes.to_sizes();
  sparse::replace_parts(t.handle(), std::move(p));
}

}  // namespace facula
