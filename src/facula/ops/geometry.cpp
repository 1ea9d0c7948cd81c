// Geometry of views, with the errors of wrong dimensions and sizes.
#include "facula/ops/geometry.h"

#include <algorithm>

#include "facula/base/error.h"

namespace facula {

Geometry transpose_geometry(const Tensor& t, int64_t dim0, int64_t dim1, const char* op) {
  Geometry g = geometry_of(t);
  dim0 = wrap_dim(dim0, t.dim(), op);
  dim1 = wrap_dim(dim1, t.dim(), op);
  if (t.dim() == 0) return g;
  std::swap(g.sizes[dim0], g.sizes[dim1]);
  std::swap(g.strides[dim0], g.strides[dim1]);
  return g;
}

Geometry permute_geometry(const Tensor& t, IntList dims) {
  if (dims.ssize() != t.dim()) {
    fail(ErrorKind::kRuntime, str("permute: expected ", t.dim(), " dims for a tensor of shape ",
                                  list_text(t.sizes()), ", got ", list_text(dims)));
  }
  Geometry g;
  g.offset = t.storage_offset();
  uint64_t seen = 0;
  for (int64_t d : dims) {
    int64_t k = wrap_dim(d, t.dim(), "permute");
    if (seen >> k & 1) fail(ErrorKind::kRuntime, "permute: duplicate dims are not allowed.");
    seen |= uint64_t{1} << k;
    g.sizes.push_back(t.sizes()[k]);
    g.strides.push_back(t.strides()[k]);
  }
  return g;
}

Geometry expand_geometry(const Tensor& t, IntList sizes) {
  int64_t skip = sizes.ssize() - t.dim();
  if (skip < 0) {
    fail(ErrorKind::kRuntime,
         str("expand: the number of sizes provided (", sizes.ssize(),
             ") must be greater or equal to the number of dimensions in the tensor (", t.dim(),
             ")"));
  }
  Geometry g;
  g.offset = t.storage_offset();
  for (int64_t i = 0; i < sizes.ssize(); ++i) {
    int64_t want = sizes[i];
    int64_t have = i < skip ? 1 : t.sizes()[i - skip];
    int64_t stride = i < skip ? 0 : t.strides()[i - skip];
    if (want == -1) {
      if (i < skip) {
        fail(ErrorKind::kRuntime,
             str("expand: the expanded size of the tensor (-1) isn't allowed in "
                 "a leading, non-existing dimension ",
                 i));
      }
      want = have;
    }
    if (want < 0)
      fail(ErrorKind::kRuntime, str("expand: expected sizes of at least -1, got ", want));
    if (want != have && have != 1) {
      fail(ErrorKind::kRuntime,
           str("expand: The expanded size of the tensor (", want,
               ") must match the existing size (", have, ") at non-singleton dimension ", i,
               ".  Target sizes: ", list_text(sizes), ".  Tensor sizes: ", list_text(t.sizes())));
    }
    g.sizes.push_back(want);
    g.strides.push_back(want == have && i >= skip ? stride : 0);
  }
  count_elements(g.sizes, "expand");
  return g;
}

std::optional<Sizes> find_view_strides(const Tensor& t, IntList sizes) {
  if (t.numel() == 0 || t.is_contiguous()) {
    if (t.numel() == 0 && t.sizes() == sizes) return t.strides().to_sizes();
    return contiguous_strides(sizes);
  }
  Sizes out(sizes.size());
  int view_d = sizes.ssize() - 1;
  IntList old_sizes = t.sizes(), old_strides = t.strides();
  int64_t chunk = 1, view_chunk = 1;
  int64_t base = old_strides.empty() ? 1 : old_strides.back();
  for (int d = static_cast<int>(t.dim()) - 1; d >= 0; --d) {
    chunk *= old_sizes[d];
    bool ends = d == 0 || (old_sizes[d - 1] != 1 && old_strides[d - 1] != chunk * base);
    if (!ends) continue;
    while (view_d >= 0 && (view_chunk < chunk || sizes[view_d] == 1)) {
      out[view_d] = view_chunk * base;
      view_chunk *= sizes[view_d];
      --view_d;
    }
    if (view_chunk != chunk) return std::nullopt;
    if (d > 0) {
      base = old_strides[d - 1];
      chunk = view_chunk = 1;
    }
  }
  if (view_d != -1) return std::nullopt;
  return out;
}

Geometry view_geometry(const Tensor& t, IntList sizes) {
  Geometry g;
  g.sizes = infer_sizes(sizes, t.numel(), "view");
  g.offset = t.storage_offset();
  std::optional<Sizes> strides = find_view_strides(t, g.sizes);
  if (!strides) {
    fail(ErrorKind::kRuntime,
         str("view: view size is not compatible with input tensor's size and stride (at least one "
             "dimension spans across two contiguous subspaces). Use .reshape(...) instead. Shape ",
             list_text(t.sizes()), " with strides ", list_text(t.strides()), " to ",
             list_text(sizes)));
  }
  g.strides = std::move(*strides);
  return g;
}

Geometry select_geometry(const Tensor& t, int64_t dim, int64_t index) {
  if (t.dim() == 0) {
    fail(ErrorKind::kIndex, "select: select() cannot be applied to a 0-dim tensor.");
  }
  dim = wrap_dim(dim, t.dim(), "select");
  int64_t size = t.sizes()[dim];
  if (index < -size || index >= size) {
    fail(ErrorKind::kIndex,
         str("index ", index, " is out of bounds for dimension ", dim, " with size ", size));
  }
  Geometry g = geometry_of(t);
  g.offset += (index < 0 ? index + size : index) * g.strides[dim];
  g.sizes.erase(g.sizes.begin() + dim);
  g.strides.erase(g.strides.begin() + dim);
  return g;
}

Geometry slice_geometry(const Tensor& t, int64_t dim, std::optional<int64_t> start,
                        std::optional<int64_t> end, int64_t step) {
  if (t.dim() == 0)
    fail(ErrorKind::kRuntime, "slice: slice() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, t.dim(), "slice");
  if (step <= 0) fail(ErrorKind::kRuntime, str("slice: slice step must be positive, got ", step));
  int64_t size = t.sizes()[dim];
  auto clamp = [size](int64_t i) {
    if (i < 0) i += size;
    return std::clamp<int64_t>(i, 0, size);
  };
  int64_t first = clamp(start.value_or(0)), last = clamp(end.value_or(size));
  Geometry g = geometry_of(t);
  int64_t length = last > first ? last - first : 0;
  g.sizes[dim] = length == 0 ? 0 : (length - 1) / step + 1;
  g.offset += first * g.strides[dim];
  if (__builtin_mul_overflow(g.strides[dim], step, &g.strides[dim])) g.strides[dim] = 0;
  return g;
}

Geometry narrow_geometry(const Tensor& t, int64_t dim, int64_t start, int64_t length) {
  if (t.dim() == 0) fail(ErrorKind::kRuntime, "narrow() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, t.dim(), "narrow");
  int64_t size = t.sizes()[dim];
  if (length < 0) fail(ErrorKind::kRuntime, "narrow(): length must be non-negative.");
  if (start < -size || start > size) {
    fail(ErrorKind::kIndex, str("narrow: start out of range (expected to be in range of [", -size,
                                ", ", size, "], but got ", start, ")"));
  }
  if (start < 0) start += size;
  if (start > size - length) {
    fail(ErrorKind::kRuntime, str("narrow: start (", start, ") + length (", length,
                                  ") exceeds dimension size (", size, ")."));
  }
  Geometry g = geometry_of(t);
  g.offset += start * g.strides[dim];
  g.sizes[dim] = length;
  return g;
}

Geometry squeeze_geometry(const Tensor& t, OptIntList dims) {
  uint64_t mask = dim_mask(dims, t.dim(), "squeeze", false);
  Geometry g;
  g.offset = t.storage_offset();
  for (int d = 0; d < t.dim(); ++d) {
    if ((mask >> d & 1) && t.sizes()[d] == 1) continue;
    g.sizes.push_back(t.sizes()[d]);
    g.strides.push_back(t.strides()[d]);
  }
  return g;
}

Geometry unsqueeze_geometry(const Tensor& t, int64_t dim) {
  dim = wrap_dim(dim, t.dim() + 1, "unsqueeze");
  Geometry g = geometry_of(t);
  int64_t stride = dim < t.dim() ? g.sizes[dim] * g.strides[dim] : 1;
  g.sizes.insert(g.sizes.begin() + dim, 1);
  g.strides.insert(g.strides.begin() + dim, stride);
  return g;
}

Geometry diagonal_geometry(const Tensor& t, int64_t offset, int64_t dim1, int64_t dim2) {
  int64_t a = wrap_dim(dim1, t.dim(), "diagonal"), b = wrap_dim(dim2, t.dim(), "diagonal");
  if (a == b) {
    fail(ErrorKind::kRuntime, str("diagonal dimensions cannot be identical ", dim1, ", ", dim2));
  }
  Geometry g = geometry_of(t);
  int64_t rows = g.sizes[a], columns = g.sizes[b];
  // sums are taken in 128 bits because offset may be any integer
  __int128 room = offset >= 0 ? std::min<__int128>(rows, static_cast<__int128>(columns) - offset)
                              : std::min<__int128>(static_cast<__int128>(rows) + offset, columns);
  int64_t length = room > 0 ? static_cast<int64_t>(room) : 0;
  if (length > 0) g.offset += offset >= 0 ? offset * g.strides[b] : -offset * g.strides[a];
  int64_t stride = g.strides[a] + g.strides[b];
  for (int64_t d : {std::max(a, b), std::min(a, b)}) {
    g.sizes.erase(g.sizes.begin() + d);
    g.strides.erase(g.strides.begin() + d);
  }
  g.sizes.push_back(length);
  g.strides.push_back(stride);
  return g;
}

Geometry unfold_geometry(const Tensor& t, int64_t dim, int64_t size, int64_t step) {
  dim = wrap_dim(dim, t.dim(), "unfold");
  int64_t have = t.dim() ? t.sizes()[dim] : 1;
  if (size < 0) fail(ErrorKind::kRuntime, str("unfold: size is ", size, " but must be >= 0"));
  if (size > have) {
    fail(ErrorKind::kRuntime,
         str("maximum size for tensor at dimension ", dim, " is ", have, " but size is ", size));
  }
  if (step <= 0) fail(ErrorKind::kRuntime, str("unfold: step is ", step, " but must be > 0"));
  Geometry g = geometry_of(t);
  int64_t stride = t.dim() ? g.strides[dim] : 1;
  if (t.dim()) {
    g.sizes[dim] = (have - size) / step + 1;
    g.strides[dim] = stride * step;
  }
  g.sizes.push_back(size);
  g.strides.push_back(stride);
  return g;
}

Geometry strided_geometry(const Tensor& t, IntList sizes, IntList strides,
                          std::optional<int64_t> offset) {
  if (sizes.size() != strides.size()) {
    fail(ErrorKind::kRuntime, str("as_strided: mismatch in length of strides and shape, got sizes ",
                                  list_text(sizes), " and strides ", list_text(strides)));
  }
  for (int64_t s : strides) {
    if (s < 0) fail(ErrorKind::kRuntime, "as_strided: Negative strides are not supported");
  }
  Geometry g{sizes.to_sizes(), strides.to_sizes(), offset.value_or(t.storage_offset())};
  if (g.offset < 0) {
    fail(ErrorKind::kRuntime, str("as_strided: Tensor: invalid storage offset ", g.offset));
  }
  return g;
}

Geometry movedim_geometry(const Tensor& t, IntList source, IntList destination) {
  if (source.size() != destination.size()) {
    fail(ErrorKind::kRuntime,
         str("movedim: Invalid source or destination dims: source (", list_text(source),
             " dims ) should contain the same number of dims "
             "as destination (",
             list_text(destination), " dims)"));
  }
  int64_t n = t.dim();
  dim_mask(source, n, "movedim", false);
  dim_mask(destination, n, "movedim", false);
  Sizes order(n, -1);
  uint64_t used = 0;
  for (size_t i = 0; i < source.size() && n > 0; ++i) {
    int64_t from = wrap_dim(source[i], n, "movedim");
    order[wrap_dim(destination[i], n, "movedim")] = from;
    used |= uint64_t{1} << from;
  }
  int64_t next = 0;
  for (int64_t d = 0; d < n; ++d) {
    if (order[d] >= 0) continue;
    while (used >> next & 1) ++next;
    order[d] = next++;
  }
  return permute_geometry(t, order);
}

}  // namespace facula
