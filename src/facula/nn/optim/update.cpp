// What is the same for all elements of a parameter: slots of state, bias corrections, layouts.
#include "facula/nn/optim/update.h"

#include <algorithm>
#include <cmath>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/kernels/copy.h"
#include "facula/kernels/optim.h"

namespace facula::optim {

namespace {

using kernels::OptimArrays;

// Operand lends a tensor's elements in the parameter's layout: its own memory, or a copy that is
// written back.
class Operand {
 public:
  Operand(const Tensor& t, const Tensor& like, bool dense, bool written)
      : original_(t), written_(written) {
    if (dense && t.strides() == like.strides()) {
      data_ = t.data();
      return;
    }
    copy_ = new_empty_as(like, like.dtype());
    kernels::copy->copy_strided(kernels::view(copy_), kernels::view(t));
    data_ = copy_.data();
  }
  Operand(const Operand&) = delete;
  ~Operand() {
    if (copy_.defined() && written_) {
      kernels::copy->copy_strided(kernels::view(original_), kernels::view(copy_));
    }
  }
  void* data() const { return data_; }

 private:
  const Tensor& original_;
  Tensor copy_;
  bool written_;
  void* data_ = nullptr;
};

void fill(const Tensor& t, double value) { kernels::copy->fill(kernels::view(t), Scalar(value)); }

// slot gives a tensor of state, made with the parameter's layout and `value` in it at first.
const Tensor& slot(ParamState& state, int index, const Tensor& param, double value = 0) {
  Tensor& t = state.slots[index];
  if (!t.defined()) {
    t = new_empty_as(param, param.dtype());
    fill(t, value);
  } else if (t.dtype() != param.dtype() || !(t.sizes() == param.sizes()) || t.is_meta()) {
    raise_error(ErrorKind::kRuntime, "optimizer state of shape ", list_text(t.sizes()), " and ",
                dtype_name(t.dtype()), " does not fit a parameter of shape ",
                list_text(param.sizes()), " and ", dtype_name(param.dtype()));
  }
  return t;
}

template <class Step>
using Kernel = void (*)(const OptimArrays&, const Step&);

// apply runs a kernel over the parameter and the slots whose bits are set in `used`.
template <class Step>
void apply(const Tensor& param, const Tensor& grad, ParamState& state, unsigned used,
           Kernel<Step> kernel, const Step& step) {
  if (param.numel() == 0) return;
  bool dense = param.is_contiguous() || is_dense(param);
  Operand p(param, param, dense, true);
  // Copies are dense in the parameter's order of dimensions, so they agree with each other; a
  // tensor that already has the layout of the parameter needs none only where that is dense.
  Operand g(grad, param, dense, false);
  OptimArrays arrays{param.dtype(), param.numel(), p.data(), g.data(), {}};
  if (dense) {
    bool fits = true;
    for (int i = 0; i < 3; ++i) {
      if (!(used >> i & 1)) continue;
      fits = fits && state.slots[i].strides() == param.strides();
      arrays.slot[i] = state.slots[i].data();
    }
    if (fits) {
      kernel(arrays, step);
      return;
    }
  }
  const Tensor& any = state.slots[0].defined() ? state.slots[0] : param;
  Operand s0(used & 1 ? state.slots[0] : any, param, dense, used & 1);
  Operand s1(used & 2 ? state.slots[1] : any, param, dense, used & 2);
  Operand s2(used & 4 ? state.slots[2] : any, param, dense, used & 4);
  arrays.slot[0] = s0.data();
  arrays.slot[1] = s1.data();
  arrays.slot[2] = s2.data();
  kernel(arrays, step);
}

// power is base^step; parameters of a group mostly share both, so the last two results are kept.
double power(double base, double step) {
  struct Known {
    double base, step, value;
  };
  thread_local Known known[2] = {};
  thread_local int next = 0;
  for (const Known& k : known) {
    if (k.base == base && k.step == step) return k.value;
  }
  double value = std::pow(base, step);
  known[next ^= 1] = {base, step, value};
  return value;
}

double sign_of(bool maximize) { return maximize ? -1 : 1; }

// Decay is how a weight decay enters: through the gradient, or by shrinking the parameter.
struct Decay {
  double weight_decay, shrink;
  Decay(double decay, double lr, bool decoupled)
      : weight_decay(decoupled ? 0 : decay), shrink(decoupled ? 1 - lr * decay : 1) {}
};

}  // namespace

void check_written(const Tensor& param, const ParamState& state, const char* writer) {
  NoGrad off;  // steps change leaves without being recorded
  check_inplace(param, writer);
  for (const Tensor& t : state.slots) {
    if (t.defined()) check_inplace(t, writer);
  }
}

void clear(const Tensor& grad) {
  {
    NoGrad off;
    check_inplace(grad, "zero_");
  }
  if (grad_fn(grad)) {
    detach_(grad);
  } else if (requires_grad(grad)) {
    set_requires_grad(grad, false);
  }
  if (grad.numel() == 0 || grad.is_meta()) return;
  fill(grad, 0);
  bump_version(grad, "zero_grad");
}

bool can_update(const Tensor& param, const Tensor& grad) {
  return param->intercept == 0 && grad->intercept == 0 && is_floating(param.dtype()) &&
         param.dtype() == grad.dtype() && param.device().is_cpu() && grad.device().is_cpu() &&
         param.sizes() == grad.sizes() && !may_overlap_itself(param);
}

void update(const Tensor& param, const Tensor& grad, ParamState& state, const SgdOptions& o) {
  bool buffered = o.momentum != 0;
  bool first = buffered && !state.slots[0].defined();
  if (buffered) slot(state, 0, param);
  kernels::SgdStep step{.lr = o.lr,
                        .weight_decay = o.weight_decay,
                        .sign = sign_of(o.maximize),
                        .momentum = o.momentum,
                        .keep = first ? 1 : 1 - o.dampening,
                        .nesterov = o.nesterov};
  state.step += 1;
  apply(param, grad, state, buffered ? 1 : 0, kernels::optim->sgd, step);
}

void update(const Tensor& param, const Tensor& grad, ParamState& state, const AdamOptions& o) {
  double t = state.step += 1;
  slot(state, 0, param);
  slot(state, 1, param);
  if (o.amsgrad) slot(state, 2, param);
  Decay decay(o.weight_decay, o.lr, o.decoupled_weight_decay);
  kernels::AdamStep step{o.lr / (1 - power(o.beta1, t)),
                         decay.weight_decay,
                         sign_of(o.maximize),
                         decay.shrink,
                         o.beta1,
                         o.beta2,
                         1 / std::sqrt(1 - power(o.beta2, t)),
                         o.eps,
                         o.amsgrad};
  apply(param, grad, state, o.amsgrad ? 7 : 3, kernels::optim->adam, step);
}

void update(const Tensor& param, const Tensor& grad, ParamState& state, const RmspropOptions& o) {
  state.step += 1;
  slot(state, 0, param);
  if (o.momentum > 0) slot(state, 1, param);
  if (o.centered) slot(state, 2, param);
  kernels::RmspropStep step{o.lr,      o.weight_decay, sign_of(o.maximize),
                            o.alpha,   o.eps,          o.momentum > 0 ? o.momentum : 0,
                            o.centered};
  unsigned used = 1 | (o.momentum > 0 ? 2 : 0) | (o.centered ? 4 : 0);
  apply(param, grad, state, used, kernels::optim->rmsprop, step);
}

void update(const Tensor& param, const Tensor& grad, ParamState& state, const AdagradOptions& o) {
  double t = state.step += 1;
  slot(state, 0, param, o.initial_accumulator_value);
  kernels::AdagradStep step{o.lr / (1 + (t - 1) * o.lr_decay), o.weight_decay, sign_of(o.maximize),
                            o.eps};
  apply(param, grad, state, 1, kernels::optim->adagrad, step);
}

void update(const Tensor& param, const Tensor& grad, ParamState& state, const AdadeltaOptions& o) {
  state.step += 1;
  slot(state, 0, param);
  slot(state, 1, param);
  kernels::AdadeltaStep step{o.lr, o.weight_decay, sign_of(o.maximize), o.rho, o.eps};
  apply(param, grad, state, 3, kernels::optim->adadelta, step);
}

void update(const Tensor& param, const Tensor& grad, ParamState& state, const AdamaxOptions& o) {
  double t = state.step += 1;
  slot(state, 0, param);
  slot(state, 1, param);
  kernels::AdamaxStep step{
      o.lr / (1 - power(o.beta1, t)), o.weight_decay, sign_of(o.maximize), o.beta1, o.beta2, o.eps};
  apply(param, grad, state, 3, kernels::optim->adamax, step);
}

void update(const Tensor& param, const Tensor& grad, ParamState& state, const NadamOptions& o) {
  double t = state.step += 1;
  slot(state, 0, param);
  slot(state, 1, param);
  double mu = o.beta1 * (1 - 0.5 * std::pow(0.96, t * o.momentum_decay));
  double next = o.beta1 * (1 - 0.5 * std::pow(0.96, (t + 1) * o.momentum_decay));
  double& product = state.numbers[0];
  // State dicts keep the product as float32, and it is 1 before the first step.
  product = static_cast<float>((t == 1 ? 1 : product) * mu);
  Decay decay(o.weight_decay, o.lr, o.decoupled_weight_decay);
  kernels::NadamStep step{o.lr * (1 - mu) / (1 - product),
                          o.lr * next / (1 - product * next),
                          decay.weight_decay,
                          sign_of(o.maximize),
                          decay.shrink,
                          o.beta1,
                          o.beta2,
                          1 / (1 - power(o.beta2, t)),
                          o.eps};
  apply(param, grad, state, 3, kernels::optim->nadam, step);
}

void update(const Tensor& param, const Tensor& grad, ParamState& state, const RadamOptions& o) {
  double t = state.step += 1;
  slot(state, 0, param);
  slot(state, 1, param);
  double decayed = power(o.beta2, t), correction = 1 - decayed;
  double limit = 2 / (1 - o.beta2) - 1;
  double length = limit - 2 * t * decayed / correction;
  double adapt = 0;
  if (length > 5) {
    double rectify = (length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length);
    adapt = std::sqrt(rectify * correction);
  }
  Decay decay(o.weight_decay, o.lr, o.decoupled_weight_decay);
  kernels::RadamStep step{o.lr / (1 - power(o.beta1, t)),
                          adapt,
                          decay.weight_decay,
                          sign_of(o.maximize),
                          decay.shrink,
                          o.beta1,
                          o.beta2,
                          o.eps};
  apply(param, grad, state, 3, kernels::optim->radam, step);
}

void update(const Tensor& param, const Tensor& grad, ParamState& state, const AsgdOptions& o) {
  double &eta = state.numbers[0], &mu = state.numbers[1];
  if (state.step == 0) {
    eta = static_cast<float>(o.lr);
    mu = 1;
  }
  double t = state.step += 1;
  slot(state, 0, param);
  kernels::AsgdStep step{eta, o.weight_decay, sign_of(o.maximize), 1 - o.lambd * eta, mu};
  apply(param, grad, state, 1, kernels::optim->asgd, step);
  // For the next step; state dicts keep both as float32.
  eta = static_cast<float>(o.lr / std::pow(1 + o.lambd * o.lr * t, o.alpha));
  mu = static_cast<float>(1 / std::max(1.0, t - o.t0));
}

void update(const Tensor& param, const Tensor& grad, ParamState& state, const RpropOptions& o) {
  state.step += 1;
  slot(state, 0, param);
  slot(state, 1, param, o.lr);
  kernels::RpropStep step{sign_of(o.maximize), o.eta_minus, o.eta_plus, o.smallest, o.largest};
  apply(param, grad, state, 3, kernels::optim->rprop, step);
}

}  // namespace facula::optim
