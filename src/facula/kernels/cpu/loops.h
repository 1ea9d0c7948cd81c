// loop: the inner loops of generated pointwise kernels over one dimension, with the cases that the
// compiler can vectorise: all operands dense, or dense with one operand fixed.
#pragma once
#include <type_traits>
#include <utility>

#include "facula/kernels/cpu/dispatch.h"
#include "facula/kernels/cpu/math.h"
#include "facula/kernels/pointwise.h"

namespace facula::kernels::FACULA_ISA {

template <class O, class... I, class F, size_t... K>
[[gnu::always_inline]] inline void loop_with(char* const* p, const int64_t* s, int64_t n, F f,
                                             std::index_sequence<K...>) {
  bool dense = s[0] == sizeof(O) && ((s[K + 1] == static_cast<int64_t>(sizeof(I))) && ...);
  O* o = reinterpret_cast<O*>(p[0]);
  if (dense) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) o[i] = f(reinterpret_cast<const I*>(p[K + 1])[i]...);
    return;
  }
  if constexpr (sizeof...(I) == 2) {
    using A = std::tuple_element_t<0, std::pair<I...>>;
    using B = std::tuple_element_t<1, std::pair<I...>>;
    const A* a = reinterpret_cast<const A*>(p[1]);
    const B* b = reinterpret_cast<const B*>(p[2]);
    if (s[0] == sizeof(O) && s[1] == sizeof(A) && s[2] == 0) {
      const B y = *b;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) o[i] = f(a[i], y);
      return;
    }
    if (s[0] == sizeof(O) && s[1] == 0 && s[2] == sizeof(B)) {
      const A x = *a;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) o[i] = f(x, b[i]);
      return;
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<O*>(p[0] + i * s[0]) =
        f(*reinterpret_cast<const I*>(p[K + 1] + i * s[K + 1])...);
  }
}

// loop<O, I...> stores f(inputs...) for n elements. Outputs may alias an input exactly.
template <class O, class... I, class F>
[[gnu::always_inline]] inline void loop(char* const* p, const int64_t* s, int64_t n, F f) {
  loop_with<O, I...>(p, s, n, f, std::index_sequence_for<I...>());
}

// real_of<T> is the type of the real part of T.
template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<Complex<R>> {
  using type = R;
};
template <class T>
using real_of = typename RealOf<T>::type;

}  // namespace facula::kernels::FACULA_ISA
