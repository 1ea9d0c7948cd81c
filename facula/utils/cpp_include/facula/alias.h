// Sources of extensions that are written for PyTorch: the names that they use most, over Facula.
// torch::Tensor is a tensor with the operators as methods; torch/operators.h, which the build
// writes from the headers of the operators, holds these and the functions of the namespace.
// torch/extension.h is this file.
#pragma once
#include "facula/autograd/engine.h"
#include "facula/autograd/meta.h"
#include "facula/extension.h"
#include "facula/ops/functions.h"
#include "torch/operators.h"

#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME FACULA_EXTENSION_NAME
#endif

namespace at {
using namespace torch;
}
namespace c10 {
using namespace facula;
template <class T>
using ArrayRef = std::vector<T>;
template <class T>
using optional = std::optional<T>;
inline constexpr auto nullopt = std::nullopt;
}  // namespace c10

namespace pybind11 {
using module_ = facula::extension::Module;
using module = facula::extension::Module;
using arg = facula::extension::Argument;
namespace literals {
inline arg operator""_a(const char* name, size_t) { return arg(name); }
}  // namespace literals
}  // namespace pybind11
namespace py = pybind11;

#define PYBIND11_MODULE(name, variable) FACULA_EXTENSION_NAMED(name, variable)

#define TORCH_CHECK(condition, ...)                                                    \
  do {                                                                                 \
    if (!(condition))                                                                  \
      ::facula::raise_error(::facula::ErrorKind::kRuntime __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)
#define TORCH_CHECK_VALUE(condition, ...)                                            \
  do {                                                                               \
    if (!(condition))                                                                \
      ::facula::raise_error(::facula::ErrorKind::kValue __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)
#define TORCH_INTERNAL_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ERROR(...) ::facula::raise_error(::facula::ErrorKind::kRuntime, __VA_ARGS__)

#define FACULA_DISPATCH_CASE(dtype, type, ...) \
  case dtype: {                                \
    using scalar_t [[maybe_unused]] = type;    \
    return __VA_ARGS__();                      \
  }
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...)                                         \
  [&] {                                                                                     \
    switch (TYPE) {                                                                         \
      FACULA_DISPATCH_CASE(::facula::kFloat32, float, __VA_ARGS__)                          \
      FACULA_DISPATCH_CASE(::facula::kFloat64, double, __VA_ARGS__)                         \
      default:                                                                              \
        ::facula::raise_error(::facula::ErrorKind::kNotImplemented, "\"", NAME,             \
                              "\" not implemented for '", ::facula::dtype_name(TYPE), "'"); \
    }                                                                                       \
  }()
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...)                                              \
  [&] {                                                                                     \
    switch (TYPE) {                                                                         \
      FACULA_DISPATCH_CASE(::facula::kFloat32, float, __VA_ARGS__)                          \
      FACULA_DISPATCH_CASE(::facula::kFloat64, double, __VA_ARGS__)                         \
      FACULA_DISPATCH_CASE(::facula::kUInt8, uint8_t, __VA_ARGS__)                          \
      FACULA_DISPATCH_CASE(::facula::kInt8, int8_t, __VA_ARGS__)                            \
      FACULA_DISPATCH_CASE(::facula::kInt16, int16_t, __VA_ARGS__)                          \
      FACULA_DISPATCH_CASE(::facula::kInt32, int32_t, __VA_ARGS__)                          \
      FACULA_DISPATCH_CASE(::facula::kInt64, int64_t, __VA_ARGS__)                          \
      default:                                                                              \
        ::facula::raise_error(::facula::ErrorKind::kNotImplemented, "\"", NAME,             \
                              "\" not implemented for '", ::facula::dtype_name(TYPE), "'"); \
    }                                                                                       \
  }()
