// Sums, means and maxima of bags of rows: embedding_bag.
#pragma once
#include <cstdint>

#include "facula/base/export.h"
#include "facula/core/dtype.h"
#include "facula/kernels/view.h"

namespace facula::kernels {

// Bags are runs of indices into the rows of a dense [rows, dim] weight; bag i has the indices
// [offsets[i], offsets[i + 1]). Entries equal to `padding` do not count. mode: 0 sum, 1 mean, 2
// max.
struct Bags {
  int64_t bags, dim, rows;
  const int64_t* indices;
  const int64_t* offsets;
  int64_t padding;
  int mode;
};

struct BagKernels {
  // out [bags, dim]; sample weights (one an index) may be null; chosen [bags, dim] gets the row
  // that each maximum came from, -1 for empty bags (mode 2 only).
  void (*forward)(DType dtype, void* out, int64_t* chosen, const void* weight, const void* samples,
                  const Bags& b, Fault* fault);
  // dweight = 0, then the gradients of all bags added in order; counts (one a row, or null) divide.
  void (*weight_grad)(DType dtype, void* dweight, const void* grad, const void* samples,
                      const int64_t* chosen, const int64_t* counts, const Bags& b);
  // dsamples[i] = grad of its bag times its row.
  void (*sample_grad)(DType dtype, void* dsamples, const void* grad, const void* weight,
                      const Bags& b);
};
extern FACULA_API const BagKernels* bags;

}  // namespace facula::kernels
