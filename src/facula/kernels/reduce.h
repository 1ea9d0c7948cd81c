// The reduce family: functions that fold dimensions of a tensor into single values. `mask` has a
// bit for each folded dimension; outputs have the input's shape with those dimensions dropped or of
// size 1, and may have any strides. Results do not depend on the number of threads. Nothing to fold
// gives the identity of the operation; where there is none the operator layer has refused.
#pragma once
#include "facula/kernels/view.h"

namespace facula::kernels {

struct ReduceKernels {
  // Sums accumulate in float lanes of short blocks, which are added in double; integers in int64.
  // Elements are converted to the output's type first.
  void (*sum)(const View& out, const View& in, uint64_t mask);
  // nansum counts NaN as 0.
  void (*nansum)(const View& out, const View& in, uint64_t mask);
  void (*mean)(const View& out, const View& in, uint64_t mask);
  void (*prod)(const View& out, const View& in, uint64_t mask);
  // amax and amin propagate NaN and order -0.0 below 0.0.
  void (*amax)(const View& out, const View& in, uint64_t mask);
  void (*amin)(const View& out, const View& in, uint64_t mask);
  // any and all ask whether elements are non-zero; NaN is.
  void (*any)(const View& out, const View& in, uint64_t mask);
  void (*all)(const View& out, const View& in, uint64_t mask);
  void (*count_nonzero)(const View& out, const View& in, uint64_t mask);
  // moments gives the mean and the variance with n - correction as its divisor, or its square root;
  // either output may be a view without data.
  void (*moments)(const View& variance, const View& mean, const View& in, uint64_t mask,
                  double correction, bool root);
  // norm gives (sum |x|^p)^(1/p); p may be 0 (number of non-zeros) or infinite. Real input.
  void (*norm)(const View& out, const View& in, uint64_t mask, double p);
  // logsumexp gives log(sum exp(x)) without overflow. Floating input.
  void (*logsumexp)(const View& out, const View& in, uint64_t mask);
  // argmax and argmin give the first position of the extreme value along one dimension; NaN counts
  // as the extreme. `values` may be a view without data.
  void (*argmax)(const View& values, const View& indices, const View& in, int64_t dim);
  void (*argmin)(const View& values, const View& indices, const View& in, int64_t dim);
};
extern FACULA_API const ReduceKernels* reduce;

}  // namespace facula::kernels
