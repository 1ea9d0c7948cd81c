"""Orthogonal factors and spectra: QR, reflections, eigenvalues, singular values, least squares, functions of matrices."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

# ---- QR and reflections
manual("linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)", out="exact", batch="matrices", names="linalg.qr", tuple_name="linalg_qr",
       grad={"A": "qr_backward(grad_Q, grad_R, Q, R, mode)"},
       doc="Orthonormal columns Q and upper triangular R with `A = Q R`; mode is reduced, complete or r.")
composite("qr_backward(Tensor grad_Q, Tensor grad_R, Tensor Q, Tensor R, str mode)", names="")
composite("qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)", tuple_name="qr", doc="Orthonormal columns Q and upper triangular R.")
manual("geqrf(Tensor self) -> (Tensor a, Tensor tau)", batch="matrices", tuple_name="geqrf", nondifferentiable="PyTorch has no derivative for it either",
       doc="R with the Householder vectors below it, and the factors of the reflections.")
manual("linalg_householder_product(Tensor self, Tensor tau)", names="linalg.householder_product orgqr",
       grad={("self", "tau"): "householder_backward(grad, self, tau, mask)"}, method=False, aliases="Tensor.orgqr",
       doc="The first columns of a product of Householder reflections.")
composite("householder_backward(Tensor grad, Tensor self, Tensor tau, bool[] mask) -> (Tensor a, Tensor b)", names="")
manual("ormqr(Tensor self, Tensor tau, Tensor other, bool left=True, bool transpose=False)", out="exact",
       grad={("self", "tau", "other"): "ormqr_backward(grad, self, tau, other, left, transpose, mask)"},
       doc="The product of Householder reflections (or its adjoint) with a matrix.")
composite("ormqr_backward(Tensor grad, Tensor self, Tensor tau, Tensor other, bool left, bool transpose, bool[] mask)"
          " -> (Tensor a, Tensor b, Tensor c)", names="")

# ---- eigenvalues
manual("linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)", out="exact", batch="matrices", names="linalg.eigh", tuple_name="linalg_eigh",
       grad={"self": "eigh_backward(grad_eigenvalues if defined(grad_eigenvalues) else None,"
                     " grad_eigenvectors if defined(grad_eigenvectors) else None, eigenvalues, eigenvectors)"},
       doc="Eigenvalues in rising order and orthonormal eigenvectors of Hermitian matrices, of which one triangle is read.")
composite("eigh_backward(Tensor? grad_values, Tensor? grad_vectors, Tensor values, Tensor vectors)", names="")
manual("eigvalsh_only(Tensor self, str UPLO)", batch="matrices", names="", nondifferentiable="linalg_eigvalsh takes eigh where a gradient is wanted")
composite("linalg_eigvalsh(Tensor self, str UPLO='L')", out="exact", names="linalg.eigvalsh", doc="The eigenvalues of Hermitian matrices in rising order.")
manual("linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)", batch="matrices", names="linalg.eig", tuple_name="linalg_eig",
       grad={"self": "eig_backward(grad_eigenvalues if defined(grad_eigenvalues) else None,"
                     " grad_eigenvectors if defined(grad_eigenvectors) else None, eigenvalues, eigenvectors)"},
       doc="Complex eigenvalues and eigenvectors of length 1, in no order.")
composite("eig_backward(Tensor? grad_values, Tensor? grad_vectors, Tensor values, Tensor vectors)", names="")
manual("eigvals_only(Tensor self)", batch="matrices", names="", nondifferentiable="linalg_eigvals takes eig where a gradient is wanted")
composite("linalg_eigvals(Tensor self)", names="linalg.eigvals", doc="The complex eigenvalues of matrices, in no order.")

# ---- singular values
manual("linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)", out="exact", batch="matrices", names="linalg.svd",
       tuple_name="linalg_svd",
       grad={"A": "svd_backward(grad_U if defined(grad_U) else None, grad_S if defined(grad_S) else None,"
                  " grad_Vh if defined(grad_Vh) else None, U, S, Vh)"},
       doc="The factors of `A = U diag(S) Vh`, singular values in falling order.")
composite("svd_backward(Tensor? grad_U, Tensor? grad_S, Tensor? grad_Vh, Tensor U, Tensor S, Tensor Vh)", names="")
manual("svdvals_only(Tensor A)", batch="matrices", names="", nondifferentiable="linalg_svdvals takes svd where a gradient is wanted")
composite("linalg_svdvals(Tensor A, *, str? driver=None)", out="exact", names="linalg.svdvals", doc="The singular values of matrices in falling order.")
composite("svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)", out="exact", tuple_name="svd",
          doc="The factors of `self = U diag(S) V^H`.")
composite("svd_lowrank(Tensor A, int? q=6, int? niter=2, Tensor? M=None) -> (Tensor U, Tensor S, Tensor V)", tuple_name="", out=False,
          doc="The q largest singular values (*, q) of `A - M`, matrices (*, m, n), and their vectors U (*, m, q) and V (*, n, q), found in a random"
              " basis of their range, which `niter` products with the matrix and its adjoint improve (Halko, Martinsson and Tropp, 2009).")
composite("pca_lowrank(Tensor A, int? q=None, bool center=True, int niter=2) -> (Tensor U, Tensor S, Tensor V)", tuple_name="", out=False,
          doc="q principal components (by default at most 6) of the rows of A (*, m, n), centred unless told otherwise. ValueError for q outside"
              " of [0, min(m, n)].")

# ---- a few eigenvalues of large matrices
composite("lobpcg(Tensor A, int? k=None, Tensor? B=None, Tensor? X=None, int? n=None, Tensor? iK=None, int? niter=None, float? tol=None,"
          " bool? largest=None, str? method=None) -> (Tensor values, Tensor vectors)", names="_lobpcg", tuple_name="", out=False,
          doc="The k largest (or smallest) eigenvalues of `A x = l B x` and their vectors, by the locally optimal block method (Knyazev, 2001).")
composite("lobpcg_steps(Tensor A, Tensor? B, Tensor? iK, Tensor X, Tensor? P, int k, int niter, float? tol, bool largest)"
          " -> (Tensor values, Tensor X, Tensor P)", names="_lobpcg_steps", tuple_name="", out=False,
          doc="At most niter steps of lobpcg for one matrix, from vectors X and directions P; they end when k pairs are exact to `tol`.")

# ---- pseudo-inverses and least squares
manual("pseudo_inverse(Tensor A, Tensor? atol, Tensor? rtol, bool hermitian)", batch="matrices", names="", grad={"A": "pinv_backward(grad, result, A)"},
       doc="The Moore-Penrose inverses of matrices; singular values up to max(atol, rtol * largest) count as zero.")
composite("pinv_backward(Tensor grad, Tensor pinv, Tensor A)", names="")
composite("linalg_pinv_rcond(Tensor self, float rcond, bool hermitian=False)", names="linalg.pinv", method=False,
          doc="The Moore-Penrose inverses of matrices, with a relative tolerance.")
composite("linalg_pinv_rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False)", names="linalg.pinv", method=False,
          doc="The Moore-Penrose inverses of matrices, with relative tolerances.")
composite("linalg_pinv(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False)", names="linalg.pinv", method=False,
          doc="The Moore-Penrose inverses of matrices.")
composite("linalg_pinv_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False)", names="linalg.pinv", method=False,
          doc="The Moore-Penrose inverses of matrices.")
composite("pinverse(Tensor self, float rcond=1e-15)", out=False, doc="The Moore-Penrose inverses of matrices.")
manual("lstsq_parts(Tensor A, Tensor B, float? rcond, str driver) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
       names="", grad={("A", "B"): "lstsq_backward(grad_solution if defined(grad_solution) else None,"
                                   " grad_residuals if defined(grad_residuals) else None, A, B, solution, mask)"},
       doc="Least-squares solutions for matrices B.")
composite("lstsq_backward(Tensor? grad_solution, Tensor? grad_residuals, Tensor A, Tensor B, Tensor solution, bool[] mask)"
          " -> (Tensor a, Tensor b)", names="")
composite("linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None)"
          " -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)", names="linalg.lstsq", tuple_name="linalg_lstsq",
          doc="Solutions that minimise `norm(A X - B)`. driver is gelsy, gels (A of full rank), gelsd or gelss.")

# ---- polar factors and functions of matrices
manual("linalg_polar(Tensor A) -> (Tensor U, Tensor H)", out="exact", batch="matrices", names="linalg.polar", tuple_name="linalg_polar",
       grad={"A": "polar_backward(grad_U, grad_H, A, U, H)"},
       doc="Orthonormal columns U and Hermitian positive-semidefinite H with `A = U H`.")
composite("polar_backward(Tensor grad_U, Tensor grad_H, Tensor A, Tensor U, Tensor H)", names="")
manual("sylvester(Tensor H, Tensor C)", names="", grad={("H", "C"): "sylvester_backward(grad, H, result, mask)"},
       doc="The solutions of `H X + X H = C` for Hermitian positive-definite H.")
composite("sylvester_backward(Tensor grad, Tensor H, Tensor result, bool[] mask) -> (Tensor a, Tensor b)", names="")
manual("linalg_matrix_sqrth(Tensor self)", batch="matrices", names="linalg.matrix_sqrth", grad={"self": "matrix_sqrth_backward(grad, result)"},
       doc="The square roots of Hermitian positive-definite matrices, of which the lower triangle is read.")
composite("matrix_sqrth_backward(Tensor grad, Tensor result)", names="")
manual("matrix_exp(Tensor self)", batch="matrices", names="matrix_exp linalg.matrix_exp", method=True, out=False, grad={"self": "matrix_exp_backward(grad, self)"},
       doc="The exponentials of matrices.")
composite("matrix_exp_backward(Tensor grad, Tensor self)", names="")
