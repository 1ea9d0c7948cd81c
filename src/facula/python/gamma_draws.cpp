// Draws from standard gamma distributions for facula.distributions: one element after the other,
// with the numbers of a generator in PyTorch's order, so that a seed gives the same values.
#include <cmath>
#include <mutex>

#include "facula/core/unlocked.h"
#include "facula/ops/create_functions.h"
#include "facula/python/arguments.h"
#include "facula/python/module.h"
#include "facula/python/tensor_type.h"
#include "facula/python/types.h"

namespace facula::python {

namespace {

// The constants are those of single precision, as in PyTorch.
constexpr double kThird = 1.0f / 3.0f;
constexpr double kSqueeze = 0.0331f;

// draw_gamma draws one number by the method of Marsaglia and Tsang (2000).
double draw_gamma(double alpha, Generator& g) {
  if (alpha == 0) return 0;
  double scale = 1;
  if (alpha < 1) {  // a draw for alpha + 1 times a power of a uniform number
    scale = std::pow(1 - g.uniform(), 1 / alpha);
    alpha += 1;
  }
  const double d = alpha - kThird;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x, y;
    do {
      x = g.normal();
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y;
    const double u = 1 - g.uniform();
    const double xx = x * x;
    if (u < 1 - kSqueeze * xx * xx) return scale * d * v;
    if (std::log(u) < 0.5 * xx + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

// _draw_gammas(alpha, generator): alpha is a contiguous float64 tensor; generator may be None.
PyObject* draw_gammas(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 2, kType, "_draw_gammas() takes 2 arguments");
    const Tensor& alpha = expect_tensor(args[0], "standard_gamma");
    FACULA_CHECK(alpha.dtype() == DType::kFloat64 && alpha.is_contiguous(), kType,
                 "standard_gamma: expected a contiguous float64 tensor");
    FACULA_CHECK(args[1] == Py_None || is_generator(args[1]), kType,
                 "standard_gamma: expected a Generator, got ", type_name(args[1]));
    Generator& g = args[1] == Py_None ? default_generator()
                                      : *reinterpret_cast<PyGenerator*>(args[1])->generator;
    FACULA_CHECK(alpha.data() || alpha.numel() == 0, kRuntime,
                 "standard_gamma: reads values, which tensors inside vmap do not show");
    const double* in = alpha.data_as<double>();
    const int64_t count = alpha.numel();
    for (int64_t i = 0; i < count; ++i) {
      FACULA_CHECK(in[i] >= 0 && std::isfinite(in[i]), kValue,
                   "standard_gamma: expected finite alpha >= 0, got ", in[i]);
    }
    Tensor result = empty(alpha.sizes(), {}, DType::kFloat64, alpha.device());
    double* out = result.data_as<double>();
    {
      Unlocked others_run;
      std::lock_guard lock(g.mutex());
      for (int64_t i = 0; i < count; ++i) out[i] = draw_gamma(in[i], g);
    }
    return wrap(std::move(result));
  });
}

PyMethodDef gamma_functions[] = {
    {"_draw_gammas", fast(draw_gammas), METH_FASTCALL,
     "Draw from standard gamma distributions of the shapes that a float64 tensor gives."},
    {}};

}  // namespace

void init_gamma_draws(PyObject* module) { add_functions(module, gamma_functions); }

}  // namespace facula::python
