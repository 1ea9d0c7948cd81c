// Subscript: x[...] read from left to right, whoever reads it. Numbers, slices, None and Ellipsis
// change a view; masks and index tensors are noted by the dimension of the view they stand for.
#pragma once
#include <optional>
#include <vector>

#include "facula/ops/geometry.h"

namespace facula {

// is_mask says whether an index tensor names elements rather than positions.
inline bool is_mask(const Tensor& index) {
  return index.dtype() == kBool || index.dtype() == kUInt8;
}

// dims_of_index counts the dimensions that an index tensor stands for.
inline int64_t dims_of_index(const Tensor& index) { return is_mask(index) ? index.dim() : 1; }

// Subscript collects the steps: into one geometry while nobody records or intercepts, else as one
// call of the rows select, slice and unsqueeze a step. It keeps no reference of its own to `self`.
class FACULA_API Subscript {
 public:
  // `used` dimensions are named by the subscript, Ellipsis stands for the others; IndexError when
  // there are too few.
  Subscript(const Tensor& self, int64_t used);

  // Each call reads one index. IndexError out of bounds; ValueError for a step below 1.
  void number(int64_t position);
  void slice(std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step);
  void none();
  void ellipsis();
  void truth(bool keep);
  void tensor(const Tensor& index);

  // indices gives the index tensors by dimension of the view; undefined ones are whole dimensions.
  const std::vector<Tensor>& indices() const { return indices_; }
  // result is the view; a view of the whole where no step changed it.
  Tensor result() const;
  // inner is the same for further operators: the tensor itself where no step changed it.
  Tensor inner() const;

 private:
  int64_t dims() const { return steps_ ? current_.dim() : std::ssize(geometry_.sizes); }
  int64_t size() const;  // of the dimension that the next index stands for
  void note(int64_t dim, const Tensor& index);

  const Tensor& source_;
  bool steps_;
  Tensor current_;     // with steps
  Geometry geometry_;  // without
  std::vector<Tensor> indices_;
  int64_t missing_;    // dimensions that Ellipsis stands for
  int64_t at_ = 0;     // the next dimension of the view
  int64_t shown_ = 0;  // the place in the subscript, which messages call the dimension
};

// without_leading_ones drops leading dimensions of size 1 that the destination does not have.
FACULA_API Tensor without_leading_ones(const Tensor& value, int64_t dims);

}  // namespace facula
