// Values move through float64 and int64 copies made by the operators themselves.
#include "facula/nn/values.h"

#include <cmath>

#include "facula/base/error.h"
#include "facula/core/generator.h"
#include "facula/core/thread_state.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

Tensor copy_as(const Tensor& t, DType dtype, const char* name) {
  FACULA_CHECK(t.defined(), kRuntime, name, ": expected a tensor, got an undefined one");
  FACULA_CHECK(!t.is_meta(), kRuntime, name, ": a tensor on meta has no values");
  FACULA_CHECK(!t.is_complex() || is_complex(dtype), kType, name,
               ": expected a real tensor, got one of ", dtype_name(t.dtype()));
  NoGrad off;
  Tensor copy = contiguous(to(t, std::nullopt, dtype));
  FACULA_CHECK(copy.data() || copy.numel() == 0, kRuntime, name,
               ": a tensor inside vmap has no values of its own");
  return copy;
}

void check_one(const Tensor& t, const char* name) {
  FACULA_CHECK(t.defined() && t.numel() == 1, kRuntime, name,
               ": expected a tensor of one element, got ", t.defined() ? t.numel() : 0);
}

template <class T>
std::vector<T> all_values(const Tensor& t) {
  const T* first = t.data_as<T>();
  return std::vector<T>(first, first + t.numel());
}

template <class T>
Tensor from_values(const std::vector<T>& values, IntList size, DType dtype) {
  Tensor t = new_empty(size, dtype);
  FACULA_CHECK(t.numel() == static_cast<int64_t>(values.size()), kValue, "tensor_of: shape ",
               list_text(size), " has ", t.numel(), " elements, got ", values.size());
  std::copy(values.begin(), values.end(), t.data_as<T>());
  return t;
}

void check_real(const Scalar& value) {
  FACULA_CHECK(!value.is_complex(), kType,
               "item: expected a real tensor, got one of complex numbers");
}

std::string number_text(const Scalar& value) {
  if (value.is_floating()) return str(value.re);
  return value.kind == kUInt64 ? str(static_cast<uint64_t>(value.i)) : str(value.i);
}

}  // namespace

void manual_seed(uint64_t seed) {
  Generator& generator = default_generator();
  std::lock_guard<std::mutex> lock(generator.mutex());
  generator.manual_seed(seed);
}

double item(const Tensor& t) {
  check_one(t, "item");
  return *copy_as(t, kFloat64, "item").data_as<double>();
}
int64_t item_int(const Tensor& t) {
  check_one(t, "item_int");
  return *copy_as(t, kInt64, "item_int").data_as<int64_t>();
}

Scalar item_scalar(const Tensor& t) {
  check_one(t, "item");
  if (t.is_complex()) {
    return *copy_as(t, kComplex128, "item").data_as<std::complex<double>>();
  }
  if (t.is_floating_point()) return item(t);
  if (t.dtype() == kBool) return *copy_as(t, kBool, "item").data_as<bool>();
  if (t.dtype() == kUInt64) return *copy_as(t, kUInt64, "item").data_as<uint64_t>();
  return item_int(t);
}

uint64_t integer_within(const Scalar& value, int64_t low, uint64_t high) {
  check_real(value);
  bool fits;
  if (value.is_floating()) {
    // 2^64 and the numbers beside the limits of 64 bits are doubles themselves.
    double whole = std::trunc(value.re);
    fits = whole >= static_cast<double>(low) && whole < 0x1p64 &&
           (whole < 0 || static_cast<uint64_t>(whole) <= high);
    if (fits) {
      return whole < 0 ? static_cast<uint64_t>(static_cast<int64_t>(whole))
                       : static_cast<uint64_t>(whole);
    }
  } else {
    bool negative = value.kind != kUInt64 && value.i < 0;
    fits = negative ? value.i >= low : static_cast<uint64_t>(value.i) <= high;
  }
  FACULA_CHECK(fits, kRuntime, "item: ", number_text(value), " does not fit into a type from ", low,
               " to ", high);
  return static_cast<uint64_t>(value.i);
}

double real_within(const Scalar& value, double largest) {
  check_real(value);
  bool fits = !std::isfinite(value.re) || std::abs(value.re) <= largest;
  FACULA_CHECK(fits, kRuntime, "item: ", number_text(value), " does not fit into a type up to ",
               largest);
  return value.re;
}

void check_elements(const Tensor& t, DType wanted) {
  FACULA_CHECK(t.dtype() == wanted, kRuntime, "data_ptr: expected scalar type ",
               dtype_title(wanted), " but found ", dtype_title(t.dtype()));
  FACULA_CHECK(t.data() || t.numel() == 0, kRuntime,
               "data_ptr: a tensor on meta or inside vmap has no memory of its own");
}

std::vector<double> values_of(const Tensor& t) {
  return all_values<double>(copy_as(t, kFloat64, "values_of"));
}
std::vector<int64_t> int_values_of(const Tensor& t) {
  return all_values<int64_t>(copy_as(t, kInt64, "int_values_of"));
}

Tensor tensor_of(const std::vector<float>& values, IntList size) {
  return from_values(values, size, kFloat32);
}
Tensor tensor_of(const std::vector<int64_t>& values, IntList size) {
  return from_values(values, size, kInt64);
}
Tensor tensor_from(const std::vector<double>& values, IntList size, DType dtype) {
  return to(from_values(values, size, kFloat64), std::nullopt, dtype);
}
Tensor tensor_from(const std::vector<int64_t>& values, IntList size, DType dtype) {
  return to(from_values(values, size, kInt64), std::nullopt, dtype);
}

size_t blob_bytes(const void* data, IntList size, IntList stride, DType dtype) {
  FACULA_CHECK(size.size() == stride.size() && size.ssize() <= kMaxDims, kValue,
               "from_blob: expected as many strides as sizes, at most ", kMaxDims, ", got ",
               list_text(stride), " for ", list_text(size));
  int64_t width = item_size(dtype), aligned = item_size(real_type(dtype));
  if (count_elements(size, "from_blob") == 0) return 0;
  FACULA_CHECK(data, kValue, "from_blob: expected the address of ", list_text(size),
               " elements, got a null pointer");
  FACULA_CHECK(reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(aligned) == 0, kValue,
               "from_blob: the address is not a multiple of ", aligned, ", the size of ",
               dtype_name(real_type(dtype)));
  __int128 last = 0;
  for (size_t d = 0; d < size.size(); ++d) {
    FACULA_CHECK(stride[d] >= 0, kValue, "from_blob: strides must not be negative, got ",
                 list_text(stride));
    last += static_cast<__int128>(size[d] - 1) * stride[d];
    FACULA_CHECK(last < INT64_MAX / width, kValue, "from_blob: sizes ", list_text(size),
                 " with strides ", list_text(stride), " reach beyond all addresses");
  }
  return static_cast<size_t>(last + 1) * static_cast<size_t>(width);
}

Tensor from_blob(void* data, IntList size, IntList stride, DType dtype) {
  size_t bytes = blob_bytes(data, size, stride, dtype);
  auto storage = Ref<Storage>::adopt(Storage::external(data, bytes, nullptr, nullptr));
  return tensor_over(storage.get(), size, stride, 0, dtype);
}
Tensor from_blob(void* data, IntList size, DType dtype) {
  return from_blob(data, size, contiguous_strides(size), dtype);
}

}  // namespace facula
