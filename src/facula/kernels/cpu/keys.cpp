// Loops that turn elements into ordered keys and back.
#include "facula/kernels/cpu/keys.h"

namespace facula::kernels::FACULA_ISA {

template <class K>
static void load_keys_of(K* to, const char* from, DType type, int64_t stride, int64_t n,
                         KeyOrder order) {
  visit_key_types<K>(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (stride == sizeof(T)) {
      const T* f = reinterpret_cast<const T*>(from);
      for (int64_t i = 0; i < n; ++i) to[i] = key_of<K>(f[i], order);
    } else {
      for (int64_t i = 0; i < n; ++i) {
        to[i] = key_of<K>(*reinterpret_cast<const T*>(from + i * stride), order);
      }
    }
  });
}

template <class K>
static void store_keys_of(char* to, DType type, int64_t stride, const K* from, int64_t n,
                          bool reverse) {
  visit_key_types<K>(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < n; ++i) {
      *reinterpret_cast<T*>(to + i * stride) = number_of<T>(from[i], reverse);
    }
  });
}

void load_keys(int32_t* to, const char* from, DType type, int64_t stride, int64_t n,
               KeyOrder order) {
  load_keys_of(to, from, type, stride, n, order);
}
void load_keys(int64_t* to, const char* from, DType type, int64_t stride, int64_t n,
               KeyOrder order) {
  load_keys_of(to, from, type, stride, n, order);
}
void store_keys(char* to, DType type, int64_t stride, const int32_t* from, int64_t n,
                bool reverse) {
  store_keys_of(to, type, stride, from, n, reverse);
}
void store_keys(char* to, DType type, int64_t stride, const int64_t* from, int64_t n,
                bool reverse) {
  store_keys_of(to, type, stride, from, n, reverse);
}

}  // namespace facula::kernels::FACULA_ISA
