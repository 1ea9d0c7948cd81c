// L-BFGS over one flat vector of all parameters, in float64.
#include "facula/nn/optim/lbfgs.h"

#include <algorithm>
#include <cmath>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/kernels/copy.h"
#include "facula/nn/optim/update.h"

namespace facula::optim {

namespace {

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double largest(const Vector& v) {
  double most = 0;
  for (double x : v) most = std::max(most, std::abs(x));
  return most;
}

// moved gives v + factor * w.
Vector moved(const Vector& v, double factor, const Vector& w) {
  Vector out(v);
  for (size_t i = 0; i < v.size(); ++i) out[i] += factor * w[i];
  return out;
}

void append(Vector& out, const Tensor& t) {
  if (t.numel() == 0) return;
  Tensor flat = new_empty(t.sizes(), kFloat64);
  kernels::copy->copy_strided(kernels::view(flat), kernels::view(t));
  const double* p = flat.data_as<double>();
  out.insert(out.end(), p, p + t.numel());
}

// cubic_minimum is the minimum of the cubic through two points with slopes, inside [low, high].
double cubic_minimum(double x1, double f1, double g1, double x2, double f2, double g2, double low,
                     double high) {
  if (x1 > x2) return cubic_minimum(x2, f2, g2, x1, f1, g1, low, high);
  double d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2);
  double square = d1 * d1 - g1 * g2;
  if (!(square >= 0)) return (low + high) / 2;
  double d2 = std::sqrt(square);
  double best = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2));
  return std::min(std::max(best, low), high);
}

constexpr double kDecrease = 1e-4, kCurvature = 0.9, kTinyBracket = 1e-9;
constexpr int kMaxSearch = 25;

}  // namespace

// Search is what one line search keeps: where it began and how it evaluates.
struct LBFGS::Search {
  FunctionRef<double()> closure;
  const Vector& start;
  double loss, slope, longest;
  int tries = 0;

  bool enough(const Point& p) const { return p.loss <= loss + kDecrease * p.rate * slope; }
  bool flat(const Point& p) const { return std::abs(p.slope) <= -kCurvature * slope; }
};

LBFGS::LBFGS(std::vector<Tensor> params, LbfgsOptions options)
    : params_(std::move(params)), options_(options) {
  FACULA_CHECK(options.lr >= 0, kValue, "Invalid learning rate: ", options.lr);
  if (params_.empty()) raise_error(ErrorKind::kValue, "optimizer got an empty parameter list");
  for (const Tensor& p : params_) {
    if (!p.defined() || !is_floating(p.dtype()) || !p.device().is_cpu()) {
      raise_error(ErrorKind::kNotImplemented, "LBFGS: expected floating-point CPU parameters");
    }
    if (!is_leaf(p)) raise_error(ErrorKind::kValue, "can't optimize a non-leaf Tensor");
  }
  if (options_.max_eval == 0) options_.max_eval = options_.max_iter * 5 / 4;
}

void LBFGS::zero_grad(bool set_to_none) {
  for (const Tensor& p : params_) {
    AutogradMeta* meta = find_meta(p.impl());
    if (!meta || !meta->grad.defined()) continue;
    if (set_to_none) {
      set_grad(p, Tensor());
    } else {
      clear(meta->grad);
    }
  }
}

LBFGS::Vector LBFGS::read_params() const {
  Vector out;
  for (const Tensor& p : params_) append(out, p);
  return out;
}

void LBFGS::write_params(const Vector& values) {
  for (const Tensor& p : params_) check_written(p, {}, "LBFGS.step");
  const double* next = values.data();
  for (const Tensor& p : params_) {
    if (p.numel() == 0) continue;
    Tensor flat = new_empty(p.sizes(), kFloat64);
    std::copy(next, next + p.numel(), flat.data_as<double>());
    next += p.numel();
    kernels::copy->copy_strided(kernels::view(p), kernels::view(flat));
    bump_version(p, "LBFGS.step");
  }
}

LBFGS::Vector LBFGS::gradient() const {
  Vector out;
  for (const Tensor& p : params_) {
    AutogradMeta* meta = find_meta(p.impl());
    if (meta && meta->grad.defined()) {
      append(out, meta->grad);
    } else {
      out.resize(out.size() + static_cast<size_t>(p.numel()));
    }
  }
  return out;
}

void LBFGS::remember(Vector step, Vector change) {
  double curvature = dot(change, step);
  if (!(curvature > 1e-10)) return;
  if (static_cast<int>(steps_.size()) == options_.history_size) {
    steps_.pop_front();
    changes_.pop_front();
  }
  scale_ = curvature / dot(change, change);
  steps_.push_back(std::move(step));
  changes_.push_back(std::move(change));
}

// The two-loop recursion: minus the inverse Hessian times the last gradient.
LBFGS::Vector LBFGS::newton_direction() const {
  Vector q(last_grad_.size());
  for (size_t i = 0; i < q.size(); ++i) q[i] = -last_grad_[i];
  Vector alphas(steps_.size());
  for (size_t k = steps_.size(); k-- > 0;) {
    alphas[k] = dot(steps_[k], q) / dot(changes_[k], steps_[k]);
    q = moved(q, -alphas[k], changes_[k]);
  }
  for (double& v : q) v *= scale_;
  for (size_t k = 0; k < steps_.size(); ++k) {
    double beta = dot(changes_[k], q) / dot(changes_[k], steps_[k]);
    q = moved(q, alphas[k] - beta, steps_[k]);
  }
  return q;
}

LBFGS::Point LBFGS::evaluate(FunctionRef<double()> closure, const Vector& start, double rate) {
  write_params(moved(start, rate, direction_));
  Point p{rate, closure(), 0, {}};
  ++evaluations_;
  p.grad = gradient();
  p.slope = dot(p.grad, direction_);
  return p;
}

double LBFGS::step(FunctionRef<double()> closure) {
  double first_loss = closure();
  Point at{0, first_loss, 0, gradient()};
  ++evaluations_;
  int evaluations_before = evaluations_ - 1;
  if (largest(at.grad) <= options_.tolerance_grad) return first_loss;
  for (int i = 1; i <= options_.max_iter; ++i) {
    bool first = ++iterations_ == 1;
    if (!first) {
      Vector taken(direction_);
      for (double& v : taken) v *= rate_;
      remember(std::move(taken), moved(at.grad, -1, last_grad_));
    }
    last_grad_ = at.grad;
    direction_ = newton_direction();
    double size = 0;
    for (double v : at.grad) size += std::abs(v);
    rate_ = first ? std::min(1.0, 1 / size) * options_.lr : options_.lr;
    at.slope = dot(at.grad, direction_);
    if (at.slope > -options_.tolerance_change) break;
    double loss = at.loss;
    Vector start = read_params();
    if (options_.strong_wolfe) {
      at = line_search(closure, start, at, rate_);
      rate_ = at.rate;
      write_params(moved(start, rate_, direction_));
    } else if (i == options_.max_iter) {
      write_params(moved(start, rate_, direction_));
      break;
    } else {
      at = evaluate(closure, start, rate_);
    }
    if (evaluations_ - evaluations_before >= options_.max_eval ||
        largest(at.grad) <= options_.tolerance_grad ||
        largest(direction_) * std::abs(rate_) <= options_.tolerance_change ||
        std::abs(at.loss - loss) < options_.tolerance_change) {
      break;
    }
  }
  return first_loss;
}

// Phase one: lengthen the step until it brackets a point with enough decrease and a flat slope.
LBFGS::Point LBFGS::line_search(FunctionRef<double()> closure, const Vector& start,
                                const Point& from, double rate) {
  Search search{closure, start, from.loss, from.slope, largest(direction_)};
  Point origin = from, before = from;
  origin.rate = before.rate = 0;
  Point now = evaluate(closure, start, rate);
  for (; search.tries < kMaxSearch; ++search.tries) {
    if (!search.enough(now) || (search.tries > 1 && now.loss >= before.loss)) {
      return zoom(search, before, now);
    }
    if (search.flat(now)) return now;
    if (now.slope >= 0) return zoom(search, before, now);
    double low = now.rate + 0.01 * (now.rate - before.rate), high = now.rate * 10;
    rate = cubic_minimum(before.rate, before.loss, before.slope, now.rate, now.loss, now.slope, low,
                         high);
    before = std::move(now);
    now = evaluate(closure, start, rate);
  }
  return origin.loss <= now.loss ? origin : now;
}

// Phase two: shrink the bracket around such a point.
LBFGS::Point LBFGS::zoom(Search& search, Point low, Point high) {
  if (low.loss > high.loss) std::swap(low, high);
  bool stuck = false;
  for (; search.tries < kMaxSearch; ++search.tries) {
    if (std::abs(high.rate - low.rate) * search.longest < kTinyBracket) break;
    double left = std::min(low.rate, high.rate), right = std::max(low.rate, high.rate);
    double rate =
        cubic_minimum(low.rate, low.loss, low.slope, high.rate, high.loss, high.slope, left, right);
    double margin = 0.1 * (right - left);
    if (std::min(right - rate, rate - left) < margin) {
      // Twice near an end, or beyond it, means no progress: stay a tenth inside.
      if (stuck || rate >= right || rate <= left) {
        rate = std::abs(rate - right) < std::abs(rate - left) ? right - margin : left + margin;
        stuck = false;
      } else {
        stuck = true;
      }
    } else {
      stuck = false;
    }
    Point now = evaluate(search.closure, search.start, rate);
    if (!search.enough(now) || now.loss >= low.loss) {
      high = std::move(now);
      if (low.loss > high.loss) std::swap(low, high);
      continue;
    }
    if (search.flat(now)) return now;
    if (now.slope * (high.rate - low.rate) >= 0) high = low;
    low = std::move(now);
  }
  return low;
}

}  // namespace facula::optim
