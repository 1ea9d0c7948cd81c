"""Activation functions."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

F = "nn.functional."
pointwise("tied(Tensor self, Tensor to)", "self", types="number", names="", method=False, grad={"self": "grad", "to": "zeros_like(grad)"},
          doc="`self`, with a history that leads to `to` as well: gradients that are constant piece by piece depend on the input, with derivative 0.")
pointwise("relu(Tensor self)", "m_maximum(self, 0)", types="real_number", names=f"relu {F}relu", method=True,
          grad={"self": "tied(where(result > 0, grad, 0), result)"}, doc="`max(self, 0)`.")
pointwise("relu6(Tensor self)", "m_minimum(m_maximum(self, 0), 6)", types="real_number", names=f"{F}relu6", inplace=True,
          grad={"self": "tied(where(logical_and(result > 0, result < 6), grad, 0), result)"}, doc="Limits to [0, 6].")
pointwise("hardtanh(Tensor self, Scalar min_val=-1.0, Scalar max_val=1.0)", "m_minimum(m_maximum(self, min_val), max_val)",
          types="real_number", names=f"{F}hardtanh", inplace=True, check="check_hardtanh(self, min_val, max_val)",
          grad={"self": "tied(where(logical_and(result > min_val, result < max_val), grad, 0), result)"}, doc="Limits to [min_val, max_val].")
pointwise("elu(Tensor self, Scalar alpha=1.0)", "self if self > 0 else alpha * expm1(self)", types="floating", names=f"{F}elu", inplace=True,
          check="check_factor(self, alpha)",
          grad={"self": "grad * where(self > 0, 1, alpha * exp(self))"},
          inplace_grad={"self": "grad * where(result > 0, 1, result + alpha)"}, cost=4,
          doc="`self` above 0, `alpha * (exp(self) - 1)` below.")
pointwise("celu(Tensor self, Scalar alpha=1.0)", "self if self > 0 else alpha * expm1(self / alpha)", types="floating", names=f"celu {F}celu",
          method=False, inplace=True, out=False, check="check_celu(alpha), check_factor(self, alpha)",
          grad={"self": "grad * where(self > 0, 1, exp(self / alpha))"},
          inplace_grad={"self": "grad * where(result > 0, 1, result / alpha + 1)"}, cost=4,
          doc="`self` above 0, `alpha * (exp(self / alpha) - 1)` below.")
pointwise("selu(Tensor self)", "1.0507009873554805 * (self if self > 0 else 1.6732632423543772 * expm1(self))", types="floating",
          names=f"selu {F}selu", method=False, inplace=True, out=False,
          grad={"self": "grad * where(self > 0, 1.0507009873554805, 1.7580993408473766 * exp(self))"},
          inplace_grad={"self": "grad * where(result > 0, 1.0507009873554805, result + 1.7580993408473766)"}, cost=4,
          doc="Self-normalising exponential unit (Klambauer 2017).")
pointwise("leaky_relu(Tensor self, Scalar negative_slope=0.01)", "self if self > 0 else self * negative_slope", types="floating",
          names=f"{F}leaky_relu", inplace=True, check="check_factor(self, negative_slope)",
          grad={"self": "tied(where(self > 0, grad, grad * negative_slope), self)"},
          inplace_grad={"self": "tied(where(result > 0, grad, grad * negative_slope), result)"}, doc="`self` above 0, scaled below.")
pointwise("prelu_elements(Tensor self, Tensor weight)", "self if self > 0 else self * weight", types="floating", names="",
          grad={"self": "tied(where(self > 0, grad, grad * weight), self)", "weight": "where(self > 0, 0, grad * self)"}, method=False,
          doc="`self` above 0, times `weight` below.")
composite("prelu(Tensor input, Tensor weight)", names=f"prelu {F}prelu Tensor.prelu", out=False,
          doc="`input` above 0, times a learned weight per channel below.")
pointwise("silu(Tensor self)", "self * sigmoid(self)", types="inexact", inplace=True,
          d={"self": "sigmoid(self) * (1 + self * (1 - sigmoid(self)))"}, names=f"{F}silu", cost=4,
          doc="`x * sigmoid(x)`, element by element.")
pointwise("mish(Tensor self)", "self * tanh(softplus_value(self))", types="floating", inplace=True, names=f"{F}mish", cost=8,
          d={"self": "tanh(softplus_value(self)) + self * (1 - tanh(softplus_value(self)) * tanh(softplus_value(self))) * sigmoid(self)"},
          doc="`x * tanh(softplus(x))`.")
pointwise("softplus_value(Tensor self)", "m_maximum(self, 0) + log1p(exp(-m_abs(self)))", types="floating", names="", method=False,
          d={"self": "sigmoid(self)"}, cost=4, doc="log(1 + exp(x)) without overflow.")
pointwise("softplus(Tensor self, Scalar beta=1, Scalar threshold=20)",
          "self if self * beta > threshold else log1p(exp(self * beta)) / beta", types="floating", names=f"{F}softplus", out="exact",
          check="check_factor(self, beta), check_factor(self, threshold)",
          grad={"self": "grad * where(self * beta > threshold, 1, sigmoid(self * beta))"}, cost=4,
          doc="`log(1 + exp(beta * x)) / beta`, linear where beta * x exceeds the threshold.")
pointwise("logsigmoid(Tensor self)", "m_minimum(self, 0) - log1p(exp(-m_abs(self)))", types="floating", names=f"{F}logsigmoid", out="exact",
          d={"self": "sigmoid(-self)"}, cost=4, doc="`log(sigmoid(x))`.")
pointwise("hardshrink(Tensor self, Scalar lambd=0.5)", "0 if self >= -lambd and self <= lambd else self", types="floating",
          names=f"hardshrink {F}hardshrink Tensor.hardshrink", method=False, out="exact", check="check_factor(self, lambd)",
          grad={"self": "tied(where(logical_and(self >= -lambd, self <= lambd), 0, grad), self)"}, doc="0 within [-lambd, lambd], else `self`.")
pointwise("softshrink(Tensor self, Scalar lambd=0.5)",
          "self - lambd if self > lambd else (self + lambd if self < -lambd else self * 0)", types="floating", names=f"{F}softshrink", out="exact",
          check="check_softshrink(lambd), check_factor(self, lambd)", grad={"self": "tied(where(logical_and(self >= -lambd, self <= lambd), 0, grad), self)"},
          doc="Moves elements by `lambd` towards 0.")
composite("tanhshrink(Tensor self)", "self - tanh(self)", names=f"{F}tanhshrink", doc="`x - tanh(x)`.")
composite("softsign(Tensor self)", "self / (abs(self) + 1)", names=f"{F}softsign", doc="`x / (1 + |x|)`.")
pointwise("hardswish(Tensor self)", "self * m_minimum(m_maximum(self + 3, 0), 6) / 6", types="floating", names=f"{F}hardswish", inplace=True,
          grad={"self": "where(self <= -3, 0, where(self < 3, grad * (self / 3 + 0.5), grad))"}, doc="`x * relu6(x + 3) / 6`.")
pointwise("hardsigmoid(Tensor self)", "m_minimum(m_maximum(self + 3, 0), 6) / 6", types="floating", names=f"{F}hardsigmoid", inplace=True,
          grad={"self": "tied(where(logical_and(self > -3, self < 3), grad / 6, 0), self)"}, doc="`relu6(x + 3) / 6`.")
pointwise("threshold(Tensor self, Scalar threshold, Scalar value)", "value if self <= threshold else self", types="real_number",
          names=f"threshold {F}threshold", method=False, inplace=True,
          check="check_number({self}, threshold, true), check_number({self}, value)", grad={"self": "tied(where(self <= threshold, 0, grad), self)"},
          inplace_grad={"self": "tied(where(result <= threshold, 0, grad), result)"}, doc="`value` where `self` is at most the threshold.")
composite("gelu(Tensor self, *, str approximate='none')", overlap="whole", names=f"{F}gelu", out="exact", doc="`x * Phi(x)`, exact or by tanh (Hendrycks 2016).")
composite("gelu_(Tensor self, *, str approximate='none')", names=f"{F}gelu_", out=False, doc="In-place gelu.")
pointwise("gelu_erf(Tensor self)", "0.5 * self * (1 + erf(self * 0.7071067811865476))", types="floating", names="", method=False, inplace=True,
          d={"self": "0.5 * (1 + erf(self * 0.7071067811865476)) + 0.3989422804014327 * self * exp(-0.5 * self * self)"}, cost=6,
          doc="gelu by erf.")
pointwise("gelu_tanh(Tensor self)", "0.5 * self * (1 + tanh(gelu_inner(self)))", types="floating", names="", method=False, inplace=True,
          d={"self": "0.5 * (1 + tanh(gelu_inner(self))) + 0.5 * self * (1 - tanh(gelu_inner(self)) * tanh(gelu_inner(self)))"
                     " * (0.7978845608028654 * (1 + 0.134145 * self * self))"}, cost=6, doc="gelu by tanh.")
pointwise("gelu_inner(Tensor self)", "0.7978845608028654 * (self + 0.044715 * self * self * self)", types="floating", names="", method=False,
          d={"self": "0.7978845608028654 * (1 + 0.134145 * self * self)"}, doc="The argument of tanh in gelu.")
composite("glu(Tensor self, int dim=-1)", names=f"{F}glu", doc="The first half of a dimension times the sigmoid of the second.")
