// LBFGS: limited-memory BFGS (Nocedal 1980), which calls the model several times in a step.
//
//   nn::Linear model(2, 1);
//   optim::LBFGS optimizer(model.parameters());
//   double first_loss = optimizer.step([&] {
//     optimizer.zero_grad();
//     Tensor loss = sum(model(rand({4, 2})) * model(rand({4, 2})));
//     backward(loss);
//     return item(loss);
//   });
#pragma once
#include <deque>
#include <vector>

#include "facula/base/function_ref.h"
#include "facula/core/tensor.h"

namespace facula::optim {

struct LbfgsOptions {
  double lr = 1;
  int max_iter = 20;
  int max_eval = 0;  // 0: max_iter * 5 / 4
  double tolerance_grad = 1e-7, tolerance_change = 1e-9;
  int history_size = 100;
  bool strong_wolfe = false;  // a line search after Nocedal and Wright, section 3.5
};

// LBFGS minimises over all its parameters together, computing in float64.
class FACULA_API LBFGS {
 public:
  explicit LBFGS(std::vector<Tensor> params, LbfgsOptions options = {});

  // step runs up to max_iter iterations and returns the first loss. The closure clears the
  // gradients, computes the loss and its gradients, and returns the loss.
  double step(FunctionRef<double()> closure);
  void zero_grad(bool set_to_none = true);

  const std::vector<Tensor>& params() const { return params_; }
  LbfgsOptions& options() { return options_; }
  int iterations() const { return iterations_; }
  int evaluations() const { return evaluations_; }

 private:
  using Vector = std::vector<double>;
  struct Point {
    double rate = 0, loss = 0, slope = 0;
    Vector grad;
  };
  struct Search;

  Vector read_params() const;
  void write_params(const Vector& values);
  Vector gradient() const;
  Vector newton_direction() const;
  void remember(Vector step, Vector change);
  Point evaluate(FunctionRef<double()> closure, const Vector& start, double rate);
  Point line_search(FunctionRef<double()> closure, const Vector& start, const Point& from,
                    double rate);
  Point zoom(Search& search, Point low, Point high);

  std::vector<Tensor> params_;
  LbfgsOptions options_;
  int iterations_ = 0, evaluations_ = 0;
  Vector direction_, last_grad_;
  double rate_ = 0, scale_ = 1;
  std::deque<Vector> steps_, changes_;  // of position and gradient, oldest first
};

}  // namespace facula::optim
