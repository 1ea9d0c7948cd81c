"""Comparisons, logic and bits."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

for name, op, other, types, text in (
        ("eq", "==", "", "all", "equal"), ("ne", "!=", "not_equal", "all", "not equal"), ("lt", "<", "less", "real", "less"),
        ("le", "<=", "less_equal", "real", "less or equal"), ("gt", ">", "greater", "real", "greater"),
        ("ge", ">=", "greater_equal", "real", "greater or equal")):
    pointwise(f"{name}(Tensor self, Tensor|Scalar other)", f"self {op} other", result="bool", types=types,
              names=f"{name} {other}".strip(), method=True, inplace=True, doc=f"Whether elements are {text}.")
for name, op in (("and", "self and other"), ("or", "self or other"), ("xor", "(not self) != (not other)")):
    pointwise(f"logical_{name}(Tensor self, Tensor other)", op.replace("self and other", "m_truth(self) and m_truth(other)")
              .replace("self or other", "m_truth(self) or m_truth(other)")
              .replace("(not self) != (not other)", "m_truth(self) != m_truth(other)"),
              result="bool", types="all", inplace=True, doc=f"Logical {name} of truth values.")
pointwise("logical_not(Tensor self)", "not self", result="bool", types="all", inplace=True, doc="Whether elements are zero.")
for name, m in (("and", "m_and"), ("or", "m_or"), ("xor", "m_xor")):
    pointwise(f"bitwise_{name}(Tensor|Scalar self, Tensor|Scalar other)", f"{m}(self, other)", types="bitwise", method=True,
              doc=f"Bitwise {name}; logical for bool.")
pointwise("bitwise_not(Tensor self)", "m_not(self)", types="bitwise", doc="Bitwise complement; logical for bool.")
pointwise("bitwise_left_shift(Tensor|Scalar self, Tensor|Scalar other)", "m_shl(self, other)", types="integer", method=True,
          doc="Shifts bits to the left; 0 when shifted by the width or more.")
pointwise("bitwise_right_shift(Tensor|Scalar self, Tensor|Scalar other)", "m_shr(self, other)", types="integer", method=True,
          doc="Shifts bits to the right, keeping the sign.")
pointwise("isnan(Tensor self)", "m_isnan(self)", result="bool", types="all", method=True, out=False, doc="Whether elements are NaN.")
pointwise("isinf(Tensor self)", "m_isinf(self)", result="bool", types="all", method=True, out=False, doc="Whether elements are infinite.")
pointwise("isfinite(Tensor self)", "m_isfinite(self)", result="bool", types="all", method=True, out=False,
          doc="Whether elements are neither infinite nor NaN.")
pointwise("isposinf(Tensor self)", "m_isinf(self) and self > 0", out="exact", result="bool", types="real", method=True, doc="Whether elements are +inf.")
pointwise("isneginf(Tensor self)", "m_isinf(self) and self < 0", out="exact", result="bool", types="real", method=True, doc="Whether elements are -inf.")
pointwise("signbit(Tensor self)", "m_signbit(self)", out="exact", result="bool", types="real", method=True, doc="Whether the sign bit is set.")
composite("isreal(Tensor self)", doc="Whether the imaginary part is 0.", out=False)
composite("isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False)", out=False,
          doc="Whether `abs(self - other) <= atol + rtol * abs(other)`.")
composite("allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool", out=False,
          doc="Whether all elements are close.")
composite("equal(Tensor self, Tensor other) -> bool", doc="Whether shapes and all elements are equal.", out=False)
