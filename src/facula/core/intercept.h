// The question that every call of an operator asks: does an interpreter want it? One load, an OR
// for each tensor and one branch. The interpreters themselves are in interpreter.h.
#pragma once
#include <initializer_list>

#include "facula/core/tensor.h"
#include "facula/core/thread_state.h"

namespace facula {

// Intercept bits of tensors, and which stack they belong to.
enum InterceptBit : uint8_t {
  kInterceptDispatch = 1,  // of a class with a __torch_dispatch__, which takes the calls
  kInterceptBatched = 2,   // has a dimension that vmap hides
  kInterceptProxy = 4,     // stands for a value of a traced program
  kInterceptSparse = 8,    // of another layout than strided, without elements of its own
  kInterceptFake = 16,     // has no data
};
inline constexpr uint8_t kInterceptAbove = 0x0f, kInterceptBelow = 0xf0;

// intercept_mask is the OR of the intercept masks of operands.
inline uint8_t intercept_mask(const TensorImpl* t) { return t ? t->intercept : 0; }
inline uint8_t intercept_mask(const Tensor& t) { return intercept_mask(t.impl()); }
inline uint8_t intercept_mask(const TensorOrScalar& v) { return intercept_mask(v.tensor); }
inline uint8_t intercept_mask(TensorList list) {
  uint8_t mask = 0;
  for (const Tensor& t : list) mask |= intercept_mask(t);
  return mask;
}

// intercepted says whether a call with these operands might go to an interpreter of either side.
template <class... T>
inline bool intercepted(const T&... operands) {
  return (tls.above | tls.below | (0u | ... | intercept_mask(operands))) != 0;
}
// intercepted_above and intercepted_below ask about one side.
template <class... T>
inline bool intercepted_above(const T&... operands) {
  return (tls.above | ((0u | ... | intercept_mask(operands)) & kInterceptAbove)) != 0;
}
template <class... T>
inline bool intercepted_below(const T&... operands) {
  return (tls.below | ((0u | ... | intercept_mask(operands)) & kInterceptBelow)) != 0;
}
// watched says whether an interpreter wants to see the parts of a backward rule: one stands behind
// a tensor, or is on below autograd. The rule then runs as operators, not as one loop.
inline bool watched(std::initializer_list<TensorOrScalar> operands) {
  uint32_t mask = tls.below;
  for (const TensorOrScalar& v : operands) mask |= intercept_mask(v);
  return mask != 0;
}

}  // namespace facula
