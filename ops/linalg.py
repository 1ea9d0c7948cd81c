"""Factorizations that solve systems of equations: Cholesky, LU, LDL, inverses, determinants, triangular systems."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

# ---- Cholesky
manual("linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)", out="exact", batch="matrices",
       names="linalg.cholesky_ex", tuple_name="linalg_cholesky_ex", grad={"self": "cholesky_backward(grad_L, L, upper)"},
       doc="The Cholesky factors of Hermitian positive-definite matrices, and the order of the first minor that is not positive.")
composite("cholesky_backward(Tensor grad, Tensor L, bool upper)", names="")
composite("linalg_cholesky(Tensor self, *, bool upper=False)", out="exact", names="linalg.cholesky",
          doc="The Cholesky factors of Hermitian positive-definite matrices; LinAlgError for others.")
composite("cholesky(Tensor self, bool upper=False)", doc="The Cholesky factors of Hermitian positive-definite matrices.")
# The gradients with respect to L count both triangles, as PyTorch's do, though one is read.
manual("cholesky_solve(Tensor self, Tensor L, bool upper=False)",
       grad={("self", "L"): "cholesky_solve_backward(grad, result, L, upper)"},
       doc="The solutions of `A X = self`, given the Cholesky factors of A.")
composite("cholesky_solve_backward(Tensor grad, Tensor result, Tensor L, bool upper) -> (Tensor a, Tensor b)", names="")
manual("cholesky_inverse(Tensor self, bool upper=False)", batch="matrices", grad={"self": "cholesky_inverse_backward(grad, result, self, upper)"},
       doc="The inverses of matrices, given their Cholesky factors.")
composite("cholesky_inverse_backward(Tensor grad, Tensor result, Tensor L, bool upper)", names="")

# ---- LU
manual("linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)", out="exact", batch="matrices",
       names="linalg.lu_factor_ex", tuple_name="linalg_lu_factor_ex", grad={"A": "lu_factor_backward(grad_LU, LU, pivots)"},
       doc="Compact LU factors with pivots counted from 1, and the position of the first zero on U's diagonal.")
composite("lu_factor_backward(Tensor grad, Tensor LU, Tensor pivots)", names="")
composite("linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)", out="exact", names="linalg.lu_factor",
          tuple_name="linalg_lu_factor", doc="Compact LU factors with pivots counted from 1.")
composite("linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", out="exact", names="linalg.lu", tuple_name="linalg_lu",
          doc="The factors of `A = P L U`: a permutation, unit lower and upper triangular matrices.")
composite("lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info)",
          names="_lu_with_info", out=False, method=False, doc="Compact LU factors, pivots and the position of the first zero pivot.")
composite("lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)", out="exact",
          tuple_name="lu_unpack", doc="The matrices P, L and U of compact LU factors.")
composite("linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False)", out="exact", names="linalg.lu_solve",
          doc="The solutions of `A X = B` (`X A = B`, or of the adjoint A), given LU factors of A.")
composite("lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots)", out="exact", doc="The solutions of `A X = self`, given LU factors of A.")

# ---- systems and inverses
manual("solve_factors(Tensor A, Tensor B, bool left) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info)", names="",
       grad={("A", "B"): "solve_backward(grad_result, A, result, LU, pivots, left, mask)"},
       doc="Solutions of `A X = B` or `X A = B` for matrices B, with the factors of A.")
composite("solve_backward(Tensor grad, Tensor A, Tensor result, Tensor LU, Tensor pivots, bool left, bool[] mask) -> (Tensor a, Tensor b)",
          names="")
composite("linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)", out="exact",
          names="linalg.solve_ex", tuple_name="linalg_solve_ex",
          doc="The solutions of `A X = B` (`X A = B`), and the position of the first zero pivot of A.")
composite("linalg_solve(Tensor A, Tensor B, *, bool left=True)", out="exact", names="linalg.solve",
          doc="The solutions of `A X = B` (`X A = B`); LinAlgError for singular matrices.")
manual("linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)", out="exact", batch="matrices", names="linalg.inv_ex",
       tuple_name="linalg_inv_ex", grad={"A": "inverse_backward(grad_inverse, inverse)"},
       doc="The inverses of matrices (NaN for singular ones), and the position of the first zero pivot.")
composite("inverse_backward(Tensor grad, Tensor inverse)", "-matmul(swap_conj(inverse), matmul(grad, swap_conj(inverse)))", names="")
composite("linalg_inv(Tensor A)", out="exact", names="linalg.inv", doc="The inverses of matrices; LinAlgError for singular ones.")
composite("inverse(Tensor self)", doc="The inverses of matrices; LinAlgError for singular ones.")
manual("linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False)", out="exact",
       names="linalg.solve_triangular",
       grad={("self", "B"): "solve_triangular_backward(grad, self, result, upper, left, unitriangular, mask)"},
       doc="The solutions of `A X = B` (`X A = B`) for triangular A, of which one triangle is read.")
composite("solve_triangular_backward(Tensor grad, Tensor A, Tensor result, bool upper, bool left, bool unitriangular, bool[] mask)"
          " -> (Tensor a, Tensor b)", names="")
composite("triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False)"
          " -> (Tensor solution, Tensor cloned_coefficient)", out="exact", tuple_name="triangular_solve",
          doc="The solutions of `A X = self` for triangular A, and a copy of A.")

# ---- determinants
manual("det_factors(Tensor A) -> (Tensor det, Tensor LU, Tensor pivots)", batch="matrices", names="",
       grad={"A": "det_backward(grad_det, A, det, LU, pivots)"}, doc="Determinants, with the LU factors that gave them.")
composite("det_backward(Tensor grad, Tensor A, Tensor det, Tensor LU, Tensor pivots)", names="")
manual("slogdet_factors(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)", batch="matrices", names="",
       grad={"A": "slogdet_backward(grad_sign, grad_logabsdet, A, sign, LU, pivots)"},
       doc="Signs and logarithms of the absolute values of determinants, with LU factors.")
composite("slogdet_backward(Tensor grad_sign, Tensor grad_logabsdet, Tensor A, Tensor sign, Tensor LU, Tensor pivots)", names="")
composite("linalg_det(Tensor A)", out="exact", names="linalg.det", doc="The determinants of matrices.")
composite("det(Tensor self)", "linalg_det(self)", out=False, doc="The determinants of matrices.")
composite("linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", out="exact", names="linalg.slogdet", tuple_name="linalg_slogdet",
          doc="The signs of determinants and the logarithms of their absolute values.")
composite("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", tuple_name="slogdet",
          doc="The signs of determinants and the logarithms of their absolute values.")
composite("logdet(Tensor self)", out=False, doc="The logarithms of determinants; NaN where they are negative.")

# ---- symmetric indefinite systems
manual("linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivots, Tensor info)", out="exact", batch="matrices",
       names="linalg.ldl_factor_ex", tuple_name="linalg_ldl_factor_ex", nondifferentiable="pivots change with the input",
       doc="Compact Bunch-Kaufman factors of symmetric (Hermitian) matrices, of which the lower triangle is read.")
composite("linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)", out="exact", names="linalg.ldl_factor",
          tuple_name="linalg_ldl_factor", doc="Compact Bunch-Kaufman factors of symmetric (Hermitian) matrices.")
manual("linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False)", out="exact", names="linalg.ldl_solve",
       nondifferentiable="the factors carry no gradient", doc="The solutions of `A X = B`, given Bunch-Kaufman factors of A.")

# ---- permutations of rows
manual("pivot_rows(Tensor pivots, int rows)", batch="leading", names="", method=False, out=False, nondifferentiable="positions",
       doc="The order of rows that the swaps of LU factors make: row i of the result's matrix is row r[i] of the input's.")
manual("inverse_order(Tensor rows)", batch="leading", names="", method=False, out=False, nondifferentiable="positions",
       doc="The inverse of permutations.")
