// The optim family: one step of an optimiser over the elements of one parameter. All operands are
// dense arrays of `n` elements of one floating type in one order; 16-bit types compute in float.
// What is the same for all elements (bias corrections, signs) the caller has computed.
#pragma once
#include "facula/kernels/view.h"

namespace facula::kernels {

// OptimArrays are the operands: the parameter, its gradient, and up to three arrays of state.
struct OptimArrays {
  DType dtype;
  int64_t n;
  void* param;
  const void* grad;
  void* slot[3];
};

// In all steps `sign` is -1 to maximise and 1 otherwise, and a weight_decay that is not zero is
// added to the gradient times the parameter; `shrink` multiplies the parameter first (1 for none).

struct SgdStep {
  double lr, weight_decay, sign;
  double momentum;  // 0: no buffer
  double keep;      // factor of the gradient that enters the buffer
  bool nesterov;
};
struct AdamStep {
  double rate;  // lr / (1 - beta1^t)
  double weight_decay, sign, shrink;
  double beta1, beta2;
  double root_scale;  // 1 / sqrt(1 - beta2^t)
  double eps;
  bool amsgrad;  // slot 2 holds the largest mean square
};
struct RmspropStep {
  double lr, weight_decay, sign, alpha, eps;
  double momentum;  // 0: no buffer
  bool centered;
};
struct AdagradStep {
  double rate;  // lr / (1 + (t - 1) lr_decay)
  double weight_decay, sign, eps;
};
struct AdadeltaStep {
  double lr, weight_decay, sign, rho, eps;
};
struct AdamaxStep {
  double rate;  // lr / (1 - beta1^t)
  double weight_decay, sign, beta1, beta2, eps;
};
struct NadamStep {
  double grad_rate;  // lr (1 - mu_t) / (1 - mu_1 ... mu_t)
  double mean_rate;  // lr mu_{t+1} / (1 - mu_1 ... mu_{t+1})
  double weight_decay, sign, shrink, beta1, beta2;
  double square_scale;  // 1 / (1 - beta2^t)
  double eps;
};
struct RadamStep {
  double rate;   // lr / (1 - beta1^t)
  double adapt;  // rectification times sqrt(1 - beta2^t); 0: plain momentum
  double weight_decay, sign, shrink, beta1, beta2, eps;
};
struct AsgdStep {
  double eta, weight_decay, sign;
  double shrink;  // 1 - lambd eta
  double mu;      // weight of the new value in the average; 1 copies it
};
struct RpropStep {
  double sign, eta_minus, eta_plus, smallest, largest;
};

struct OptimKernels {
  void (*sgd)(const OptimArrays& a, const SgdStep& s);            // slots: momentum_buffer
  void (*adam)(const OptimArrays& a, const AdamStep& s);          // exp_avg, exp_avg_sq, max
  void (*rmsprop)(const OptimArrays& a, const RmspropStep& s);    // square_avg, buffer, grad_avg
  void (*adagrad)(const OptimArrays& a, const AdagradStep& s);    // sum
  void (*adadelta)(const OptimArrays& a, const AdadeltaStep& s);  // square_avg, acc_delta
  void (*adamax)(const OptimArrays& a, const AdamaxStep& s);      // exp_avg, exp_inf
  void (*nadam)(const OptimArrays& a, const NadamStep& s);        // exp_avg, exp_avg_sq
  void (*radam)(const OptimArrays& a, const RadamStep& s);        // exp_avg, exp_avg_sq
  void (*asgd)(const OptimArrays& a, const AsgdStep& s);          // ax
  void (*rprop)(const OptimArrays& a, const RpropStep& s);        // prev, step_size
};
extern FACULA_API const OptimKernels* optim;

}  // namespace facula::kernels
