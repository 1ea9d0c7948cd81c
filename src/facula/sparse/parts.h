// What a sparse tensor consists of, for the files of this folder and for Python.
//
// The handle is a tensor over a storage that holds the parts. To whoever takes it for a strided
// tensor it is one zero, repeated by strides of 0, that cannot be written to: no mistake leads
// outside memory. The intercept bit tells it apart.
#pragma once
#include "facula/autograd/accumulate.h"
#include "facula/core/interpreter.h"
#include "facula/sparse/sparse.h"

namespace facula::sparse {

// Parts are strided tensors without history. COO: indices [sparse_dim, nnz], values [nnz,
// ...dense]. Compressed: compressed [...batch, lines + 1], indices [...batch, nnz], values
// [...batch, nnz, (block rows, block columns,) ...dense].
struct Parts {
  Layout layout = Layout::kCoo;
  bool coalesced = false;
  Tensor compressed, indices, values;
  Sizes sizes;

  bool is_coo() const { return layout == Layout::kCoo; }
  bool is_blocked() const { return layout == Layout::kBsr || layout == Layout::kBsc; }
  bool by_rows() const { return layout == Layout::kCsr || layout == Layout::kBsr; }
  int64_t batch_dim() const { return is_coo() ? 0 : compressed.dim() - 1; }
  int64_t sparse_dim() const { return is_coo() ? indices.size(0) : 2; }
  int64_t dense_dim() const {
    return static_cast<int64_t>(sizes.size()) - batch_dim() - sparse_dim();
  }
  int64_t nnz() const { return indices.size(-1); }
  int64_t block(int d) const { return is_blocked() ? values.size(batch_dim() + 1 + d) : 1; }
  // Grid: the positions at which an element or a block may be, [batches * lines * columns].
  int64_t rows() const { return sizes[static_cast<size_t>(batch_dim())] / block(0); }
  int64_t cols() const { return sizes[static_cast<size_t>(batch_dim()) + 1] / block(1); }
};

// check_plain refuses tensors that have no elements of their own to read: those of the meta device,
// and those inside vmap.
FACULA_API void check_plain(const Tensor& t);

inline bool is_handle(const Tensor& t) { return t.defined() && (t->intercept & kInterceptSparse); }
// parts_of gives the parts of a handle; RuntimeError for strided tensors.
FACULA_API const Parts& parts_of(const Tensor& handle);
// make_handle makes a tensor without history.
FACULA_API Tensor make_handle(Parts parts);
// replace_parts changes a tensor in place, as sparse_resize_ and copy_ do.
FACULA_API void replace_parts(const Tensor& handle, Parts parts);
// check_parts raises RuntimeError unless the indices lie inside and the shapes fit; `strict` also
// asks for sorted, distinct positions of compressed layouts.
FACULA_API void check_parts(const Parts& parts, bool strict);

// record makes a tensor of a pattern and values, whose gradient is the gradient at the pattern.
FACULA_API Tensor record(const Parts& pattern, const Tensor& values);
// values_of gives the values with history; those of a COO tensor must be coalesced when recorded.
FACULA_API Tensor values_of(const Tensor& handle);
// coalesced gives a COO tensor coalesced, others as they are; history goes on.
FACULA_API Tensor coalesced(const Tensor& handle);
// settled is `coalesced` where gradients are recorded, else the tensor itself.
inline Tensor settled(const Tensor& handle) {
  return recording(handle) ? coalesced(handle) : handle;
}
// values_at takes from a strided or sparse tensor the values at a pattern.
FACULA_API Tensor values_at(const Parts& pattern, const Tensor& from);

// keys numbers the grid positions of the elements, in the order of values.
FACULA_API Tensor keys(const Parts& parts);
// to_grid reshapes a strided tensor to [grid, (block,) ...dense], from_grid undoes it.
FACULA_API Tensor to_grid(const Tensor& dense, const Parts& parts);
FACULA_API Tensor from_grid(const Tensor& grid, const Parts& parts);
// flat_values reshapes values to [elements, (block,) ...dense].
FACULA_API Tensor flat_values(const Parts& parts, const Tensor& values);
// unravel turns keys into indices [dims, n] over sizes.
FACULA_API Tensor unravel(const Tensor& keys, IntList sizes);
// to_coo gives any layout as a coalesced COO tensor.
FACULA_API Tensor to_coo(const Tensor& handle);

// Groups are the runs of equal keys in sorted order: `order` sorts, `first` is where a run starts
// in that order, `group` the run of each key as given.
struct Groups {
  Tensor order, first, group;
  int64_t count = 0;
};
FACULA_API Groups group_keys(const Tensor& keys);
// sum_groups adds up values by run, in the order given.
FACULA_API Tensor sum_groups(const Groups& groups, const Tensor& values);

// SparseNode is the base of nodes that take sparse gradients; all others are given strided ones.
struct SparseNode : Node {};

}  // namespace facula::sparse
