"""Softmax and the losses over classes."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

manual("softmax(Tensor self, int dim, DType? dtype=None)", batch="along", names="softmax nn.functional.softmax", method=True,
       grad={"self": "softmax_backward(grad, result, dim)"},
       out="exact", doc="`exp(self) / sum(exp(self))` along `dim`.")
composite("softmax_backward(Tensor grad_output, Tensor output, int dim)", names="")
manual("softmax_backward_fused(Tensor grad_output, Tensor output, int dim)", names="",
       nondifferentiable="softmax_backward uses it when nothing is recorded")
manual("log_softmax(Tensor self, int dim, DType? dtype=None)", batch="along", names="log_softmax nn.functional.log_softmax",
       method=True, grad={"self": "log_softmax_backward(grad, result, dim)"},
       out="exact", doc="The logarithm of softmax, without overflow.")
composite("log_softmax_backward(Tensor grad_output, Tensor output, int dim)", names="")
manual("log_softmax_backward_fused(Tensor grad_output, Tensor output, int dim)", names="",
       nondifferentiable="log_softmax_backward uses it when nothing is recorded")

composite("cross_entropy(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean',"
          " float label_smoothing=0.0)", names="nn.functional.cross_entropy",
          doc="The cross-entropy of unnormalised scores with class indices or class probabilities.")
manual("cross_entropy_classes(Tensor input, Tensor target, Tensor? weight, int ignore_index, str reduction, float label_smoothing)"
       " -> (Tensor loss, Tensor lse, Tensor total)", names="",
       grad={"input": "cross_entropy_backward(grad_loss, input, target, weight, lse, total, ignore_index, reduction, label_smoothing)"})
composite("cross_entropy_backward(Tensor grad_output, Tensor input, Tensor target, Tensor? weight, Tensor lse, Tensor total,"
          " int ignore_index, str reduction, float label_smoothing)", names="")
manual("cross_entropy_backward_fused(Tensor grad_output, Tensor input, Tensor target, Tensor? weight, Tensor lse, Tensor total,"
       " int ignore_index, str reduction, float label_smoothing)", names="",
       nondifferentiable="cross_entropy_backward uses it when nothing is recorded")

composite("nll_loss(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, str reduction='mean')",
          names="nn.functional.nll_loss", doc="The negative log-probability of the target classes.")
manual("nll_loss_classes(Tensor input, Tensor target, Tensor? weight, int ignore_index, str reduction)"
       " -> (Tensor loss, Tensor total)", linear=True, names="",
       grad={"input": "nll_loss_backward(grad_loss, target, weight, total, shape(input), ignore_index, reduction)"})
manual("nll_loss_backward(Tensor grad_output, Tensor target, Tensor? weight, Tensor total, int[] size, int ignore_index,"
       " str reduction)", linear=True, names="",
       grad={"grad_output": "nll_loss_classes(grad, target, weight, ignore_index, reduction)[0]"})
