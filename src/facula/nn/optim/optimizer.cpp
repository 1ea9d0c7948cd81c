// Optimizer: groups, steps and state dicts, whatever the algorithm.
#include "facula/nn/optim/optimizer.h"

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/kernels/copy.h"

namespace facula::optim {

namespace {

Tensor number(double value) {
  Tensor t = new_empty({}, kFloat32);
  *t.data_as<float>() = static_cast<float>(value);
  return t;
}

Tensor copy_of(const Tensor& t) {
  Tensor twin = new_empty_as(t, t.dtype());
  if (t.numel()) kernels::copy->copy_strided(kernels::view(twin), kernels::view(t));
  return twin;
}

double value_of(const Tensor& t, const std::string& name) {
  if (t.numel() != 1 || t.dtype() != kFloat32) {
    raise_error(ErrorKind::kValue, "load_state_dict: expected a float32 number for ", name);
  }
  return *t.data_as<float>();
}

}  // namespace

Optimizer::~Optimizer() = default;

double* Optimizer::momentum(size_t) { return nullptr; }

void Optimizer::add_params(std::vector<Tensor> params) {
  if (params.empty()) raise_error(ErrorKind::kValue, "optimizer got an empty parameter list");
  for (const Tensor& p : params) {
    if (!p.defined()) raise_error(ErrorKind::kType, name_, ": an undefined parameter");
    if (!is_leaf(p)) raise_error(ErrorKind::kValue, "can't optimize a non-leaf Tensor");
    for (const auto& group : groups_) {
      for (const Tensor& other : group) {
        if (other.is_same(p)) {
          raise_error(ErrorKind::kValue, "some parameters appear in more than one parameter group");
        }
      }
    }
  }
  states_.resize(states_.size() + params.size());
  groups_.push_back(std::move(params));
}

void Optimizer::check_gradient(const Tensor& param, const Tensor& grad) const {
  if (can_update(param, grad)) return;
  raise_error(ErrorKind::kNotImplemented, name_,
              ": expected a floating-point CPU parameter and a gradient of its type and shape, "
              "got ",
              dtype_name(param.dtype()), " ", list_text(param.sizes()), " and ",
              dtype_name(grad.dtype()), " ", list_text(grad.sizes()));
}

void Optimizer::step() {
  size_t index = 0;
  for (size_t g = 0; g < groups_.size(); ++g) {
    for (const Tensor& p : groups_[g]) {
      ParamState& state = states_[index++];
      AutogradMeta* meta = find_meta(p.impl());
      if (!meta || !meta->grad.defined()) continue;
      check_gradient(p, meta->grad);
      check_written(p, state, name_);
      update_param(g, p, meta->grad, state);
      bump_version(p, name_);
    }
  }
}

void Optimizer::zero_grad(bool set_to_none) {
  for (const auto& group : groups_) {
    for (const Tensor& p : group) {
      AutogradMeta* meta = find_meta(p.impl());
      if (!meta || !meta->grad.defined()) continue;
      if (set_to_none) {
        set_grad(p, Tensor());
      } else {
        clear(meta->grad);
      }
    }
  }
}

double Optimizer::initial_lr(size_t group) {
  if (initial_rates_.size() < groups_.size()) initial_rates_.resize(groups_.size());
  std::optional<double>& kept = initial_rates_.at(group);
  if (!kept) kept = rate(group);
  return *kept;
}

void Optimizer::set_initial_lr(double value, size_t group) {
  initial_lr(group);
  initial_rates_.at(group) = value;
}

std::map<std::string, Tensor> Optimizer::state_dict() const {
  std::map<std::string, Tensor> dict;
  for (size_t i = 0; i < states_.size(); ++i) {
    const ParamState& s = states_[i];
    std::string prefix = std::to_string(i) + ".";
    if (s.step == 0 && !s.slots[0].defined()) continue;
    if (layout_.has_step) dict[prefix + "step"] = number(s.step);
    for (int k = 0; k < 2 && layout_.numbers[k]; ++k) {
      dict[prefix + layout_.numbers[k]] = number(s.numbers[k]);
    }
    for (int k = 0; k < 3 && layout_.slots[k]; ++k) {
      if (s.slots[k].defined()) dict[prefix + layout_.slots[k]] = s.slots[k];
    }
  }
  return dict;
}

void Optimizer::load_state_dict(const std::map<std::string, Tensor>& dict) {
  std::vector<ParamState> states(states_.size());
  size_t used = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    std::string prefix = std::to_string(i) + ".";
    auto find = [&](const char* name) -> const Tensor* {
      auto at = dict.find(prefix + name);
      if (at == dict.end()) return nullptr;
      ++used;
      return &at->second;
    };
    if (layout_.has_step) {
      if (const Tensor* t = find("step")) states[i].step = value_of(*t, prefix + "step");
    }
    for (int k = 0; k < 2 && layout_.numbers[k]; ++k) {
      if (const Tensor* t = find(layout_.numbers[k])) {
        states[i].numbers[k] = value_of(*t, prefix + layout_.numbers[k]);
      }
    }
    for (int k = 0; k < 3 && layout_.slots[k]; ++k) {
      if (const Tensor* t = find(layout_.slots[k])) states[i].slots[k] = copy_of(*t);
    }
  }
  if (used != dict.size()) {
    raise_error(ErrorKind::kValue, "load_state_dict: the state is not that of ", name_, " over ",
                static_cast<int64_t>(states_.size()), " parameters");
  }
  states_ = std::move(states);
}

}  // namespace facula::optim
