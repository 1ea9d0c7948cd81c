"""Clamps. A number takes no gradient, and none passes where an element meets it; a tensor shares the gradient of a tie."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

composite("clamp(Tensor self, Scalar? min=None, Scalar? max=None)", overlap="whole", names="clamp clip", method=True, doc="Limits elements to [min, max]; NaN bounds give NaN.")
composite("clamp_tensors(Tensor self, Tensor? min=None, Tensor? max=None)", overlap="whole", names="clamp clip", method=True,
          doc="Limits elements to [min, max] element by element.")
composite("clamp_(Tensor self, Scalar? min=None, Scalar? max=None)", names="clamp_ clip_", method=True, out=False, doc="In-place clamp.")
composite("clamp_tensors_(Tensor self, Tensor? min=None, Tensor? max=None)", names="clamp_ clip_", method=True, out=False,
          doc="In-place clamp by tensors.")
pointwise("clamp_min(Tensor self, Tensor|Scalar min)", "m_maximum(self, min)", types="real",
          grad={"self": "clamp_min_share(grad, self, min)", "min": "clamp_bound_share(grad, self, min, True)"}, names="", method=False,
          inplace=True, doc="At least `min`.")
composite("clamp_min_any(Tensor self, Tensor|Scalar min)", overlap="whole", names="clamp_min", method=True, doc="At least `min`.")
composite("clamp_min_any_(Tensor self, Tensor|Scalar min)", names="clamp_min_", method=True, out=False, doc="In-place clamp_min.")
pointwise("clamp_max(Tensor self, Tensor|Scalar max)", "m_minimum(self, max)", types="real",
          grad={"self": "clamp_max_share(grad, self, max)", "max": "clamp_bound_share(grad, self, max, False)"}, names="", method=False,
          inplace=True, doc="At most `max`.")
composite("clamp_max_any(Tensor self, Tensor|Scalar max)", overlap="whole", names="clamp_max", method=True, doc="At most `max`.")
composite("clamp_max_any_(Tensor self, Tensor|Scalar max)", names="clamp_max_", method=True, out=False, doc="In-place clamp_max.")
pointwise("clamp_both(Tensor self, Tensor|Scalar min, Tensor|Scalar max)", "m_minimum(m_maximum(self, min), max)", types="real",
          grad={"self": "clamp_self_share(grad, self, min, max)", "min": "clamp_low_share(grad, self, min, max)",
                "max": "clamp_high_share(grad, self, min, max)"}, names="", method=False,
          inplace=True, doc="Limits to two bounds.")
composite("clamp_min_share(Tensor grad, Tensor self, Tensor|Scalar min)", names="", doc="The part of a gradient that passes a lower bound.")
composite("clamp_max_share(Tensor grad, Tensor self, Tensor|Scalar max)", names="", doc="The part of a gradient that passes an upper bound.")
composite("clamp_bound_share(Tensor grad, Tensor self, Tensor|Scalar bound, bool least)", names="", doc="The part of a gradient that a bound takes.")
composite("clamp_self_share(Tensor grad, Tensor self, Tensor|Scalar min, Tensor|Scalar max)", names="",
          doc="The part of a gradient that passes two bounds.")
composite("clamp_low_share(Tensor grad, Tensor self, Tensor|Scalar min, Tensor|Scalar max)", names="", doc="The part that the lower bound takes.")
composite("clamp_high_share(Tensor grad, Tensor self, Tensor|Scalar min, Tensor|Scalar max)", names="", doc="The part that the upper bound takes.")

# ---- floats by numbers
pointwise("clamp_min_number(Tensor self, Scalar min)", "m_maximum(self, min)", types="floating", names="", method=False, inplace=True,
          grad={"self": "where(self > min, grad, 0)"}, doc="At least `min`.")
pointwise("clamp_max_number(Tensor self, Scalar max)", "m_minimum(self, max)", types="floating", names="", method=False, inplace=True,
          grad={"self": "where(self < max, grad, 0)"}, doc="At most `max`.")
pointwise("clamp_numbers(Tensor self, Scalar min, Scalar max)", "m_minimum(m_maximum(self, min), max)", types="floating", names="",
          method=False, inplace=True, grad={"self": "where(logical_and(self > min, self < max), grad, 0)"},
          doc="Limits to two bounds.")
