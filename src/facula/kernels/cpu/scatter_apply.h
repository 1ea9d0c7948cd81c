// How a scattered write combines with the old value: Assign and Add are inlined into the loops, the
// rarer ones are called through a pointer, which keeps the number of loops small.
#pragma once
#include "facula/kernels/cpu/index_walk.h"
#include "facula/kernels/cpu/math_number.h"
#include "facula/kernels/scatter.h"

namespace facula::kernels::FACULA_ISA {

FACULA_INLINE int64_t position_at(const char* p) { return *reinterpret_cast<const int64_t*>(p); }

template <Combine kHow, class T>
FACULA_INLINE T combined(T a, T b) {
  if constexpr (kHow == Combine::kAssign) {
    return b;
  } else if constexpr (std::is_same_v<T, bool>) {
    return kHow == Combine::kAdd || kHow == Combine::kMax ? a | b : a & b;
  } else if constexpr (is_half_type<T>) {
    return T(combined<kHow>(static_cast<float>(a), static_cast<float>(b)));
  } else if constexpr (kHow == Combine::kAdd) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    } else {
      return a + b;
    }
  } else if constexpr (kHow == Combine::kProd) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    } else {
      return a * b;
    }
  } else if constexpr (is_complex_type<T>) {
    return b;  // complex numbers have no order; the operator layer refuses
  } else {
    return kHow == Combine::kMin ? m_minimum(a, b) : m_maximum(a, b);
  }
}

// The element type and the write of one element.
template <class E, Combine kHow>
struct Inlined {
  using T = E;
  FACULA_INLINE void operator()(char* to, const char* from) const {
    Stored<T>* t = reinterpret_cast<Stored<T>*>(to);
    *t = combined<kHow, T>(*t, *reinterpret_cast<const Stored<T>*>(from));
  }
};
struct Called {
  using T = uint8_t;  // unused: no operand is known to be dense
  void (*write)(char* to, const char* from);
  FACULA_INLINE void operator()(char* to, const char* from) const { write(to, from); }
};

template <class E, Combine kHow>
static void write_one(char* to, const char* from) {
  Inlined<E, kHow>()(to, from);
}

// called_write finds the function of a rare way to combine.
static inline Called called_write(DType t, Combine how) {
  Called c{nullptr};
  if (how == Combine::kProd) {
    visit_all(t,
              [&](auto tag) { c.write = write_one<typename decltype(tag)::type, Combine::kProd>; });
    return c;
  }
  visit_real(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    c.write = how == Combine::kMin ? write_one<T, Combine::kMin> : write_one<T, Combine::kMax>;
  });
  return c;
}

// visit_add calls f with the write that adds; integers of one size share it.
template <class F>
FACULA_INLINE void visit_add(DType t, F&& f) {
  constexpr Combine kAdd = Combine::kAdd;
  if (t == kBool) return f(Inlined<bool, kAdd>());
  if (is_integral(t)) {
    switch (item_size(t)) {
      case 1: return f(Inlined<uint8_t, kAdd>());
      case 2: return f(Inlined<uint16_t, kAdd>());
      case 4: return f(Inlined<uint32_t, kAdd>());
      default: return f(Inlined<uint64_t, kAdd>());
    }
  }
  visit_inexact(t, [&](auto tag) { f(Inlined<typename decltype(tag)::type, kAdd>()); });
}

// visit_write calls f with the write of one element; assignments move elements by size.
template <class F>
FACULA_INLINE void visit_write(DType t, Combine how, F&& f) {
  if (how == Combine::kAssign) {
    return visit_size(item_size(t), [&](auto tag) {
      f(Inlined<typename decltype(tag)::type, Combine::kAssign>());
    });
  }
  if (how == Combine::kAdd) return visit_add(t, f);
  f(called_write(t, how));
}

// scalar_item stores a number as an element.
static inline void scalar_item(char* item, DType t, const Scalar& value) {
  visit_all(t, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T v = scalar_as<T>(value);
    __builtin_memcpy(item, &v, sizeof(T));
  });
}

// Functions of the family that stand in scatter_put.cpp and scatter_index.cpp.
void scatter_index_combine(const View& self, int64_t dim, const View& index, const View& src,
                           const Scalar& alpha, Combine how, Fault* fault);
void scatter_index_fill(const View& self, int64_t dim, const View& index, const Scalar& value,
                        Fault* fault);
void scatter_index_put(const View& self, const View* indices, int count, const View& values,
                       bool accumulate, Fault* fault);
void scatter_put(const View& self, const View& index, const View& src, bool accumulate,
                 Fault* fault);
void scatter_masked(const View& self, const View& mask, const View& source, Fault* fault);
void scatter_embedding_backward(const View& grad_weight, const View& grad, const View& index,
                                int64_t padding, const View& counts);

}  // namespace facula::kernels::FACULA_ISA
