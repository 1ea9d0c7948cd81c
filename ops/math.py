"""Functions of one element: exponentials, trigonometry, rounding, classification, special functions."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen


pointwise("exp(Tensor self)", "m_exp(self)", result="float", d={"self": "result"}, doc="e to the power of `self`.")
pointwise("exp2(Tensor self)", "m_exp2(self)", result="float", d={"self": "result * 0.6931471805599453"}, names="exp2 special.exp2",
          method=True, doc="2 to the power of `self`.")
pointwise("expm1(Tensor self)", "m_expm1(self)", result="float", d={"self": "result + 1"}, names="expm1 special.expm1", method=True,
          doc="`exp(self) - 1`, exact near 0.")
pointwise("log(Tensor self)", "m_log(self)", result="float", grad={"self": "grad / conj_number(self)"}, doc="The natural logarithm.")
pointwise("log2(Tensor self)", "m_log2(self)", result="float", grad={"self": "grad / conj_number(self * 0.6931471805599453)"},
          doc="The logarithm to base 2.")
pointwise("log10(Tensor self)", "m_log10(self)", result="float", grad={"self": "grad / conj_number(self * 2.302585092994046)"},
          doc="The logarithm to base 10.")
pointwise("log1p(Tensor self)", "m_log1p(self)", result="float", grad={"self": "grad / conj_number(self + 1)"},
          names="log1p special.log1p", method=True, doc="`log(1 + self)`, exact near 0.")
pointwise("sqrt(Tensor self)", "m_sqrt(self)", result="float", grad={"self": "grad / conj_number(result * 2)"}, doc="The square root.")
pointwise("rsqrt(Tensor self)", "m_rsqrt(self)", result="float", d={"self": "-0.5 * result * result * result"}, doc="`1 / sqrt(self)`.")
pointwise("sin(Tensor self)", "m_sin(self)", result="float", d={"self": "cos(self)"}, doc="The sine, radians.")
pointwise("cos(Tensor self)", "m_cos(self)", result="float", d={"self": "-sin(self)"}, doc="The cosine, radians.")
pointwise("tan(Tensor self)", "m_tan(self)", result="float", d={"self": "1 + result * result"}, doc="The tangent, radians.")
pointwise("asin(Tensor self)", "m_asin(self)", result="float", d={"self": "rsqrt(1 - self * self)"}, names="asin arcsin", method=True,
          doc="The angle whose sine is `self`.")
pointwise("acos(Tensor self)", "m_acos(self)", result="float", d={"self": "-rsqrt(1 - self * self)"}, names="acos arccos", method=True,
          doc="The angle whose cosine is `self`.")
pointwise("atan(Tensor self)", "m_atan(self)", result="float", d={"self": "reciprocal(self * self + 1)"}, names="atan arctan", method=True,
          doc="The angle whose tangent is `self`.")
pointwise("sinh(Tensor self)", "m_sinh(self)", result="float", d={"self": "cosh(self)"}, doc="The hyperbolic sine.")
pointwise("cosh(Tensor self)", "m_cosh(self)", result="float", d={"self": "sinh(self)"}, doc="The hyperbolic cosine.")
pointwise("tanh(Tensor self)", "m_tanh(self)", result="float", d={"self": "1 - result * result"}, names="tanh",
          method=True, doc="The hyperbolic tangent.")
pointwise("asinh(Tensor self)", "m_asinh(self)", result="float", d={"self": "rsqrt(self * self + 1)"}, names="asinh arcsinh", method=True,
          doc="The inverse hyperbolic sine.")
pointwise("acosh(Tensor self)", "m_acosh(self)", result="float", d={"self": "rsqrt(self - 1) * rsqrt(self + 1)"}, names="acosh arccosh",
          method=True, doc="The inverse hyperbolic cosine.")
pointwise("atanh(Tensor self)", "m_atanh(self)", result="float", d={"self": "reciprocal(1 - self * self)"}, names="atanh arctanh",
          method=True, doc="The inverse hyperbolic tangent.")
pointwise("atan2(Tensor self, Tensor other)", "m_atan2(self, other)", result="float", types="floating",
          grad={"self": "grad * atan2_scale(self, other) * other", "other": "grad * atan2_scale(self, other) * -self"},
          names="atan2 arctan2", method=True, doc="The angle of the point (other, self).")
composite("atan2_scale(Tensor self, Tensor other)", names="", doc="1 / (self^2 + other^2), 0 at the origin.")
pointwise("sigmoid(Tensor self)", "m_sigmoid(self)", result="float", d={"self": "result * (1 - result)"},
          names="sigmoid special.expit", method=True, doc="`1 / (1 + exp(-self))`.")
composite("logit(Tensor self, float? eps=None)", overlap="whole", names="logit special.logit", method=True, inplace=True, saves_self=True,
          doc="`log(self / (1 - self))`, clamped to [eps, 1 - eps].")
pointwise("logit_plain(Tensor self)", "m_log(self / (1 - self))", result="float", types="floating",
          grad={"self": "grad / (self * (1 - self))"}, names="", method=False, doc="log(x / (1 - x)).")
pointwise("erf(Tensor self)", "m_erf(self)", result="float", types="floating", d={"self": "1.1283791670955126 * exp(-(self * self))"},
          names="erf special.erf", method=True, doc="The error function.")
pointwise("erfc(Tensor self)", "m_erfc(self)", result="float", types="floating", d={"self": "-1.1283791670955126 * exp(-(self * self))"},
          names="erfc special.erfc", method=True, doc="`1 - erf(self)`, exact for large `self`.")
pointwise("erfinv(Tensor self)", "m_erfinv(self)", result="float", types="floating", d={"self": "0.8862269254527580 * exp(result * result)"},
          names="erfinv special.erfinv", method=True, doc="The inverse of erf.")
pointwise("lgamma(Tensor self)", "m_lgamma(self)", result="float", types="floating", d={"self": "digamma(self)"},
          names="lgamma special.gammaln", method=True, doc="The logarithm of the absolute value of the gamma function.")
pointwise("digamma(Tensor self)", "m_digamma(self)", result="float", types="floating",
          grad={"self": "grad * trigamma(self)"}, names="digamma special.digamma special.psi", method=True,
          doc="The derivative of lgamma.")
pointwise("trigamma(Tensor self)", "m_trigamma(self)", result="float", types="floating", names="", method=False,
          grad={"self": "grad * polygamma_value(2, self)"}, doc="The derivative of digamma.")
pointwise("polygamma_number(Tensor self, int n)", "m_polygamma(n, self)", result="float", types="floating", names="", method=False,
          grad={"self": "grad * polygamma_number(self, n + 1)"}, doc="The n-th derivative of digamma.")
composite("polygamma_value(int n, Tensor self)", "polygamma_number(self, n)", names="", method=False, doc="polygamma.")
pointwise("sinc(Tensor self)", "m_sinc(self)", result="float", grad={"self": "sinc_backward(grad, self)"}, names="sinc special.sinc",
          method=True, doc="`sin(pi self) / (pi self)`, 1 at 0.")
composite("sinc_backward(Tensor grad, Tensor self)", names="", doc="Gradient of sinc.")
pointwise("i0(Tensor self)", "m_i0(self)", result="float", types="floating", d={"self": "i1(self)"}, names="i0 special.i0", method=True,
          doc="The modified Bessel function of order 0.")
pointwise("i0e(Tensor self)", "m_i0e(self)", result="float", types="floating", d={"self": "i1e(self) - sign(self) * result"},
          names="special.i0e", doc="exp(-|x|) i0(x).")
pointwise("i1(Tensor self)", "m_i1(self)", result="float", types="floating", grad={"self": "i1_backward(grad, self, result)"},
          names="special.i1", doc="The modified Bessel function of order 1.")
composite("i1_backward(Tensor grad, Tensor self, Tensor result)", "grad * where(self == 0, 0.5, i0(self) - result / where(self == 0, 1, self))", names="",
          doc="Gradient of i1.")
pointwise("i1e(Tensor self)", "m_i1e(self)", result="float", types="floating", grad={"self": "i1e_backward(grad, self, result)"},
          names="special.i1e", doc="exp(-|x|) i1(x).")
composite("i1e_backward(Tensor grad, Tensor self, Tensor result)",
          "grad * where(self == 0, 0.5, i0e(self) - result * (sign(self) + reciprocal(where(self == 0, 1, self))))", names="", doc="Gradient of i1e.")

# ---- rounding
for name, text in (("floor", "The largest integer not above."), ("ceil", "The smallest integer not below."),
                   ("trunc", "The integer part.")):
    pointwise(f"{name}(Tensor self)", f"m_{name}(self)", types="real_number", grad={"self": "zeros_like(grad)"},
              names="trunc fix" if name == "trunc" else name, method=True, doc=text)
pointwise("round(Tensor self)", "m_round(self)", types="real_number", grad={"self": "zeros_like(grad)"}, names="round special.round",
          method=True, doc="The nearest integer, halves to even.")
composite("round_decimals(Tensor self, *, int decimals=0)", overlap="whole", names="round special.round", method=True, inplace=True, doc="Rounds to decimal places.")
pointwise("frac(Tensor self)", "m_frac(self)", types="floating", grad={"self": "grad"}, doc="`self - trunc(self)`.")

# ---- angles and complex numbers
pointwise("angle(Tensor self)", "m_angle(self)", result="real_float", types="inexact", method=True,
          grad={"self": "angle_backward(grad, self)"}, doc="The angle of a number in the complex plane.")
composite("angle_backward(Tensor grad, Tensor self)", names="", doc="Gradient of angle.")
pointwise("conj_physical(Tensor self)", "m_conj(self)", types="all", grad={"self": "conj(grad)"}, doc="The complex conjugate, as a copy.")
composite("conj(Tensor self)", names="conj", method=True, out=False, doc="The complex conjugate; real tensors are returned as they are.")
pointwise("deg2rad(Tensor self)", "self * 0.017453292519943295", result="float", types="floating", d={"self": "0.017453292519943295"},
          doc="Degrees to radians.")
pointwise("rad2deg(Tensor self)", "self * 57.29577951308232", result="float", types="floating", d={"self": "57.29577951308232"},
          doc="Radians to degrees.")

# ---- two operands
pointwise("hypot(Tensor self, Tensor other)", "m_hypot(self, other)", types="floating",
          grad={"self": "grad * (self / result)", "other": "grad * (other / result)"}, doc="`sqrt(self^2 + other^2)` without overflow.")
pointwise("copysign(Tensor self, Tensor|Scalar other)", "m_copysign(self, other)", result="float", types="floating",
          grad={"self": "grad * copysign_slope(self, result)", "other": "zeros_like(grad)"}, doc="`abs(self)` with the sign of `other`.")
composite("copysign_slope(Tensor self, Tensor result)", "where(self == 0, 0, result / self)", names="", doc="Slope of copysign.")
pointwise("nextafter_wide(Tensor self, Tensor other)", "m_nextafter(self, other)", types="floating", names="", method=False,
          grad={"self": "where(self == other, 0, grad)", "other": "zeros_like(grad)"}, doc="The next float or double towards `other`.")
composite("nextafter(Tensor self, Tensor other)", overlap="whole", inplace=True, saves_self=True, doc="The next number of the dtype towards `other`.")
pointwise("logaddexp(Tensor self, Tensor other)", "m_logaddexp(self, other) if self + other == self + other else m_maximum(self, other)", types="floating", names="", inplace=False,
          grad={"self": "grad * sigmoid_difference(self, other)", "other": "grad * sigmoid_difference(other, self)"},
          doc="`log(exp(self) + exp(other))` of real numbers.")
composite("logaddexp_any(Tensor self, Tensor other)", overlap="whole", names="logaddexp", method=True, doc="`log(exp(self) + exp(other))`.")
composite("sigmoid_difference(Tensor a, Tensor b)", "where(logical_and(isinf(a), a == b), 0.5, sigmoid(a - b))", names="",
          doc="sigmoid(a - b), one half for equal infinities.")
pointwise("logaddexp2(Tensor self, Tensor other)", "m_logaddexp2(self, other) if self + other == self + other else m_maximum(self, other)", types="floating",
          grad={"self": "grad * reciprocal(1 + exp2(other - self))", "other": "grad * reciprocal(1 + exp2(self - other))"},
          doc="`log2(2^self + 2^other)`.")
pointwise("xlogy(Tensor|Scalar self, Tensor|Scalar other)", "m_xlogy(self, other)", result="float", types="floating",
          grad={"self": "grad * masked_log(self, other)", "other": "grad * (self / other)"}, names="xlogy special.xlogy", method=True,
          doc="`self * log(other)`, 0 where `self` is 0.")
composite("masked_log(Tensor|Scalar self, Tensor|Scalar other)", names="", doc="log(other), 0 where self is 0 and other is at most 0.")
pointwise("xlog1py(Tensor|Scalar self, Tensor|Scalar other)", "m_xlog1py(self, other)", result="float", types="floating",
          grad={"self": "grad * masked_log1p(self, other)", "other": "grad * (self / add(other, 1))"}, names="special.xlog1py", method=False,
          doc="`self * log1p(other)`, 0 where `self` is 0.")
composite("masked_log1p(Tensor|Scalar self, Tensor|Scalar other)", names="", doc="log1p(other), 0 where self is 0 and other is at most -1.")
composite("heaviside(Tensor self, Tensor values)", overlap="whole", out="exact", inplace=True, doc="0 below 0, `values` at 0, 1 above.")
composite("ldexp(Tensor self, Tensor other)", overlap="whole", inplace=True, saves_self=True, doc="`self * 2^other`.")
pointwise("ldexp_whole(Tensor self, Tensor other)", "m_ldexp(self, other)", types="floating", names="", method=False, inplace=False,
          grad={"self": "ldexp_whole(grad, other)"}, doc="`self * 2^other` of whole exponents.")
pointwise("gcd(Tensor self, Tensor other)", "m_gcd(self, other)", types="integer", doc="The greatest common divisor.")
pointwise("lcm(Tensor self, Tensor other)", "m_lcm(self, other)", types="integer", doc="The least common multiple.")
composite("nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None)", overlap="whole", method=True, inplace=True,
          doc="Replaces NaN and infinities by numbers.")
composite("resolve_conj(Tensor self)", "self", out=False, doc="`self`: conjugates are always materialised.")
composite("resolve_neg(Tensor self)", "self", out=False, doc="`self`: negatives are always materialised.")
composite("polygamma(int n, Tensor self)", "polygamma_checked(n, self)", overlap="whole", names="polygamma special.polygamma", method=False,
          doc="The n-th derivative of digamma.")
composite("polygamma_method(Tensor self, int n)", "polygamma_checked(n, self)", names="Tensor.polygamma", method=False, out=False,
          doc="The n-th derivative of digamma.")
composite("polygamma_checked(int n, Tensor self)", names="", method=False, doc="polygamma with a check of n.")
