"""Normalisation layers. Each fused row has a backward row of its own; under create_graph the backward is composed."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

composite("batch_norm(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor? bias=None,"
          " bool training=False, float momentum=0.1, float eps=1e-05)", names="nn.functional.batch_norm",
          doc="Normalises each channel over batch and positions; in training the running statistics are updated in place.")
composite("batch_norm_positional(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,"
          " bool training, float momentum, float eps, bool cudnn_enabled=True)", names="batch_norm", out=False,
          doc="nn.functional.batch_norm with another order of arguments.")
manual("batch_norm_layer(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training,"
       " float momentum, float eps) -> (Tensor result, Tensor mean, Tensor rstd)", names="",
       grad={("input", "weight", "bias"):
             "batch_norm_backward(grad_result, input, weight, mean, rstd, training, eps, mask)"})
composite("batch_norm_backward(Tensor grad_output, Tensor input, Tensor? weight, Tensor mean, Tensor rstd, bool training,"
          " float eps, bool[] output_mask) -> (Tensor dx, Tensor dw, Tensor db)", names="")
manual("batch_norm_backward_fused(Tensor grad_output, Tensor input, Tensor? weight, Tensor mean, Tensor rstd, bool training,"
       " bool[] output_mask) -> (Tensor dx, Tensor dw, Tensor db)", names="",
       nondifferentiable="batch_norm_backward uses it when nothing is recorded")
composite("instance_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, Tensor? bias=None,"
          " bool use_input_stats=True, float momentum=0.1, float eps=1e-05)", names="nn.functional.instance_norm",
          doc="Normalises each channel of each sample over its positions.")
composite("instance_norm_positional(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var,"
          " bool use_input_stats, float momentum, float eps, bool cudnn_enabled=True)", names="instance_norm", out=False,
          doc="nn.functional.instance_norm with another order of arguments.")

composite("layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05,"
          " bool cudnn_enable=True)", names="layer_norm nn.functional.layer_norm", out=False,
          doc="Normalises over the last dimensions, whose sizes are `normalized_shape`.")
manual("layer_norm_rows(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps)"
       " -> (Tensor result, Tensor mean, Tensor rstd)", names="",
       grad={("input", "weight", "bias"):
             "layer_norm_backward(grad_result, input, normalized_shape, weight, mean, rstd, eps, mask)"})
composite("layer_norm_backward(Tensor grad_output, Tensor input, int[] normalized_shape, Tensor? weight, Tensor mean, Tensor rstd,"
          " float eps, bool[] output_mask) -> (Tensor dx, Tensor dw, Tensor db)", names="")
manual("layer_norm_backward_fused(Tensor grad_output, Tensor input, int[] normalized_shape, Tensor? weight, Tensor? mean,"
       " Tensor rstd, bool[] output_mask) -> (Tensor dx, Tensor dw, Tensor db)", names="",
       nondifferentiable="layer_norm_backward and rms_norm_backward use it when nothing is recorded")
composite("rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None)",
          names="rms_norm nn.functional.rms_norm", out=False,
          doc="Divides by the root of the mean square over the last dimensions.")
manual("rms_norm_rows(Tensor input, int[] normalized_shape, Tensor? weight, float eps) -> (Tensor result, Tensor rstd)", names="",
       grad={("input", "weight"): "rms_norm_backward(grad_result, input, normalized_shape, weight, rstd, eps, mask)"})
composite("rms_norm_backward(Tensor grad_output, Tensor input, int[] normalized_shape, Tensor? weight, Tensor rstd, float eps,"
          " bool[] output_mask) -> (Tensor dx, Tensor dw)", names="")

composite("group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05,"
          " bool cudnn_enabled=True)", names="group_norm nn.functional.group_norm", out=False,
          doc="Normalises groups of channels of each sample.")
manual("group_norm_layer(Tensor input, int num_groups, Tensor? weight, Tensor? bias, float eps)"
       " -> (Tensor result, Tensor mean, Tensor rstd)", names="",
       grad={("input", "weight", "bias"): "group_norm_backward(grad_result, input, num_groups, weight, mean, rstd, eps, mask)"})
composite("group_norm_backward(Tensor grad_output, Tensor input, int num_groups, Tensor? weight, Tensor mean, Tensor rstd,"
          " float eps, bool[] output_mask) -> (Tensor dx, Tensor dw, Tensor db)", names="")
manual("group_norm_backward_fused(Tensor grad_output, Tensor input, int num_groups, Tensor? weight, Tensor mean, Tensor rstd,"
       " bool[] output_mask) -> (Tensor dx, Tensor dw, Tensor db)", names="",
       nondifferentiable="group_norm_backward uses it when nothing is recorded")
