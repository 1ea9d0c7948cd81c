// Conversion between element types. Real types convert directly; the 16-bit ones go through float;
// complex ones are moved as their parts. Signed and unsigned integers of one size share code.
#include "facula/kernels/cpu/convert.h"

namespace facula::kernels::FACULA_ISA {

template <class To, class From>
FACULA_INLINE To convert_one(From x) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    constexpr int kBits = sizeof(To) * 8 - (std::is_signed_v<To> ? 1 : 0);
    constexpr From kHigh = static_cast<From>(uint64_t{1} << (kBits - 1)) * From(2);
    constexpr From kLow = std::is_signed_v<To> ? -kHigh : From(0);
    constexpr To kMin =
        std::is_signed_v<To> ? static_cast<To>(uint64_t{1} << (sizeof(To) * 8 - 1)) : To(0);
    constexpr To kMax = static_cast<To>(~static_cast<std::make_unsigned_t<To>>(kMin));
    From in = (x > kLow) & (x < kHigh) ? x : From(0);
    To r = static_cast<To>(in);
    r = x >= kHigh ? kMax : r;
    return x <= kLow ? kMin : r;
  } else if constexpr (std::is_same_v<From, Truth>) {
    return x ? To(1) : To(0);  // a cast of bool to float would not be done in vectors
  } else {
    return static_cast<To>(x);
  }
}

template <class To, class From>
static void convert_loop(void* to, const void* from, int64_t n) {
  To* t = static_cast<To*>(to);
  const From* f = static_cast<const From*>(from);
  for (int64_t i = 0; i < n; ++i) t[i] = convert_one<To>(f[i]);
}

template <class From>
static void convert_to_bool(void* to, const void* from, int64_t n) {
  uint8_t* t = static_cast<uint8_t*>(to);
  const From* f = static_cast<const From*>(from);
  for (int64_t i = 0; i < n; ++i) t[i] = f[i] != From(0);
}

using ConvertFn = void (*)(void* to, const void* from, int64_t n);

// int_target: integers to integers and floats; only the target's size matters among integers.
template <class From>
static ConvertFn int_target(DType to) {
  switch (to) {
    case kBool: return convert_to_bool<From>;
    case kUInt8:
    case kInt8: return convert_loop<int8_t, From>;
    case kInt16:
    case kUInt16: return convert_loop<int16_t, From>;
    case kInt32:
    case kUInt32: return convert_loop<int32_t, From>;
    case kInt64:
    case kUInt64: return convert_loop<int64_t, From>;
    case kFloat32: return convert_loop<float, From>;
    default: return convert_loop<double, From>;
  }
}

template <class From>
static ConvertFn float_target(DType to) {
  switch (to) {
    case kBool: return convert_to_bool<From>;
    case kUInt8: return convert_loop<uint8_t, From>;
    case kInt8: return convert_loop<int8_t, From>;
    case kInt16: return convert_loop<int16_t, From>;
    case kInt32: return convert_loop<int32_t, From>;
    case kInt64: return convert_loop<int64_t, From>;
    case kUInt16: return convert_loop<uint16_t, From>;
    case kUInt32: return convert_loop<uint32_t, From>;
    case kUInt64: return convert_loop<uint64_t, From>;
    case kFloat16: return convert_loop<Half, From>;
    case kBFloat16: return convert_loop<BFloat16, From>;
    case kFloat32: return convert_loop<float, From>;
    default: return convert_loop<double, From>;
  }
}

// direct gives the loop between two real types, or null where it goes through float.
static ConvertFn direct(DType to, DType from) {
  if (is_reduced(to) && from != kFloat32) return nullptr;
  switch (from) {
    case kBool: return int_target<Truth>(to);
    case kUInt8: return int_target<uint8_t>(to);
    case kInt8: return int_target<int8_t>(to);
    case kInt16: return int_target<int16_t>(to);
    case kInt32: return int_target<int32_t>(to);
    case kInt64: return int_target<int64_t>(to);
    case kUInt16: return int_target<uint16_t>(to);
    case kUInt32: return int_target<uint32_t>(to);
    case kUInt64: return int_target<uint64_t>(to);
    case kFloat16: return to == kFloat32 ? convert_loop<float, Half> : nullptr;
    case kBFloat16: return to == kFloat32 ? convert_loop<float, BFloat16> : nullptr;
    case kFloat32: return float_target<float>(to);
    default: return float_target<double>(to);
  }
}

// convert_complex: one side or both are complex.
static void convert_complex(char* to, DType to_type, const char* from, DType from_type, int64_t n) {
  if (is_complex(to_type) && is_complex(from_type)) {
    return convert_dense(to, real_type(to_type), from, real_type(from_type), 2 * n);
  }
  if (is_complex(to_type)) {  // the imaginary part is 0
    __builtin_memset(to, 0, static_cast<size_t>(n * item_size(to_type)));
    return convert_strided(to, real_type(to_type), item_size(to_type), from, from_type,
                           item_size(from_type), n);
  }
  if (to_type == kBool) {
    visit_complex(from_type, [&](auto tag) {
      using T = typename decltype(tag)::type;
      const T* f = reinterpret_cast<const T*>(from);
      for (int64_t i = 0; i < n; ++i) to[i] = (f[i].re != 0) | (f[i].im != 0);
    });
    return;
  }
  convert_strided(to, to_type, item_size(to_type), from, real_type(from_type), item_size(from_type),
                  n);
}

void convert_dense(void* to, DType to_type, const void* from, DType from_type, int64_t n) {
  if (to_type == from_type) {
    if (n) __builtin_memmove(to, from, static_cast<size_t>(n * item_size(to_type)));
    return;
  }
  char* t = static_cast<char*>(to);
  const char* f = static_cast<const char*>(from);
  if (is_complex(to_type) || is_complex(from_type)) {
    return convert_complex(t, to_type, f, from_type, n);
  }
  if (ConvertFn fn = direct(to_type, from_type)) return fn(to, from, n);
  ConvertFn first = direct(kFloat32, from_type), second = direct(to_type, kFloat32);
  alignas(64) float buffer[kConvertBlock];
  int64_t ts = item_size(to_type), fs = item_size(from_type);
  for (int64_t at = 0; at < n; at += kConvertBlock) {
    int64_t m = min_of(kConvertBlock, n - at);
    first(buffer, f + at * fs, m);
    second(t + at * ts, buffer, m);
  }
}

void convert_strided(void* to, DType to_type, int64_t to_stride, const void* from, DType from_type,
                     int64_t from_stride, int64_t n) {
  int64_t ts = item_size(to_type), fs = item_size(from_type);
  if (to_type == from_type) return move_strided(to, to_stride, from, from_stride, ts, n);
  bool dense_to = to_stride == ts, dense_from = from_stride == fs;
  if (dense_to && dense_from) return convert_dense(to, to_type, from, from_type, n);
  alignas(64) char gathered[kConvertBlock * 16], converted[kConvertBlock * 16];
  char* t = static_cast<char*>(to);
  const char* f = static_cast<const char*>(from);
  for (int64_t at = 0; at < n; at += kConvertBlock) {
    int64_t m = min_of(kConvertBlock, n - at);
    const char* source = f + at * from_stride;
    if (!dense_from) {
      move_strided(gathered, fs, source, from_stride, fs, m);
      source = gathered;
    }
    char* target = dense_to ? t + at * ts : converted;
    convert_dense(target, to_type, source, from_type, m);
    if (!dense_to) move_strided(t + at * to_stride, to_stride, converted, ts, ts, m);
  }
}

}  // namespace facula::kernels::FACULA_ISA
