// Normalisations against their definitions, and their backward kernels against differences.
#include "facula/kernels/norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace facula::kernels {
namespace {

using Numbers = std::vector<double>;

Numbers wavy(int64_t n, double step) {
  Numbers v(n);
  for (int64_t i = 0; i < n; ++i) v[i] = std::sin(step * static_cast<double>(i)) + 0.3;
  return v;
}

// Compares dx with differences of sum(forward(x) * g).
template <class F>
void check_gradient(Numbers& x, const Numbers& g, const Numbers& dx, F&& forward) {
  auto total = [&] {
    Numbers y = forward();
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) sum += y[i] * g[i];
    return sum;
  };
  for (size_t i = 0; i < x.size(); ++i) {
    double keep = x[i], step = 1e-6;
    x[i] = keep + step;
    double up = total();
    x[i] = keep - step;
    double down = total();
    x[i] = keep;
    ASSERT_NEAR(dx[i], (up - down) / (2 * step), 1e-6) << i;
  }
}

TEST(BatchNorm, BothLayoutsAgreeWithDifferences) {
  for (bool last : {false, true}) {
    Planes p{3, 5, 4, last};
    Numbers x = wavy(60, 1.7), g = wavy(60, 0.9), w = wavy(5, 0.4), b = wavy(5, 0.8);
    Numbers mean(5), rstd(5), dx(60), dw(5), db(5);
    auto forward = [&] {
      Numbers y(60);
      norms->batch_stats(kFloat64, mean.data(), rstd.data(), x.data(), p);
      for (double& v : rstd) v = 1 / std::sqrt(v + 1e-5);
      norms->batch_norm(kFloat64, y.data(), x.data(), mean.data(), rstd.data(), w.data(), b.data(),
                        p);
      return y;
    };
    forward();
    norms->batch_norm_backward(kFloat64, dx.data(), dw.data(), db.data(), g.data(), x.data(),
                               mean.data(), rstd.data(), w.data(), true, p);
    check_gradient(x, g, dx, forward);
    check_gradient(w, g, dw, forward);
    check_gradient(b, g, db, forward);
  }
}

TEST(LayerNorm, GradientsMatchDifferences) {
  const int64_t rows = 4, n = 37;
  for (bool centred : {true, false}) {
    Numbers x = wavy(rows * n, 1.1), g = wavy(rows * n, 0.7), w = wavy(n, 0.3), b = wavy(n, 0.5);
    Numbers mean(rows), rstd(rows), dx(rows * n), dw(n), db(n);
    double* m = centred ? mean.data() : nullptr;
    auto forward = [&] {
      Numbers y(rows * n);
      norms->layer_norm(kFloat64, y.data(), m, rstd.data(), x.data(), w.data(), b.data(), rows, n,
                        1e-5);
      return y;
    };
    forward();
    norms->layer_norm_backward(kFloat64, dx.data(), dw.data(), db.data(), g.data(), x.data(), m,
                               rstd.data(), w.data(), rows, n);
    check_gradient(x, g, dx, forward);
    check_gradient(w, g, dw, forward);
    check_gradient(b, g, db, forward);
  }
}

TEST(GroupNorm, GradientsMatchDifferences) {
  Planes p{2, 6, 5, false};
  Numbers x = wavy(60, 1.3), g = wavy(60, 0.6), w = wavy(6, 0.2), b = wavy(6, 0.5);
  Numbers mean(4), rstd(4), dx(60), dw(6), db(6);
  auto forward = [&] {
    Numbers y(60);
    norms->group_norm(kFloat64, y.data(), mean.data(), rstd.data(), x.data(), w.data(), b.data(), p,
                      2, 1e-5);
    return y;
  };
  forward();
  norms->group_norm_backward(kFloat64, dx.data(), dw.data(), db.data(), g.data(), x.data(),
                             mean.data(), rstd.data(), w.data(), p, 2);
  check_gradient(x, g, dx, forward);
  check_gradient(w, g, dw, forward);
  check_gradient(b, g, db, forward);
}

TEST(BatchNorm, StatisticsOfManyRows) {
  Planes p{2, 40, 333, true};
  std::vector<float> x(2 * 40 * 333), mean(40), variance(40);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 100 + std::sin(static_cast<float>(i));
  norms->batch_stats(kFloat32, mean.data(), variance.data(), x.data(), p);
  for (int c = 0; c < 40; ++c) {
    double sum = 0, squares = 0;
    for (int r = 0; r < 666; ++r) sum += x[r * 40 + c];
    for (int r = 0; r < 666; ++r) squares += std::pow(x[r * 40 + c] - sum / 666, 2);
    ASSERT_NEAR(mean[c], sum / 666, 1e-4);
    ASSERT_NEAR(variance[c], squares / 666, 1e-4);
  }
}

}  // namespace
}  // namespace facula::kernels
