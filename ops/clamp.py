"""Clamps of floats by numbers. A number takes no gradient, and none passes where an element meets it."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

pointwise("clamp_min_number(Tensor self, Scalar min)", "m_maximum(self, min)", types="floating", names="", method=False, inplace=True,
          grad={"self": "where(self > min, grad, 0)"}, doc="At least `min`.")
pointwise("clamp_max_number(Tensor self, Scalar max)", "m_minimum(self, max)", types="floating", names="", method=False, inplace=True,
          grad={"self": "where(self < max, grad, 0)"}, doc="At most `max`.")
pointwise("clamp_numbers(Tensor self, Scalar min, Scalar max)", "m_minimum(m_maximum(self, min), max)", types="floating", names="",
          method=False, inplace=True, grad={"self": "where(logical_and(self > min, self < max), grad, 0)"},
          doc="Limits to two bounds.")
