// The table of the reduce family.
#include "facula/kernels/cpu/reduce_tables.h"

namespace facula::kernels::FACULA_ISA {

extern const ReduceKernels reduce_table;
const ReduceKernels reduce_table{
    .sum = reduce_sum,
    .nansum = reduce_nansum,
    .mean = reduce_mean,
    .prod = reduce_prod,
    .amax = reduce_amax,
    .amin = reduce_amin,
    .any = reduce_any,
    .all = reduce_all,
    .count_nonzero = reduce_count_nonzero,
    .moments = reduce_moments,
    .norm = reduce_norm,
    .logsumexp = reduce_logsumexp,
    .argmax = reduce_argmax,
    .argmin = reduce_argmin,
};

}  // namespace facula::kernels::FACULA_ISA
