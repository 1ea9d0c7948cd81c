// loop: the inner loops of generated pointwise kernels, over dense operands.
#pragma once
#include <type_traits>
#include <utility>

#include "facula/kernels/cpu/dispatch.h"
#include "facula/kernels/cpu/math.h"
#include "facula/kernels/cpu/math_extra.h"
#include "facula/kernels/pointwise.h"

namespace facula::kernels::FACULA_ISA {

// loop<O, I...> stores f(inputs...) for n elements. Outputs may alias an input exactly.
template <class O, class... I, class F, size_t... K>
FACULA_INLINE void loop_over(char* const* p, int64_t n, F f, std::index_sequence<K...>) {
  O* o = reinterpret_cast<O*>(p[0]);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) o[i] = f(reinterpret_cast<const Stored<I>*>(p[K + 1])[i]...);
}
template <class O, class... I, class F>
FACULA_INLINE void loop(char* const* p, int64_t n, F f) {
  loop_over<O, I...>(p, n, f, std::index_sequence_for<I...>());
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
