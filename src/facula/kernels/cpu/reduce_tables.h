// The functions of the reduce family, each in a file of its own kind.
#pragma once
#include "facula/kernels/cpu/isa.h"
#include "facula/kernels/reduce.h"

namespace facula::kernels::FACULA_ISA {

void reduce_sum(const View& out, const View& in, uint64_t mask);
void reduce_nansum(const View& out, const View& in, uint64_t mask);
void reduce_mean(const View& out, const View& in, uint64_t mask);
void reduce_prod(const View& out, const View& in, uint64_t mask);
void reduce_amax(const View& out, const View& in, uint64_t mask);
void reduce_amin(const View& out, const View& in, uint64_t mask);
void reduce_any(const View& out, const View& in, uint64_t mask);
void reduce_all(const View& out, const View& in, uint64_t mask);
void reduce_count_nonzero(const View& out, const View& in, uint64_t mask);
void reduce_moments(const View& variance, const View& mean, const View& in, uint64_t mask,
                    double correction, bool root);
void reduce_norm(const View& out, const View& in, uint64_t mask, double p);
void reduce_logsumexp(const View& out, const View& in, uint64_t mask);
void reduce_argmax(const View& values, const View& indices, const View& in, int64_t dim);
void reduce_argmin(const View& values, const View& indices, const View& in, int64_t dim);

}  // namespace facula::kernels::FACULA_ISA
