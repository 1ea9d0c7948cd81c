"""Norms, condition numbers, powers and other expressions of matrices, made of factorizations."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

# ---- norms
composite("linalg_norm(Tensor self, Scalar? ord=None, int[]? dim=None, bool keepdim=False, *, DType? dtype=None)", out="exact", names="linalg.norm", method=False,
          doc="A norm of vectors or matrices, as ord and the number of dimensions say.")
composite("linalg_norm_named(Tensor self, str ord, int[]? dim=None, bool keepdim=False, *, DType? dtype=None)", out="exact", names="linalg.norm", method=False,
          doc="The Frobenius (`fro`) or nuclear (`nuc`) norm of matrices.")
composite("linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=(-2, -1), bool keepdim=False, *, DType? dtype=None)", out="exact", names="linalg.matrix_norm",
          doc="A norm of matrices: ord is 1, -1, 2, -2, inf or -inf.")
composite("linalg_matrix_norm_named(Tensor self, str ord='fro', int[] dim=(-2, -1), bool keepdim=False, *, DType? dtype=None)", out="exact",
          names="linalg.matrix_norm", doc="The Frobenius (`fro`) or nuclear (`nuc`) norm of matrices.")
composite("nuclear_norm(Tensor self, bool keepdim=False)", method=False, doc="The sum of a matrix's singular values.")
composite("nuclear_norm_dim(Tensor self, int[] dim, bool keepdim=False)", names="nuclear_norm", method=False,
          doc="The sums of the singular values of matrices in two dimensions.")
composite("frobenius_norm(Tensor self, int[] dim, bool keepdim=False)", method=False, doc="The square root of the sum of squares over dimensions.")
composite("norm_except_dim(Tensor v, int pow=2, int dim=0)", out=False, doc="The norms over all dimensions but one, kept with size 1.")
composite("linalg_cond(Tensor self, Scalar? p=None)", names="linalg.cond", doc="The condition numbers of matrices: `norm(A) norm(A^-1)`.")
composite("linalg_cond_named(Tensor self, str p)", names="linalg.cond", doc="The condition numbers of matrices in the `fro` or `nuc` norm.")

# ---- ranks
composite("linalg_matrix_rank_tol(Tensor self, float tol, bool hermitian=False)", names="linalg.matrix_rank", method=False,
          doc="The number of singular values above a tolerance.")
composite("linalg_matrix_rank_tol_tensor(Tensor self, Tensor tol, bool hermitian=False)", names="linalg.matrix_rank", method=False,
          doc="The number of singular values above tolerances.")
composite("linalg_matrix_rank(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False)", names="linalg.matrix_rank", method=False,
          doc="The number of singular values above max(atol, rtol * largest).")
composite("linalg_matrix_rank_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False)", names="linalg.matrix_rank",
          method=False, doc="The number of singular values above max(atol, rtol * largest).")

# ---- powers, products, tensors
composite("matrix_power(Tensor self, int n)", names="matrix_power linalg.matrix_power", method=True,
          doc="Powers of matrices; of inverses where n is negative.")
composite("chain_matmul_list(Tensor[] matrices)", names="_chain_matmul", out=False, doc="The product of a chain of matrices.")
composite("linalg_tensorinv(Tensor self, int ind=2)", names="linalg.tensorinv", doc="The inverse of tensordot with `self` over ind dimensions.")
composite("linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None)", names="linalg.tensorsolve",
          doc="The solution of `tensordot(self, X) = other`.")
composite("linalg_vander(Tensor x, *, int? N=None)", names="linalg.vander", out=False, doc="Powers of the elements of x, from 0 to N - 1, as rows.")
composite("vander(Tensor x, int? N=None, bool increasing=False)", out=False,
          doc="The matrix whose N columns (by default as many as elements) are the powers of a vector, the highest first unless `increasing`.")
composite("grouped_mm(Tensor mat_a, Tensor mat_b, *, Tensor? offs=None, Tensor? bias=None, DType? out_dtype=None)",
          names="nn.functional.grouped_mm", out=False,
          doc="Products of matrices by groups: `offs[i]` (int32) ends group i of each 2-d operand. (m, k) and (g, k, n) give (m, n), whose rows of"
              " group i are multiplied by matrix i; (g, m, k) and (k, n) give (m, n), whose columns are; (m, k) and (k, n) give (g, m, n), one"
              " product for every part of k; (g, m, k) and (g, k, n) give (g, m, n) without `offs`. What lies beyond the last offset is zero."
              " RuntimeError for operands that are not of one floating dtype or do not fit.")
