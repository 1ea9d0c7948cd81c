// The optimisers of the C++ front end, named as in PyTorch.
//
//   nn::Linear model(3, 1);
//   optim::AdamW optimizer(model.parameters(), {.lr = 1e-3});
//   optimizer.zero_grad();
//   backward(sum(model(rand({4, 3}))));
//   optimizer.step();
//
// Constructors and add_group raise a ValueError for options out of range: negative rates, betas
// that are not in [0, 1).
#pragma once
#include "facula/nn/optim/optimizer.h"

namespace facula::optim {

// SGD: stochastic gradient descent with momentum.
class FACULA_API SGD final : public Optimizer {
 public:
  explicit SGD(std::vector<Tensor> params, SgdOptions options = {});
  // add_group adds parameters with options of their own.
  void add_group(std::vector<Tensor> params, SgdOptions options);
  SgdOptions& options(size_t group = 0) { return options_.at(group); }
  double* momentum(size_t group = 0) override { return momentum_in(options_.at(group)); }

 private:
  void update_param(size_t group, const Tensor& param, const Tensor& grad,
                    ParamState& state) override;
  double& rate(size_t group) override { return options_.at(group).lr; }
  std::vector<SgdOptions> options_;
};

// Adam: Adam, Kingma and Ba 2014.
class FACULA_API Adam final : public Optimizer {
 public:
  explicit Adam(std::vector<Tensor> params, AdamOptions options = {});
  // add_group adds parameters with options of their own.
  void add_group(std::vector<Tensor> params, AdamOptions options);
  AdamOptions& options(size_t group = 0) { return options_.at(group); }
  double* momentum(size_t group = 0) override { return momentum_in(options_.at(group)); }

 private:
  void update_param(size_t group, const Tensor& param, const Tensor& grad,
                    ParamState& state) override;
  double& rate(size_t group) override { return options_.at(group).lr; }
  std::vector<AdamOptions> options_;
};

// AdamW: Adam with weight decay of the parameter itself, Loshchilov and Hutter 2017.
class FACULA_API AdamW final : public Optimizer {
 public:
  explicit AdamW(std::vector<Tensor> params, AdamwOptions options = {});
  // add_group adds parameters with options of their own.
  void add_group(std::vector<Tensor> params, AdamwOptions options);
  AdamwOptions& options(size_t group = 0) { return options_.at(group); }
  double* momentum(size_t group = 0) override { return momentum_in(options_.at(group)); }

 private:
  void update_param(size_t group, const Tensor& param, const Tensor& grad,
                    ParamState& state) override;
  double& rate(size_t group) override { return options_.at(group).lr; }
  std::vector<AdamwOptions> options_;
};

// RMSprop: RMSprop, Hinton 2012.
class FACULA_API RMSprop final : public Optimizer {
 public:
  explicit RMSprop(std::vector<Tensor> params, RmspropOptions options = {});
  // add_group adds parameters with options of their own.
  void add_group(std::vector<Tensor> params, RmspropOptions options);
  RmspropOptions& options(size_t group = 0) { return options_.at(group); }
  double* momentum(size_t group = 0) override { return momentum_in(options_.at(group)); }

 private:
  void update_param(size_t group, const Tensor& param, const Tensor& grad,
                    ParamState& state) override;
  double& rate(size_t group) override { return options_.at(group).lr; }
  std::vector<RmspropOptions> options_;
};

// Adagrad: Adagrad, Duchi et al. 2011.
class FACULA_API Adagrad final : public Optimizer {
 public:
  explicit Adagrad(std::vector<Tensor> params, AdagradOptions options = {});
  // add_group adds parameters with options of their own.
  void add_group(std::vector<Tensor> params, AdagradOptions options);
  AdagradOptions& options(size_t group = 0) { return options_.at(group); }
  double* momentum(size_t group = 0) override { return momentum_in(options_.at(group)); }

 private:
  void update_param(size_t group, const Tensor& param, const Tensor& grad,
                    ParamState& state) override;
  double& rate(size_t group) override { return options_.at(group).lr; }
  std::vector<AdagradOptions> options_;
};

// Adadelta: Adadelta, Zeiler 2012.
class FACULA_API Adadelta final : public Optimizer {
 public:
  explicit Adadelta(std::vector<Tensor> params, AdadeltaOptions options = {});
  // add_group adds parameters with options of their own.
  void add_group(std::vector<Tensor> params, AdadeltaOptions options);
  AdadeltaOptions& options(size_t group = 0) { return options_.at(group); }
  double* momentum(size_t group = 0) override { return momentum_in(options_.at(group)); }

 private:
  void update_param(size_t group, const Tensor& param, const Tensor& grad,
                    ParamState& state) override;
  double& rate(size_t group) override { return options_.at(group).lr; }
  std::vector<AdadeltaOptions> options_;
};

// Adamax: Adamax, Kingma and Ba 2014.
class FACULA_API Adamax final : public Optimizer {
 public:
  explicit Adamax(std::vector<Tensor> params, AdamaxOptions options = {});
  // add_group adds parameters with options of their own.
  void add_group(std::vector<Tensor> params, AdamaxOptions options);
  AdamaxOptions& options(size_t group = 0) { return options_.at(group); }
  double* momentum(size_t group = 0) override { return momentum_in(options_.at(group)); }

 private:
  void update_param(size_t group, const Tensor& param, const Tensor& grad,
                    ParamState& state) override;
  double& rate(size_t group) override { return options_.at(group).lr; }
  std::vector<AdamaxOptions> options_;
};

// NAdam: NAdam, Dozat 2016.
class FACULA_API NAdam final : public Optimizer {
 public:
  explicit NAdam(std::vector<Tensor> params, NadamOptions options = {});
  // add_group adds parameters with options of their own.
  void add_group(std::vector<Tensor> params, NadamOptions options);
  NadamOptions& options(size_t group = 0) { return options_.at(group); }
  double* momentum(size_t group = 0) override { return momentum_in(options_.at(group)); }

 private:
  void update_param(size_t group, const Tensor& param, const Tensor& grad,
                    ParamState& state) override;
  double& rate(size_t group) override { return options_.at(group).lr; }
  std::vector<NadamOptions> options_;
};

// RAdam: RAdam, Liu et al. 2019.
class FACULA_API RAdam final : public Optimizer {
 public:
  explicit RAdam(std::vector<Tensor> params, RadamOptions options = {});
  // add_group adds parameters with options of their own.
  void add_group(std::vector<Tensor> params, RadamOptions options);
  RadamOptions& options(size_t group = 0) { return options_.at(group); }
  double* momentum(size_t group = 0) override { return momentum_in(options_.at(group)); }

 private:
  void update_param(size_t group, const Tensor& param, const Tensor& grad,
                    ParamState& state) override;
  double& rate(size_t group) override { return options_.at(group).lr; }
  std::vector<RadamOptions> options_;
};

// ASGD: averaged SGD, Polyak and Juditsky 1992.
class FACULA_API ASGD final : public Optimizer {
 public:
  explicit ASGD(std::vector<Tensor> params, AsgdOptions options = {});
  // add_group adds parameters with options of their own.
  void add_group(std::vector<Tensor> params, AsgdOptions options);
  AsgdOptions& options(size_t group = 0) { return options_.at(group); }
  double* momentum(size_t group = 0) override { return momentum_in(options_.at(group)); }

 private:
  void update_param(size_t group, const Tensor& param, const Tensor& grad,
                    ParamState& state) override;
  double& rate(size_t group) override { return options_.at(group).lr; }
  std::vector<AsgdOptions> options_;
};

// Rprop: resilient backpropagation, Riedmiller and Braun 1993.
class FACULA_API Rprop final : public Optimizer {
 public:
  explicit Rprop(std::vector<Tensor> params, RpropOptions options = {});
  // add_group adds parameters with options of their own.
  void add_group(std::vector<Tensor> params, RpropOptions options);
  RpropOptions& options(size_t group = 0) { return options_.at(group); }
  double* momentum(size_t group = 0) override { return momentum_in(options_.at(group)); }

 private:
  void update_param(size_t group, const Tensor& param, const Tensor& grad,
                    ParamState& state) override;
  double& rate(size_t group) override { return options_.at(group).lr; }
  std::vector<RpropOptions> options_;
};

}  // namespace facula::optim
