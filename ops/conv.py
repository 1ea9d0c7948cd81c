"""Convolutions and transposed convolutions of 1 to 3 dimensions."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

for n in (1, 2, 3):
    composite(f"conv{n}d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, int[] padding=0, int[] dilation=1,"
              " int groups=1)", f"conv_nd(input, weight, bias, stride, padding, dilation, groups, {n})",
              names=f"conv{n}d nn.functional.conv{n}d", out=False,
              doc=f"The {n}-dimensional convolution of a batch (or one sample) of multi-channel inputs.")
    composite(f"conv{n}d_named_padding(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, str padding='valid',"
              " int[] dilation=1, int groups=1)",
              f"conv_nd_named_padding(input, weight, bias, stride, padding, dilation, groups, {n})",
              names=f"conv{n}d nn.functional.conv{n}d", out=False,
              doc=f"The {n}-dimensional convolution with padding 'valid' (none) or 'same' (outputs as large as inputs).")
    composite(f"conv_transpose{n}d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, int[] padding=0,"
              " int[] output_padding=0, int groups=1, int[] dilation=1)",
              f"conv_transpose_nd(input, weight, bias, stride, padding, output_padding, groups, dilation, {n})",
              names=f"conv_transpose{n}d nn.functional.conv_transpose{n}d", out=False,
              doc=f"The {n}-dimensional transposed convolution: the adjoint of conv{n}d with respect to its input.")
composite("conv_nd(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, int groups, int spatial)",
          names="")
composite("conv_nd_named_padding(Tensor input, Tensor weight, Tensor? bias, int[] stride, str padding, int[] dilation, int groups,"
          " int spatial)", names="")
composite("conv_transpose_nd(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] output_padding,"
          " int groups, int[] dilation, int spatial)", names="")
composite("conv_tbc(Tensor input, Tensor weight, Tensor bias, int pad=0)", names="conv_tbc nn.functional.conv_tbc", out=False,
          doc="A 1-dimensional convolution of a [time, batch, channels] input.")

manual("convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool transposed,"
       " int[] output_padding, int groups)", out=False,
       grad={("input", "weight", "bias"): "convolution_backward(grad, input, weight, stride, padding, dilation, transposed,"
                                          " output_padding, groups, mask)"},
       doc="The general convolution that the others are made of.")
manual("convolution_backward(Tensor grad_output, Tensor input, Tensor weight, int[] stride, int[] padding, int[] dilation,"
       " bool transposed, int[] output_padding, int groups, bool[] output_mask) -> (Tensor dx, Tensor dw, Tensor db)", names="",
       grad={("grad_output", "input", "weight"):
             "convolution_double_backward(grad_dx if defined(grad_dx) else None, grad_dw if defined(grad_dw) else None,"
             " grad_db if defined(grad_db) else None, grad_output, input, weight, stride, padding, dilation, transposed,"
             " output_padding, groups, mask)"})
composite("convolution_double_backward(Tensor? grad_dx, Tensor? grad_dw, Tensor? grad_db, Tensor grad_output, Tensor input,"
          " Tensor weight, int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups,"
          " bool[] output_mask) -> (Tensor grad, Tensor dx, Tensor dw)", names="")
