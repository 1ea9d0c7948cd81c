"""Products of vectors, matrices and batches of them."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

manual("mm(Tensor self, Tensor mat2)",
       grad={"self": "linear_input_grad(grad, transpose(mat2, 0, 1))",
             "mat2": "linear_weight_grad(conj_complex(self), conj_complex(grad))"},
       out="exact", doc="The product of two matrices.")
manual("bmm(Tensor self, Tensor mat2)",
       grad={"self": "bmm(grad, swap_conj(mat2))", "mat2": "bmm(swap_conj(self), grad)"},
       out="exact", doc="The products of two batches of matrices.")
manual("mv(Tensor self, Tensor vec)",
       grad={"self": "outer(grad, conj_complex(vec))", "vec": "mv(swap_conj(self), grad)"},
       out="exact", doc="The product of a matrix and a vector.")
manual("dot(Tensor self, Tensor tensor)", grad={"self": "grad * conj_complex(tensor)", "tensor": "grad * conj_complex(self)"},
       out="exact", doc="The sum of the products of two vectors' elements.")
manual("vdot(Tensor self, Tensor other)", grad={"self": "conj_complex(grad) * other", "other": "grad * self"},
       out="exact", doc="The dot product with the first vector conjugated.")
composite("outer(Tensor self, Tensor vec2)", overlap="none", names="outer ger", doc="All products of the elements of two vectors.")
manual("addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1)", overlap="whole", inplace=True,
       grad={"self": "scaled(grad, beta)",
             "mat1": "scaled(linear_input_grad(grad, transpose(mat2, 0, 1)), alpha)",
             "mat2": "scaled(linear_weight_grad(conj_complex(mat1), conj_complex(grad)), alpha)"},
       out="exact", doc="`beta * self + alpha * mat1 @ mat2`.")
manual("baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1)", overlap="whole", inplace=True,
       grad={"self": "scaled(grad, beta)", "batch1": "scaled(bmm(grad, swap_conj(batch2)), alpha)",
             "batch2": "scaled(bmm(swap_conj(batch1), grad), alpha)"},
       out="exact", doc="`beta * self + alpha * batch1 @ batch2` for batches of matrices.")
manual("addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1)", overlap="whole", inplace=True,
       grad={"self": "scaled(grad, beta)", "mat": "scaled(outer(grad, conj_complex(vec)), alpha)",
             "vec": "scaled(mv(swap_conj(mat), grad), alpha)"},
       out="exact", doc="`beta * self + alpha * mat @ vec`.")
composite("addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1)", overlap="whole", inplace=True,
          out="exact", doc="`beta * self + alpha * ` the sum of `batch1 @ batch2` over the batch.")
composite("addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1)", overlap="whole", inplace=True,
          doc="`beta * self + alpha * outer(vec1, vec2)`.")
composite("matmul(Tensor self, Tensor other)", names="matmul linalg.matmul", method=True,
          out="exact", doc="The product of matrices, vectors, or broadcast batches of matrices.")
composite("scaled(Tensor self, Scalar factor)", names="", doc="`self * conj(factor)`; `self` when the factor is 1.")
composite("conj_complex(Tensor self)", names="", doc="The conjugate of a complex tensor; others are returned as they are.")
composite("swap_conj(Tensor self)", names="", doc="The conjugate transpose of the last two dimensions.")

# ---- linear layers: the product with a transposed weight, and its two gradients
composite("linear(Tensor input, Tensor weight, Tensor? bias=None)", names="nn.functional.linear", out="exact",
          doc="`input @ weight.T + bias` over the last dimension of `input`.")
manual("linear_product(Tensor input, Tensor weight, Tensor? bias=None)", names="",
       grad={"input": "linear_input_grad(grad, weight)", "weight": "linear_weight_grad(grad, input)",
             "bias": "grad"},
       doc="linear for weights that are matrices.")
manual("linear_input_grad(Tensor grad_output, Tensor weight)", names="",
       grad={"grad_output": "linear_product(grad, weight)", "weight": "linear_weight_grad(grad_output, grad)"},
       doc="`grad_output @ conj(weight)`.")
manual("linear_weight_grad(Tensor grad_output, Tensor input)", names="",
       grad={"grad_output": "linear_product(input, grad)", "input": "linear_input_grad(grad_output, grad)"},
       doc="`grad_output.T @ conj(input)` over all leading dimensions.")
composite("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None)", names="nn.functional.bilinear",
          doc="`input1 @ weight[k] @ input2` for each output feature k, plus the bias.")

# ---- contractions
composite("inner(Tensor self, Tensor other)", overlap="whole", doc="Sums of products over the last dimensions.")
composite("kron(Tensor self, Tensor other)", overlap="none", doc="The Kronecker product.")
composite("tensordot_dims(Tensor self, Tensor other, int[] dims_self, int[] dims_other)", out="exact", names="_tensordot",
          doc="Sums of products over the given dimensions of both tensors.")
composite("multi_dot(Tensor[] tensors)", out="exact", names="linalg.multi_dot",
          doc="The product of a chain of matrices, in the cheapest order.")
composite("einsum(str equation, Tensor[] operands)", names="_einsum", out=False,
          doc="The contraction that an equation over letters describes, such as `bij,bjk->bik`.")
