// Windows: computed in double and rounded to the wanted type.
#include <cmath>

#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/fft_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/math_functions.h"

namespace facula {
namespace {

using OptDType = std::optional<DType>;
using OptDevice = std::optional<Device>;

// sampled gives f(k, points) for k < length, where a window that is not symmetric is the first part
// of one with a point more; a single point is 1.
template <class F>
Tensor sampled(int64_t length, bool sym, OptDType dtype, OptDevice device, const char* op, F&& f) {
  DType t = dtype.value_or(default_dtype());
  FACULA_CHECK(length >= 0, kRuntime, op,
               " requires non-negative window_length, got window_length=", length);
  FACULA_CHECK(is_inexact(t), kRuntime, op,
               " expects floating point dtypes, got: ", dtype_title(t));
  FACULA_CHECK(!is_complex(t), kNotImplemented, '"', op, "\" not implemented for '", dtype_title(t),
               "'");
  Device place = device.value_or(kCpu);
  if (place.is_meta()) return new_empty({length}, t, place);
  Tensor out = new_empty({length}, kFloat64);
  double* p = out.data_as<double>();
  int64_t points = sym ? length : length + 1;
  for (int64_t k = 0; k < length; ++k) {
    p[k] = length == 1 ? 1.0 : f(static_cast<double>(k), static_cast<double>(points));
  }
  return to_dtype(out, t);
}

Tensor cosines(int64_t length, std::span<const double> a, bool sym, OptDType dtype,
               OptDevice device, const char* op) {
  return sampled(length, sym, dtype, device, op, [&](double k, double n) {
    double sum = 0, sign = 1;
    for (size_t i = 0; i < a.size(); ++i, sign = -sign) {
      sum += sign * a[i] * std::cos(2 * M_PI * static_cast<double>(i) * k / (n - 1));
    }
    return sum;
  });
}

Tensor triangle(int64_t length, bool sym, OptDType dtype, OptDevice device, const char* op) {
  return sampled(length, sym, dtype, device, op,
                 [](double k, double n) { return 1 - std::abs(2 * k / (n - 1) - 1); });
}

Tensor kaiser(int64_t length, double beta, bool sym, OptDType dtype, OptDevice device,
              const char* op) {
  Tensor x = sampled(length, sym, kFloat64, device, op, [&](double k, double n) {
    double at = 2 * k / (n - 1) - 1;
    return beta * std::sqrt(std::max(0.0, 1 - at * at));
  });
  DType t = sampled(0, sym, dtype, device, op, [](double, double) { return 0.0; }).dtype();
  if (x.is_meta()) return new_empty({length}, t, x.device());
  if (length == 1) x.data_as<double>()[0] = beta;
  Tensor peak = new_empty({}, kFloat64);
  peak.data_as<double>()[0] = beta;
  return to_dtype(div(i0(x), i0(peak)), t);
}

}  // namespace

Tensor window_cosines(int64_t length, std::span<const double> a, bool sym, OptDType dtype,
                      OptDevice device) {
  return cosines(length, a, sym, dtype, device, "general_cosine");
}
Tensor window_bartlett(int64_t length, bool sym, OptDType dtype, OptDevice device) {
  return triangle(length, sym, dtype, device, "bartlett");
}
Tensor window_cosine(int64_t length, bool sym, OptDType dtype, OptDevice device) {
  return sampled(length, sym, dtype, device, "cosine",
                 [](double k, double n) { return std::sin(M_PI * (k + 0.5) / n); });
}
Tensor window_exponential(int64_t length, std::optional<double> center, double tau, bool sym,
                          OptDType dtype, OptDevice device) {
  return sampled(length, sym, dtype, device, "exponential", [&](double k, double n) {
    return std::exp(-std::abs(k - center.value_or((n - 1) / 2)) / tau);
  });
}
Tensor window_gaussian(int64_t length, double std, bool sym, OptDType dtype, OptDevice device) {
  return sampled(length, sym, dtype, device, "gaussian", [&](double k, double n) {
    double x = (k - (n - 1) / 2) / std;
    return ::exp(-x * x / 2);
  });
}
Tensor window_kaiser(int64_t length, double beta, bool sym, OptDType dtype, OptDevice device) {
  return kaiser(length, beta, sym, dtype, device, "kaiser");
}

Tensor bartlett_window(int64_t window_length, bool periodic, OptDType dtype, OptDevice device) {
  return triangle(window_length, !periodic, dtype, device, "bartlett_window");
}
Tensor blackman_window(int64_t window_length, bool periodic, OptDType dtype, OptDevice device) {
  const double a[] = {0.42, 0.5, 0.08};
  return cosines(window_length, a, !periodic, dtype, device, "blackman_window");
}
Tensor hann_window(int64_t window_length, bool periodic, OptDType dtype, OptDevice device) {
  const double a[] = {0.5, 0.5};
  return cosines(window_length, a, !periodic, dtype, device, "hann_window");
}
Tensor hamming_window(int64_t window_length, bool periodic, double alpha, double beta,
                      OptDType dtype, OptDevice device) {
  const double a[] = {alpha, beta};
  return cosines(window_length, a, !periodic, dtype, device, "hamming_window");
}
Tensor kaiser_window(int64_t window_length, bool periodic, double beta, OptDType dtype,
                     OptDevice device) {
  return kaiser(window_length, beta, !periodic, dtype, device, "kaiser_window");
}

}  // namespace facula
