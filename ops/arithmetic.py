"""Arithmetic on elements: sums, products, quotients, powers and their scalar forms."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

pointwise("add(Tensor|Scalar self, Tensor|Scalar other, *, Scalar alpha=1)", "self + alpha * other",
          d={"self": "1", "other": "alpha"}, linear=True, method=True,
          doc="Adds `alpha * other` to `self`, element by element with broadcasting.")
pointwise("sub(Tensor|Scalar self, Tensor|Scalar other, *, Scalar alpha=1)", "self - alpha * other", types="number",
          d={"self": "1", "other": "-alpha"}, linear=True, names="sub subtract", method=True,
          doc="Subtracts `alpha * other` from `self`, element by element with broadcasting.")
pointwise("mul(Tensor|Scalar self, Tensor|Scalar other)", "self * other", d={"self": "other", "other": "self"},
          names="mul multiply", method=True, doc="Multiplies element by element with broadcasting.")
pointwise("neg(Tensor self)", "-self", types="number", d={"self": "-1"}, names="neg negative", doc="`-self`.")
pointwise("sigmoid(Tensor self)", "m_sigmoid(self)", result="float", d={"self": "result * (1 - result)"},
          names="sigmoid special.expit", doc="`1 / (1 + exp(-self))`.")
pointwise("silu(Tensor self)", "self * sigmoid(self)", types="inexact",
          d={"self": "sigmoid(self) * (1 + self * (1 - sigmoid(self)))"}, names="nn.functional.silu",
          doc="`x * sigmoid(x)`, element by element.")
