// The classes bind each algorithm's options to its update.
#include "facula/nn/optim/optimizers.h"

namespace facula::optim {

// Each class keeps the options of its groups, and gives them to the update of its algorithm.
#define FACULA_OPTIMIZER(Class, Options, kLayout)                                                  \
  Class::Class(std::vector<Tensor> params, Options options) : Optimizer(#Class ".step", kLayout) { \
    add_group(std::move(params), options);                                                         \
  }                                                                                                \
  void Class::add_group(std::vector<Tensor> params, Options options) {                             \
    add_params(std::move(params));                                                                 \
    options_.push_back(options);                                                                   \
  }                                                                                                \
  void Class::update_param(size_t group, const Tensor& param, const Tensor& grad,                  \
                           ParamState& state) {                                                    \
    update(param, grad, state, options_[group]);                                                   \
  }

namespace {

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
