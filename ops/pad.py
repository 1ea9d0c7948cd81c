"""Padding, and sliding blocks of images."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

# ---- padding
manual("constant_pad_nd(Tensor self, int[] pad, Scalar value=0)", batch="leading", names="constant_pad_nd nn.functional.constant_pad_nd", out=False, method=False,
       grad={"self": "unpad(grad, pad)"},
       doc="Adds `value` around the last dimensions; pad lists front and back from the last dimension on, negative numbers crop.")
composite("unpad(Tensor self, int[] pad)", names="", doc="Takes away what constant_pad_nd added, and adds zeros where it cropped.")
for n in (1, 2, 3):
    composite(f"reflection_pad{n}d(Tensor input, int[] padding)", f"pad_nd(input, padding, 'reflect', {n})", names=f"nn.functional.reflection_pad{n}d", out=False,
              doc="Pads with the mirror image that does not repeat the border.")
    composite(f"replication_pad{n}d(Tensor input, int[] padding)", f"pad_nd(input, padding, 'replicate', {n})", names=f"nn.functional.replication_pad{n}d", out=False,
              doc="Pads with copies of the border.")
composite("pad_nd(Tensor input, int[] pad, str mode, int spatial)", names="")
manual("pad_by_map(Tensor input, int[] pad, str mode)", linear=True, names="",
       grad={"input": "pad_by_map_backward(grad, shape(input), pad, mode)"})
manual("pad_by_map_backward(Tensor grad_output, int[] size, int[] pad, str mode)", linear=True, names="",
       grad={"grad_output": "pad_by_map(grad, pad, mode)"})

# ---- sliding blocks (the method Tensor.unfold is another operator)
composite("im2col(Tensor input, int[] kernel_size, int[] dilation=1, int[] padding=0, int[] stride=1)", names="nn.functional.unfold",
          out=False, doc="The sliding blocks of a batch of images as columns.")
composite("col2im(Tensor input, int[] output_size, int[] kernel_size, int[] dilation=1, int[] padding=0, int[] stride=1)",
          names="nn.functional.fold", out=False, doc="The sum of sliding blocks at their places: the adjoint of unfold.")
manual("unfold_image(Tensor input, int[] kernel_size, int[] dilation, int[] padding, int[] stride)", linear=True, names="",
       grad={"input": "fold_image(grad, (size(input, 2), size(input, 3)), kernel_size, dilation, padding, stride)"})
manual("fold_image(Tensor input, int[] output_size, int[] kernel_size, int[] dilation, int[] padding, int[] stride)", linear=True, names="",
       grad={"input": "unfold_image(grad, kernel_size, dilation, padding, stride)"})
