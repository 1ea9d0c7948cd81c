// Geometry: sizes, strides and offset of a view, and the functions that compute them for view rows.
#pragma once
#include "facula/core/tensor.h"

namespace facula {

// Geometry is where a view lies in its storage; the offset counts elements from its beginning.
struct Geometry {
  Sizes sizes, strides;
  int64_t offset = 0;
};

// geometry_of gives a tensor's own geometry, the start of most computations.
inline Geometry geometry_of(const Tensor& t) {
  return {t.sizes().to_sizes(), t.strides().to_sizes(), t.storage_offset()};
}

// view_of makes the view that a view row returns.
inline Tensor view_of(const Tensor& t, const Geometry& g) {
  return make_view(t, g.sizes, g.strides, g.offset);
}

// transpose_geometry swaps two dimensions; IndexError when out of range.
FACULA_API Geometry transpose_geometry(const Tensor& t, int64_t dim0, int64_t dim1, const char* op);
// permute_geometry orders dimensions; RuntimeError unless dims is a permutation.
FACULA_API Geometry permute_geometry(const Tensor& t, IntList dims);
// expand_geometry repeats size-1 dimensions with stride 0; -1 keeps a size.
FACULA_API Geometry expand_geometry(const Tensor& t, IntList sizes);
// view_geometry reshapes without a copy; RuntimeError where the strides do not allow it.
FACULA_API Geometry view_geometry(const Tensor& t, IntList sizes);
// find_view_strides gives the strides of a reshape without copying, or nothing.
FACULA_API std::optional<Sizes> find_view_strides(const Tensor& t, IntList sizes);
// select_geometry picks one index of a dimension; IndexError.
FACULA_API Geometry select_geometry(const Tensor& t, int64_t dim, int64_t index);
// slice_geometry takes start:end:step of a dimension with Python's clamping; step must be positive.
FACULA_API Geometry slice_geometry(const Tensor& t, int64_t dim, std::optional<int64_t> start,
                                   std::optional<int64_t> end, int64_t step);
// narrow_geometry takes `length` entries from `start`; RuntimeError outside the tensor.
FACULA_API Geometry narrow_geometry(const Tensor& t, int64_t dim, int64_t start, int64_t length);
// squeeze_geometry drops size-1 dimensions among `dims` (absent: all of them).
FACULA_API Geometry squeeze_geometry(const Tensor& t, OptIntList dims);
// unsqueeze_geometry inserts a size-1 dimension.
FACULA_API Geometry unsqueeze_geometry(const Tensor& t, int64_t dim);
// diagonal_geometry views a diagonal of two dimensions as the last one.
FACULA_API Geometry diagonal_geometry(const Tensor& t, int64_t offset, int64_t dim1, int64_t dim2);
// unfold_geometry views sliding windows of a dimension as a new last one.
FACULA_API Geometry unfold_geometry(const Tensor& t, int64_t dim, int64_t size, int64_t step);
// strided_geometry checks an arbitrary geometry against the storage.
FACULA_API Geometry strided_geometry(const Tensor& t, IntList sizes, IntList strides,
                                     std::optional<int64_t> offset);
// movedim_geometry moves dimensions to new places.
FACULA_API Geometry movedim_geometry(const Tensor& t, IntList source, IntList destination);

}  // namespace facula
