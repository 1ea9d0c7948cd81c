// What the files of the norm family share.
#pragma once
#include "facula/kernels/cpu/lanes.h"
#include "facula/kernels/norm.h"

namespace facula::kernels::FACULA_ISA {

void batch_stats(DType dtype, void* mean, void* variance, const void* in, Planes p);
void batch_norm(DType dtype, void* out, const void* in, const void* mean, const void* rstd,
                const void* weight, const void* bias, Planes p);
void batch_norm_backward(DType dtype, void* dx, void* dweight, void* dbias, const void* grad,
                         const void* in, const void* mean, const void* rstd, const void* weight,
                         bool training, Planes p);
void group_norm(DType dtype, void* out, void* mean, void* rstd, const void* in, const void* weight,
                const void* bias, Planes p, int64_t groups, double eps);
void group_norm_backward(DType dtype, void* dx, void* dweight, void* dbias, const void* grad,
                         const void* in, const void* mean, const void* rstd, const void* weight,
                         Planes p, int64_t groups);

FACULA_INLINE int64_t grain_of(int64_t item_work) {
  return max_of<int64_t>(1, 16384 / max_of<int64_t>(1, item_work));
}

}  // namespace facula::kernels::FACULA_ISA
