"""Arithmetic on elements: sums, products, quotients, remainders and powers."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

pointwise("add(Tensor|Scalar self, Tensor|Scalar other, *, Scalar alpha=1)", "self + m_scaled(other, alpha)",
          d={"self": "1", "other": "alpha"}, linear=True, method=True, check='check_alpha("add", self, other, alpha)',
          doc="Adds `alpha * other` to `self`, element by element with broadcasting.")
pointwise("sub(Tensor|Scalar self, Tensor|Scalar other, *, Scalar alpha=1)", "self - m_scaled(other, alpha)", types="number",
          d={"self": "1", "other": "-alpha"}, linear=True, names="sub subtract", method=True,
          check='check_alpha("sub", self, other, alpha), check_not_bool("sub", self, other)',
          doc="Subtracts `alpha * other` from `self`, element by element with broadcasting.")
composite("rsub(Tensor self, Tensor|Scalar other, *, Scalar alpha=1)", doc="`other - alpha * self`.", method=False, out=False)
pointwise("mul(Tensor|Scalar self, Tensor|Scalar other)", "self * other", d={"self": "other", "other": "self"},
          names="mul multiply", method=True, doc="Multiplies element by element with broadcasting.")
pointwise("div(Tensor|Scalar self, Tensor|Scalar other)", "self / other", result="float",
          grad={"self": "grad / conj_number(other)", "other": "-grad * conj_number((self / other) / other)"},
          names="div divide true_divide", method=True, doc="True division, element by element with broadcasting.")
composite("div_mode(Tensor|Scalar self, Tensor|Scalar other, *, str? rounding_mode)", overlap="whole", names="div divide", method=True,
          doc="Division, rounded as `rounding_mode` says: None, 'trunc' or 'floor'.")
composite("div_mode_(Tensor self, Tensor|Scalar other, *, str? rounding_mode)", names="Tensor.div_ Tensor.divide_", out=False,
          doc="In-place division with rounding.")
pointwise("div_trunc(Tensor|Scalar self, Tensor|Scalar other)", "m_div_trunc(self, other)", types="real_number",
          grad={"self": "zeros_like(grad)", "other": "zeros_like(grad)"}, names="", method=False,
          inplace=True, check='check_divisor("div", self, other)', doc="Division rounded towards zero.")
pointwise("floor_divide(Tensor|Scalar self, Tensor|Scalar other)", "m_floor_divide(self, other)", types="real_number",
          grad={"self": "zeros_like(grad)", "other": "zeros_like(grad)"}, method=True,
          check='check_divisor("floor_divide", self, other)', doc="Division rounded down.")
pointwise("remainder(Tensor|Scalar self, Tensor|Scalar other)", "m_remainder(self, other)", types="real_number",
          grad={"self": "grad", "other": "-grad * div_floor_value(self, other)"}, method=True,
          check='check_divisor("remainder", self, other)', doc="The remainder with the sign of `other`, as Python's `%`.")
composite("div_floor_value(Tensor|Scalar self, Tensor|Scalar other)", "floor_divide(self, other)", names="", doc="Quotient rounded down.")
pointwise("fmod(Tensor self, Tensor|Scalar other)", "m_fmod(self, other)", types="real_number",
          grad={"self": "grad", "other": "-grad * div_trunc(self, other)"},
          check='check_divisor("fmod", self, other)', doc="The remainder with the sign of `self`, as C's fmod.")
pointwise("pow(Tensor self, Tensor|Scalar exponent)", "m_pow(self, exponent)", types="number",
          grad={"self": "pow_backward_self(grad, self, exponent)", "exponent": "pow_backward_exponent(grad, self, exponent, result)"},
          check='check_integer_power(self, exponent)', cost=8, doc="`self` to the power of `exponent`.")
manual("pow_number(Scalar self, Tensor exponent)", overlap="whole", names="pow", method=False,
       grad={"exponent": "pow_backward_exponent(grad, self, exponent, result)"}, doc="A number to the powers of a tensor.")
composite("pow_backward_self(Tensor grad, Tensor self, Tensor|Scalar exponent)", names="", doc="grad * exponent * self**(exponent - 1).")
composite("pow_backward_exponent(Tensor grad, Tensor|Scalar self, Tensor exponent, Tensor result)", names="",
          doc="grad * result * log(self), 0 where self is 0 and the exponent is not negative.")
composite("float_power(Tensor|Scalar self, Tensor|Scalar exponent)", overlap="whole", out="exact", method=True, doc="pow in double precision.")
composite("float_power_(Tensor self, Tensor|Scalar exponent)", names="Tensor.float_power_", out=False, doc="In-place float_power.")

pointwise("neg(Tensor self)", "m_neg(self)", types="number", d={"self": "-1"}, names="neg negative", doc="`-self`.",
          check='check_not_bool("neg", self, self)')
composite("positive(Tensor self)", doc="`+self`; bool is refused.", out=False)
pointwise("abs(Tensor self)", "m_abs(self)", result="real", types="all", grad={"self": "grad * sgn(self)"},
          names="abs absolute", doc="The absolute value.")
pointwise("sign(Tensor self)", "m_sign(self)", types="real", grad={"self": "zeros_like(grad)"}, doc="-1, 0 or 1 by the sign.")
pointwise("sgn(Tensor self)", "m_sgn(self)", types="all", grad={"self": "sgn_backward(grad, self, result)"},
          doc="`self / abs(self)`, 0 at 0.")
composite("sgn_backward(Tensor grad, Tensor self, Tensor result)", names="", doc="Gradient of sgn.")
pointwise("reciprocal(Tensor self)", "m_reciprocal(self)", result="float", d={"self": "-result * result"}, doc="`1 / self`.")
pointwise("square_number(Tensor self)", "self * self", types="number", d={"self": "2 * self"}, names="", method=False, inplace=True,
          doc="`self * self` of numbers.")
composite("square(Tensor self)", overlap="whole", doc="`self * self`; bool counts as an integer.")
composite("square_(Tensor self)", names="square_", out=False, doc="In-place square.")
pointwise("maximum(Tensor self, Tensor other)", "m_maximum(self, other)", types="real",
          grad={"self": "max_share(grad, self, other)", "other": "max_share(grad, other, self)"},
          doc="The larger element; NaN if either is.")
pointwise("minimum(Tensor self, Tensor other)", "m_minimum(self, other)", types="real",
          grad={"self": "max_share(grad, other, self)", "other": "max_share(grad, self, other)"},
          doc="The smaller element; NaN if either is.")
composite("max_share(Tensor grad, Tensor a, Tensor b)", "where(a == b, grad / 2, where(a < b, 0, grad))", names="",
          doc="The part of a gradient that goes to a where the result is max(a, b).")
pointwise("fmax(Tensor self, Tensor other)", "m_fmax(self, other)", types="real",
          grad={"self": "where(isnan(other), grad, where(isnan(self), 0, max_share(grad, self, other)))",
                "other": "where(isnan(other), 0, max_share(grad, other, self))"},
          doc="The larger element, ignoring NaN.")
pointwise("fmin(Tensor self, Tensor other)", "m_fmin(self, other)", types="real",
          grad={"self": "where(isnan(other), grad, where(isnan(self), 0, max_share(grad, other, self)))",
                "other": "where(isnan(other), 0, max_share(grad, self, other))"},
          doc="The smaller element, ignoring NaN.")
pointwise("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1)", "self + value * tensor1 * tensor2", types="number",
          check='check_number({self, tensor1, tensor2}, value, true)',
          d={"self": "1", "tensor1": "tensor2 * value", "tensor2": "tensor1 * value"},
          doc="`self + value * tensor1 * tensor2`.")
pointwise("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1)", "self + value * (tensor1 / tensor2)", types="inexact",
          check='check_addcdiv(self, tensor1, tensor2), check_number({self, tensor1, tensor2}, value, true)',
          d={"self": "1", "tensor1": "reciprocal(tensor2) * value", "tensor2": "-tensor1 / (tensor2 * tensor2) * value"},
          doc="`self + value * tensor1 / tensor2`.")
pointwise("lerp(Tensor self, Tensor end, Tensor|Scalar weight)", "m_lerp(self, end, weight)", types="inexact",
          grad={"self": "grad * conj_number(1 - weight)", "end": "grad * conj_number(weight)",
                "weight": "grad * conj_number(end - self)"}, check='check_lerp(self, end, weight)',
          doc="`self + weight * (end - self)`.")
pointwise("where(Tensor condition, Tensor|Scalar self, Tensor|Scalar other)", "self if condition else other", types="all",
          bool_inputs="condition", grad={"self": "where(condition, grad, 0)", "other": "where(condition, 0, grad)"},
          names="where", method=False, inplace=False, check="check_condition(condition), check_choices(self, other)",
          doc="`self` where `condition` is true, else `other`.")
composite("where_method(Tensor self, Tensor condition, Tensor|Scalar other)", "where(condition, self, other)", names="Tensor.where",
          method=False, out=False, doc="`self` where `condition` is true, else `other`.")
composite("masked_fill(Tensor self, Tensor mask, Tensor|Scalar value)", out=False, doc="`value` where `mask` is true, else `self`.")
manual("masked_fill_(Tensor self, Tensor mask, Tensor|Scalar value)", names="", method=True,
       grad={"self": "where(mask, 0, grad)", "value": "sum(where(mask, grad, 0))"}, doc="Writes `value` where `mask` is true.")
