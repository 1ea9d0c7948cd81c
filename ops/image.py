"""Resampling, sampling at given positions, and rearrangements of channels."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

# ---- resampling
for n, linear in ((1, "linear"), (2, "bilinear"), (3, "trilinear")):
    composite(f"upsample_nearest{n}d(Tensor input, int[]? output_size, float[]? scale_factors=None)",
              f"upsample_nd(input, output_size, scale_factors, 'nearest', False, {n})", out=False,
              names=f"nn.functional.upsample_nearest{n}d", doc="Repeats the nearest element, by floor.")
    composite(f"upsample_nearest_exact{n}d(Tensor input, int[]? output_size, float[]? scale_factors=None)",
              f"upsample_nd(input, output_size, scale_factors, 'nearest_exact', False, {n})", out=False,
              names=f"nn.functional.upsample_nearest_exact{n}d", doc="Repeats the nearest element, by centres.")
    composite(f"upsample_{linear}{n}d(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors=None)",
              f"upsample_nd(input, output_size, scale_factors, 'linear', align_corners, {n})", out=False,
              names=f"nn.functional.upsample_{linear}{n}d", doc="Interpolates linearly in each dimension.")
composite("upsample_bicubic2d(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors=None)",
          "upsample_nd(input, output_size, scale_factors, 'cubic', align_corners, 2)", out=False, names="nn.functional.upsample_bicubic2d", doc="Interpolates with cubic convolution (a = -0.75).")
composite("upsample_bilinear2d_aa(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors=None)",
          "upsample_nd(input, output_size, scale_factors, 'linear_aa', align_corners, 2)", out=False, names="nn.functional.upsample_bilinear2d_aa", doc="Bilinear interpolation with a filter widened for smaller outputs.")
composite("upsample_bicubic2d_aa(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors=None)",
          "upsample_nd(input, output_size, scale_factors, 'cubic_aa', align_corners, 2)", out=False, names="nn.functional.upsample_bicubic2d_aa", doc="Bicubic interpolation with a filter widened for smaller outputs.")
composite("upsample_nd(Tensor input, int[]? output_size, float[]? scale_factors, str mode, bool align_corners, int spatial)", names="")
manual("resample(Tensor input, int[] output_size, float[] ratios, str mode, bool align_corners)", linear=True, names="",
       grad={"input": "resample_backward(grad, shape(input), output_size, ratios, mode, align_corners)"},
       doc="Resamples the last dimensions; ratios are input steps an output step.")
manual("resample_backward(Tensor grad_output, int[] size, int[] output_size, float[] ratios, str mode, bool align_corners)", linear=True, names="",
       grad={"grad_output": "resample(grad, output_size, ratios, mode, align_corners)"})

# ---- sampling at positions
composite("grid_sample(Tensor input, Tensor grid, str mode='bilinear', str padding_mode='zeros', bool align_corners=False)",
          names="nn.functional.grid_sample", out=False,
          doc="The input at the positions that grid gives in [-1, 1], x first.")
manual("grid_sample_at(Tensor input, Tensor grid, str mode, str padding_mode, bool align_corners)", names="",
       grad={("input", "grid"): "grid_sample_backward(grad, input, grid, mode, padding_mode, align_corners, mask)"})
composite("grid_sample_backward(Tensor grad_output, Tensor input, Tensor grid, str mode, str padding_mode, bool align_corners,"
          " bool[] output_mask) -> (Tensor dx, Tensor dgrid)", names="")
manual("grid_sample_backward_fused(Tensor grad_output, Tensor input, Tensor grid, str mode, str padding_mode, bool align_corners,"
       " bool[] output_mask) -> (Tensor dx, Tensor dgrid)", names="",
       nondifferentiable="grid_sample_backward uses it when nothing is recorded")
composite("affine_grid(Tensor theta, int[] size, bool align_corners=False)", names="nn.functional.affine_grid", out=False,
          doc="The positions that affine maps of the image plane give, for grid_sample.")

# ---- rearrangements of channels
composite("pixel_shuffle(Tensor self, int upscale_factor)", names="pixel_shuffle nn.functional.pixel_shuffle", method=False, out=False,
          doc="Moves channels into space: (C r r, H, W) becomes (C, H r, W r).")
composite("pixel_unshuffle(Tensor self, int downscale_factor)", names="pixel_unshuffle nn.functional.pixel_unshuffle", method=False,
          out=False, doc="Moves space into channels: the inverse of pixel_shuffle.")
composite("channel_shuffle(Tensor self, int groups)", names="channel_shuffle nn.functional.channel_shuffle", method=False, out=False,
          doc="Deals the channels of each group in turn.")
for n in (2, 3):
    composite(f"grid_sampler_{n}d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners)",
              "grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)", out=False,
              doc="grid_sample with numbered modes: 0 bilinear, 1 nearest, 2 bicubic; 0 zeros, 1 border, 2 reflection.")
composite("grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners)", out=False,
          doc="grid_sample with numbered modes.")
