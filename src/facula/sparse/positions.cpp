// Positions as numbers: keys of the grid that a pattern's elements lie on, their order and groups,
// and strided tensors seen as such grids.
#include "facula/base/error.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/sort_functions.h"
#include "facula/sparse/parts.h"

namespace facula::sparse {

namespace {

Tensor as_int64(const Tensor& t) { return to_contiguous(to_dtype(t, kInt64)); }

[[noreturn]] FACULA_COLD void fail_index(int64_t value, int64_t bound) {
  raise_error(ErrorKind::kRuntime, "the indices of a sparse tensor have been overwritten: found ",
              value, " where less than ", bound, " was expected");
}

// Indices are checked whenever they are read: users may write to them.
inline int64_t checked(int64_t index, int64_t bound) {
  if (index < 0 || index >= bound) [[unlikely]]
    fail_index(index, bound);
  return index;
}

Tensor coo_keys(const Parts& p) {
  Tensor at = as_int64(p.indices);
  int64_t dims = at.size(0), n = at.size(1);
  Tensor out = new_empty({n}, kInt64);
  auto* k = out.data_as<int64_t>();
  const auto* index = at.data_as<int64_t>();
  std::fill(k, k + n, 0);
  for (int64_t d = 0; d < dims; ++d) {
    int64_t size = p.sizes[static_cast<size_t>(d)];
    for (int64_t i = 0; i < n; ++i) k[i] = k[i] * size + checked(index[d * n + i], size);
  }
  return out;
}

Tensor compressed_keys(const Parts& p) {
  Tensor starts = as_int64(p.compressed), at = as_int64(p.indices);
  int64_t lines = p.by_rows() ? p.rows() : p.cols(), others = p.by_rows() ? p.cols() : p.rows();
  int64_t n = p.nnz(), batches = n ? at.numel() / n : 0;
  Tensor out = new_empty({at.numel()}, kInt64);
  auto* k = out.data_as<int64_t>();
  for (int64_t b = 0; b < batches; ++b) {
    const int64_t* start = starts.data_as<int64_t>() + b * (lines + 1);
    const int64_t* index = at.data_as<int64_t>() + b * n;
    int64_t i = 0;
    for (int64_t line = 0; line < lines; ++line) {
      int64_t end = checked(start[line + 1], n + 1);
      for (; i < end; ++i) {
        int64_t other = checked(index[i], others);
        int64_t row = p.by_rows() ? line : other, col = p.by_rows() ? other : line;
        k[b * n + i] = (b * p.rows() + row) * p.cols() + col;
      }
    }
    if (i != n) fail_index(i, n);
  }
  return out;
}

}  // namespace

Tensor keys(const Parts& p) { return p.is_coo() ? coo_keys(p) : compressed_keys(p); }

Tensor unravel(const Tensor& keys, IntList sizes) {
  int64_t n = keys.numel();
  Tensor out = new_empty({sizes.ssize(), n}, kInt64), from = as_int64(keys);
  auto* to = out.data_as<int64_t>();
  const auto* k = from.data_as<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    int64_t rest = k[i];
    for (int d = sizes.ssize() - 1; d >= 0; --d) {
      int64_t size = sizes[static_cast<size_t>(d)] ? sizes[static_cast<size_t>(d)] : 1;
      to[d * n + i] = rest % size;
      rest /= size;
    }
  }
  return out;
}

Groups group_keys(const Tensor& keys) {
  Groups out;
  Tensor k = to_contiguous(keys);
  int64_t n = k.numel();
  auto [sorted, order] = sort(k, 0, false, true);
  out.order = order;
  out.group = new_empty({n}, kInt64);
  Tensor first = new_empty({n}, kInt64);
  const auto* s = sorted.data_as<int64_t>();
  const auto* o = order.data_as<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || s[i] != s[i - 1]) first.data_as<int64_t>()[out.count++] = i;
    out.group.data_as<int64_t>()[o[i]] = out.count - 1;
  }
  out.first = narrow(first, 0, 0, out.count);
  return out;
}

Tensor sum_groups(const Groups& groups, const Tensor& values) {
  if (groups.count == values.size(0)) return index_select(values, 0, groups.order);
  Sizes sizes = values.sizes().to_sizes();
  sizes[0] = groups.count;
  if (values.dtype() == kBool) {
    return ne(sum_groups(groups, cast(values, kInt64)), Scalar(0));
  }
  return index_add(zeros(sizes, values.dtype()), 0, groups.group, values);
}

Tensor flat_values(const Parts& p, const Tensor& values) {
  if (p.batch_dim() == 0) return values;
  Sizes sizes{p.indices.numel()};
  for (int64_t d = p.batch_dim() + 1; d < values.dim(); ++d) sizes.push_back(values.size(d));
  return reshape(values, sizes);
}

namespace {

// grid_shape gives [batches.., rows, block rows, cols, block cols, ..dense] and the permutation
// that brings the blocks behind the grid.
void grid_shape(const Parts& p, Sizes& split, Sizes& order) {
  int64_t nb = p.batch_dim(), nd = static_cast<int64_t>(p.sizes.size());
  for (int64_t d = 0; d < nb; ++d) split.push_back(p.sizes[static_cast<size_t>(d)]);
  for (int64_t s : {p.rows(), p.block(0), p.cols(), p.block(1)}) split.push_back(s);
  for (int64_t d = nb + 2; d < nd; ++d) split.push_back(p.sizes[static_cast<size_t>(d)]);
  for (int64_t d = 0; d < nb; ++d) order.push_back(d);
  for (int64_t d : {0, 2, 1, 3}) order.push_back(nb + d);
  for (int64_t d = nb + 2; d < nd; ++d) order.push_back(d + 2);
}

int64_t grid_size(const Parts& p) {
  int64_t n = 1, dims = p.batch_dim() + p.sparse_dim();
  for (int64_t d = 0; d < dims; ++d) n *= p.sizes[static_cast<size_t>(d)];
  return n / (p.block(0) * p.block(1));
}

}  // namespace

Tensor to_grid(const Tensor& dense, const Parts& p) {
  Sizes sizes{grid_size(p)};
  Tensor t = dense;
  if (p.is_blocked()) {
    Sizes split, order;
    grid_shape(p, split, order);
    t = permute(reshape(t, split), order);
    sizes.push_back(p.block(0));
    sizes.push_back(p.block(1));
  }
  for (size_t d = static_cast<size_t>(p.batch_dim() + p.sparse_dim()); d < p.sizes.size(); ++d) {
    sizes.push_back(p.sizes[d]);
  }
  return reshape(t, sizes);
}

Tensor from_grid(const Tensor& grid, const Parts& p) {
  if (!p.is_blocked()) return reshape(grid, p.sizes);
  Sizes split, order, blocks;
  grid_shape(p, split, order);
  for (int64_t d : order) blocks.push_back(split[static_cast<size_t>(d)]);
  return reshape(permute(reshape(grid, blocks), order), p.sizes);  // its own inverse
}

namespace {

bool same_pattern(const Parts& a, const Parts& b) {
  if (a.layout != b.layout || !(IntList(a.sizes) == IntList(b.sizes))) return false;
  if (a.is_coo() && !(a.coalesced && b.coalesced)) return false;
  auto same = [](const Tensor& x, const Tensor& y) {
    if (x.is_same(y)) return true;
    if (!(x.sizes() == y.sizes()) || x.dtype() != y.dtype()) return false;
    if (x.storage_offset() == y.storage_offset() && x->storage == y->storage &&
        x.strides() == y.strides()) {
      return true;
    }
    Tensor p = to_contiguous(x), q = to_contiguous(y);
    return std::memcmp(p.data(), q.data(), static_cast<size_t>(p.numel() * item_size(p.dtype()))) ==
           0;
  };
  return a.values.sizes() == b.values.sizes() && same(a.indices, b.indices) &&
         (a.is_coo() || same(a.compressed, b.compressed));
}

// Looks keys up in sorted ones; `found` says where they are.
void look_up(const Tensor& sorted, const Tensor& wanted, Tensor& place, Tensor& found) {
  int64_t n = wanted.numel(), m = sorted.numel();
  place = new_empty({n}, kInt64);
  found = new_empty({n}, kBool);
  const auto* s = sorted.data_as<int64_t>();
  const auto* w = wanted.data_as<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    int64_t at = std::lower_bound(s, s + m, w[i]) - s;
    bool hit = at < m && s[at] == w[i];
    place.data_as<int64_t>()[i] = hit ? at : 0;
    found.data_as<bool>()[i] = hit;
  }
}

Tensor expand_mask(Tensor mask, const Tensor& like) {
  for (int64_t d = 1; d < like.dim(); ++d) mask = unsqueeze(mask, -1);
  return mask;
}

}  // namespace

Tensor values_at(const Parts& pattern, const Tensor& from) {
  FACULA_CHECK(from.sizes() == IntList(pattern.sizes), kRuntime, "sparse_mask: expected sizes ",
               list_text(pattern.sizes), ", got ", list_text(from.sizes()));
  IntList shape = pattern.values.sizes();
  Sizes own = shape.to_sizes();
  if (!is_handle(from)) {
    return reshape(index_select(to_grid(from, pattern), 0, keys(pattern)), own);
  }
  if (same_pattern(parts_of(from), pattern)) return values_of(from);
  if (pattern.is_blocked()) return values_at(pattern, to_dense(SparseTensor(from)));
  Tensor coo = to_coo(from);
  const Parts& p = parts_of(coo);
  int64_t dims = pattern.batch_dim() + pattern.sparse_dim();
  // Another split into sparse and dense dimensions is rare enough to go the long way.
  if (p.sparse_dim() != dims) return values_at(pattern, to_dense(SparseTensor(from)));
  if (p.nnz() == 0) return zeros(own, from.dtype());
  Tensor place, found;
  look_up(keys(p), keys(pattern), place, found);
  Tensor picked = index_select(values_of(coo), 0, place);
  return reshape(where(expand_mask(found, picked), picked, Scalar(0)), own);
}

}  // namespace facula::sparse
