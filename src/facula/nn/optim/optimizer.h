// Optimizer, the base class of the C++ front end's optimisers: groups of parameters and their
// state. Formulas are in update.h; the classes in optimizers.h; learning rates over time in
// schedule.h.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "facula/nn/optim/update.h"

namespace facula::optim {

// Optimizer steps parameters along their gradients. Parameters without a gradient are left alone.
class FACULA_API Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // step updates every parameter once.
  void step();
  // zero_grad drops the gradients of all parameters, or fills them with zeros.
  void zero_grad(bool set_to_none = true);

  size_t num_groups() const { return groups_.size(); }
  const std::vector<Tensor>& params(size_t group = 0) const { return groups_.at(group); }
  // lr reads and set_lr writes the learning rate of a group.
  double lr(size_t group = 0) const { return const_cast<Optimizer*>(this)->rate(group); }
  void set_lr(double value, size_t group = 0) { rate(group) = value; }
  // initial_lr is the rate of a group when its first schedule began, which all schedules start
  // from.
  double initial_lr(size_t group = 0);
  void set_initial_lr(double value, size_t group = 0);
  // momentum points at the momentum of a group, Adam's beta1 for one; null where there is none.
  virtual double* momentum(size_t group = 0);

  // state gives what is kept for a parameter, by its place among all parameters.
  const ParamState& state(size_t index) const { return states_.at(index); }
  // state_dict names the state: "0.exp_avg", "0.step", ... ; load_state_dict copies it back and
  // raises on names that do not exist.
  std::map<std::string, Tensor> state_dict() const;
  void load_state_dict(const std::map<std::string, Tensor>& dict);

 protected:
  Optimizer(const char* name, const Layout& layout) : name_(name), layout_(layout) {}
  // add_params checks and appends a group; ValueError for an empty list, for tensors that are not
  // leaves and for parameters that are in two groups.
  void add_params(std::vector<Tensor> params);

 private:
  virtual void update_param(size_t group, const Tensor& param, const Tensor& grad,
                            ParamState& state) = 0;
  virtual double& rate(size_t group) = 0;
  // check_gradient refuses gradients that update_param does not take: by default all but strided
  // ones of the parameter's type and shape.
  virtual void check_gradient(const Tensor& param, const Tensor& grad) const;

  const char* name_;
  const Layout& layout_;
  std::vector<std::optional<double>> initial_rates_;
  std::vector<std::vector<Tensor>> groups_;
  std::vector<ParamState> states_;  // of all groups, one after the other
};

// momentum_in finds what schedules may cycle among the options of an optimiser.
template <class Options>
double* momentum_in(Options& o) {
  if constexpr (requires { o.momentum; }) {
    return &o.momentum;
  } else if constexpr (requires { o.beta1; }) {
    return &o.beta1;
  } else {
    return nullptr;
  }
}

}  // namespace facula::optim
