// The scatter family: kernels that write at positions given by int64 index tensors. Several writes
// to one place happen in the order of the index tensor, whatever the number of threads. Positions
// are checked before anything is written.
#pragma once
#include "facula/kernels/view.h"

namespace facula::kernels {

// Combine says what a write does with the old value.
enum class Combine : uint8_t { kAssign, kAdd, kProd, kMin, kMax };

struct ScatterKernels {
  // self[p with p[dim] replaced by index[p]] is combined with src[p], for all p of index's shape.
  void (*scatter)(const View& self, int64_t dim, const View& index, const View& src,
                  Combine combine, Fault* fault);
  // The same with one value for all.
  void (*scatter_value)(const View& self, int64_t dim, const View& index, const Scalar& value,
                        Combine combine, Fault* fault);
  // self[.., index[i], ..] is combined with alpha * src[.., i, ..]; index is one-dimensional.
  // Negative positions are refused.
  void (*index_combine)(const View& self, int64_t dim, const View& index, const View& src,
                        const Scalar& alpha, Combine combine, Fault* fault);
  // self[.., index[i], ..] = value; negative positions count from the end.
  void (*index_fill)(const View& self, int64_t dim, const View& index, const Scalar& value,
                     Fault* fault);
  // The reverse of index: self is indexed in its first `count` dimensions, values has shape I +
  // rest.
  void (*index_put)(const View& self, const View* indices, int count, const View& values,
                    bool accumulate, Fault* fault);
  // Element number index[p] of self (row-major) is combined with src[p].
  void (*put)(const View& self, const View& index, const View& src, bool accumulate, Fault* fault);
  // Elements where mask holds take the elements of the dense `source` in order. Fault kBad when
  // there are too few.
  void (*masked_scatter)(const View& self, const View& mask, const View& source, Fault* fault);
  // grad_weight[index[i]] += grad[i] for rows i whose index is not `padding`; with `by_frequency`
  // divided by how often the index occurs (counts: work space of one int64 a row of weight).
  void (*embedding_backward)(const View& grad_weight, const View& grad, const View& index,
                             int64_t padding, const View& counts);
};
extern FACULA_API const ScatterKernels* scatter;

}  // namespace facula::kernels
