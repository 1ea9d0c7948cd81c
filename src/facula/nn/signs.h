// Signs between tensors and numbers: arithmetic, its in-place forms, comparisons, logic. Each is
// the operator of that name, element by element.
//
//   Tensor t = rand({3}), u = 1 - t;
//   t += u;
//   slice(t, 0, 0, 2) *= 0.5;
//   Tensor inside = (t > 0.25) & !(t == u);
#pragma once
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"

namespace facula {

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator+(const Tensor& a, const TensorOrScalar& b) { return add(a, b); }
inline Tensor operator+(const TensorOrScalar& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator-(const Tensor& a, const TensorOrScalar& b) { return sub(a, b); }
inline Tensor operator-(const TensorOrScalar& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator*(const Tensor& a, const TensorOrScalar& b) { return mul(a, b); }
inline Tensor operator*(const TensorOrScalar& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator/(const Tensor& a, const TensorOrScalar& b) { return div(a, b); }
inline Tensor operator/(const TensorOrScalar& a, const Tensor& b) { return div(a, b); }
inline Tensor operator%(const Tensor& a, const Tensor& b) { return remainder(a, b); }
inline Tensor operator%(const Tensor& a, const TensorOrScalar& b) { return remainder(a, b); }
inline Tensor operator%(const TensorOrScalar& a, const Tensor& b) { return remainder(a, b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }

// The in-place forms write into their left side, which may be a view: select(t, 0, 0) += 1. A name
// that they are applied to stays the same tensor, unlike after t = t + u.
inline Tensor& operator+=(Tensor& a, const TensorOrScalar& b) { return add_(a, b), a; }
inline Tensor& operator-=(Tensor& a, const TensorOrScalar& b) { return sub_(a, b), a; }
inline Tensor& operator*=(Tensor& a, const TensorOrScalar& b) { return mul_(a, b), a; }
inline Tensor& operator/=(Tensor& a, const TensorOrScalar& b) { return div_(a, b), a; }
inline Tensor& operator%=(Tensor& a, const TensorOrScalar& b) { return remainder_(a, b), a; }
inline Tensor& operator&=(Tensor& a, const TensorOrScalar& b) { return bitwise_and_(a, b), a; }
inline Tensor& operator|=(Tensor& a, const TensorOrScalar& b) { return bitwise_or_(a, b), a; }
inline Tensor& operator^=(Tensor& a, const TensorOrScalar& b) { return bitwise_xor_(a, b), a; }
// On what has no name, or may not be assigned to, they give a handle of the tensor.
inline Tensor operator+=(const Tensor& a, const TensorOrScalar& b) { return add_(a, b); }
inline Tensor operator-=(const Tensor& a, const TensorOrScalar& b) { return sub_(a, b); }
inline Tensor operator*=(const Tensor& a, const TensorOrScalar& b) { return mul_(a, b); }
inline Tensor operator/=(const Tensor& a, const TensorOrScalar& b) { return div_(a, b); }
inline Tensor operator%=(const Tensor& a, const TensorOrScalar& b) { return remainder_(a, b); }
inline Tensor operator&=(const Tensor& a, const TensorOrScalar& b) { return bitwise_and_(a, b); }
inline Tensor operator|=(const Tensor& a, const TensorOrScalar& b) { return bitwise_or_(a, b); }
inline Tensor operator^=(const Tensor& a, const TensorOrScalar& b) { return bitwise_xor_(a, b); }

// Comparisons give a bool tensor, of which all() or any() makes one answer; equal(a, b) asks
// whether two tensors are the same throughout, a.is_same(b) whether two handles are of one.
inline Tensor operator==(const Tensor& a, const Tensor& b) { return eq(a, b); }
inline Tensor operator==(const Tensor& a, const TensorOrScalar& b) { return eq(a, b); }
inline Tensor operator==(const TensorOrScalar& a, const Tensor& b) { return eq(b, a); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return ne(a, b); }
inline Tensor operator!=(const Tensor& a, const TensorOrScalar& b) { return ne(a, b); }
inline Tensor operator!=(const TensorOrScalar& a, const Tensor& b) { return ne(b, a); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return lt(a, b); }
inline Tensor operator<(const Tensor& a, const TensorOrScalar& b) { return lt(a, b); }
inline Tensor operator<(const TensorOrScalar& a, const Tensor& b) { return gt(b, a); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return le(a, b); }
inline Tensor operator<=(const Tensor& a, const TensorOrScalar& b) { return le(a, b); }
inline Tensor operator<=(const TensorOrScalar& a, const Tensor& b) { return ge(b, a); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return gt(a, b); }
inline Tensor operator>(const Tensor& a, const TensorOrScalar& b) { return gt(a, b); }
inline Tensor operator>(const TensorOrScalar& a, const Tensor& b) { return lt(b, a); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return ge(a, b); }
inline Tensor operator>=(const Tensor& a, const TensorOrScalar& b) { return ge(a, b); }
inline Tensor operator>=(const TensorOrScalar& a, const Tensor& b) { return le(b, a); }

// Logic: bit by bit for integers; && and || do not exist, because they would evaluate both sides.
inline Tensor operator&(const Tensor& a, const Tensor& b) { return bitwise_and(a, b); }
inline Tensor operator&(const Tensor& a, const TensorOrScalar& b) { return bitwise_and(a, b); }
inline Tensor operator&(const TensorOrScalar& a, const Tensor& b) { return bitwise_and(a, b); }
inline Tensor operator|(const Tensor& a, const Tensor& b) { return bitwise_or(a, b); }
inline Tensor operator|(const Tensor& a, const TensorOrScalar& b) { return bitwise_or(a, b); }
inline Tensor operator|(const TensorOrScalar& a, const Tensor& b) { return bitwise_or(a, b); }
inline Tensor operator^(const Tensor& a, const Tensor& b) { return bitwise_xor(a, b); }
inline Tensor operator^(const Tensor& a, const TensorOrScalar& b) { return bitwise_xor(a, b); }
inline Tensor operator^(const TensorOrScalar& a, const Tensor& b) { return bitwise_xor(a, b); }
inline Tensor operator~(const Tensor& a) { return bitwise_not(a); }
// !t says whether elements are zero.
inline Tensor operator!(const Tensor& a) { return logical_not(a); }

}  // namespace facula
