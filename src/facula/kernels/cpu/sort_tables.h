// Functions of the sort family that stand in sort_unique.cpp.
#pragma once
#include "facula/kernels/cpu/isa.h"

namespace facula::kernels::FACULA_ISA {

void sort_order_rows(const View& order, const View& rows, Fault* fault);
int64_t sort_runs(const View& rows, const View& order, const View& first, const View& inverse,
                  const View& counts);
void sort_searchsorted(const View& out, const View& sequence, const View& values,
                       const View& sorter, bool right);
void sort_histc(const View& out, const View& in, double low, double high);

}  // namespace facula::kernels::FACULA_ISA
