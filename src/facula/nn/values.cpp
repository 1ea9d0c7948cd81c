// Values move through float64 and int64 copies made by the operators themselves.
#include "facula/nn/values.h"

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
  return contiguous(to(t, std::nullopt, dtype));
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

}  // namespace facula
