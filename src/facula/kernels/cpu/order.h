// order_line: the stable order of keys with their positions; merge sort for short lines, radix sort
// for long ones.
#pragma once
#include "facula/kernels/cpu/keys.h"

namespace facula::kernels::FACULA_ISA {

// A key and where it stood.
template <class K>
struct Entry {
  K key;
  int32_t low, high;  // position, in two halves so that 32-bit keys make entries of 12 bytes
  FACULA_INLINE int64_t at() const {
    return static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 |
                                static_cast<uint32_t>(low));
  }
  static FACULA_INLINE Entry make(K k, int64_t position) {
    return {k, static_cast<int32_t>(position), static_cast<int32_t>(position >> 32)};
  }
};

inline constexpr int64_t kRadixLength = 128;  // lines at least this long are sorted by digits

// insertion_sort orders a short stretch.
template <class E>
FACULA_INLINE void insertion_sort(E* e, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    E x = e[i];
    int64_t j = i;
    for (; j > 0 && x.key < e[j - 1].key; --j) e[j] = e[j - 1];
    e[j] = x;
  }
}

// merge_sort orders e[0..n); scratch holds n entries. Returns where the result is.
template <class E>
static E* merge_sort(E* e, E* scratch, int64_t n) {
  constexpr int64_t kRun = 16;
  for (int64_t i = 0; i < n; i += kRun) insertion_sort(e + i, min_of(kRun, n - i));
  for (int64_t width = kRun; width < n; width *= 2) {
    for (int64_t i = 0; i < n; i += 2 * width) {
      int64_t middle = min_of(i + width, n), end = min_of(i + 2 * width, n);
      int64_t a = i, b = middle;
      for (int64_t o = i; o < end; ++o) {
        bool right = b < end && (a >= middle || e[b].key < e[a].key);
        scratch[o] = right ? e[b++] : e[a++];
      }
    }
    E* t = e;
    e = scratch;
    scratch = t;
  }
  return e;
}

// radix_sort orders by digits of 8 bits from the lowest; digits that all keys share are skipped.
template <class E>
static E* radix_sort(E* e, E* scratch, int64_t n) {
  using U = std::make_unsigned_t<decltype(E::key)>;
  constexpr int kDigits = sizeof(U);
  constexpr U kSign = U(1) << (sizeof(U) * 8 - 1);
  int64_t count[kDigits][256] = {};
  for (int64_t i = 0; i < n; ++i) {
    U k = static_cast<U>(e[i].key) ^ kSign;
    for (int d = 0; d < kDigits; ++d) ++count[d][k >> (8 * d) & 255];
  }
  for (int d = 0; d < kDigits; ++d) {
    U first = (static_cast<U>(e[0].key) ^ kSign) >> (8 * d) & 255;
    if (count[d][first] == n) continue;
    int64_t start[256], sum = 0;
    for (int b = 0; b < 256; ++b) {
      start[b] = sum;
      sum += count[d][b];
    }
    for (int64_t i = 0; i < n; ++i) {
      U k = static_cast<U>(e[i].key) ^ kSign;
      scratch[start[k >> (8 * d) & 255]++] = e[i];
    }
    E* t = e;
    e = scratch;
    scratch = t;
  }
  return e;
}

// order_line gives the entries of n keys in order; e and scratch hold n entries each.
template <class E>
static E* order_line(E* e, E* scratch, int64_t n) {
  return n >= kRadixLength ? radix_sort(e, scratch, n) : merge_sort(e, scratch, n);
}

// smallest_entries leaves the first `count` entries of the stable order at e[0..count), by a heap
// with the largest on top.
template <class E>
static void smallest_entries(E* e, int64_t n, int64_t count) {
  auto after = [](const E& a, const E& b) {
    return a.key > b.key || (a.key == b.key && a.at() > b.at());
  };
  auto sink = [&](int64_t root, int64_t end) {
    E x = e[root];
    while (2 * root + 1 < end) {
      int64_t child = 2 * root + 1;
      if (child + 1 < end && after(e[child + 1], e[child])) ++child;
      if (!after(e[child], x)) break;
      e[root] = e[child];
      root = child;
    }
    e[root] = x;
  };
  for (int64_t i = count / 2 - 1; i >= 0; --i) sink(i, count);
  for (int64_t i = count; i < n; ++i) {
    if (e[i].key >= e[0].key) continue;  // later entries lose ties
    e[0] = e[i];
    sink(0, count);
  }
  for (int64_t end = count - 1; end > 0; --end) {
    E x = e[0];
    e[0] = e[end];
    e[end] = x;
    sink(0, end);
  }
}

}  // namespace facula::kernels::FACULA_ISA
