// Element types: the enumeration, its properties, and the promotion rules between them.
// Loops over element types live in kernels/; the Python objects `facula.float32` ... in python/.
#pragma once
#include <cstddef>
#include <cstdint>

#include "facula/base/export.h"

namespace facula {

// DType names the element type of a tensor. The order is the order of promotion inside a category.
enum class DType : uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
};
inline constexpr int kNumDTypes = 15;

using enum DType;

static constexpr uint8_t kItemSizes[kNumDTypes] = {1, 1, 1, 2, 4, 8, 2, 4, 8, 2, 2, 4, 8, 8, 16};

// item_size gives the bytes of one element.
constexpr int64_t item_size(DType t) { return kItemSizes[static_cast<int>(t)]; }
constexpr bool is_floating(DType t) { return t >= kFloat16 && t <= kFloat64; }
constexpr bool is_complex(DType t) { return t >= kComplex64; }
constexpr bool is_integral(DType t) { return t >= kUInt8 && t <= kUInt64; }
constexpr bool is_inexact(DType t) { return t >= kFloat16; }
constexpr bool is_reduced(DType t) { return t == kFloat16 || t == kBFloat16; }
constexpr bool is_signed(DType t) { return (t >= kInt8 && t <= kInt64) || t >= kFloat16; }

// category ranks a type for promotion: 0 bool, 1 integer, 2 floating, 3 complex.
constexpr int category(DType t) {
  return t == kBool ? 0 : is_integral(t) ? 1 : is_floating(t) ? 2 : 3;
}

// real_type gives the type of the real part; complex_type the complex type with such parts.
constexpr DType real_type(DType t) {
  return t == kComplex64 ? kFloat32 : t == kComplex128 ? kFloat64 : t;
}
constexpr DType complex_type(DType t) {
  return t == kFloat64 || t == kComplex128 ? kComplex128 : kComplex64;
}

// epsilon_of gives the distance from 1 to the next number of a floating type or of a complex one's
// parts; that of float32 for types without one.
constexpr double epsilon_of(DType t) {
  return real_type(t) == kFloat64 ? 0x1p-52
         : t == kFloat16          ? 0x1p-10
         : t == kBFloat16         ? 0x1p-7
                                  : 0x1p-23;
}

// promote gives the type that holds both operands, by PyTorch's table; two unsigned types wider
// than 8 bits that differ, or one of them with a signed integer, have no common type and raise.
FACULA_API DType promote(DType a, DType b);

// dtype_name gives "float32"; dtype_title gives "Float", the spelling of error messages.
FACULA_API const char* dtype_name(DType t);
FACULA_API const char* dtype_title(DType t);

// can_cast says whether a result of type `from` may be stored in an `out=` tensor of type `to`:
// no complex to real, no floating to integer, nothing but bool to bool.
FACULA_API bool can_cast(DType from, DType to);

// The type of tensors made from Python floats; float32 unless changed.
FACULA_API DType default_dtype();
FACULA_API void set_default_dtype(DType t);

}  // namespace facula
