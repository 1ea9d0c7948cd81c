// 16-bit floating types, Half (IEEE binary16) and BFloat16 (the upper half of a float): storage and
// conversion only. Arithmetic is done in float; a Half or BFloat16 converts to it implicitly.
// Conversions from float round to nearest even; NaN stays NaN.
#pragma once

#include <bit>
#include <cstdint>

#include "facula/base/export.h"

namespace facula {

namespace half {

// The value of the binary16 number `bits`, exactly.
constexpr FACULA_INLINE float to_float_portable(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fu;
  uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) {
    uint32_t quiet = mantissa ? 0x00400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | (mantissa << 13));
  }
  if (exponent == 0) {
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

// The binary16 number nearest to `value`, ties to even; overflow gives infinity.
constexpr FACULA_INLINE uint16_t from_float_portable(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x47800000u) return sign | 0x7c00u;
  if (magnitude < 0x38800000u) {
    // Subnormal: adding one half puts the rounding position at the float's last bit.
    float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

#ifdef __F16C__
// The same by instruction. The builtins stand here because <immintrin.h> is slow to read.
using Halves = short __attribute__((vector_size(16)));
using Floats = float __attribute__((vector_size(16)));

FACULA_INLINE float to_float_f16c(uint16_t bits) {
  return __builtin_ia32_vcvtph2ps(Halves{static_cast<short>(bits)})[0];
}
FACULA_INLINE uint16_t from_float_f16c(float value) {
  return static_cast<uint16_t>(__builtin_ia32_vcvtps2ph(Floats{value}, 0)[0]);
}
#endif

}  // namespace half

// IEEE binary16: 1 sign, 5 exponent and 10 mantissa bits.
struct Half {
  uint16_t bits;

  Half() = default;
  FACULA_INLINE constexpr Half(float value) : bits(encode(value)) {}
  FACULA_INLINE constexpr operator float() const { return decode(bits); }

  // The Half with this representation.
  static FACULA_INLINE constexpr Half from_bits(uint16_t bits) { return std::bit_cast<Half>(bits); }

 private:
  static FACULA_INLINE constexpr uint16_t encode(float value) {
#ifdef __F16C__
    if (!__builtin_is_constant_evaluated()) return half::from_float_f16c(value);
#endif
    return half::from_float_portable(value);
  }
  static FACULA_INLINE constexpr float decode(uint16_t bits) {
#ifdef __F16C__
    if (!__builtin_is_constant_evaluated()) return half::to_float_f16c(bits);
#endif
    return half::to_float_portable(bits);
  }
};

// The upper 16 bits of a float: 1 sign, 8 exponent and 7 mantissa bits.
struct BFloat16 {
  uint16_t bits;

  BFloat16() = default;
  FACULA_INLINE constexpr BFloat16(float value) : bits(encode(value)) {}
  FACULA_INLINE constexpr operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }

  // The BFloat16 with this representation.
  static FACULA_INLINE constexpr BFloat16 from_bits(uint16_t bits) {
    return std::bit_cast<BFloat16>(bits);
  }

 private:
  static FACULA_INLINE constexpr uint16_t encode(float value) {
    uint32_t word = std::bit_cast<uint32_t>(value);
    if ((word & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((word >> 16) | 0x40u);
    return static_cast<uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
};

static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2);

}  // namespace facula
