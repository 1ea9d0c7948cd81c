"""Changes of geometry in place, older spellings, and parts of layers that PyTorch shows at its top level."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

# ---- geometry in place
manual("set_geometry_(Tensor self, int[] size, int[] stride, int storage_offset)", names="",
       grad={"self": "as_strided_backward(grad, shape(self), strides(self), offset(self), size, stride, storage_offset)"},
       doc="Gives the tensor itself another shape over the same storage.")
composite("unsqueeze_(Tensor self, int dim)", names="Tensor.unsqueeze_", doc="unsqueeze in place.")
composite("squeeze_(Tensor self)", names="Tensor.squeeze_", doc="squeeze in place.")
composite("squeeze_dims_(Tensor self, int[] dim)", names="Tensor.squeeze_", doc="squeeze in place.")
composite("transpose_(Tensor self, int dim0, int dim1)", names="Tensor.transpose_ Tensor.swapaxes_ Tensor.swapdims_",
          doc="transpose in place.")
composite("t_(Tensor self)", names="Tensor.t_", doc="t in place.")
composite("as_strided_(Tensor self, int[] size, int[] stride, int? storage_offset=None)", names="as_strided_ Tensor.as_strided_",
          doc="as_strided in place.")
composite("resize_as_(Tensor self, Tensor the_template, *, MemoryFormat? memory_format=None)", names="resize_as_",
          doc="Changes the shape to that of another tensor.")
composite("fill_diagonal_(Tensor self, Scalar fill_value, bool wrap=False)", names="Tensor.fill_diagonal_",
          doc="Writes a value on the main diagonal, of tall matrices again after a free row if `wrap`.")
composite("polygamma_(Tensor self, int n)", names="Tensor.polygamma_", doc="polygamma in place.")

# ---- mantissas and exponents
manual("frexp(Tensor self) -> (Tensor mantissa, Tensor exponent)", overlap="whole", out="exact", batch="leading", tuple_name="frexp",
       grad={"self": "ldexp_whole(grad_mantissa, -cast(exponent, dtype(self)))"},
       doc="A mantissa of absolute value in [1/2, 1) and an integer exponent: `self = mantissa * 2^exponent`.")

# ---- copies and splits
composite("detach_copy(Tensor self)", method=False, doc="A copy without history.")
composite("view_as_real_copy(Tensor self)", "clone(view_as_real(self))", method=False, doc="A copy of view_as_real.")
composite("view_as_complex_copy(Tensor self)", "clone(view_as_complex(self))", method=False, doc="A copy of view_as_complex.")
composite("unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", doc="chunk whose pieces may be written to.")
composite("unsafe_split(Tensor self, int split_size, int dim=0) -> Tensor[]", doc="split whose pieces may be written to.")
composite("unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
          doc="split_with_sizes whose pieces may be written to.")
composite("empty_permuted(int[] size, int[] physical_layout)", factory=True, out=False,
          doc="An uninitialised tensor whose dimensions lie in memory in the given order, outermost first.")

# ---- reductions of segments
composite("segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, int axis=0,"
          " bool unsafe=False, Scalar? initial=None)", method=False, out=False,
          doc="Reduces stretches of a dimension: sum, mean, max, min or prod. `lengths` (or `offsets`, their ends with a leading 0)"
              " may have leading batch dimensions; `axis` is its last one.")

# ---- parts of layers
composite("native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps)"
          " -> (Tensor result, Tensor mean, Tensor rstd)", tuple_name="", out=False,
          doc="layer_norm, with the mean and the reciprocal standard deviation of each row.")
composite("native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int N, int C, int HxW, int group, float eps)"
          " -> (Tensor result, Tensor mean, Tensor rstd)", tuple_name="", out=False,
          doc="group_norm, with the mean and the reciprocal standard deviation of each group.")
composite("native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training,"
          " float momentum, float eps) -> (Tensor result, Tensor mean, Tensor rstd)", tuple_name="", out=False,
          doc="batch_norm, with the mean and the reciprocal standard deviation of each channel.")
composite("native_dropout(Tensor input, float p, bool? train) -> (Tensor result, Tensor mask)", tuple_name="", out=False,
          doc="dropout, with the mask of what was kept.")
composite("native_channel_shuffle(Tensor self, int groups)", "channel_shuffle(self, groups)",
          names="native_channel_shuffle nn.functional.native_channel_shuffle", method=False, out=False, doc="channel_shuffle.")
composite("affine_grid_generator(Tensor theta, int[] size, bool align_corners)", "affine_grid(theta, size, align_corners)", out=False,
          doc="affine_grid.")
