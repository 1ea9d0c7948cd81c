// Random rows: checks of arguments and the way from tensors to the fills of core/random.h. Values
// are written in the order of memory, as PyTorch does. Draws from tensors of parameters and dropout
// are in draws.cpp.
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "facula/base/error.h"
#include "facula/core/iteration.h"
#include "facula/core/random.h"
#include "facula/core/visit.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/query_functions.h"
#include "facula/ops/random_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/warn.h"

namespace facula::forward {
namespace {

using OptDType = std::optional<DType>;
using OptDevice = std::optional<Device>;
using OptFormat = std::optional<MemoryFormat>;

[[noreturn]] void not_implemented(const char* op, DType dtype) {
  raise_error(ErrorKind::kNotImplemented, '"', op, "\" not implemented for '", dtype_title(dtype),
              "'");
}

// serial_fill lets make(generator, data, count) write all elements of self, which need not be
// contiguous: count elements of its dtype in the order of its memory.
template <class Make>
void serial_fill(const Tensor& self, Generator* generator, const char* op, Make make) {
  check_no_internal_overlap(self, op);
  const int64_t count = self.numel();
  if (self.is_meta() || count == 0) return;
  if (is_dense(self)) {
    random::draw(generator, count, [&](Generator& g) { make(g, self.data(), count); });
    return;
  }
  const Tensor line = new_empty({count}, self.dtype(), self.device());
  random::draw(generator, count, [&](Generator& g) { make(g, line.data(), count); });
  Loop loop(self.sizes());
  loop.add(self);
  loop.plan();
  const int64_t item = item_size(self.dtype());
  const char* next = line.data_as<char>();
  loop.run(0, count, [&](char** to, const int64_t* strides, int64_t n) {
    for (int64_t i = 0; i < n; ++i, next += item) {
      std::memcpy(to[0] + i * strides[0], next, static_cast<size_t>(item));
    }
  });
}

// Largest and lowest finite values of a dtype as doubles.
double largest(DType t) {
  switch (t) {
    case kFloat16: return 65504;
    case kBFloat16: return 0x1.fep127;
    case kFloat32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

struct IntegerRange {
  int64_t low;
  uint64_t high;
};

IntegerRange integer_range(DType t) {
  switch (t) {
    case kBool: return {0, 1};
    case kUInt8: return {0, UINT8_MAX};
    case kInt8: return {INT8_MIN, INT8_MAX};
    case kInt16: return {INT16_MIN, INT16_MAX};
    case kInt32: return {INT32_MIN, INT32_MAX};
    case kUInt16: return {0, UINT16_MAX};
    case kUInt32: return {0, UINT32_MAX};
    case kUInt64: return {0, UINT64_MAX};
    case kFloat16: return {-65504, 65504};
    default: return {INT64_MIN, INT64_MAX};
  }
}

void check_integer_bounds(DType t, int64_t from, int64_t last, const char* op) {
  const IntegerRange range = integer_range(t);
  auto inside = [&](int64_t v) {
    return v >= range.low && (v < 0 || static_cast<uint64_t>(v) <= range.high);
  };
  FACULA_CHECK(inside(from), kRuntime, op, ": from is out of bounds for ", dtype_name(t),
               ", got from=", from);
  FACULA_CHECK(inside(last), kRuntime, op, ": to - 1 is out of bounds for ", dtype_name(t),
               ", got to - 1=", last);
}

// warn_of_gaps warns where a floating dtype does not hold every integer up to a bound.
void warn_of_gaps(DType t, int64_t bound, const char* name) {
  if (!is_floating(t)) return;
  const int digits = t == kFloat64 ? 53 : t == kFloat32 ? 24 : t == kFloat16 ? 11 : 8;
  const int64_t most = int64_t{1} << digits;
  if (bound >= -most && bound <= most) return;
  warn(str(name, " is out of bounds [-(2^", digits, "), 2^", digits, "]: beyond them ",
           dtype_name(t), " does not hold every integer, so the draws are not uniform."));
}

void fill_integers(const Tensor& self, Generator* generator, uint64_t range, int64_t base,
                   const char* op) {
  serial_fill(self, generator, op, [&](Generator& g, void* data, int64_t count) {
    const bool known = visit_real(self.dtype(), [&]<class T>() {
      random::integers(g, static_cast<T*>(data), count, range, base);
    });
    if (!known) not_implemented(op, self.dtype());
  });
}

void fill_between(const Tensor& self, Generator* generator, int64_t from, int64_t to,
                  const char* op) {
  if (is_complex(self.dtype())) not_implemented(op, self.dtype());
  FACULA_CHECK(from < to, kRuntime, op, ": random_ expects 'from' to be less than 'to', but got ",
               "from=", from, " >= to=", to);
  check_integer_bounds(self.dtype(), from, to - 1, op);
  warn_of_gaps(self.dtype(), from, "from");
  warn_of_gaps(self.dtype(), to - 1, "to - 1");
  fill_integers(self, generator, static_cast<uint64_t>(to) - static_cast<uint64_t>(from), from, op);
}

// Fills numbers of a floating-point dtype; complex ones count as two.
template <class Make>
void fill_floating(const Tensor& self, Generator* generator, const char* op, Make make) {
  const bool pairs = is_complex(self.dtype());
  const bool known = visit_floating(real_type(self.dtype()), [&]<class T>() {
    serial_fill(self, generator, op, [&](Generator& g, void* data, int64_t count) {
      make(g, static_cast<T*>(data), pairs ? 2 * count : count);
    });
  });
  if (!known) not_implemented(op, self.dtype());
}

void fill_uniform(const Tensor& self, double from, double to, Generator* generator,
                  const char* op) {
  if (!is_inexact(self.dtype())) not_implemented(op, self.dtype());
  const DType t = real_type(self.dtype());
  const double limit = largest(t);
  FACULA_CHECK(std::fabs(from) <= limit, kRuntime, op, ": from is out of bounds for ",
               dtype_name(t), ", got from=", from);
  FACULA_CHECK(std::fabs(to) <= limit, kRuntime, op, ": to is out of bounds for ", dtype_name(t),
               ", got to=", to);
  FACULA_CHECK(from <= to, kRuntime, op, ": uniform_ expects to return a [from, to) range, but ",
               "found from=", from, " > to=", to);
  FACULA_CHECK(to - from <= limit, kRuntime, op, ": uniform_ expects to-from <= ", limit,
               ", but found to=", to, " and from=", from,
               " which result in to-from to exceed the limit");
  fill_floating(self, generator, op, [&]<class T>(Generator& g, T* data, int64_t count) {
    random::uniform(g, data, count, from, to);
  });
}

void fill_normal(const Tensor& self, double mean, double std, Generator* generator,
                 const char* op) {
  FACULA_CHECK(std >= 0, kRuntime, op, ": normal expects std >= 0.0, but found std ", std);
  if (!is_inexact(self.dtype())) not_implemented(op, self.dtype());
  // A complex number of deviation std has parts of deviation std / sqrt(2).
  const double part = is_complex(self.dtype()) ? std / std::sqrt(2.0) : std;
  const bool blocks = self.is_contiguous();
  fill_floating(self, generator, op, [&]<class T>(Generator& g, T* data, int64_t count) {
    if (blocks) {
      random::normal(g, data, count, mean, part);
    } else {
      random::normal_one_by_one(g, data, count, mean, part);
    }
  });
}

Tensor empty_for(IntList size, OptDType dtype, OptDevice device) {
  return new_empty(size, dtype.value_or(default_dtype()), device.value_or(kCpu));
}

Tensor empty_as(const Tensor& self, OptFormat format, OptDType dtype, OptDevice device) {
  return forward::empty_like(self, format, dtype.value_or(self.dtype()),
                             device.value_or(self.device()));
}

Tensor integers_between(int64_t low, int64_t high, IntList size, Generator* generator,
                        OptDType dtype, OptDevice device) {
  Tensor r = new_empty(size, dtype.value_or(kInt64), device.value_or(kCpu));
  fill_between(r, generator, low, high, "randint");
  return r;
}

// Standard normal numbers times std plus mean; either may be a tensor or a number.
Tensor scaled_normal(IntList size, DType dtype, Device device, const TensorOrScalar& std,
                     const TensorOrScalar& mean, Generator* generator) {
  NoGrad no_grad;
  Tensor r = new_empty(size, dtype, device);
  fill_normal(r, 0, std.is_tensor() ? 1 : std.scalar.to_double(), generator, "normal");
  if (std.is_tensor()) mul_(r, std);
  return add_(r, mean);
}

void check_deviations(const Tensor& std) {
  FACULA_CHECK(!std.is_complex(), kRuntime,
               "normal: normal expects standard deviation to be non-complex");
  if (std.is_meta()) return;
  const Tensor values = to_contiguous(to_dtype(std, kFloat64));
  const double* p = values.data_as<double>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    FACULA_CHECK(p[i] >= 0, kRuntime, "normal: normal expects all elements of std >= 0.0, got ",
                 p[i]);
  }
}

}  // namespace

Tensor rand(IntList size, Generator* generator, OptDType dtype, OptDevice device) {
  Tensor r = empty_for(size, dtype, device);
  fill_uniform(r, 0, 1, generator, "rand");
  return r;
}

Tensor randn(IntList size, Generator* generator, OptDType dtype, OptDevice device) {
  Tensor r = empty_for(size, dtype, device);
  fill_normal(r, 0, 1, generator, "randn");
  return r;
}

Tensor randint(int64_t high, IntList size, Generator* generator, OptDType dtype, OptDevice device) {
  return integers_between(0, high, size, generator, dtype, device);
}

Tensor randint_low(int64_t low, int64_t high, IntList size, Generator* generator, OptDType dtype,
                   OptDevice device) {
  return integers_between(low, high, size, generator, dtype, device);
}

Tensor randperm(int64_t n, Generator* generator, OptDType dtype, OptDevice device) {
  const DType t = dtype.value_or(kInt64);
  if (t == kBool || is_complex(t)) not_implemented("randperm", t);
  const uint64_t most = t == kFloat16    ? 2049
                        : t == kBFloat16 ? 257
                        : t == kFloat32  ? (1 << 24) + 1
                        : t == kFloat64 || integer_range(t).high >= INT64_MAX
                            ? INT64_MAX
                            : integer_range(t).high + 1;
  FACULA_CHECK(n < 0 || static_cast<uint64_t>(n) <= most, kRuntime,
               "randperm: n cannot be greater than ", most, " for ", dtype_title(t), " type, got ",
               n);
  Tensor r = new_empty({n}, t, device.value_or(kCpu));
  serial_fill(r, generator, "randperm", [&](Generator& g, void* data, int64_t count) {
    visit_real(t, [&]<class T>() { random::permutation(g, static_cast<T*>(data), count); });
  });
  return r;
}

Tensor rand_like(const Tensor& self, Generator* generator, OptFormat format, OptDType dtype,
                 OptDevice device) {
  Tensor r = empty_as(self, format, dtype, device);
  fill_uniform(r, 0, 1, generator, "rand_like");
  return r;
}

Tensor randn_like(const Tensor& self, Generator* generator, OptFormat format, OptDType dtype,
                  OptDevice device) {
  Tensor r = empty_as(self, format, dtype, device);
  fill_normal(r, 0, 1, generator, "randn_like");
  return r;
}

Tensor randint_like(const Tensor& self, int64_t high, Generator* generator, OptFormat format,
                    OptDType dtype, OptDevice device) {
  return forward::randint_like_low(self, 0, high, generator, format, dtype, device);
}

Tensor randint_like_low(const Tensor& self, int64_t low, int64_t high, Generator* generator,
                        OptFormat format, OptDType dtype, OptDevice device) {
  Tensor r = empty_as(self, format, dtype, device);
  fill_between(r, generator, low, high, "randint_like");
  return r;
}

Tensor normal(const Tensor& mean, const Tensor& std, Generator* generator) {
  check_deviations(std);
  const Sizes size = broadcast_sizes(mean.sizes(), std.sizes(), "normal");
  return scaled_normal(size, mean.dtype(), mean.device(), std, mean, generator);
}

Tensor normal_mean(const Tensor& mean, double std, Generator* generator) {
  return scaled_normal(mean.sizes(), mean.dtype(), mean.device(), std, mean, generator);
}

Tensor normal_std(double mean, const Tensor& std, Generator* generator) {
  check_deviations(std);
  return scaled_normal(std.sizes(), std.dtype(), std.device(), std, mean, generator);
}

Tensor normal_size(double mean, double std, IntList size, Generator* generator, OptDType dtype,
                   OptDevice device) {
  Tensor r = empty_for(size, dtype, device);
  fill_normal(r, mean, std, generator, "normal");
  return r;
}

void uniform_(const Tensor& self, double from, double to, Generator* generator) {
  fill_uniform(self, from, to, generator, "uniform_");
}

void normal_(const Tensor& self, double mean, double std, Generator* generator) {
  fill_normal(self, mean, std, generator, "normal_");
}

void random_(const Tensor& self, Generator* generator) {
  serial_fill(self, generator, "random_", [&](Generator& g, void* data, int64_t count) {
    const bool known = visit_real(
        self.dtype(), [&]<class T>() { random::all_integers(g, static_cast<T*>(data), count); });
    if (!known) not_implemented("random_", self.dtype());
  });
}

void random_below_(const Tensor& self, int64_t to, Generator* generator) {
  fill_between(self, generator, 0, to, "random_");
}

void random_between_(const Tensor& self, int64_t from, std::optional<int64_t> to,
                     Generator* generator) {
  if (to) return fill_between(self, generator, from, *to, "random_");
  const DType t = self.dtype();
  if (is_complex(t)) not_implemented("random_", t);
  // Up to the largest integer of the dtype, for floating-point ones the last of those that are
  // all exact; the difference of all 64-bit integers is 0, which integers() takes for all.
  const uint64_t last = t == kFloat16    ? uint64_t{1} << 11
                        : t == kBFloat16 ? uint64_t{1} << 8
                        : t == kFloat32  ? uint64_t{1} << 24
                        : t == kFloat64  ? uint64_t{1} << 53
                                         : integer_range(t).high;
  const IntegerRange range = integer_range(t);
  FACULA_CHECK(from >= range.low && (from < 0 || static_cast<uint64_t>(from) <= last), kRuntime,
               "random_: from is out of bounds for ", dtype_name(t), ", got from=", from);
  fill_integers(self, generator, last - static_cast<uint64_t>(from) + 1, from, "random_");
}

void exponential_(const Tensor& self, double lambd, Generator* generator) {
  FACULA_CHECK(is_floating(self.dtype()), kRuntime, "exponential_: Exponential distribution is a ",
               "continuous probability distribution. dtype must be a floating point but you ",
               "specified ", dtype_title(self.dtype()));
  FACULA_CHECK(lambd > 0, kRuntime, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
  fill_floating(self, generator, "exponential_", [&]<class T>(Generator& g, T* data, int64_t n) {
    random::exponential(g, data, n, lambd);
  });
}

void geometric_(const Tensor& self, double p, Generator* generator) {
  FACULA_CHECK(p > 0 && p < 1, kRuntime, "geometric_ expects p to be in (0, 1), but got p=", p);
  serial_fill(self, generator, "geometric_", [&](Generator& g, void* data, int64_t count) {
    auto fill = [&]<class T>() { random::geometric(g, static_cast<T*>(data), count, p); };
    switch (self.dtype()) {
      case kUInt8: return fill.template operator()<uint8_t>();
      case kInt8: return fill.template operator()<int8_t>();
      case kInt16: return fill.template operator()<int16_t>();
      case kInt32: return fill.template operator()<int32_t>();
      case kInt64: return fill.template operator()<int64_t>();
      default: break;
    }
    if (!visit_floating(self.dtype(), fill)) not_implemented("geometric_", self.dtype());
  });
}

void cauchy_(const Tensor& self, double median, double sigma, Generator* generator) {
  FACULA_CHECK(is_floating(self.dtype()), kRuntime, "cauchy_: Cauchy distribution is a ",
               "continuous probability distribution. dtype must be a floating point but you ",
               "specified ", dtype_title(self.dtype()));
  FACULA_CHECK(sigma > 0, kRuntime, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  fill_floating(self, generator, "cauchy_", [&]<class T>(Generator& g, T* data, int64_t n) {
    random::cauchy(g, data, n, median, sigma);
  });
}

void log_normal_(const Tensor& self, double mean, double std, Generator* generator) {
  if (!is_floating(self.dtype())) not_implemented("log_normal_", self.dtype());
  FACULA_CHECK(std > 0, kRuntime, "log_normal_ expects std > 0.0, but found std=", std);
  fill_floating(self, generator, "log_normal_", [&]<class T>(Generator& g, T* data, int64_t n) {
    random::log_normal(g, data, n, mean, std);
  });
}

}  // namespace facula::forward
