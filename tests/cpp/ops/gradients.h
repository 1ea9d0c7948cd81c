// Checks of derivatives: the gradients of an operator against differences, and the gradients of
// those gradients, in float64.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "facula/autograd/engine.h"
#include "facula/ops/functions.h"
#include "facula/ops/rules.h"

namespace facula {

using Tensors = std::vector<Tensor>;

// wavy makes a float64 tensor of distinct numbers between -1 and 1 that wants a gradient.
inline Tensor wavy(IntList sizes, double step = 0.7, double shift = 0) {
  Tensor t = new_empty(sizes, kFloat64);
  for (int64_t i = 0; i < t.numel(); ++i) {
    t.data_as<double>()[i] = std::sin(step * static_cast<double>(i + 1)) + shift;
  }
  set_requires_grad(t, true);
  return t;
}

inline Tensor index_tensor(const std::vector<int64_t>& values, IntList sizes) {
  Tensor t = new_empty(sizes, kInt64);
  for (size_t i = 0; i < values.size(); ++i) t.data_as<int64_t>()[i] = values[i];
  return t;
}

// The scalar that stands for f: its outputs weighted with fixed numbers.
template <class F>
Tensor weighted(F&& f, const Tensors& x) {
  Tensors y = f(x);
  Tensor total;
  for (size_t i = 0; i < y.size(); ++i) {
    Tensor w = detach(wavy(y[i].sizes(), 0.37 + 0.1 * static_cast<double>(i), 0.2));
    Tensor part = sum(mul(y[i], w));
    total = total.defined() ? add(total, part) : part;
  }
  return total;
}

// check_gradients compares the gradients of f with differences.
template <class F>
void check_gradients(F&& f, const Tensors& x, double tolerance = 1e-6) {
  Tensor roots[1] = {weighted(f, x)};
  BackwardOptions options;
  options.accumulate = false;
  options.allow_unused = true;
  Tensors found = grad(roots, x, {}, options);
  NoGrad no_grad;
  for (size_t k = 0; k < x.size(); ++k) {
    Tensor g = found[k].defined() ? to_contiguous(found[k]) : Tensor();
    if (g.defined()) {
      ASSERT_EQ(list_text(g.sizes()), list_text(x[k].sizes()));
    }
    for (int64_t i = 0; i < x[k].numel(); ++i) {
      double& v = x[k].template data_as<double>()[i];
      double keep = v, step = 1e-6;
      v = keep + step;
      double up = *weighted(f, x).template data_as<double>();
      v = keep - step;
      double down = *weighted(f, x).template data_as<double>();
      v = keep;
      double got = g.defined() ? g.template data_as<double>()[i] : 0;
      ASSERT_NEAR(got, (up - down) / (2 * step), tolerance) << "input " << k << " element " << i;
    }
  }
}

// check_second checks f's gradients and then theirs, with the output gradients as further inputs.
template <class F>
void check_second(F&& f, const Tensors& x, double tolerance = 1e-5) {
  check_gradients(f, x, tolerance);
  if (::testing::Test::HasFatalFailure()) return;
  size_t n = x.size();
  Tensors all = x;
  for (const Tensor& y : f(x)) all.push_back(wavy(y.sizes(), 0.83, 0.1));
  auto first = [&](const Tensors& z) {
    Tensors in(z.begin(), z.begin() + static_cast<int64_t>(n));
    Tensors seeds(z.begin() + static_cast<int64_t>(n), z.end());
    GradMode recording(true);
    Tensors y = f(in);
    BackwardOptions options;
    options.accumulate = false;
    options.allow_unused = true;
    options.create_graph = options.retain_graph = true;
    Tensors g = grad(y, in, seeds, options);
    Tensors out;
    for (const Tensor& t : g) {
      if (t.defined()) out.push_back(t);
    }
    return out;
  };
  check_gradients(first, all, tolerance);
}

}  // namespace facula
