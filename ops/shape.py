"""Views and rearrangements: reshape, transpose, slices, joins and splits."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

# ---- views
view("alias_view(Tensor self)", "geometry_of(self)", grad={"self": "grad"}, names="",
     doc="A new view of the whole of `self`.")
view("view(Tensor self, int... size)", "view_geometry(self, size)", grad={"self": "reshape(grad, shape(self))"},
     names="", method=True, doc="The same elements in another shape, without a copy; RuntimeError where strides do not allow it.")
manual("view_dtype(Tensor self, DType dtype)", names="Tensor.view", out=False, doc="The bytes of `self` read as another dtype.")
view("transpose(Tensor self, int dim0, int dim1)", 'transpose_geometry(self, dim0, dim1, "transpose")',
     grad={"self": "transpose(grad, dim0, dim1)"}, names="transpose swapaxes swapdims",
     doc="Swaps two dimensions.")
view("permute(Tensor self, int... dims)", "permute_geometry(self, dims)", grad={"self": "permute(grad, inverse_permutation(dims))"},
     doc="Orders the dimensions as `dims` says.")
view("expand(Tensor self, int... size)", "expand_geometry(self, size)", grad={"self": "sum_to_size(grad, shape(self))"},
     names="", method=True, doc="Repeats size-1 dimensions without copying; -1 keeps a size.")
view("select(Tensor self, int dim, int index)", "select_geometry(self, dim, index)",
     grad={"self": "select_backward(grad, shape(self), dim, index)"}, names="select",
     doc="The slice of dimension `dim` at `index`, without that dimension.")
view("slice(Tensor self, int dim=0, int? start=None, int? end=None, int step=1)", "slice_geometry(self, dim, start, end, step)",
     grad={"self": "slice_backward(grad, shape(self), dim, start, end, step)"}, names="",
     doc="`self[start:end:step]` along `dim`.")
view("narrow(Tensor self, int dim, int start, int length)", "narrow_geometry(self, dim, start, length)",
     grad={"self": "narrow_backward(grad, shape(self), dim, start)"}, names="narrow", method=True,
     doc="`length` entries of dimension `dim` from `start`.")
composite("narrow_tensor(Tensor self, int dim, Tensor start, int length)", names="narrow", method=True, out=False,
          doc="`length` entries of dimension `dim` from a 0-d tensor's value.")
view("squeeze(Tensor self)", "squeeze_geometry(self, std::nullopt)", grad={"self": "reshape(grad, shape(self))"},
     doc="Drops all dimensions of size 1.")
view("squeeze_dim(Tensor self, int[] dim)", "squeeze_geometry(self, dim)", grad={"self": "reshape(grad, shape(self))"},
     names="squeeze", method=True, doc="Drops the given dimensions where they have size 1.")
view("unsqueeze(Tensor self, int dim)", "unsqueeze_geometry(self, dim)", grad={"self": "reshape(grad, shape(self))"},
     doc="Inserts a dimension of size 1.")
view("diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1)", "diagonal_geometry(self, offset, dim1, dim2)",
     grad={"self": "diagonal_backward(grad, shape(self), offset, dim1, dim2)"},
     doc="The diagonals of two dimensions as the last dimension of a view.")
view("unfold(Tensor self, int dimension, int size, int step)", "unfold_geometry(self, dimension, size, step)",
     grad={"self": "unfold_backward(grad, shape(self), dimension, size, step)"}, names="", method=True,
     doc="Sliding windows of `size` along a dimension, as a new last dimension of a view.")
view("as_strided(Tensor self, int[] size, int[] stride, int? storage_offset=None)",
     "strided_geometry(self, size, stride, storage_offset)",
     grad={"self": "as_strided_backward(grad, shape(self), strides(self), offset(self), size, stride, storage_offset)"},
     doc="A view with any sizes, strides and offset inside the storage.")
view("movedim(Tensor self, int[] source, int[] destination)", "movedim_geometry(self, source, destination)",
     grad={"self": "movedim(grad, destination, source)"}, names="movedim moveaxis", method=True,
     doc="Moves dimensions to new places.")
composite("t(Tensor self)", out=False, doc="The transpose of a matrix; tensors of fewer dimensions are returned as they are.")
composite("swap_last(Tensor self)", "transpose(self, -2, -1)", names="", doc="Transposes the last two dimensions.")

# ---- backward of views: zeros with the gradient in its place
manual("select_backward(Tensor grad, int[] input_sizes, int dim, int index)", linear=True, names="", grad={"grad": "select(grad, dim, index)"})
manual("slice_backward(Tensor grad, int[] input_sizes, int dim, int? start, int? end, int step)", linear=True, names="",
       grad={"grad": "slice(grad, dim, start, end, step)"})
manual("narrow_backward(Tensor grad_output, int[] input_sizes, int dim, int start)", linear=True, names="",
       grad={"grad_output": "narrow(grad, dim, start, size(grad_output, dim))"})
manual("diagonal_backward(Tensor grad, int[] input_sizes, int offset, int dim1, int dim2)", linear=True, names="",
       grad={"grad": "diagonal(grad, offset, dim1, dim2)"})
manual("unfold_backward(Tensor grad, int[] input_sizes, int dim, int size, int step)", linear=True, names="",
       grad={"grad": "unfold(grad, dim, size, step)"})
manual("as_strided_backward(Tensor grad, int[] input_sizes, int[] input_strides, int input_offset, int[] size, int[] stride,"
       " int? storage_offset)", names="",
       grad={"grad": "as_strided(as_laid_out(grad, input_sizes, input_strides, input_offset), size, stride, storage_offset)"})
manual("as_laid_out(Tensor self, int[] size, int[] stride, int offset)", names="", grad={"self": "reshape(grad, shape(self))"},
       doc="A copy of `self` in a fresh storage with the given strides and offset.")

# ---- copies
manual("clone(Tensor self, *, MemoryFormat? memory_format=None)", linear=True, grad={"self": "grad"}, out=False,
       doc="A copy of `self`.")
composite("contiguous(Tensor self, *, MemoryFormat? memory_format=None)", names="", method=True,
          doc="`self` if it is laid out so already, else a copy that is.")
composite("reshape(Tensor self, int... shape)", names="reshape", method=True, out=False,
          doc="The same elements in another shape: a view where strides allow it, else a copy.")
composite("flatten(Tensor self, int start_dim=0, int end_dim=-1)", out=False, doc="Merges a range of dimensions into one.")
composite("unflatten(Tensor self, int dim, int[] sizes)", out=False, doc="Splits a dimension into several.")
composite("ravel(Tensor self)", "reshape(self, -1)", out=False, doc="All elements in one dimension.")
composite("reshape_as(Tensor self, Tensor other)", "reshape(self, shape(other))", names="", method=True,
          doc="Reshapes to the shape of `other`.", devices="any")
composite("view_as(Tensor self, Tensor other)", "view(self, shape(other))", names="", method=True,
          doc="Views with the shape of `other`.", devices="any")
composite("expand_as(Tensor self, Tensor other)", "expand(self, shape(other))", names="", method=True,
          doc="Expands to the shape of `other`.", devices="any")
composite("broadcast_to(Tensor self, int... size)", "expand(self, size)", out=False, doc="Expands to a shape.")
composite("broadcast_tensors(Tensor[] tensors) -> Tensor[]", names="_broadcast_tensors", doc="Expands tensors to their common shape.")
composite("sum_to_size(Tensor self, int... size)", names="", method=True, doc="Sums over the dimensions that broadcasting would add.")
manual("cast(Tensor self, DType dtype)", linear=True, batch="leading", grad={"self": "cast(grad, dtype(self))"}, names="",
       doc="Converts elements; floats to integers saturate, NaN becomes 0.")
manual("copy_(Tensor self, Tensor src, bool non_blocking=False)", grad={"self": "zeros_like(grad)", "src": "grad"}, names="", method=True,
       doc="Copies the elements of `src`, with broadcasting and conversion.", devices="any")
manual("fill_(Tensor self, Tensor|Scalar value)", grad={"self": "zeros_like(grad)", "value": "sum(grad)"}, names="fill_", method=True,
       doc="Sets every element to `value`.")
manual("zero_(Tensor self)", batch="leading", grad={"self": "zeros_like(grad)"}, names="zero_", method=True, doc="Sets every element to 0.")
composite("fill(Tensor self, Tensor|Scalar value)", out=False, doc="A tensor like `self` with every element set to `value`.")
composite("to_dtype_copy(Tensor self, DType dtype)", names="", doc="A converted copy.")

# ---- joins and splits
manual("cat(Tensor[] tensors, int dim=0)", overlap="none", linear=True, grad={"tensors": "cat_backward(grad, shapes(tensors), dim)"},
       names="cat concat concatenate", doc="Joins tensors along a dimension.")
composite("cat_backward(Tensor grad, int[] shapes, int dim) -> Tensor[]", names="", doc="The pieces of a gradient of cat.")
composite("stack(Tensor[] tensors, int dim=0)", overlap="none", doc="Joins tensors along a new dimension.")
composite("unbind(Tensor self, int dim=0) -> Tensor[]", doc="The slices of a dimension.")
composite("split(Tensor self, int split_size, int dim=0) -> Tensor[]", names="split", method=True,
          doc="Pieces of equal size along a dimension; the last may be smaller.")
composite("split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]", names="split split_with_sizes", method=True,
          doc="Pieces of the given sizes along a dimension.")
composite("split_with_sizes_method(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]", "split_with_sizes(self, split_sizes, dim)",
          names="Tensor.split_with_sizes", method=False, doc="Pieces of the given sizes along a dimension.")
composite("chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", doc="At most `chunks` pieces of equal size along a dimension.")
composite("tensor_split(Tensor self, int sections, int dim=0) -> Tensor[]", method=True,
          doc="Exactly `sections` pieces of nearly equal size along a dimension.")
composite("tensor_split_indices(Tensor self, int[] indices, int dim=0) -> Tensor[]", names="tensor_split", method=True,
          doc="Pieces that begin at the given indices.")
composite("tensor_split_tensor(Tensor self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor[]", names="tensor_split",
          method=True, doc="Pieces given by an integer tensor.")
composite("hsplit(Tensor self, int sections) -> Tensor[]", method=True, doc="Splits along dimension 1 (0 for 1-d tensors).")
composite("hsplit_indices(Tensor self, int[] indices) -> Tensor[]", names="hsplit", method=True, doc="Splits along dimension 1.")
composite("vsplit(Tensor self, int sections) -> Tensor[]", method=True, doc="Splits along dimension 0.")
composite("vsplit_indices(Tensor self, int[] indices) -> Tensor[]", names="vsplit", method=True, doc="Splits along dimension 0.")
composite("dsplit(Tensor self, int sections) -> Tensor[]", method=True, doc="Splits along dimension 2.")
composite("dsplit_indices(Tensor self, int[] indices) -> Tensor[]", names="dsplit", method=True, doc="Splits along dimension 2.")
composite("hstack(Tensor[] tensors)", overlap="none", doc="Joins tensors column by column.")
composite("vstack(Tensor[] tensors)", overlap="none", names="vstack row_stack", doc="Joins tensors row by row.")
composite("dstack(Tensor[] tensors)", overlap="none", doc="Joins tensors along dimension 2.")
composite("column_stack(Tensor[] tensors)", overlap="none", doc="Joins 1-d tensors as columns.")
composite("atleast_1d(Tensor self)", names="_atleast_1d", method=False, out=False, doc="At least one dimension.")
composite("atleast_2d(Tensor self)", names="_atleast_2d", method=False, out=False, doc="At least two dimensions.")
composite("atleast_3d(Tensor self)", names="_atleast_3d", method=False, out=False, doc="At least three dimensions.")
composite("block_diag(Tensor[] tensors)", names="_block_diag", out=False, doc="A matrix with the tensors as diagonal blocks.")
composite("repeat(Tensor self, int... repeats)", names="", method=True, doc="Copies of `self` along each dimension.")
composite("tile(Tensor self, int... dims)", out=False, doc="Copies of `self` along each dimension, as NumPy counts them.")
composite("rot90(Tensor self, int k=1, int[] dims=[0, 1])", doc="Rotates by quarter turns in the plane of two dimensions.")
composite("diag(Tensor self, int diagonal=0)", out="exact", doc="The diagonal of a matrix, or a matrix with the given diagonal.")
composite("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1)", doc="Puts the last dimension on diagonals of new matrices.")
composite("diagflat(Tensor self, int offset=0)", "diag(reshape(self, -1), offset)", out=False, doc="A matrix with all elements on its diagonal.")
composite("adjoint(Tensor self)", out=False, doc="The conjugate transpose of the last two dimensions.")
composite("matrix_H(Tensor self)", names="", doc="The conjugate transpose of a matrix.")
composite("reverse_dims(Tensor self)", names="", doc="All dimensions in reverse order.")
composite("select_scatter(Tensor self, Tensor src, int dim, int index)", doc="A copy of `self` with a slice replaced.")
composite("slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1)", out="exact",
          doc="A copy of `self` with a strided slice replaced.")
composite("diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1)",
          doc="A copy of `self` with a diagonal replaced.")
composite("as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None)",
          doc="A copy of `self` with a strided view of it replaced.")
composite("meshgrid_list(Tensor[] tensors, str indexing='ij') -> Tensor[]", names="_meshgrid", doc="Coordinate grids.")
manual("resize_(Tensor self, int... size, *, MemoryFormat? memory_format=None)", names="", method=True,
       doc="Changes the shape in place; new elements are not initialised.")

# ---- copies of views
composite("alias_copy(Tensor self)", "clone(alias_view(self))", out="exact", doc="A copy.", method=False)
composite("as_strided_copy(Tensor self, int[] size, int[] stride, int? storage_offset=None)",
          "clone(as_strided(self, size, stride, storage_offset))", out="exact", doc="A copy of as_strided.", method=False)
composite("diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1)", "clone(diagonal(self, offset, dim1, dim2))", out="exact",
          doc="A copy of diagonal.", method=False)
composite("expand_copy(Tensor self, int[] size, *, bool implicit=False)", "clone(expand(self, size))", out="exact", doc="A copy of expand.", method=False)
composite("permute_copy(Tensor self, int[] dims)", "clone(permute(self, dims))", out="exact", doc="A copy of permute.", method=False)
composite("narrow_copy(Tensor self, int dim, int start, int length)", "clone(narrow(self, dim, start, length))", out="exact",
          doc="A copy of narrow.")
composite("squeeze_copy(Tensor self)", "clone(squeeze(self))", out="exact", names="squeeze_copy", doc="A copy of squeeze.", method=False)
composite("squeeze_copy_dim(Tensor self, int[] dim)", "clone(squeeze_dim(self, dim))", out="exact", names="squeeze_copy", doc="A copy of squeeze.",
          method=False)
composite("t_copy(Tensor self)", "clone(t(self))", out="exact", doc="A copy of t.", method=False)
composite("transpose_copy(Tensor self, int dim0, int dim1)", "clone(transpose(self, dim0, dim1))", out="exact", doc="A copy of transpose.", method=False)
composite("unfold_copy(Tensor self, int dimension, int size, int step)", "clone(unfold(self, dimension, size, step))", out="exact",
          doc="A copy of unfold.", method=False)
composite("unsqueeze_copy(Tensor self, int dim)", "clone(unsqueeze(self, dim))", out="exact", doc="A copy of unsqueeze.", method=False)
composite("view_copy(Tensor self, int[] size)", "clone(view(self, size))", out="exact", names="view_copy", doc="A copy of view.", method=False)
composite("select_copy(Tensor self, int dim, int index)", "clone(select(self, dim, index))", out="exact", doc="A copy of select.", method=False)
composite("slice_copy(Tensor self, int dim=0, int? start=None, int? end=None, int step=1)",
          "clone(slice(self, dim, start, end, step))", out="exact", doc="A copy of a slice.", method=False)
composite("unbind_copy(Tensor self, int dim=0) -> Tensor[]", doc="Copies of the slices of a dimension.", method=False, out=True)
composite("split_copy(Tensor self, int split_size, int dim=0) -> Tensor[]", doc="Copies of equal pieces.", method=False, out=True)
composite("split_with_sizes_copy(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]", doc="Copies of pieces.", method=False, out=True)
