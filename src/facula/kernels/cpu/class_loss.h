// What softmax.cpp and class_loss.cpp share: the log-sum-exp of one row and the losses' entries.
#pragma once
#include "facula/kernels/cpu/lanes.h"
#include "facula/kernels/cpu/math_exp.h"
#include "facula/kernels/softmax.h"

namespace facula::kernels::FACULA_ISA {

// log_sum_exp of n elements that are `step` apart; -inf for none, and exact for infinite ones.
template <class C, class T>
FACULA_INLINE C log_sum_exp(const T* x, int64_t n, int64_t step) {
  C top = max_lanes<C>(n, [&](int64_t i) { return static_cast<C>(x[i * step]); });
  C shift = top == static_cast<C>(kInf) || top == -static_cast<C>(kInf) ? C(0) : top;
  C sum = sum_of<C>(n, [&](int64_t i) { return m_exp(static_cast<C>(x[i * step]) - shift); });
  return m_log(sum) + shift;
}

void cross_entropy(const ClassLoss& loss, void* losses, void* lse, Fault* fault);
void cross_entropy_backward(const ClassLoss& loss, void* out, const void* lse, const void* scale,
                            int64_t scale_step);
void nll_loss(const ClassLoss& loss, void* losses, Fault* fault);
void nll_loss_backward(const ClassLoss& loss, void* out, const void* scale, int64_t scale_step);
double target_weight(const ClassLoss& loss);

}  // namespace facula::kernels::FACULA_ISA
