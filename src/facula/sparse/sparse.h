// SparseTensor: tensors that keep only some elements, by their positions (COO) or compressed along
// rows or columns (CSR, CSC, and BSR, BSC with dense blocks), and the operators on them. All of
// them record their gradients.
//
//   Tensor places[] = {arange(0, 3), arange(0, 3)};  // rows and columns: the diagonal
//   SparseTensor a = sparse_coo_tensor(stack(places), ones({3}), {{3, 3}});
//   set_requires_grad(a.handle(), true);
//   Tensor y = mm(a, ones({3, 4}));
//   backward(sum(y));
//   Tensor g = values(SparseTensor(grad(a.handle())));  // 4 at each place
#pragma once
#include "facula/autograd/meta.h"
#include "facula/core/tensor.h"

namespace facula {

// Layout says how a tensor keeps its elements.
enum class Layout : uint8_t { kStrided, kCoo, kCsr, kCsc, kBsr, kBsc };

// layout_of tells the layout of any tensor; is_sparse whether it is another than strided.
FACULA_API Layout layout_of(const Tensor& t);
inline bool is_sparse(const Tensor& t) { return layout_of(t) != Layout::kStrided; }
// layout_name gives "sparse_coo".
FACULA_API const char* layout_name(Layout layout);

// SparseTensor is a counted handle to a sparse tensor. Its `handle()` is what autograd knows: what
// requires_grad, grad_fn, grad and backward take, and what a sparse gradient comes as. Operators of
// strided tensors refuse it: NotImplementedError.
class FACULA_API SparseTensor {
 public:
  SparseTensor() = default;
  // RuntimeError when the tensor is strided.
  explicit SparseTensor(Tensor handle);
  const Tensor& handle() const { return handle_; }
  bool defined() const { return handle_.defined(); }

  Layout layout() const { return layout_of(handle_); }
  DType dtype() const { return handle_.dtype(); }
  IntList sizes() const { return handle_.sizes(); }
  int64_t dim() const { return handle_.dim(); }
  // nnz counts the elements that are kept (of one batch), duplicates too.
  int64_t nnz() const;
  // sparse_dim and dense_dim split the dimensions (after those of batches).
  int64_t sparse_dim() const;
  int64_t dense_dim() const;
  // is_coalesced says that the positions of a COO tensor are sorted and distinct.
  bool is_coalesced() const;
  // indices gives the positions of a COO tensor, [sparse_dim, nnz]; RuntimeError when they are not
  // coalesced or the layout is another.
  Tensor indices() const;
  // compressed_indices gives where rows (CSR, BSR) or columns (CSC, BSC) begin, plain_indices the
  // positions in the other dimension; RuntimeError for COO tensors.
  Tensor compressed_indices() const;
  Tensor plain_indices() const;

 private:
  Tensor handle_;
};

// sparse_coo_tensor keeps values [nnz, ...dense] at indices [sparse_dim, nnz]; those of equal
// positions count together. Without sizes they follow from the largest indices. RuntimeError for
// indices out of range or shapes that do not fit.
FACULA_API SparseTensor sparse_coo_tensor(const Tensor& indices, const Tensor& values,
                                          OptIntList sizes = {}, bool is_coalesced = false);
// sparse_compressed_tensor makes the other layouts; sizes as above.
FACULA_API SparseTensor sparse_compressed_tensor(const Tensor& compressed, const Tensor& plain,
                                                 const Tensor& values, OptIntList sizes,
                                                 Layout layout);
inline SparseTensor sparse_csr_tensor(const Tensor& crow, const Tensor& col, const Tensor& values,
                                      OptIntList sizes = {}) {
  return sparse_compressed_tensor(crow, col, values, sizes, Layout::kCsr);
}

// values gives the elements that are kept, as a strided tensor; RuntimeError for COO tensors that
// are not coalesced.
FACULA_API Tensor values(const SparseTensor& t);
// with_values gives a tensor of the same pattern with other values.
FACULA_API SparseTensor with_values(const SparseTensor& t, const Tensor& values);
// coalesce sorts the positions and adds up what is at equal ones, in the order given.
FACULA_API SparseTensor coalesce(const SparseTensor& t);
// to_dense gives the strided tensor; to_sparse keeps what is not zero, with `sparse_dim` leading
// sparse dimensions (-1: all) for COO and with a block size for BSR and BSC.
FACULA_API Tensor to_dense(const SparseTensor& t);
FACULA_API SparseTensor to_sparse(const Tensor& t, int64_t sparse_dim = -1);
FACULA_API SparseTensor to_sparse(const Tensor& t, Layout layout, IntList block = {},
                                  int64_t dense_dim = 0);
// to_layout changes the layout of a sparse tensor.
FACULA_API SparseTensor to_layout(const SparseTensor& t, Layout layout, IntList block = {});
// sparse_mask takes from `t` (strided or a sparse handle) what is at the positions of `mask`.
FACULA_API SparseTensor sparse_mask(const Tensor& t, const SparseTensor& mask);
// transpose swaps two sparse or two dense dimensions.
FACULA_API SparseTensor transpose(const SparseTensor& t, int64_t dim0, int64_t dim1);

// sparse_resize_ changes the sizes of a COO tensor and their split into sparse and dense
// dimensions, in place, and keeps the elements: then sizes may only grow. sparse_resize_and_clear_
// drops them. RuntimeError for other layouts and where elements would be lost.
FACULA_API void sparse_resize_(const SparseTensor& t, IntList sizes, int64_t sparse_dim,
                               int64_t dense_dim);
FACULA_API void sparse_resize_and_clear_(const SparseTensor& t, IntList sizes, int64_t sparse_dim,
                                         int64_t dense_dim);

// mm multiplies matrices; the product of two sparse ones is sparse.
FACULA_API Tensor mm(const SparseTensor& a, const Tensor& b);
FACULA_API Tensor mm(const Tensor& a, const SparseTensor& b);
FACULA_API SparseTensor mm(const SparseTensor& a, const SparseTensor& b);
FACULA_API Tensor mv(const SparseTensor& a, const Tensor& x);
// addmm is beta * input + alpha * (a @ b).
FACULA_API Tensor addmm(const Tensor& input, const SparseTensor& a, const Tensor& b,
                        const Scalar& beta = 1, const Scalar& alpha = 1);

FACULA_API SparseTensor add(const SparseTensor& a, const SparseTensor& b, const Scalar& alpha = 1);
FACULA_API Tensor add(const Tensor& a, const SparseTensor& b, const Scalar& alpha = 1);
// add_ adds to a strided tensor in place, and touches only what b keeps.
FACULA_API void add_(const Tensor& a, const SparseTensor& b, const Scalar& alpha = 1);
// mul multiplies by a number, by the elements of a strided tensor of the same shape, or by those
// of a sparse one.
FACULA_API SparseTensor mul(const SparseTensor& a, const Scalar& b);
FACULA_API SparseTensor mul(const SparseTensor& a, const Tensor& b);
FACULA_API SparseTensor mul(const SparseTensor& a, const SparseTensor& b);
// sum adds up all elements, or those along some dimensions: then the result is the handle of a
// sparse tensor, or strided when no sparse dimension is left.
FACULA_API Tensor sum(const SparseTensor& t);
FACULA_API Tensor sum(const SparseTensor& t, IntList dims);
// softmax and log_softmax are taken over the elements that are kept, as if all others were -inf.
FACULA_API SparseTensor softmax(const SparseTensor& t, int64_t dim);
FACULA_API SparseTensor log_softmax(const SparseTensor& t, int64_t dim);

}  // namespace facula
