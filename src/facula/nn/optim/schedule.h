// Learning-rate schedulers, named as in PyTorch. A scheduler is a rule that computes the next rate
// of a group from the present one; some rules also have a closed form.
//
//   nn::Linear model(2, 1);
//   optim::SGD optimizer(model.parameters(), {.lr = 0.1});
//   optim::StepLR scheduler(optimizer, 30);
//   optimizer.step();
//   scheduler.step();
#pragma once
#include <concepts>
#include <memory>
#include <string>
#include <vector>

#include "facula/nn/optim/optimizer.h"

namespace facula::optim {

// Moment is what a rule may look at.
struct Moment {
  int64_t epoch;
  bool initial;   // the step that a constructor makes
  int64_t steps;  // that were made, with this one
  size_t group;
  double rate, base;  // the present rate and the first one
};

// Rule holds any function from an argument to a number.
template <class Argument>
class Rule {
 public:
  Rule() = default;
  template <class F>
    requires(!std::same_as<std::remove_cvref_t<F>, Rule>)
  Rule(F f) : held_(std::make_shared<Held<F>>(std::move(f))) {}
  double operator()(Argument a) const { return held_->call(a); }
  explicit operator bool() const { return held_ != nullptr; }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual double call(Argument a) const = 0;
  };
  template <class F>
  struct Held final : Base {
    explicit Held(F function) : f(std::move(function)) {}
    double call(Argument a) const override { return f(a); }
    F f;
  };
  std::shared_ptr<const Base> held_;
};
using RateRule = Rule<const Moment&>;
using EpochRule = Rule<int64_t>;

// LRScheduler keeps a reference to its optimiser, which must outlive it.
class FACULA_API LRScheduler {
 public:
  LRScheduler(Optimizer& optimizer, RateRule next, RateRule closed_form = {});
  virtual ~LRScheduler() = default;
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  // step moves on by one epoch and sets the rates.
  virtual void step();
  // get_last_lr lists the rates that the last step set, one for each group.
  const std::vector<double>& get_last_lr() const { return last_lr_; }
  int64_t last_epoch() const { return last_epoch_; }
  Optimizer& optimizer() const { return optimizer_; }

 protected:
  friend class SequentialLR;
  friend class ChainedScheduler;
  // A scheduler of schedulers makes no first step.
  explicit LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {}
  void restart();  // sets the rates of epoch 0
  virtual void undo_first() { --last_epoch_; }
  void first_step();
  void update(int64_t epoch, const RateRule& rule);
  void note_rates();

  Optimizer& optimizer_;
  RateRule next_, closed_form_;
  std::vector<double> base_lrs_, last_lr_;
  int64_t last_epoch_ = -1, steps_ = 0;
  bool initial_ = false;
};

// LambdaLR: the first rate times f(epoch).
class FACULA_API LambdaLR : public LRScheduler {
 public:
  LambdaLR(Optimizer& optimizer, EpochRule f);
};
// MultiplicativeLR: the rate times f(epoch) at each step.
class FACULA_API MultiplicativeLR : public LRScheduler {
 public:
  MultiplicativeLR(Optimizer& optimizer, EpochRule f);
};
// StepLR: times gamma every step_size epochs.
class FACULA_API StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, int64_t step_size, double gamma = 0.1);
};
// MultiStepLR: times gamma at each milestone.
class FACULA_API MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<int64_t> milestones, double gamma = 0.1);
};
// ConstantLR: times factor for the first total_iters epochs.
class FACULA_API ConstantLR : public LRScheduler {
 public:
  ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, int64_t total_iters = 5);
};
// LinearLR: a factor that moves from start_factor to end_factor.
class FACULA_API LinearLR : public LRScheduler {
 public:
  LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1,
           int64_t total_iters = 5);
};
// ExponentialLR: times gamma every epoch.
class FACULA_API ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma);
};
// PolynomialLR: falls to zero as (1 - epoch / total_iters) ^ power.
class FACULA_API PolynomialLR : public LRScheduler {
 public:
  PolynomialLR(Optimizer& optimizer, int64_t total_iters = 5, double power = 1);
};
// CosineAnnealingLR: swings between the first rate and eta_min with half period t_max.
class FACULA_API CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, int64_t t_max, double eta_min = 0);
};
// CosineAnnealingWarmRestarts starts anew after t_0 epochs, then t_mult times as many, ...
class FACULA_API CosineAnnealingWarmRestarts : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, int64_t t_0, int64_t t_mult = 1,
                              double eta_min = 0);
};

struct CyclicOptions {
  int64_t step_size_up = 2000, step_size_down = 0;  // as long as the way up unless given
  std::string mode = "triangular";                  // "triangular2", "exp_range"
  double gamma = 1;
  bool cycle_momentum = true;
  double base_momentum = 0.8, max_momentum = 0.9;
};
// CyclicLR climbs from base_lr to max_lr and back; momentum moves the other way.
class FACULA_API CyclicLR : public LRScheduler {
 public:
  CyclicLR(Optimizer& optimizer, double base_lr, double max_lr, const CyclicOptions& options = {});
};

struct OneCycleOptions {
  double pct_start = 0.3;
  std::string anneal_strategy = "cos";  // or "linear"
  bool cycle_momentum = true;
  double base_momentum = 0.85, max_momentum = 0.95, div_factor = 25, final_div_factor = 1e4;
  bool three_phase = false;
};
// OneCycleLR rises once to max_lr and falls far below the start, in total_steps steps.
class FACULA_API OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, double max_lr, int64_t total_steps,
             const OneCycleOptions& options = {});
};

using Schedulers = std::vector<std::shared_ptr<LRScheduler>>;
// SequentialLR runs one scheduler after the other, changing over at the milestones.
class FACULA_API SequentialLR : public LRScheduler {
 public:
  SequentialLR(Optimizer& optimizer, Schedulers schedulers, std::vector<int64_t> milestones);
  void step() override;

 protected:
  void undo_first() override;

 private:
  Schedulers schedulers_;
  std::vector<int64_t> milestones_;
};
// ChainedScheduler steps several schedulers of one optimiser, each on what the others left.
class FACULA_API ChainedScheduler : public LRScheduler {
 public:
  explicit ChainedScheduler(Schedulers schedulers);
  void step() override;

 protected:
  void undo_first() override;

 private:
  Schedulers schedulers_;
};

struct PlateauOptions {
  std::string mode = "min";  // or "max"
  double factor = 0.1;
  int64_t patience = 10;
  double threshold = 1e-4;
  std::string threshold_mode = "rel";  // or "abs"
  int64_t cooldown = 0;
  double min_lr = 0, eps = 1e-8;
};
// ReduceLROnPlateau lowers the rates when a measured value stops improving.
class FACULA_API ReduceLROnPlateau {
 public:
  explicit ReduceLROnPlateau(Optimizer& optimizer, const PlateauOptions& options = {});
  void step(double metric);
  std::vector<double> get_last_lr() const;

 private:
  bool is_better(double value) const;
  Optimizer& optimizer_;
  PlateauOptions options_;
  double best_;
  int64_t cooldown_counter_ = 0, num_bad_epochs_ = 0;
};

}  // namespace facula::optim
