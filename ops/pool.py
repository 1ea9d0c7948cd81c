"""Pooling over windows: maximum, average, their adaptive kinds, and unpooling."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

for n in (1, 2, 3):
    composite(f"max_pool{n}d_with_indices(Tensor input, int[] kernel_size, int[]? stride=None, int[] padding=0, int[] dilation=1,"
              " bool ceil_mode=False) -> (Tensor result, Tensor indices)",
              f"max_pool_nd(input, kernel_size, stride, padding, dilation, ceil_mode, True, {n})", tuple_name="", out=False,
              names=f"nn.functional.max_pool{n}d_with_indices" + (" max_pool1d_with_indices" if n == 1 else ""),
              doc="The largest element of each window, and its flat position in the plane.")
    composite(f"max_pool{n}d(Tensor input, int[] kernel_size, int[]? stride=None, int[] padding=0, int[] dilation=1,"
              " bool ceil_mode=False)", f"max_pool_nd(input, kernel_size, stride, padding, dilation, ceil_mode, False, {n})[0]",
              names=f"max_pool{n}d nn.functional.max_pool{n}d", out=False,
              doc="The largest element of each window.")
    composite(f"avg_pool{n}d(Tensor input, int[] kernel_size, int[]? stride=None, int[] padding=0, bool ceil_mode=False,"
              " bool count_include_pad=True" + (", int? divisor_override=None)" if n > 1 else ")"),
              "avg_pool_nd(input, kernel_size, stride, padding, ceil_mode, count_include_pad, "
              + ("divisor_override" if n > 1 else "None") + f", {n})", out="exact" if n > 1 else False,
              names=f"nn.functional.avg_pool{n}d" + (" avg_pool1d" if n == 1 else ""), doc="The mean of each window.")
    composite(f"adaptive_max_pool{n}d(Tensor input, int[] output_size) -> (Tensor result, Tensor indices)",
              f"adaptive_max_pool_nd(input, output_size, {n})", out=False,
              names=f"nn.functional.adaptive_max_pool{n}d" + (" adaptive_max_pool1d" if n == 1 else ""),
              doc="The largest element of each of `output_size` windows, and its position.")
    composite(f"adaptive_avg_pool{n}d(Tensor input, int[] output_size)",
              f"adaptive_avg_pool_nd(input, output_size, {n})", out=False,
              names=f"nn.functional.adaptive_avg_pool{n}d" + (" adaptive_avg_pool1d" if n == 1 else ""),
              doc="The mean of each of `output_size` windows.")
composite("max_pool_nd(Tensor input, int[] kernel_size, int[]? stride, int[] padding, int[] dilation, bool ceil_mode,"
          " bool with_indices, int spatial) -> (Tensor result, Tensor indices)", names="")
composite("avg_pool_nd(Tensor input, int[] kernel_size, int[]? stride, int[] padding, bool ceil_mode, bool count_include_pad,"
          " int? divisor_override, int spatial)", names="")
composite("adaptive_max_pool_nd(Tensor input, int[] output_size, int spatial) -> (Tensor result, Tensor indices)", names="")
composite("adaptive_avg_pool_nd(Tensor input, int[] output_size, int spatial)", names="")
composite("max_unpool2d(Tensor input, Tensor indices, int[] output_size)", names="nn.functional.max_unpool2d", out=False,
          doc="Puts elements back at the positions that max pooling noted, zeros elsewhere.")
composite("max_unpool3d(Tensor input, Tensor indices, int[] output_size, int[] stride, int[] padding)",
          names="nn.functional.max_unpool3d", out=False,
          doc="Puts elements back at the positions that max pooling noted, zeros elsewhere.")

manual("max_pool(Tensor input, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode, bool with_indices)"
       " -> (Tensor result, Tensor indices)", names="",
       grad={"input": "max_pool_backward(grad_result, indices, shape(input), len(kernel_size))"})
manual("adaptive_max_pool(Tensor input, int[] output_size) -> (Tensor result, Tensor indices)", names="",
       grad={"input": "max_pool_backward(grad_result, indices, shape(input), len(output_size))"})
manual("max_pool_backward(Tensor grad_output, Tensor indices, int[] size, int spatial)", linear=True, names="",
       grad={"grad_output": "max_pool_gather(grad, indices, spatial)"})
manual("max_pool_gather(Tensor self, Tensor indices, int spatial)", linear=True, names="",
       grad={"self": "max_pool_backward(grad, indices, shape(self), spatial)"})
manual("max_unpool(Tensor input, Tensor indices, int[] output_size)", linear=True, names="",
       grad={"input": "max_pool_gather(grad, indices, len(output_size))"})
manual("avg_pool(Tensor input, int[] kernel_size, int[] stride, int[] padding, bool ceil_mode, bool count_include_pad,"
       " int? divisor_override)", linear=True, names="",
       grad={"input": "avg_pool_backward(grad, shape(input), kernel_size, stride, padding, ceil_mode, count_include_pad,"
                      " divisor_override)"})
manual("avg_pool_backward(Tensor grad_output, int[] size, int[] kernel_size, int[] stride, int[] padding, bool ceil_mode,"
       " bool count_include_pad, int? divisor_override)", linear=True, names="",
       grad={"grad_output": "avg_pool(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)"})
manual("adaptive_avg_pool(Tensor input, int[] output_size)", linear=True, names="",
       grad={"input": "adaptive_avg_pool_backward(grad, shape(input), output_size)"})
manual("adaptive_avg_pool_backward(Tensor grad_output, int[] size, int[] output_size)", linear=True, names="",
       grad={"grad_output": "adaptive_avg_pool(grad, output_size)"})

for n in (2, 3):
    composite(f"fractional_max_pool{n}d(Tensor input, int[] kernel_size, int[] output_size, Tensor random_samples)"
              " -> (Tensor result, Tensor indices)", names=f"nn.functional.fractional_max_pool{n}d", out=False,
              doc="The largest element of windows whose places random_samples choose, and its position.")
manual("fractional_max_pool(Tensor input, int[] kernel_size, int[] output_size, Tensor random_samples)"
       " -> (Tensor result, Tensor indices)", names="",
       grad={"input": "max_pool_backward(grad_result, indices, shape(input), len(output_size))"})
