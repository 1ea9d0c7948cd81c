"""Picking and writing elements by position or mask; embeddings; flips, rolls and triangles."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

# ---- along one dimension
manual("index_select(Tensor self, int dim, Tensor index)", overlap="none", linear=True, grad={"self": "index_select_backward(grad, shape(self), dim, index)"},
       out="exact", doc="The slices of a dimension at the given positions.")
composite("index_select_backward(Tensor grad, int[] sizes, int dim, Tensor index)", names="")
manual("gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False)", overlap="none", linear=True,
       grad={"self": "gather_backward(grad, shape(self), dim, index)"}, out="exact", doc="For each position of `index`, the element of `self` there with coordinate `dim` replaced.")
composite("gather_backward(Tensor grad, int[] sizes, int dim, Tensor index)", names="")
composite("take_along_dim(Tensor self, Tensor indices, int? dim=None)", overlap="none", out="exact", doc="gather with broadcasting; of all elements without a dimension.")
manual("scatter(Tensor self, int dim, Tensor index, Tensor src)", overlap="whole", out="exact", linear=True, inplace="direct",
       grad={"self": "scatter_value(grad, dim, index, 0)", "src": "gather(grad, dim, index)"},
       doc="Writes `src` at the positions of `index` along a dimension.")
manual("scatter_value(Tensor self, int dim, Tensor index, Scalar value)", overlap="whole", out="exact", names="scatter", method=True, inplace="direct",
       grad={"self": "scatter_value(grad, dim, index, 0)"}, doc="Writes one value at the positions of `index` along a dimension.")
manual("scatter_combined(Tensor self, int dim, Tensor index, Tensor src, *, str reduce)", overlap="whole", out="exact", names="scatter", method=True, inplace="direct",
       nondifferentiable="scatter_reduce is the differentiable form", doc="Adds (`add`) or multiplies (`multiply`) at the positions of `index`.")
manual("scatter_value_combined(Tensor self, int dim, Tensor index, Scalar value, *, str reduce)", overlap="whole", out="exact", names="scatter", method=True,
       inplace="direct", nondifferentiable="scatter_reduce is the differentiable form", doc="Adds or multiplies one value.")
manual("scatter_add(Tensor self, int dim, Tensor index, Tensor src)", overlap="whole", out="exact", linear=True, inplace="direct",
       grad={"self": "grad", "src": "gather(grad, dim, index)"}, doc="Adds `src` at the positions of `index` along a dimension.")
manual("scatter_reduce(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True)", overlap="whole", out="exact", inplace="direct",
       grad={("self", "src"): "scatter_reduce_backward(grad, self, src, result, dim, index, reduce, include_self, mask)"},
       inplace_grad={("self", "src"): "scatter_reduce_backward(grad, self, src, result, dim, index, reduce, include_self, mask)"},
       doc="Combines `src` at the positions of `index`: sum, prod, mean, amax or amin.")
composite("scatter_reduce_backward(Tensor grad, Tensor self, Tensor src, Tensor result, int dim, Tensor index, str reduce, bool include_self,"
          " bool[] mask) -> (Tensor self, Tensor src)", names="")
manual("index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1)", overlap="whole", out="exact", linear=True, inplace="direct",
       grad={"self": "grad", "source": "index_add_backward(grad, dim, index, shape(source), alpha)"},
       doc="Adds `alpha * source` to the slices at the given positions.")
composite("index_add_backward(Tensor grad, int dim, Tensor index, int[] sizes, Scalar alpha)", names="")
manual("index_copy(Tensor self, int dim, Tensor index, Tensor source)", overlap="whole", out="exact", linear=True, inplace="direct",
       grad={"self": "index_fill(grad, dim, index, 0)", "source": "index_add_backward(grad, dim, index, shape(source), 1)"},
       doc="Writes the slices of `source` at the given positions.")
manual("index_fill(Tensor self, int dim, Tensor index, Scalar value)", overlap="whole", inplace="direct", grad={"self": "index_fill(grad, dim, index, 0)"},
       doc="Writes one value into the slices at the given positions.")
manual("index_fill_tensor(Tensor self, int dim, Tensor index, Tensor value)", overlap="whole", names="index_fill", method=True, inplace="direct",
       grad={"self": "index_fill(grad, dim, index, 0)", "value": "sum(grad - index_fill(grad, dim, index, 0))"},
       doc="Writes a 0-d tensor into the slices at the given positions.")
manual("index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True)", overlap="whole", out="exact", inplace="direct",
       grad={("self", "source"): "index_reduce_backward(grad, self, source, result, dim, index, reduce, include_self, mask)"},
       inplace_grad={("self", "source"): "index_reduce_backward(grad, self, source, result, dim, index, reduce, include_self, mask)"},
       doc="Combines slices of `source` at the given positions: prod, mean, amax or amin.")
composite("index_reduce_backward(Tensor grad, Tensor self, Tensor source, Tensor result, int dim, Tensor index, str reduce, bool include_self,"
          " bool[] mask) -> (Tensor self, Tensor source)", names="")

# ---- by index tensors and masks
manual("index(Tensor self, Tensor?[] indices)", linear=True, names="", devices="any", grad={"self": "index_backward(grad, shape(self), indices)"},
       doc="Advanced indexing: each given index tensor (or mask) takes the place of its dimension.")
composite("index_backward(Tensor grad, int[] sizes, Tensor?[] indices)", names="")
manual("index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False)", overlap="whole", linear=True, inplace="direct",
       grad={"self": "index_put_backward_self(grad, indices, accumulate)", "values": "index_put_backward_values(grad, indices, shape(values))"},
       doc="Writes or adds values where index tensors (or masks) point.", devices="any")
composite("index_put_backward_self(Tensor grad, Tensor?[] indices, bool accumulate)", names="")
composite("index_put_backward_values(Tensor grad, Tensor?[] indices, int[] sizes)", names="")
manual("take(Tensor self, Tensor index)", overlap="none", linear=True, grad={"self": "put(zeros_shaped(grad, shape(self)), index, grad, True)"},
       out="exact", doc="The elements at positions in row-major order.")
composite("zeros_shaped(Tensor like, int[] sizes)", names="", doc="Zeros with the dtype and device of a tensor.")
manual("put(Tensor self, Tensor index, Tensor source, bool accumulate=False)", overlap="whole", inplace="direct",
       grad={"self": "grad if accumulate else put(grad, index, zeros_shaped(grad, shape(source)), False)",
             "source": "reshape(take(grad, index), shape(source))"},
       doc="Writes or adds at positions in row-major order.")
manual("masked_select(Tensor self, Tensor mask)", overlap="none", linear=True, grad={"self": "masked_select_backward(grad, shape(self), mask)"},
       out="exact", doc="The elements where `mask` is true, as one dimension.")
composite("masked_select_backward(Tensor grad, int[] sizes, Tensor mask)", names="")
manual("masked_scatter(Tensor self, Tensor mask, Tensor source)", linear=True, inplace="direct", out=False,
       grad={"self": "where(mask, 0, grad)", "source": "masked_scatter_backward(grad, mask, shape(source))"},
       doc="Writes the elements of `source`, in order, where `mask` is true.")
composite("masked_scatter_backward(Tensor grad, Tensor mask, int[] sizes)", names="")
manual("nonzero(Tensor self)", names="_nonzero", method=False, out="exact", nondifferentiable="positions", doc="The positions of non-zero elements, a row each.")
composite("nonzero_tuple(Tensor self) -> Tensor[]", names="_nonzero_tuple", method=False, doc="The positions of non-zero elements, a tensor for each dimension.")
composite("argwhere(Tensor self)", "nonzero(self)", out=False, doc="The positions of non-zero elements, a row each.")
composite("nonzero_static(Tensor self, *, int size, int fill_value=-1)", doc="The first `size` positions of non-zero elements, padded.")

# ---- embeddings
manual("embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False)", linear=True,
       names="embedding nn.functional.embedding", method=False, out=False,
       grad={"weight": "embedding_sparse_backward(grad, indices, shape(weight)[0], padding_idx, scale_grad_by_freq) if sparse else"
                       " embedding_backward(grad, indices, shape(weight)[0], padding_idx, scale_grad_by_freq)"},
       doc="The rows of `weight` at the given positions.")
composite("embedding_sparse_backward(Tensor grad, Tensor indices, int num_weights, int padding_idx, bool scale_grad_by_freq)", names="")
manual("embedding_backward(Tensor grad, Tensor indices, int num_weights, int padding_idx, bool scale_grad_by_freq)", linear=True, names="",
       grad={"grad": "embedding_backward_backward(grad, indices, padding_idx, scale_grad_by_freq)"})
composite("embedding_backward_backward(Tensor grad, Tensor indices, int padding_idx, bool scale_grad_by_freq)", names="")
manual("embedding_renorm_(Tensor self, Tensor indices, float max_norm, float norm_type)", names="embedding_renorm_ nn.functional.embedding_renorm_", method=False,
       doc="Scales the rows at the given positions down to a largest norm, in place.")
manual("one_hot(Tensor self, int num_classes=-1)", names="nn.functional.one_hot", doc="Ones at the given classes along a new last dimension.")

# ---- repeats, flips, rolls, triangles
composite("repeat_interleave_tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None)", names="repeat_interleave", method=True,
          out=False, doc="Repeats each slice along a dimension by a number of its own.")
composite("repeat_interleave(Tensor self, int repeats, int? dim=None, *, int? output_size=None)", method=True, out=False,
          doc="Repeats each slice along a dimension.")
composite("repeat_interleave_counts(Tensor repeats, *, int? output_size=None)", names="repeat_interleave", method=False, out=False,
          doc="The positions 0, 1, ... each repeated by a number.")
manual("repeat_index(Tensor repeats)", names="")
manual("flip(Tensor self, int... dims)", linear=True, grad={"self": "flip(grad, dims)"}, out=False, doc="Reverses dimensions.")
composite("fliplr(Tensor self)", doc="Reverses dimension 1.", out=False)
composite("flipud(Tensor self)", doc="Reverses dimension 0.", out=False)
manual("roll_dim(Tensor self, int shift, int dim)", linear=True, batch="along", names="", grad={"self": "roll_dim(grad, -shift, dim)"})
composite("roll(Tensor self, int[] shifts, int[] dims=[])", out=False, doc="Shifts elements around along dimensions; without dimensions, in row-major order.")
manual("tril(Tensor self, int diagonal=0)", linear=True, batch="matrices", inplace=True, grad={"self": "tril(grad, diagonal)"},
       out="exact", doc="The elements on and below a diagonal of the last two dimensions, the others 0.")
manual("triu(Tensor self, int diagonal=0)", linear=True, batch="matrices", inplace=True, grad={"self": "triu(grad, diagonal)"},
       out="exact", doc="The elements on and above a diagonal of the last two dimensions, the others 0.")
