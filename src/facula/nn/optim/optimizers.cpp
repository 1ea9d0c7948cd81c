// The classes bind each algorithm's options to its update.
#include "facula/nn/optim/optimizers.h"

#include "facula/base/error.h"

namespace facula::optim {

// Each class keeps the options of its groups, and gives them to the update of its algorithm.
#define FACULA_OPTIMIZER(Class, Options, kLayout)                                                  \
  Class::Class(std::vector<Tensor> params, Options options) : Optimizer(#Class ".step", kLayout) { \
    add_group(std::move(params), options);                                                         \
  }                                                                                                \
  void Class::add_group(std::vector<Tensor> params, Options options) {                             \
    check(options);                                                                                \
    add_params(std::move(params));                                                                 \
    options_.push_back(options);                                                                   \
  }                                                                                                \
  void Class::update_param(size_t group, const Tensor& param, const Tensor& grad,                  \
                           ParamState& state) {                                                    \
    update(param, grad, state, options_[group]);                                                   \
  }

namespace {

// The comparisons are false for NaN, which is no option either.
void not_negative(const char* name, double value) {
  FACULA_CHECK(value >= 0, kValue, "Invalid ", name, ": ", value);
}

void check_beta(int index, double beta) {
  FACULA_CHECK(beta >= 0 && beta < 1, kValue, "Invalid beta parameter at index ", index, ": ",
               beta);
}

// check refuses options that no algorithm takes, as Python's constructors do: an option of one name
// has one range, whoever has it.
template <class Options>
void check(const Options& o) {
  not_negative("learning rate", o.lr);
  if constexpr (requires { o.beta1; }) check_beta(0, o.beta1), check_beta(1, o.beta2);
  if constexpr (requires { o.eps; }) not_negative("epsilon value", o.eps);
  if constexpr (requires { o.weight_decay; }) not_negative("weight_decay value", o.weight_decay);
  if constexpr (requires { o.momentum; }) not_negative("momentum value", o.momentum);
  if constexpr (requires { o.momentum_decay; }) {
    not_negative("momentum_decay value", o.momentum_decay);
  }
  if constexpr (requires { o.alpha; }) not_negative("alpha value", o.alpha);
  if constexpr (requires { o.lambd; }) not_negative("lambd value", o.lambd);
  if constexpr (requires { o.lr_decay; }) {
    not_negative("lr_decay value", o.lr_decay);
    not_negative("initial_accumulator_value value", o.initial_accumulator_value);
  }
  if constexpr (requires { o.rho; }) {
    FACULA_CHECK(o.rho >= 0 && o.rho <= 1, kValue, "Invalid rho value: ", o.rho);
  }
  if constexpr (requires { o.eta_minus; }) {
    FACULA_CHECK(o.eta_minus > 0 && o.eta_minus < 1 && o.eta_plus > 1, kValue,
                 "Invalid eta values: ", o.eta_minus, ", ", o.eta_plus);
  }
  if constexpr (requires { o.nesterov; }) {
    FACULA_CHECK(!o.nesterov || (o.momentum > 0 && o.dampening == 0), kValue,
                 "Nesterov momentum requires a momentum and zero dampening");
  }
}

// AdamW is Adam with decoupled weight decay.
void update(const Tensor& param, const Tensor& grad, ParamState& state, const AdamwOptions& o) {
  update(param, grad, state,
         AdamOptions{.lr = o.lr,
                     .beta1 = o.beta1,
                     .beta2 = o.beta2,
                     .eps = o.eps,
                     .weight_decay = o.weight_decay,
                     .amsgrad = o.amsgrad,
                     .maximize = o.maximize,
                     .decoupled_weight_decay = true});
}

}  // namespace

FACULA_OPTIMIZER(SGD, SgdOptions, kSgdLayout)
FACULA_OPTIMIZER(Adam, AdamOptions, kAdamLayout)
FACULA_OPTIMIZER(AdamW, AdamwOptions, kAdamLayout)
FACULA_OPTIMIZER(RMSprop, RmspropOptions, kRmspropLayout)
FACULA_OPTIMIZER(Adagrad, AdagradOptions, kAdagradLayout)
FACULA_OPTIMIZER(Adadelta, AdadeltaOptions, kAdadeltaLayout)
FACULA_OPTIMIZER(Adamax, AdamaxOptions, kAdamaxLayout)
FACULA_OPTIMIZER(NAdam, NadamOptions, kNadamLayout)
FACULA_OPTIMIZER(RAdam, RadamOptions, kRadamLayout)
FACULA_OPTIMIZER(ASGD, AsgdOptions, kAsgdLayout)
FACULA_OPTIMIZER(Rprop, RpropOptions, kRpropLayout)

#undef FACULA_OPTIMIZER

}  // namespace facula::optim
