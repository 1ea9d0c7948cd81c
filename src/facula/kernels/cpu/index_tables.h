// Functions of the index family that stand in index_mask.cpp.
#pragma once
#include "facula/kernels/cpu/isa.h"

namespace facula::kernels::FACULA_ISA {

void index_masked_select(const View& out, const View& in, const View& mask);
void index_nonzero(const View& out, const View& in);
void index_repeat(const View& out, const View& repeats);
void index_tril(const View& out, const View& in, int64_t k);
void index_triu(const View& out, const View& in, int64_t k);

}  // namespace facula::kernels::FACULA_ISA
