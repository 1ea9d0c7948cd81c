// The step of each optimiser for one parameter: options, state and formula. The classes of the C++
// front end and Python's optimisers both call these functions, so they train alike.
#pragma once
#include "facula/core/tensor.h"

namespace facula::optim {

// Options carry PyTorch's names and default values.
struct SgdOptions {
  double lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;
};
struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool amsgrad = false, maximize = false;
  bool decoupled_weight_decay = false;  // as AdamW does
};
struct AdamwOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 1e-2;
  bool amsgrad = false, maximize = false;
};
struct RmspropOptions {
  double lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0;
  bool centered = false, maximize = false;
};
struct AdagradOptions {
  double lr = 1e-2, lr_decay = 0, weight_decay = 0, initial_accumulator_value = 0, eps = 1e-10;
  bool maximize = false;
};
struct AdadeltaOptions {
  double lr = 1, rho = 0.9, eps = 1e-6, weight_decay = 0;
  bool maximize = false;
};
struct AdamaxOptions {
  double lr = 2e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool maximize = false;
};
struct NadamOptions {
  double lr = 2e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay = false, maximize = false;
};
struct RadamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool decoupled_weight_decay = false, maximize = false;
};
struct AsgdOptions {
  double lr = 1e-2, lambd = 1e-4, alpha = 0.75, t0 = 1e6, weight_decay = 0;
  bool maximize = false;
};
struct RpropOptions {
  double lr = 1e-2, eta_minus = 0.5, eta_plus = 1.2, smallest = 1e-6, largest = 50;
  bool maximize = false;
};

// ParamState is what an optimiser keeps for one parameter. `step` counts updates; `numbers` and
// `slots` are named by the layouts below. Undefined slots are made at the first update.
struct ParamState {
  double step = 0;
  double numbers[2] = {};
  Tensor slots[3];
};

// Layout names the state of an algorithm, as state dicts do.
struct Layout {
  bool has_step;
  const char* numbers[2];  // 0-d float32 tensors in state dicts
  const char* slots[3];
};
inline constexpr Layout kSgdLayout{false, {}, {"momentum_buffer"}};
inline constexpr Layout kAdamLayout{true, {}, {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}};
inline constexpr Layout kRmspropLayout{true, {}, {"square_avg", "momentum_buffer", "grad_avg"}};
inline constexpr Layout kAdagradLayout{true, {}, {"sum"}};
inline constexpr Layout kAdadeltaLayout{true, {}, {"square_avg", "acc_delta"}};
inline constexpr Layout kAdamaxLayout{true, {}, {"exp_avg", "exp_inf"}};
inline constexpr Layout kNadamLayout{true, {"mu_product"}, {"exp_avg", "exp_avg_sq"}};
inline constexpr Layout kRadamLayout{true, {}, {"exp_avg", "exp_avg_sq"}};
inline constexpr Layout kAsgdLayout{true, {"eta", "mu"}, {"ax"}};
inline constexpr Layout kRpropLayout{true, {}, {"prev", "step_size"}};

// can_update says whether the functions below take this parameter with this gradient: strided CPU
// tensors of one floating type and shape that no interpreter wants to see.
FACULA_API bool can_update(const Tensor& param, const Tensor& grad);

// check_written raises where a parameter or what is kept for it may not be written in place, before
// a step has changed any of these; parameters in front of it have been updated by then.
FACULA_API void check_written(const Tensor& param, const ParamState& state, const char* writer);

// clear makes a gradient zero and drops its history.
FACULA_API void clear(const Tensor& grad);

// update performs one step on `param` and counts it in `state`. Operands may have any strides;
// dense ones of the parameter's layout are updated without copies. It touches no history: the
// caller notes the write with bump_version.
FACULA_API void update(const Tensor& param, const Tensor& grad, ParamState& state,
                       const SgdOptions& options);
FACULA_API void update(const Tensor& param, const Tensor& grad, ParamState& state,
                       const AdamOptions& options);
FACULA_API void update(const Tensor& param, const Tensor& grad, ParamState& state,
                       const RmspropOptions& options);
FACULA_API void update(const Tensor& param, const Tensor& grad, ParamState& state,
                       const AdagradOptions& options);
FACULA_API void update(const Tensor& param, const Tensor& grad, ParamState& state,
                       const AdadeltaOptions& options);
FACULA_API void update(const Tensor& param, const Tensor& grad, ParamState& state,
                       const AdamaxOptions& options);
FACULA_API void update(const Tensor& param, const Tensor& grad, ParamState& state,
                       const NadamOptions& options);
FACULA_API void update(const Tensor& param, const Tensor& grad, ParamState& state,
                       const RadamOptions& options);
FACULA_API void update(const Tensor& param, const Tensor& grad, ParamState& state,
                       const AsgdOptions& options);
FACULA_API void update(const Tensor& param, const Tensor& grad, ParamState& state,
                       const RpropOptions& options);

}  // namespace facula::optim
