// The classes bind each algorithm's options to its update.
#include "facula/nn/optim/optimizers.h"

namespace facula::optim {

SGD::SGD(std::vector<Tensor> params, SgdOptions options) : Optimizer("SGD.step", kSgdLayout) {
  add_group(std::move(params), options);
}
void SGD::add_group(std::vector<Tensor> params, SgdOptions options) {
  add_params(std::move(params));
  options_.push_back(options);
}
void SGD::update_param(size_t group, const Tensor& param, const Tensor& grad, ParamState& state) {
  update(param, grad, state, options_[group]);
}

Adam::Adam(std::vector<Tensor> params, AdamOptions options) : Optimizer("Adam.step", kAdamLayout) {
  add_group(std::move(params), options);
}
void Adam::add_group(std::vector<Tensor> params, AdamOptions options) {
  add_params(std::move(params));
  options_.push_back(options);
}
void Adam::update_param(size_t group, const Tensor& param, const Tensor& grad, ParamState& state) {
  update(param, grad, state, options_[group]);
}

AdamW::AdamW(std::vector<Tensor> params, AdamwOptions options)
    : Optimizer("AdamW.step", kAdamLayout) {
  add_group(std::move(params), options);
}
void AdamW::add_group(std::vector<Tensor> params, AdamwOptions options) {
  add_params(std::move(params));
  options_.push_back(options);
}
void AdamW::update_param(size_t group, const Tensor& param, const Tensor& grad, ParamState& state) {
  const AdamwOptions& o = options_[group];
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

RMSprop::RMSprop(std::vector<Tensor> params, RmspropOptions options)
    : Optimizer("RMSprop.step", kRmspropLayout) {
  add_group(std::move(params), options);
}
void RMSprop::add_group(std::vector<Tensor> params, RmspropOptions options) {
  add_params(std::move(params));
  options_.push_back(options);
}
void RMSprop::update_param(size_t group, const Tensor& param, const Tensor& grad,
                           ParamState& state) {
  update(param, grad, state, options_[group]);
}

Adagrad::Adagrad(std::vector<Tensor> params, AdagradOptions options)
    : Optimizer("Adagrad.step", kAdagradLayout) {
  add_group(std::move(params), options);
}
void Adagrad::add_group(std::vector<Tensor> params, AdagradOptions options) {
  add_params(std::move(params));
  options_.push_back(options);
}
void Adagrad::update_param(size_t group, const Tensor& param, const Tensor& grad,
                           ParamState& state) {
  update(param, grad, state, options_[group]);
}

Adadelta::Adadelta(std::vector<Tensor> params, AdadeltaOptions options)
    : Optimizer("Adadelta.step", kAdadeltaLayout) {
  add_group(std::move(params), options);
}
void Adadelta::add_group(std::vector<Tensor> params, AdadeltaOptions options) {
  add_params(std::move(params));
  options_.push_back(options);
}
void Adadelta::update_param(size_t group, const Tensor& param, const Tensor& grad,
                            ParamState& state) {
  update(param, grad, state, options_[group]);
}

Adamax::Adamax(std::vector<Tensor> params, AdamaxOptions options)
    : Optimizer("Adamax.step", kAdamaxLayout) {
  add_group(std::move(params), options);
}
void Adamax::add_group(std::vector<Tensor> params, AdamaxOptions options) {
  add_params(std::move(params));
  options_.push_back(options);
}
void Adamax::update_param(size_t group, const Tensor& param, const Tensor& grad,
                          ParamState& state) {
  update(param, grad, state, options_[group]);
}

NAdam::NAdam(std::vector<Tensor> params, NadamOptions options)
    : Optimizer("NAdam.step", kNadamLayout) {
  add_group(std::move(params), options);
}
void NAdam::add_group(std::vector<Tensor> params, NadamOptions options) {
  add_params(std::move(params));
  options_.push_back(options);
}
void NAdam::update_param(size_t group, const Tensor& param, const Tensor& grad, ParamState& state) {
  update(param, grad, state, options_[group]);
}

RAdam::RAdam(std::vector<Tensor> params, RadamOptions options)
    : Optimizer("RAdam.step", kRadamLayout) {
  add_group(std::move(params), options);
}
void RAdam::add_group(std::vector<Tensor> params, RadamOptions options) {
  add_params(std::move(params));
  options_.push_back(options);
}
void RAdam::update_param(size_t group, const Tensor& param, const Tensor& grad, ParamState& state) {
  update(param, grad, state, options_[group]);
}

ASGD::ASGD(std::vector<Tensor> params, AsgdOptions options) : Optimizer("ASGD.step", kAsgdLayout) {
  add_group(std::move(params), options);
}
void ASGD::add_group(std::vector<Tensor> params, AsgdOptions options) {
  add_params(std::move(params));
  options_.push_back(options);
}
void ASGD::update_param(size_t group, const Tensor& param, const Tensor& grad, ParamState& state) {
  update(param, grad, state, options_[group]);
}

Rprop::Rprop(std::vector<Tensor> params, RpropOptions options)
    : Optimizer("Rprop.step", kRpropLayout) {
  add_group(std::move(params), options);
}
void Rprop::add_group(std::vector<Tensor> params, RpropOptions options) {
  add_params(std::move(params));
  options_.push_back(options);
}
void Rprop::update_param(size_t group, const Tensor& param, const Tensor& grad, ParamState& state) {
  update(param, grad, state, options_[group]);
}

}  // namespace facula::optim
