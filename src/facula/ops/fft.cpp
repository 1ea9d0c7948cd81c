// Fourier transforms: the sums along one dimension, transforms over several, frequencies and
// shifts.
#include "facula/kernels/fft.h"

#include "facula/ops/fft_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

using OptInt = std::optional<int64_t>;
using OptNorm = std::optional<std::string_view>;
using Kernel = void (*)(const kernels::View&, const kernels::View&, const kernels::FftJob&,
                        kernels::Fault*);

// transformed allocates `keep` elements along a dimension and calls a kernel.
Tensor transformed(const Tensor& self, DType result, int64_t keep, const kernels::FftJob& job,
                   const char* op, Kernel kernel) {
  Sizes shape(self.sizes().begin(), self.sizes().end());
  shape[job.dim] = keep;
  Tensor out = new_empty(shape, result, self.device());
  if (self.is_meta() || out.numel() == 0) return out;
  LongWork work(out.numel());
  kernels::Fault fault;
  kernel(kernels::view(out), kernels::view(self), job, &fault);
  kernels::check_fault(fault, op);
  return out;
}

// widened brings a tensor into a type that transforms exist for.
Tensor widened(const Tensor& self, bool complex, const char* op) {
  DType t = self.dtype();
  if (is_reduced(t)) {
    raise_error(ErrorKind::kNotImplemented, op, ": Unsupported dtype ", dtype_title(t));
  }
  if (!is_inexact(t)) t = default_dtype();
  return cast(self, complex ? complex_type(t) : t);
}

void check_real(const Tensor& self, const char* op) {
  FACULA_CHECK(!self.is_complex(), kType, op, " expects a real input tensor, but got ",
               dtype_title(self.dtype()));
}

int64_t wrapped(const Tensor& self, int64_t dim, const char* op) {
  FACULA_CHECK(self.dim() > 0, kIndex, op, ": Dimension specified as ", dim,
               " but tensor has no dimensions");
  return wrap_dim(dim, self.dim(), op);
}

void check_points(int64_t n, const char* op) {
  FACULA_CHECK(n >= 1, kRuntime, op, ": Invalid number of data points (", n, ") specified");
}

// scale_of gives the factor of a transform over n points.
double scale_of(OptNorm norm, double n, bool forward) {
  std::string_view mode = norm.value_or("backward");
  if (mode == "ortho") return 1 / std::sqrt(n);
  FACULA_CHECK(mode == "backward" || mode == "forward", kRuntime, "Invalid normalization mode: \"",
               mode, "\"");
  return (mode == "forward") == forward ? 1 / n : 1;
}

// Plan is what a transform over several dimensions does: dimensions and lengths, the last one last.
struct Plan {
  Sizes dims, lengths;
  double points() const {
    double n = 1;
    for (int64_t v : lengths) n *= static_cast<double>(v);
    return n;
  }
  int64_t last() const { return dims.back(); }
};

// plan_of reads s and dim; `halved` says that the last dimension of the input holds half a
// spectrum.
Plan plan_of(const Tensor& self, OptIntList s, OptIntList dim, bool halved, const char* op) {
  if (s && dim) {
    FACULA_CHECK(s->size() == dim->size(), kRuntime, op,
                 ": When given, dim and shape arguments must have the same length");
  }
  FACULA_CHECK(!s || s->ssize() <= self.dim(), kRuntime, op, ": Got shape with ", s ? s->size() : 0,
               " values but input tensor only has ", self.dim(), " dimensions.");
  Plan plan;
  int64_t count = dim ? dim->ssize() : s ? s->ssize() : self.dim();
  uint64_t seen = 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t d = dim ? wrapped(self, (*dim)[i], op) : self.dim() - count + i;
    FACULA_CHECK(!(seen >> d & 1), kRuntime, op, ": FFT dims must be unique");
    seen |= uint64_t{1} << d;
    int64_t n = self.size(d);
    if (halved && i + 1 == count) n = 2 * (n - 1);
    if (s && (*s)[i] != -1) n = (*s)[i];
    check_points(n, op);
    plan.dims.push_back(d);
    plan.lengths.push_back(n);
  }
  return plan;
}

void check_any(const Plan& plan, const char* op) {
  FACULA_CHECK(!plan.dims.empty(), kRuntime, op, " must transform at least one axis");
}

// over_dims does complex transforms over the first `count` dimensions of a plan, the last first.
Tensor over_dims(Tensor t, const Plan& plan, int64_t count, bool forward, double scale) {
  for (int64_t i = count - 1; i >= 0; --i) {
    int64_t n = plan.lengths[i];
    t = fft_complex(t, plan.dims[i], n, n, forward, scale);
    scale = 1;
  }
  return t;
}

Tensor complex_1d(const Tensor& self, OptInt n, int64_t dim, OptNorm norm, bool forward,
                  const char* op) {
  Tensor t = widened(self, false, op);
  dim = wrapped(t, dim, op);
  int64_t length = n.value_or(t.size(dim));
  check_points(length, op);
  double scale = scale_of(norm, static_cast<double>(length), forward);
  return fft_complex(t, dim, length, length, forward, scale);
}

Tensor real_1d(const Tensor& self, OptInt n, int64_t dim, OptNorm norm, bool forward,
               const char* op) {
  check_real(self, op);
  Tensor t = widened(self, false, op);
  dim = wrapped(t, dim, op);
  int64_t length = n.value_or(t.size(dim));
  check_points(length, op);
  double scale = scale_of(norm, static_cast<double>(length), forward);
  return fft_real(t, dim, length, length / 2 + 1, forward, scale, false);
}

Tensor hermitian_1d(const Tensor& self, OptInt n, int64_t dim, OptNorm norm, bool forward,
                    const char* op) {
  Tensor t = widened(self, true, op);
  dim = wrapped(t, dim, op);
  int64_t length = n.value_or(2 * (t.size(dim) - 1));
  check_points(length, op);
  double scale = scale_of(norm, static_cast<double>(length), forward);
  return fft_hermitian(t, dim, length, length, forward, scale, true);
}

Tensor complex_nd(const Tensor& self, OptIntList s, OptIntList dim, OptNorm norm, bool forward,
                  const char* op) {
  Plan plan = plan_of(self, s, dim, false, op);
  Tensor t = widened(self, plan.dims.empty(), op);
  double scale = scale_of(norm, plan.points(), forward);
  return over_dims(t, plan, plan.dims.size(), forward, scale);
}

Tensor real_nd(const Tensor& self, OptIntList s, OptIntList dim, OptNorm norm, bool forward,
               const char* op) {
  check_real(self, op);
  Plan plan = plan_of(self, s, dim, false, op);
  check_any(plan, op);
  int64_t n = plan.lengths.back();
  double scale = scale_of(norm, plan.points(), forward);
  Tensor t = fft_real(widened(self, false, op), plan.last(), n, n / 2 + 1, forward, scale, false);
  return over_dims(t, plan, plan.dims.size() - 1, forward, 1);
}

Tensor hermitian_nd(const Tensor& self, OptIntList s, OptIntList dim, OptNorm norm, bool forward,
                    const char* op) {
  Plan plan = plan_of(self, s, dim, true, op);
  check_any(plan, op);
  int64_t n = plan.lengths.back();
  double scale = scale_of(norm, plan.points(), forward);
  Tensor t = over_dims(widened(self, true, op), plan, plan.dims.size() - 1, forward, 1);
  return fft_hermitian(t, plan.last(), n, n, forward, scale, true);
}

// moved rolls dimensions by half their size, rounded down, or back.
Tensor moved(const Tensor& self, OptIntList dim, bool back, const char* op) {
  Sizes dims, shifts;
  int64_t count = dim ? dim->ssize() : self.dim();
  for (int64_t i = 0; i < count; ++i) {
    int64_t d = dim ? wrapped(self, (*dim)[i], op) : i;
    dims.push_back(d);
    shifts.push_back(back ? (self.size(d) + 1) / 2 : self.size(d) / 2);
  }
  return dims.empty() ? clone(self) : roll(self, shifts, dims);
}

// frequencies gives k / (n d) for k < count; those above n / 2 are negative unless `half`.
Tensor frequencies(int64_t n, bool half, double d, std::optional<DType> dtype,
                   std::optional<Device> device, const char* op) {
  DType t = dtype.value_or(default_dtype());
  FACULA_CHECK(is_inexact(t), kRuntime, op, " requires a floating point or complex dtype");
  FACULA_CHECK(!is_complex(t), kNotImplemented, '"', op, "\" not implemented for '", dtype_title(t),
               "'");
  FACULA_CHECK(n >= 0, kRuntime, op, ": Trying to create tensor with negative dimension ", n);
  Device place = device.value_or(kCpu);
  int64_t count = half ? n / 2 + 1 : n;
  Tensor out = new_empty({count}, place.is_meta() ? t : kFloat64, place);
  if (place.is_meta()) return out;
  double step = 1 / (static_cast<double>(n) * d);
  double* p = out.data_as<double>();
  for (int64_t k = 0; k < count; ++k) {
    p[k] = static_cast<double>(!half && k > (n - 1) / 2 ? k - n : k) * step;
  }
  return to_dtype(out, t);
}

}  // namespace

namespace forward {

Tensor fft_complex(const Tensor& self, int64_t dim, int64_t length, int64_t keep, bool forward,
                   double scale) {
  return transformed(self, complex_type(self.dtype()), keep, {dim, length, forward, scale, false},
                     "fft", kernels::transforms->complex);
}
Tensor fft_real(const Tensor& self, int64_t dim, int64_t length, int64_t keep, bool forward,
                double scale, bool doubled) {
  return transformed(self, complex_type(self.dtype()), keep, {dim, length, forward, scale, doubled},
                     "rfft", kernels::transforms->real);
}
Tensor fft_hermitian(const Tensor& self, int64_t dim, int64_t length, int64_t keep, bool forward,
                     double scale, bool doubled) {
  return transformed(self, real_type(self.dtype()), keep, {dim, length, forward, scale, doubled},
                     "irfft", kernels::transforms->hermitian);
}

}  // namespace forward

#define FACULA_TRANSFORM(name, kind, forward)                                              \
  Tensor fft_##name(const Tensor& self, OptInt n, int64_t dim, OptNorm norm) {             \
    return kind##_1d(self, n, dim, norm, forward, #name);                                  \
  }                                                                                        \
  Tensor fft_##name##2(const Tensor& self, OptIntList s, OptIntList dim, OptNorm norm) {   \
    return kind##_nd(self, s, dim ? dim : OptIntList({-2, -1}), norm, forward, #name "2"); \
  }                                                                                        \
  Tensor fft_##name##n(const Tensor& self, OptIntList s, OptIntList dim, OptNorm norm) {   \
    return kind##_nd(self, s, dim, norm, forward, #name "n");                              \
  }
FACULA_TRANSFORM(fft, complex, true)
FACULA_TRANSFORM(ifft, complex, false)
FACULA_TRANSFORM(rfft, real, true)
FACULA_TRANSFORM(irfft, hermitian, false)
FACULA_TRANSFORM(hfft, hermitian, true)
FACULA_TRANSFORM(ihfft, real, false)
#undef FACULA_TRANSFORM

Tensor fft_fftfreq(int64_t n, double d, std::optional<DType> dtype, std::optional<Device> device) {
  return frequencies(n, false, d, dtype, device, "fftfreq");
}
Tensor fft_rfftfreq(int64_t n, double d, std::optional<DType> dtype, std::optional<Device> device) {
  return frequencies(n, true, d, dtype, device, "rfftfreq");
}
Tensor fft_fftshift(const Tensor& self, OptIntList dim) {
  return moved(self, dim, false, "fftshift");
}
Tensor fft_ifftshift(const Tensor& self, OptIntList dim) {
  return moved(self, dim, true, "ifftshift");
}

}  // namespace facula
