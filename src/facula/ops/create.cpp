// Factories: constants, ranges, identity matrices and views between complex and real tensors.
#include <algorithm>

#include "facula/base/error.h"
#include "facula/base/parallel.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/fits.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/query_functions.h"
#include "facula/ops/warn.h"

namespace facula::forward {
namespace {

using OptDType = std::optional<DType>;
using OptDevice = std::optional<Device>;
using OptFormat = std::optional<MemoryFormat>;

DType or_default(OptDType t) { return t.value_or(default_dtype()); }

DType dtype_of_number(const Scalar& s) {
  if (s.is_complex()) return complex_type(default_dtype());
  return s.is_floating() ? default_dtype() : s.is_bool() ? kBool : kInt64;
}

Tensor constant(IntList size, const Scalar& value, DType dtype, OptDevice device) {
  Tensor r = new_empty(size, dtype, device.value_or(kCpu));
  fill_raw(r, value);
  return r;
}

Tensor like(const Tensor& self, OptFormat format, OptDType dtype, OptDevice device) {
  MemoryFormat f = format.value_or(MemoryFormat::kPreserve);
  DType t = dtype.value_or(self.dtype());
  Device d = device.value_or(self.device());
  if (f == MemoryFormat::kPreserve && d == self.device()) return new_empty_as(self, t);
  if (f == MemoryFormat::kPreserve) f = MemoryFormat::kContiguous;
  return new_formatted(self.sizes(), t, d, f);
}

Tensor filled_like(const Tensor& self, const Scalar& v, OptFormat f, OptDType dtype,
                   OptDevice device) {
  Tensor r = like(self, f, dtype, device);
  fill_raw(r, v);
  return r;
}

// sequence fills a tensor with f(i) computed in double or int64 and converted to its dtype.
template <class T, class F>
Tensor sequence(int64_t n, DType compute, DType dtype, OptDevice device, F f) {
  Tensor r = new_empty({n}, dtype, device.value_or(kCpu));
  if (r.is_meta() || n == 0) return r;
  Tensor work = dtype == compute ? r : new_empty({n}, compute);
  T* p = work.data_as<T>();
  parallel_for(0, n, 32768, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) p[i] = f(i);
  });
  if (dtype != compute) copy_raw(r, work);
  return r;
}

int64_t range_length(const Scalar& start, const Scalar& end, const Scalar& step, bool inclusive,
                     const char* op) {
  if (step.is_zero()) fail(ErrorKind::kRuntime, str(op, ": step must be nonzero"));
  if (!std::isfinite(step.re)) {
    fail(ErrorKind::kRuntime, str(op, ": step must be finite but got ", step.re));
  }
  double a = start.re, b = end.re, s = step.re;
  if (!std::isfinite(a) || !std::isfinite(b)) {
    fail(ErrorKind::kRuntime, str(op, ": unsupported range: ", a, " -> ", b));
  }
  if (!((s > 0 && b >= a) || (s < 0 && b <= a))) {
    fail(ErrorKind::kRuntime, str(op, ": upper bound and lower bound inconsistent with step sign"));
  }
  bool whole = !start.is_floating() && !end.is_floating() && !step.is_floating();
  if (whole) {
    __int128 span = static_cast<__int128>(end.i) - start.i;
    __int128 n = inclusive ? span / step.i + 1 : (span + step.i - (step.i > 0 ? 1 : -1)) / step.i;
    return static_cast<int64_t>(n);
  }
  double n = inclusive ? std::floor((b - a) / s + 1) : std::ceil((b - a) / s);
  if (!(n >= 0 && n < 9e18))
    fail(ErrorKind::kRuntime, str(op, ": invalid size, possible overflow?"));
  return static_cast<int64_t>(n);
}

Tensor make_range(const Scalar& start, const Scalar& end, const Scalar& step, bool inclusive,
                  OptDType dtype, OptDevice device, const char* op) {
  if (start.is_complex() || end.is_complex() || step.is_complex()) {
    fail(ErrorKind::kRuntime, str(op, ": complex numbers have no order"));
  }
  bool real = start.is_floating() || end.is_floating() || step.is_floating();
  DType t = dtype.value_or(real || inclusive ? default_dtype() : kInt64);
  if (is_complex(t) || t == kBool) {
    fail(ErrorKind::kNotImplemented,
         str("\"", op, "\" not implemented for '", dtype_title(t), "'"));
  }
  int64_t n = range_length(start, end, step, inclusive, op);
  if (is_integral(t)) {
    uint64_t a = start.to_int(), s = step.to_int();
    return sequence<int64_t>(n, kInt64, t, device,
                             [=](int64_t i) { return int64_t(a + s * uint64_t(i)); });
  }
  double a = start.re, s = step.re;
  return sequence<double>(n, kFloat64, t, device, [=](int64_t i) { return a + s * double(i); });
}

Scalar number_of(const TensorOrScalar& v, const char* op) {
  if (!v.tensor) return v.scalar;
  Tensor t = Tensor::borrow(v.tensor);
  require_data(op, t);
  if (t.dim() != 0) {
    fail(ErrorKind::kRuntime,
         str(op, " only supports 0-dimensional start and end tensors, but got ", t.dim(),
             " dimension(s)"));
  }
  if (t.is_complex()) return Scalar(*to_dtype(t, kComplex128).data_as<std::complex<double>>());
  if (t.is_floating_point()) return Scalar(*to_dtype(t, kFloat64).data_as<double>());
  return Scalar(*to_dtype(t, kInt64).data_as<int64_t>());
}

DType space_dtype(const Scalar& a, const Scalar& b, OptDType dtype, const char* op) {
  bool cx = a.is_complex() || b.is_complex();
  if (!dtype) return cx ? complex_type(default_dtype()) : default_dtype();
  if (cx && !is_complex(*dtype)) {
    fail(ErrorKind::kRuntime,
         str("torch.", op, "(): inferred dtype ", dtype_title(complex_type(default_dtype())),
             " can't be safely cast to passed dtype ", dtype_title(*dtype)));
  }
  return *dtype;
}

// spaced fills `steps` values from a to b through `map` of the exponent or value. The second half
// counts from the end, so that both ends are exact.
template <class F>
Tensor spaced(const Scalar& a, const Scalar& b, int64_t steps, DType t, OptDevice device,
              const char* op, F map, OptDType store = {}) {
  if (steps < 0) fail(ErrorKind::kRuntime, str("number of steps must be non-negative"));
  if (t == kBool) fail(ErrorKind::kNotImplemented, str("\"", op, "\" not implemented for 'Bool'"));
  if (is_integral(t)) return spaced(a.to_int(), b.to_int(), steps, kFloat64, device, op, map, t);
  auto value = [&](auto x, auto y) {
    using T = decltype(x);
    T step = steps > 1 ? (y - x) / T(double(steps - 1)) : T(0);
    return sequence<T>(
        steps, is_complex(t) ? kComplex128 : kFloat64, store.value_or(t), device, [=](int64_t i) {
          return map(i < steps / 2 || steps == 1 ? x + step * T(double(i))
                                                 : y - step * T(double(steps - 1 - i)));
        });
  };
  if (is_complex(t)) return value(a.to_complex(), b.to_complex());
  return value(a.to_double(), b.to_double());
}

Tensor parts(const Tensor& self, int64_t which) {
  Geometry g = geometry_of(self);
  for (int64_t& s : g.strides) s *= 2;
  return make_view(self, g.sizes, g.strides, g.offset * 2 + which, real_type(self.dtype()));
}

// clamped_sum gives the sum of clamp(first + i, 0, most) over i below n.
__int128 clamped_sum(__int128 first, int64_t n, int64_t most) {
  __int128 start = std::clamp<__int128>(-first, 0, n);           // zero before this i
  __int128 full = std::clamp<__int128>(most - first, start, n);  // `most` from this i on
  __int128 steps = full - start, low = first + start;
  return low * steps + steps * (steps - 1) / 2 + (n - full) * most;
}

Tensor triangle(int64_t row, int64_t col, int64_t offset, bool lower, OptDType dtype,
                OptDevice device) {
  if (row < 0 || col < 0) {
    fail(ErrorKind::kRuntime,
         str(lower ? "tril_indices" : "triu_indices", ": row and col must be non-negative"));
  }
  __int128 below = lower ? clamped_sum(static_cast<__int128>(offset) + 1, row, col)
                         : static_cast<__int128>(row) * col - clamped_sum(offset, row, col);
  FACULA_CHECK(below <= INT64_MAX / 16, kRuntime, lower ? "tril_indices" : "triu_indices",
               ": the positions are more than memory holds");
  int64_t count = static_cast<int64_t>(below);
  if (device.value_or(kCpu).is_meta())
    return new_empty({2, count}, dtype.value_or(kInt64), *device);
  Tensor r = new_empty({2, count}, kInt64);
  int64_t *ys = r.data_as<int64_t>(), *xs = ys + count;
  int64_t top = lower ? static_cast<int64_t>(std::clamp<__int128>(-__int128{offset}, 0, row)) : 0;
  for (int64_t y = top; y < row && xs < r.data_as<int64_t>() + 2 * count; ++y) {
    __int128 edge = static_cast<__int128>(y) + offset;
    int64_t from = lower ? 0 : static_cast<int64_t>(std::clamp<__int128>(edge, 0, col));
    int64_t to = lower ? static_cast<int64_t>(std::clamp<__int128>(edge + 1, 0, col)) : col;
    for (int64_t x = from; x < to; ++x) *ys++ = y, *xs++ = x;
  }
  return to_dtype(r, dtype.value_or(kInt64));
}

}  // namespace

Tensor empty(IntList size, OptFormat format, OptDType dtype, OptDevice device) {
  if (!format) return new_empty(size, or_default(dtype), device.value_or(kCpu));
  return new_formatted(size, or_default(dtype), device.value_or(kCpu), *format);
}
Tensor zeros(IntList size, OptDType dtype, OptDevice device) {
  return constant(size, 0, or_default(dtype), device);
}
Tensor ones(IntList size, OptDType dtype, OptDevice device) {
  return constant(size, 1, or_default(dtype), device);
}
Tensor full(IntList size, const Scalar& value, OptDType dtype, OptDevice device) {
  DType t = dtype.value_or(dtype_of_number(value));
  check_fits(t, value);
  return constant(size, value, t, device);
}
Tensor empty_strided(IntList size, IntList stride, OptDType dtype, OptDevice device) {
  return new_strided(size, stride, or_default(dtype), device.value_or(kCpu));
}
Tensor empty_like(const Tensor& self, OptFormat f, OptDType dtype, OptDevice device) {
  return like(self, f, dtype, device);
}
Tensor zeros_like(const Tensor& self, OptFormat f, OptDType dtype, OptDevice device) {
  return filled_like(self, 0, f, dtype, device);
}
Tensor ones_like(const Tensor& self, OptFormat f, OptDType dtype, OptDevice device) {
  return filled_like(self, 1, f, dtype, device);
}
Tensor full_like(const Tensor& self, const Scalar& v, OptFormat f, OptDType dtype,
                 OptDevice device) {
  check_fits(dtype.value_or(self.dtype()), v);
  return filled_like(self, v, f, dtype, device);
}
Tensor new_empty_method(const Tensor& self, IntList size, OptDType dtype, OptDevice device) {
  return new_empty(size, dtype.value_or(self.dtype()), device.value_or(self.device()));
}
Tensor new_zeros(const Tensor& self, IntList size, OptDType dtype, OptDevice device) {
  return constant(size, 0, dtype.value_or(self.dtype()), device.value_or(self.device()));
}
Tensor new_ones(const Tensor& self, IntList size, OptDType dtype, OptDevice device) {
  return constant(size, 1, dtype.value_or(self.dtype()), device.value_or(self.device()));
}
Tensor new_full(const Tensor& self, IntList size, const Scalar& v, OptDType dtype,
                OptDevice device) {
  DType t = dtype.value_or(self.dtype());
  check_fits(t, v);
  return constant(size, v, t, device.value_or(self.device()));
}
Tensor new_empty_strided(const Tensor& self, IntList size, IntList stride, OptDType dtype,
                         OptDevice device) {
  return new_strided(size, stride, dtype.value_or(self.dtype()), device.value_or(self.device()));
}

Tensor arange_end(const Scalar& end, OptDType dtype, OptDevice device) {
  return make_range(0, end, 1, false, dtype, device, "arange");
}
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, OptDType dtype,
              OptDevice device) {
  return make_range(start, end, step, false, dtype, device, "arange");
}
Tensor range_inclusive(const Scalar& start, const Scalar& end, const Scalar& step, OptDType dtype,
                       OptDevice device) {
  warn(
      "facula.range is deprecated: it holds its end, as no other range does; use arange, which "
      "does "
      "not.");
  return make_range(start, end, step, true, dtype, device, "range");
}

Tensor linspace(const TensorOrScalar& start, const TensorOrScalar& end, int64_t steps,
                OptDType dtype, OptDevice device) {
  Scalar a = number_of(start, "linspace"), b = number_of(end, "linspace");
  DType t = space_dtype(a, b, dtype, "linspace");
  check_fits(t, a);
  check_fits(t, b);
  return spaced(a, b, steps, t, device, "linspace", [](auto v) { return v; });
}

Tensor logspace(const TensorOrScalar& start, const TensorOrScalar& end, int64_t steps, double base,
                OptDType dtype, OptDevice device) {
  Scalar a = number_of(start, "logspace"), b = number_of(end, "logspace");
  DType t = space_dtype(a, b, dtype, "logspace");
  return spaced(a, b, steps, t, device, "logspace", [base](auto v) {
    using T = decltype(v);
    return T(std::pow(T(base), v));
  });
}

Tensor eye_m(int64_t n, int64_t m, OptDType dtype, OptDevice device) {
  if (n < 0 || m < 0) {
    fail(ErrorKind::kRuntime,
         str("eye: n and m must be greater or equal to 0, got ", n, " and ", m));
  }
  Tensor r = constant({n, m}, 0, or_default(dtype), device);
  if (n && m) {
    Geometry g = diagonal_geometry(r, 0, 0, 1);
    fill_raw(alias_storage(r, g.sizes, g.strides, g.offset), 1);
  }
  return r;
}
Tensor eye(int64_t n, OptDType dtype, OptDevice device) {
  return forward::eye_m(n, n, dtype, device);
}

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, OptDType dtype, OptDevice device) {
  return triangle(row, col, offset, true, dtype, device);
}
Tensor triu_indices(int64_t row, int64_t col, int64_t offset, OptDType dtype, OptDevice device) {
  return triangle(row, col, offset, false, dtype, device);
}
Tensor scalar_tensor(const Scalar& s, OptDType dtype, OptDevice device) {
  check_fits(or_default(dtype), s);
  return constant({}, s, or_default(dtype), device);
}

Tensor complex(const Tensor& real, const Tensor& imag) {
  if (!is_floating(real.dtype()) || !is_floating(imag.dtype())) {
    fail(ErrorKind::kNotImplemented,
         str("\"complex\" not implemented for '",
             dtype_title(is_floating(real.dtype()) ? imag.dtype() : real.dtype()), "'"));
  }
  if (real.dtype() != imag.dtype()) {
    fail(ErrorKind::kRuntime,
         str("Expected object of scalar type ", dtype_title(real.dtype()), " but got scalar type ",
             dtype_title(imag.dtype()), " for second argument"));
  }
  if (!is_floating(real.dtype()) || is_reduced(real.dtype())) {
    fail(ErrorKind::kRuntime,
         str("Expected both inputs to be Half, Float or Double tensors but got ",
             dtype_title(real.dtype()), " and ", dtype_title(imag.dtype())));
  }
  Sizes shape = broadcast_sizes(real.sizes(), imag.sizes(), "complex");
  Tensor r = new_empty(shape, complex_type(real.dtype()), real.device());
  if (r.is_meta()) return r;
  copy_raw(parts(r, 0), real);
  copy_raw(parts(r, 1), imag);
  return r;
}

Tensor real_view(const Tensor& self) { return parts(self, 0); }
Tensor imag_view(const Tensor& self) { return parts(self, 1); }

Tensor view_as_real(const Tensor& self) {
  if (!self.is_complex()) {
    fail(ErrorKind::kRuntime, str("view_as_real is only supported for complex tensors, got ",
                                  dtype_title(self.dtype())));
  }
  Geometry g = geometry_of(self);
  for (int64_t& s : g.strides) s *= 2;
  g.sizes.push_back(2);
  g.strides.push_back(1);
  return make_view(self, g.sizes, g.strides, g.offset * 2, real_type(self.dtype()));
}

Tensor view_as_complex(const Tensor& self) {
  if (self.dtype() != kFloat32 && self.dtype() != kFloat64) {
    fail(ErrorKind::kRuntime,
         str("view_as_complex is only supported for half, float and double tensors, but "
             "got a tensor of scalar type: ",
             dtype_title(self.dtype())));
  }
  if (self.dim() == 0) fail(ErrorKind::kRuntime, "Input tensor must have one or more dimensions");
  if (self.sizes().back() != 2) {
    fail(ErrorKind::kRuntime,
         str("Tensor must have a last dimension of size 2, got ", self.sizes().back()));
  }
  if (self.strides().back() != 1) {
    fail(ErrorKind::kRuntime, "Tensor must have a last dimension with stride 1");
  }
  Geometry g = geometry_of(self);
  g.sizes.pop_back();
  g.strides.pop_back();
  for (int64_t& s : g.strides) {
    if (s % 2)
      fail(ErrorKind::kRuntime,
           "Tensor must have a stride divisible by 2 for all but last dimension");
    s /= 2;
  }
  if (g.offset % 2) fail(ErrorKind::kRuntime, "Tensor must have a storage_offset divisible by 2");
  return make_view(self, g.sizes, g.strides, g.offset / 2, complex_type(self.dtype()));
}

}  // namespace facula::forward

namespace facula {

Tensor real(const Tensor& self) { return self.is_complex() ? real_view(self) : self; }

Tensor imag(const Tensor& self) {
  if (!self.is_complex()) {
    fail(ErrorKind::kType, "imag is not implemented for tensors with non-complex dtypes.");
  }
  return imag_view(self);
}

}  // namespace facula
