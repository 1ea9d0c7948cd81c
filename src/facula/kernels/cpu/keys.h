// Keys: real numbers as signed integers in the same order, so that comparing kernels (maximum,
// sort, searches) exist for two types only. NaN is the largest key. -0.0 lies below 0.0 unless the
// caller asks for equal zeros.
#pragma once
#include "facula/kernels/cpu/convert.h"

namespace facula::kernels::FACULA_ISA {

// wide_keys says whether a type needs 64-bit keys.
constexpr FACULA_INLINE bool wide_keys(DType t) {
  return t == kInt64 || t == kUInt64 || t == kUInt32 || t == kFloat64;
}

// KeyOrder says how keys are made.
struct KeyOrder {
  bool reverse = false;      // the order of keys is the reverse of the numbers'; NaN stays largest
  bool equal_zeros = false;  // -0.0 and 0.0 get one key
};

FACULA_INLINE int32_t fold_bits(int32_t b) { return b ^ ((b >> 31) & 0x7fffffff); }
FACULA_INLINE int64_t fold_bits(int64_t b) { return b ^ ((b >> 63) & 0x7fffffffffffffff); }

template <class K>
inline constexpr K kTopKey =
    static_cast<K>(~(static_cast<std::make_unsigned_t<K>>(1) << (sizeof(K) * 8 - 1)));

// key_of makes one key; K is int32_t or int64_t as wide_keys says.
template <class K, class T>
FACULA_INLINE K key_of(T x, KeyOrder order) {
  if constexpr (is_half_type<T>) {
    return key_of<K>(static_cast<float>(x), order);
  } else if constexpr (std::is_floating_point_v<T>) {
    T y = order.equal_zeros ? x + T(0) : x;
    K k =
        static_cast<K>(fold_bits(bits_as<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>(y)));
    k = order.reverse ? ~k : k;
    return x != x ? kTopKey<K> : k;
  } else {
    K k = static_cast<K>(x);
    if constexpr (std::is_same_v<T, uint64_t>) k = static_cast<K>(x ^ (uint64_t{1} << 63));
    return order.reverse ? ~k : k;
  }
}

// number_of turns a key back; zeros that were made equal come back positive.
template <class T, class K>
FACULA_INLINE T number_of(K k, bool reverse) {
  if constexpr (is_float_type<T>) {
    using B = std::conditional_t<sizeof(Compute<T>) == 4, int32_t, int64_t>;
    if (k == kTopKey<K>) return T(static_cast<Compute<T>>(kTopKey<K> == k ? __builtin_nan("") : 0));
    B b = static_cast<B>(reverse ? ~k : k);
    return T(bits_as<Compute<T>>(fold_bits(b)));
  } else {
    K v = reverse ? ~k : k;
    if constexpr (std::is_same_v<T, uint64_t>) return static_cast<T>(v) ^ (uint64_t{1} << 63);
    return static_cast<T>(v);
  }
}

// load_keys makes n keys from elements `stride` bytes apart; K as wide_keys(type) says.
void load_keys(int32_t* to, const char* from, DType type, int64_t stride, int64_t n,
               KeyOrder order);
void load_keys(int64_t* to, const char* from, DType type, int64_t stride, int64_t n,
               KeyOrder order);
// store_keys writes numbers `stride` bytes apart.
void store_keys(char* to, DType type, int64_t stride, const int32_t* from, int64_t n, bool reverse);
void store_keys(char* to, DType type, int64_t stride, const int64_t* from, int64_t n, bool reverse);

// visit_key_types calls f with the Tag of a type whose keys are K.
template <class K, class F>
FACULA_INLINE void visit_key_types(DType t, F&& f) {
  if constexpr (sizeof(K) == 8) {
    switch (t) {
      case kInt64: return f(Tag<int64_t>{});
      case kUInt64: return f(Tag<uint64_t>{});
      case kUInt32: return f(Tag<uint32_t>{});
      default: return f(Tag<double>{});
    }
  } else {
    switch (t) {
      case kBool: return f(Tag<Truth>{});
      case kUInt8: return f(Tag<uint8_t>{});
      case kInt8: return f(Tag<int8_t>{});
      case kInt16: return f(Tag<int16_t>{});
      case kUInt16: return f(Tag<uint16_t>{});
      case kInt32: return f(Tag<int32_t>{});
      case kFloat16: return f(Tag<Half>{});
      case kBFloat16: return f(Tag<BFloat16>{});
      default: return f(Tag<float>{});
    }
  }
}

}  // namespace facula::kernels::FACULA_ISA
