// From one layout to another.
#include "facula/base/error.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/sparse/parts.h"

namespace facula {
namespace sparse {
namespace {

// Keys of the elements of blocked values, [elements * block], in the order of values.
Tensor element_keys(const Parts& p, const Tensor& block_keys) {
  int64_t br = p.block(0), bc = p.block(1), rows = p.rows(), cols = p.cols();
  Tensor out = new_empty({block_keys.numel() * br * bc}, kInt64);
  auto* to = out.data_as<int64_t>();
  const auto* k = block_keys.data_as<int64_t>();
  for (int64_t i = 0; i < block_keys.numel(); ++i) {
    int64_t batch = k[i] / (rows * cols), row = k[i] / cols % rows, col = k[i] % cols;
    for (int64_t r = 0; r < br; ++r) {
      for (int64_t c = 0; c < bc; ++c) {
        *to++ = ((batch * rows + row) * br + r) * (cols * bc) + col * bc + c;
      }
    }
  }
  return out;
}

// Where elements go in a compressed layout: the blocks, each with its line and place in it.
struct Blocks {
  Layout layout;
  int64_t batches, rows, cols, br, bc;  // rows and cols of the grid of blocks
  bool by_rows() const { return layout == Layout::kCsr || layout == Layout::kBsr; }
  int64_t lines() const { return by_rows() ? rows : cols; }
  int64_t others() const { return by_rows() ? cols : rows; }
};

// Numbers blocks by line, and elements inside their block.
void block_keys(const Blocks& b, const Tensor& keys, Tensor& block, Tensor& inner) {
  block = new_empty({keys.numel()}, kInt64);
  inner = new_empty({keys.numel()}, kInt64);
  int64_t width = b.cols * b.bc, height = b.rows * b.br;
  for (int64_t i = 0; i < keys.numel(); ++i) {
    int64_t k = keys.data_as<int64_t>()[i];
    int64_t batch = k / (width * height), row = k / width % height, col = k % width;
    int64_t line = b.by_rows() ? row / b.br : col / b.bc;
    int64_t other = b.by_rows() ? col / b.bc : row / b.br;
    block.data_as<int64_t>()[i] = (batch * b.lines() + line) * b.others() + other;
    inner.data_as<int64_t>()[i] = row % b.br * b.bc + col % b.bc;
  }
}

// Counts the blocks of each line, sorted keys given; every batch must have as many.
void compress_lines(const Blocks& b, const Tensor& sorted, Parts& out, IntList batch_sizes) {
  int64_t n = sorted.numel(), lines = b.lines();
  int64_t each = b.batches ? n / b.batches : 0;
  Tensor starts = new_empty({b.batches, lines + 1}, kInt64), at = new_empty({n}, kInt64);
  auto* s = starts.data_as<int64_t>();
  std::fill(s, s + starts.numel(), 0);
  const auto* k = sorted.data_as<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    int64_t line = k[i] / b.others();
    at.data_as<int64_t>()[i] = k[i] % b.others();
    ++s[line / lines * (lines + 1) + line % lines + 1];
  }
  for (int64_t batch = 0; batch < b.batches; ++batch) {
    int64_t* own = s + batch * (lines + 1);
    for (int64_t line = 0; line < lines; ++line) own[line + 1] += own[line];
    FACULA_CHECK(own[lines] == each, kRuntime,
                 "Expect the same number of specified elements per batch.");
  }
  Sizes shape = batch_sizes.to_sizes();
  shape.push_back(lines + 1);
  out.compressed = reshape(starts, shape);
  shape.back() = each;
  out.indices = reshape(at, shape);
}

// compress turns a coalesced COO tensor into a compressed layout.
Tensor compress(const Tensor& coo, Layout layout, int64_t br, int64_t bc) {
  const Parts& p = parts_of(coo);
  int64_t nb = p.sparse_dim() - 2;
  Blocks b{layout, 1, p.sizes[static_cast<size_t>(nb)], p.sizes[static_cast<size_t>(nb) + 1],
           br,     bc};
  FACULA_CHECK(br > 0 && bc > 0 && b.rows % br == 0 && b.cols % bc == 0, kRuntime,
               "to_sparse: tensor sparse size (", b.rows, ", ", b.cols,
               ") must be divisible by given blocksize (", br, ", ", bc, ")");
  b.rows /= br;
  b.cols /= bc;
  Sizes batch_sizes(p.sizes.begin(), p.sizes.begin() + nb);
  for (int64_t s : batch_sizes) b.batches *= s;
  Tensor block, inner;
  block_keys(b, keys(p), block, inner);
  Groups groups = group_keys(block);
  Parts out;
  out.layout = layout;
  out.sizes = p.sizes;
  Tensor sorted = index_select(block, 0, index_select(groups.order, 0, groups.first));
  compress_lines(b, sorted, out, batch_sizes);
  Tensor v = values_of(coo);
  Sizes shape = batch_sizes;
  shape.push_back(out.indices.size(-1));
  if (out.is_blocked()) {
    Tensor to = add(mul(groups.group, Scalar(br * bc)), inner);
    Sizes room = v.sizes().to_sizes();
    room[0] = groups.count * br * bc;
    bool flags = v.dtype() == kBool;
    v = index_add(zeros(room, flags ? kUInt8 : v.dtype()), 0, to, flags ? cast(v, kUInt8) : v);
    if (flags) v = cast(v, kBool);
    shape.push_back(br);
    shape.push_back(bc);
  } else {
    v = index_select(v, 0, groups.order);
  }
  for (int64_t d = 1; d < p.values.dim(); ++d) shape.push_back(p.values.size(d));
  return record(out, reshape(v, shape));
}

}  // namespace

Tensor to_coo(const Tensor& handle) {
  const Parts& p = parts_of(handle);
  if (p.is_coo()) return coalesced(handle);
  Tensor k = keys(p), v = flat_values(p, values_of(handle));
  if (p.is_blocked()) {
    k = element_keys(p, k);
    v = flatten(v, 0, 2);
  }
  Groups groups = group_keys(k);
  Parts out;
  out.sizes = p.sizes;
  out.coalesced = true;
  size_t dims = static_cast<size_t>(p.batch_dim() + 2);
  Tensor at = index_select(k, 0, index_select(groups.order, 0, groups.first));
  out.indices = unravel(at, IntList(p.sizes.data(), dims));
  return record(out, sum_groups(groups, v));
}

}  // namespace sparse

using sparse::Parts;

Tensor to_dense(const SparseTensor& t) {
  Tensor handle = sparse::settled(t.handle());
  const Parts& p = sparse::parts_of(handle);
  Tensor v = sparse::flat_values(p, sparse::values_of(handle));
  bool flags = v.dtype() == kBool;
  if (flags) v = cast(v, kInt64);
  Tensor grid = sparse::to_grid(zeros(p.sizes, v.dtype()), p);
  Tensor out = sparse::from_grid(index_add(grid, 0, sparse::keys(p), v), p);
  return flags ? ne(out, Scalar(0)) : out;
}

SparseTensor to_sparse(const Tensor& t, int64_t sparse_dim) {
  FACULA_CHECK(!is_sparse(t), kRuntime, "to_sparse: expected a strided tensor");
  require_data("to_sparse", t);
  if (sparse_dim < 0) sparse_dim = t.dim();
  FACULA_CHECK(sparse_dim <= t.dim() && (sparse_dim > 0 || t.dim() == 0), kRuntime,
               "sparse_dim must be in the range (0, ", t.dim(), "], got ", sparse_dim);
  Parts out;
  out.sizes = t.sizes().to_sizes();
  out.coalesced = true;
  IntList grid_sizes(out.sizes.data(), static_cast<size_t>(sparse_dim));
  Sizes shape{count_elements(grid_sizes, "to_sparse")};
  for (size_t d = grid_sizes.size(); d < out.sizes.size(); ++d) shape.push_back(out.sizes[d]);
  Tensor grid = reshape(t, shape), kept = ne(grid, Scalar(0));
  if (kept.dim() > 1) kept = any(flatten(kept, 1), Sizes{1});
  Tensor keys = reshape(nonzero(kept), {-1});
  out.indices = sparse::unravel(keys, grid_sizes);
  return SparseTensor(sparse::record(out, index_select(grid, 0, keys)));
}

SparseTensor to_sparse(const Tensor& t, Layout layout, IntList block, int64_t dense_dim) {
  FACULA_CHECK(layout != Layout::kStrided, kRuntime, "to_sparse: the layout must be a sparse one");
  FACULA_CHECK(dense_dim >= 0 && dense_dim <= t.dim(), kRuntime,
               "to_sparse: dense_dim must be in [0, ", t.dim(), "], got ", dense_dim);
  if (layout != Layout::kCoo) {
    FACULA_CHECK(t.dim() - dense_dim >= 2, kRuntime, "to_sparse: expected at least 2 sparse ",
                 "dimensions for layout ", layout_name(layout), ", got ", t.dim() - dense_dim);
  }
  return to_layout(to_sparse(t, t.dim() - dense_dim), layout, block);
}

SparseTensor to_layout(const SparseTensor& t, Layout layout, IntList block) {
  const Parts& p = sparse::parts_of(t.handle());
  bool blocked = layout == Layout::kBsr || layout == Layout::kBsc;
  FACULA_CHECK(layout != Layout::kStrided, kRuntime, "to_layout: use to_dense");
  FACULA_CHECK(!blocked || block.size() == 2, kRuntime, "to_sparse requires blocksize for layout ",
               layout_name(layout));
  FACULA_CHECK(blocked || block.empty(), kRuntime, "to_sparse for ", layout_name(layout),
               " takes no blocksize");
  if (p.layout == layout && (!blocked || (block[0] == p.block(0) && block[1] == p.block(1)))) {
    return t;
  }
  Tensor coo = sparse::to_coo(t.handle());
  if (layout == Layout::kCoo) return SparseTensor(coo);
  FACULA_CHECK(sparse::parts_of(coo).sparse_dim() >= 2, kRuntime, "to_sparse: conversion to ",
               layout_name(layout), " expects at least 2 sparse dimensions, got ",
               sparse::parts_of(coo).sparse_dim());
  return SparseTensor(
      sparse::compress(coo, layout, blocked ? block[0] : 1, blocked ? block[1] : 1));
}

SparseTensor sparse_mask(const Tensor& t, const SparseTensor& mask) {
  const Parts& p = sparse::parts_of(mask.handle());
  FACULA_CHECK(t.sizes() == mask.sizes(), kRuntime, "sparse_mask(): operands have incompatible ",
               "sizes; self has size ", list_text(t.sizes()), " but mask has size ",
               list_text(mask.sizes()));
  Parts like = p;
  if (p.values.dtype() != t.dtype()) like.values = zeros(p.values.sizes(), t.dtype());
  return SparseTensor(sparse::record(like, sparse::values_at(like, t)));
}

SparseTensor transpose(const SparseTensor& t, int64_t dim0, int64_t dim1) {
  int64_t d0 = wrap_dim(dim0, t.dim(), "transpose"), d1 = wrap_dim(dim1, t.dim(), "transpose");
  if (d0 == d1) return t;
  if (d0 > d1) std::swap(d0, d1);
  Tensor handle = sparse::settled(t.handle());
  Parts out = sparse::parts_of(handle);
  Tensor v = sparse::values_of(handle);
  int64_t nb = out.batch_dim(), ns = out.sparse_dim();
  bool matrix = !out.is_coo() && d0 == nb && d1 == nb + 1;
  bool dense = d0 >= nb + ns;
  FACULA_CHECK(matrix || dense || (out.is_coo() && d1 < ns), kRuntime, "transpose: a ",
               layout_name(out.layout),
               " tensor transposes two sparse or two dense dimensions, got ", d0, " and ", d1);
  std::swap(out.sizes[static_cast<size_t>(d0)], out.sizes[static_cast<size_t>(d1)]);
  if (dense) {
    int64_t first = out.is_blocked() ? nb + 3 : nb + 1;
    v = transpose(v, d0 - nb - ns + first, d1 - nb - ns + first);
    out.values = detach(v);
  } else if (out.is_coo()) {
    std::vector<Tensor> lines = unbind(out.indices, 0);
    std::swap(lines[static_cast<size_t>(d0)], lines[static_cast<size_t>(d1)]);
    out.indices = stack(TensorList(lines), 0);
    out.coalesced = out.nnz() < 2 && out.coalesced;
  } else {
    constexpr Layout kOther[] = {Layout::kStrided, Layout::kCoo, Layout::kCsc,
                                 Layout::kCsr,     Layout::kBsc, Layout::kBsr};
    out.layout = kOther[static_cast<int>(out.layout)];
    if (out.is_blocked()) {
      v = transpose(v, nb + 1, nb + 2);
      out.values = detach(v);
    }
  }
  return SparseTensor(sparse::record(out, v));
}

}  // namespace facula
