// The rules are those of Python's schedulers, in the same order of operations.
#include "facula/nn/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "facula/base/error.h"
#include "facula/nn/options.h"

namespace facula::optim {
namespace {

constexpr double kPi = std::numbers::pi;

void check_fraction(double value, bool zero_allowed, const char* message) {
  FACULA_CHECK((zero_allowed ? value >= 0 : value > 0) && value <= 1, kValue, message);
}

void check_schedulers(const char* name, const Optimizer* optimizer, const Schedulers& schedulers) {
  FACULA_CHECK(!schedulers.empty(), kValue, name,
               " expects at least one scheduler to be chained, but got no scheduler.");
  for (const auto& s : schedulers) {
    FACULA_CHECK(s && &s->optimizer() == optimizer, kValue, name,
                 " expects all schedulers to belong to the same optimizer");
  }
}

// start_momentum sets the momentum of every group; ValueError where there is none.
void start_momentum(Optimizer& o, double value) {
  for (size_t g = 0; g < o.num_groups(); ++g) {
    double* momentum = o.momentum(g);
    FACULA_CHECK(momentum, kValue,
                 "optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
    *momentum = value;
  }
}

void check_restarts(int64_t t_0, int64_t t_mult) {
  FACULA_CHECK(t_0 > 0, kValue, "Expected positive integer T_0, but got ", t_0);
  FACULA_CHECK(t_mult >= 1, kValue, "Expected integer T_mult >= 1, but got ", t_mult);
}

Optimizer& with_rates(Optimizer& o, double value) {
  for (size_t g = 0; g < o.num_groups(); ++g) o.set_lr(value, g);
  return o;
}

Optimizer& with_initial_rates(Optimizer& o, double value) {
  for (size_t g = 0; g < o.num_groups(); ++g) o.set_initial_lr(value, g);
  return o;
}

// optimizer_of finds the optimiser of a chain before the chain is checked.
Optimizer& optimizer_of(const Schedulers& schedulers) {
  FACULA_CHECK(!schedulers.empty() && schedulers[0], kValue,
               "ChainedScheduler expects at least one scheduler to be chained, but got no "
               "scheduler.");
  return schedulers[0]->optimizer();
}

RateRule constant_rule(double factor, int64_t total_iters) {
  return [=](const Moment& m) {
    if (m.epoch == 0) return m.rate * factor;
    if (m.epoch != total_iters) return m.rate;
    return factor == 0 ? m.base : m.rate * (1 / factor);
  };
}

RateRule step_rule(int64_t step_size, double gamma) {
  return [=](const Moment& m) {
    return m.epoch == 0 || m.epoch % step_size != 0 ? m.rate : m.rate * gamma;
  };
}
RateRule step_form(int64_t step_size, double gamma) {
  return [=](const Moment& m) {
    return m.base * std::pow(gamma, static_cast<double>(m.epoch / step_size));
  };
}

RateRule milestone_rule(std::vector<int64_t> milestones, double gamma) {
  return [=](const Moment& m) {
    auto n = std::count(milestones.begin(), milestones.end(), m.epoch);
    return n == 0 ? m.rate : m.rate * std::pow(gamma, static_cast<double>(n));
  };
}
RateRule milestone_form(std::vector<int64_t> milestones, double gamma) {
  return [=](const Moment& m) {
    auto passed = [&](int64_t at) { return at <= m.epoch; };
    auto n = std::count_if(milestones.begin(), milestones.end(), passed);
    return m.base * std::pow(gamma, static_cast<double>(n));
  };
}

RateRule linear_rule(double start, double end, int64_t total_iters) {
  return [=](const Moment& m) {
    if (m.epoch == 0) return m.rate * start;
    if (m.initial || m.epoch > total_iters) return m.rate;
    double span = end - start;
    double before =
        static_cast<double>(total_iters) * start + static_cast<double>(m.epoch - 1) * span;
    return m.rate * (1 + span / before);
  };
}
RateRule linear_form(double start, double end, int64_t total_iters) {
  return [=](const Moment& m) {
    double done = static_cast<double>(std::min(total_iters, m.epoch));
    return m.base * (start + (end - start) * (done / static_cast<double>(total_iters)));
  };
}

RateRule polynomial_rule(int64_t total_iters, double power) {
  return [=](const Moment& m) {
    if (m.initial || m.epoch > total_iters) return m.rate;
    double n = static_cast<double>(total_iters), t = static_cast<double>(m.epoch);
    return m.rate * std::pow((1 - t / n) / (1 - (t - 1) / n), power);
  };
}
RateRule polynomial_form(int64_t total_iters, double power) {
  return [=](const Moment& m) {
    double done = static_cast<double>(std::min(total_iters, m.epoch));
    return m.base * std::pow(1 - done / static_cast<double>(total_iters), power);
  };
}

// cosine is the place between 1 and 0 after a share of half a period.
double cosine(double done) { return (1 + std::cos(kPi * done)) / 2; }

RateRule cosine_form(int64_t t_max, double eta_min) {
  return [=](const Moment& m) {
    double done = static_cast<double>(m.epoch) / static_cast<double>(t_max);
    return eta_min + (m.base - eta_min) * cosine(done);
  };
}
RateRule cosine_rule(int64_t t_max, double eta_min) {
  return [=, form = cosine_form(t_max, eta_min)](const Moment& m) {
    double t = static_cast<double>(m.epoch), n = static_cast<double>(t_max);
    if (m.epoch == 0) return m.rate;
    if (m.steps == 1) return form(m);
    if ((m.epoch - 1 - t_max) % (2 * t_max) == 0) {
      return m.rate + (m.base - eta_min) * ((1 - std::cos(kPi / n)) / 2);
    }
    return cosine(t / n) / cosine((t - 1) / n) * (m.rate - eta_min) + eta_min;
  };
}

RateRule restarts_rule(int64_t t_0, int64_t t_mult, double eta_min) {
  return [=](const Moment& m) {
    int64_t length = t_0, at = m.epoch;
    if (t_mult == 1) {
      at %= t_0;
    } else {
      for (; at >= length; length *= t_mult) at -= length;
    }
    double done = static_cast<double>(at) / static_cast<double>(length);
    return eta_min + (m.base - eta_min) * cosine(done);
  };
}

RateRule lambda_rule(EpochRule f) {
  return [=](const Moment& m) { return m.base * f(m.epoch); };
}
RateRule multiplicative_rule(EpochRule f) {
  return [=](const Moment& m) { return m.initial ? m.rate : m.rate * f(m.epoch); };
}
RateRule exponential_rule(double gamma) {
  return [=](const Moment& m) { return m.initial ? m.rate : m.rate * gamma; };
}
RateRule exponential_form(double gamma) {
  return [=](const Moment& m) { return m.base * std::pow(gamma, static_cast<double>(m.epoch)); };
}
RateRule constant_form(double factor, int64_t total_iters) {
  return [=](const Moment& m) { return m.base * (m.epoch >= total_iters ? 1 : factor); };
}

RateRule cyclic_rule(Optimizer& optimizer, double base_lr, double max_lr, const CyclicOptions& o) {
  double up = static_cast<double>(o.step_size_up);
  double total = up + (o.step_size_down ? static_cast<double>(o.step_size_down) : up);
  double share = up / total;
  return [=, &optimizer](const Moment& m) {
    double t = static_cast<double>(m.epoch);
    double cycle = std::floor(1 + t / total);
    double x = 1 + t / total - cycle;
    double height = x <= share ? x / share : (x - 1) / (share - 1);
    if (o.mode == "triangular2") height *= 1 / std::pow(2.0, cycle - 1);
    if (o.mode == "exp_range") height *= std::pow(o.gamma, t);
    if (o.cycle_momentum) {
      *optimizer.momentum(m.group) = o.max_momentum - (o.max_momentum - o.base_momentum) * height;
    }
    return base_lr + (max_lr - base_lr) * height;
  };
}

// Phase is a stretch of OneCycleLR: its last step, and rate and momentum at both ends.
struct Phase {
  double end, start_lr, end_lr, start_momentum, end_momentum;
};

std::vector<Phase> phases_of(double max_lr, double steps, const OneCycleOptions& o) {
  double first = max_lr / o.div_factor, last = first / o.final_div_factor;
  double low = o.base_momentum, high = o.max_momentum;
  std::vector<Phase> out = {{o.pct_start * steps - 1, first, max_lr, high, low}};
  if (o.three_phase) {
    out.push_back({2 * o.pct_start * steps - 2, max_lr, first, low, high});
    out.push_back({steps - 1, first, last, high, high});
  } else {
    out.push_back({steps - 1, max_lr, last, low, high});
  }
  return out;
}

RateRule one_cycle_rule(Optimizer& optimizer, double max_lr, int64_t total_steps,
                        const OneCycleOptions& o) {
  std::vector<Phase> phases = phases_of(max_lr, static_cast<double>(total_steps), o);
  bool smooth = o.anneal_strategy == "cos", cycle = o.cycle_momentum;
  return [=, &optimizer](const Moment& m) {
    FACULA_CHECK(m.epoch <= total_steps, kValue, "Tried to step ", m.epoch,
                 " times. The specified number of total steps is ", total_steps);
    auto between = [&](double start, double end, double done) {
      if (smooth) return end + (start - end) * cosine(done);
      return (end - start) * done + start;
    };
    double begin = 0, t = static_cast<double>(m.epoch);
    size_t i = 0;
    for (; i + 1 < phases.size() && t > phases[i].end; ++i) begin = phases[i].end;
    const Phase& p = phases[i];
    double done = (t - begin) / (p.end - begin);
    if (cycle) *optimizer.momentum(m.group) = between(p.start_momentum, p.end_momentum, done);
    return between(p.start_lr, p.end_lr, done);
  };
}

}  // namespace

LRScheduler::LRScheduler(Optimizer& optimizer, RateRule next, RateRule closed_form)
    : optimizer_(optimizer), next_(std::move(next)), closed_form_(std::move(closed_form)) {
  for (size_t g = 0; g < optimizer.num_groups(); ++g) {
    base_lrs_.push_back(optimizer.initial_lr(g));
  }
  first_step();
}

void LRScheduler::first_step() {
  steps_ = 0;
  initial_ = true;
  step();
  initial_ = false;
}

void LRScheduler::step() {
  ++steps_;
  update(last_epoch_ + 1, next_);
}

void LRScheduler::restart() {
  FACULA_CHECK(next_, kNotImplemented,
               "SequentialLR: only the first scheduler may be one of schedulers");
  update(0, closed_form_ ? closed_form_ : next_);
}

void LRScheduler::update(int64_t epoch, const RateRule& rule) {
  last_epoch_ = epoch;
  for (size_t g = 0; g < base_lrs_.size(); ++g) {
    Moment m{epoch, initial_, steps_, g, optimizer_.lr(g), base_lrs_[g]};
    optimizer_.set_lr(rule(m), g);
  }
  note_rates();
}

void LRScheduler::note_rates() {
  last_lr_.clear();
  for (size_t g = 0; g < optimizer_.num_groups(); ++g) last_lr_.push_back(optimizer_.lr(g));
}

LambdaLR::LambdaLR(Optimizer& optimizer, EpochRule f)
    : LRScheduler(optimizer, lambda_rule(std::move(f))) {}
MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, EpochRule f)
    : LRScheduler(optimizer, multiplicative_rule(std::move(f))) {}
StepLR::StepLR(Optimizer& optimizer, int64_t step_size, double gamma)
    : LRScheduler(optimizer, step_rule(step_size, gamma), step_form(step_size, gamma)) {}
MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma)
    : LRScheduler(optimizer, milestone_rule(milestones, gamma), milestone_form(milestones, gamma)) {
}
ConstantLR::ConstantLR(Optimizer& optimizer, double factor, int64_t total_iters)
    : LRScheduler((check_fraction(factor, true,
                                  "Constant multiplicative factor expected to be between 0 and 1."),
                   optimizer),
                  constant_rule(factor, total_iters), constant_form(factor, total_iters)) {}
LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor,
                   int64_t total_iters)
    : LRScheduler(
          (check_fraction(start_factor, false,
                          "Starting multiplicative factor expected to be greater than 0 and less "
                          "or equal to 1."),
           check_fraction(end_factor, true,
                          "Ending multiplicative factor expected to be between 0 and 1."),
           optimizer),
          linear_rule(start_factor, end_factor, total_iters),
          linear_form(start_factor, end_factor, total_iters)) {}
ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma)
    : LRScheduler(optimizer, exponential_rule(gamma), exponential_form(gamma)) {}
PolynomialLR::PolynomialLR(Optimizer& optimizer, int64_t total_iters, double power)
    : LRScheduler(optimizer, polynomial_rule(total_iters, power),
                  polynomial_form(total_iters, power)) {}
CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, int64_t t_max, double eta_min)
    : LRScheduler(optimizer, cosine_rule(t_max, eta_min), cosine_form(t_max, eta_min)) {}
CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t t_0,
                                                         int64_t t_mult, double eta_min)
    : LRScheduler((check_restarts(t_0, t_mult), optimizer), restarts_rule(t_0, t_mult, eta_min)) {}

CyclicLR::CyclicLR(Optimizer& optimizer, double base_lr, double max_lr, const CyclicOptions& o)
    : LRScheduler(with_rates(optimizer, base_lr)) {
  nn::check_option("CyclicLR", "mode", o.mode, {"triangular", "triangular2", "exp_range"});
  if (o.cycle_momentum) start_momentum(optimizer, o.max_momentum);
  next_ = cyclic_rule(optimizer, base_lr, max_lr, o);
  for (size_t g = 0; g < optimizer.num_groups(); ++g) {
    optimizer.initial_lr(g);
    base_lrs_.push_back(base_lr);
  }
  first_step();
}

OneCycleLR::OneCycleLR(Optimizer& optimizer, double max_lr, int64_t total_steps,
                       const OneCycleOptions& o)
    : LRScheduler(with_initial_rates(optimizer, max_lr / o.div_factor)) {
  FACULA_CHECK(total_steps > 0, kValue, "Expected positive integer total_steps, but got ",
               total_steps);
  check_fraction(o.pct_start, true, "Expected float between 0 and 1 pct_start");
  nn::check_option("OneCycleLR", "anneal_strategy", o.anneal_strategy, {"cos", "linear"});
  if (o.cycle_momentum) start_momentum(optimizer, o.max_momentum);
  next_ = one_cycle_rule(optimizer, max_lr, total_steps, o);
  base_lrs_.assign(optimizer.num_groups(), max_lr / o.div_factor);
  first_step();
}

SequentialLR::SequentialLR(Optimizer& optimizer, Schedulers schedulers,
                           std::vector<int64_t> milestones)
    : LRScheduler(optimizer),
      schedulers_(std::move(schedulers)),
      milestones_(std::move(milestones)) {
  check_schedulers("SequentialLR", &optimizer, schedulers_);
  FACULA_CHECK(
      milestones_.size() + 1 == schedulers_.size(), kValue,
      "Sequential Schedulers expects number of schedulers provided to be one more than the "
      "number of milestone points, but got number of schedulers ",
      static_cast<int64_t>(schedulers_.size()), " and the number of milestones to be equal to ",
      static_cast<int64_t>(milestones_.size()));
  last_epoch_ = 0;
  for (size_t g = 0; g < optimizer.num_groups(); ++g) {
    optimizer.set_lr(optimizer.initial_lr(g), g);
  }
  for (const auto& s : schedulers_) s->undo_first();
  schedulers_[0]->first_step();
  note_rates();
}

void SequentialLR::step() {
  ++last_epoch_;
  auto past = std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch_);
  size_t index = static_cast<size_t>(past - milestones_.begin());
  LRScheduler& scheduler = *schedulers_[index];
  if (index > 0 && milestones_[index - 1] == last_epoch_) {
    scheduler.restart();
  } else {
    scheduler.step();
  }
  note_rates();
}

void SequentialLR::undo_first() {
  for (const auto& s : schedulers_) s->undo_first();
}

ChainedScheduler::ChainedScheduler(Schedulers schedulers)
    : LRScheduler(optimizer_of(schedulers)), schedulers_(std::move(schedulers)) {
  check_schedulers("ChainedScheduler", &optimizer_, schedulers_);
  note_rates();
}

void ChainedScheduler::step() {
  for (const auto& s : schedulers_) s->step();
  note_rates();
}

void ChainedScheduler::undo_first() {
  for (const auto& s : schedulers_) s->undo_first();
}

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const PlateauOptions& o)
    : optimizer_(optimizer),
      options_(o),
      best_(o.mode == "min" ? std::numeric_limits<double>::infinity()
                            : -std::numeric_limits<double>::infinity()) {
  FACULA_CHECK(o.factor < 1, kValue, "Factor should be < 1.0.");
  nn::check_option("ReduceLROnPlateau", "mode", o.mode, {"min", "max"});
  nn::check_option("ReduceLROnPlateau", "threshold_mode", o.threshold_mode, {"rel", "abs"});
}

bool ReduceLROnPlateau::is_better(double value) const {
  double t = options_.threshold;
  bool relative = options_.threshold_mode == "rel";
  if (options_.mode == "min") return value < (relative ? best_ * (1 - t) : best_ - t);
  return value > (relative ? best_ * (t + 1) : best_ + t);
}

void ReduceLROnPlateau::step(double metric) {
  if (is_better(metric)) {
    best_ = metric;
    num_bad_epochs_ = 0;
  } else {
    ++num_bad_epochs_;
  }
  if (cooldown_counter_ > 0) {
    --cooldown_counter_;
    num_bad_epochs_ = 0;
  }
  if (num_bad_epochs_ <= options_.patience) return;
  for (size_t g = 0; g < optimizer_.num_groups(); ++g) {
    double old = optimizer_.lr(g), smaller = std::max(old * options_.factor, options_.min_lr);
    if (old - smaller > options_.eps) optimizer_.set_lr(smaller, g);
  }
  cooldown_counter_ = options_.cooldown;
  num_bad_epochs_ = 0;
}

std::vector<double> ReduceLROnPlateau::get_last_lr() const {
  std::vector<double> out;
  for (size_t g = 0; g < optimizer_.num_groups(); ++g) out.push_back(optimizer_.lr(g));
  return out;
}

}  // namespace facula::optim
