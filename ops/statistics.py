"""Covariances, histograms, distances between points, cross products, combinations."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

composite("cross(Tensor self, Tensor other, int? dim=None)", overlap="none", out="exact", doc="The cross product along a dimension of size 3; by default the first one.")
composite("linalg_cross(Tensor self, Tensor other, *, int dim=-1)", overlap="none", out="exact", names="linalg.cross", doc="The cross product along a dimension of size 3.")
composite("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1)", "sum(conj(x) * y, dim)", out="exact", names="linalg.vecdot",
          doc="Inner products along a dimension, the first factor conjugated.")
composite("linalg_diagonal(Tensor A, *, int offset=0, int dim1=-2, int dim2=-1)", "diagonal(A, offset, dim1, dim2)", names="linalg.diagonal",
          out=False, doc="The diagonals of matrices.")
composite("cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None)", out=False,
          doc="The covariance matrix of variables in rows, with optional counts and weights of observations.")
composite("corrcoef(Tensor self)", out=False, doc="The correlation coefficients of variables in rows.")
composite("cdist(Tensor x1, Tensor x2, float p=2.0, str? compute_mode=None)", out=False, doc="The p-distances between the rows of two batches of points.")
composite("pdist(Tensor self, float p=2.0)", names="pdist nn.functional.pdist", method=False, out=False,
          doc="The p-distances between all pairs of rows.")
composite("cartesian_prod_list(Tensor[] tensors)", names="_cartesian_prod", out=False, doc="All combinations of one element of each vector.")
composite("combinations(Tensor self, int r=2, bool with_replacement=False)", method=False, out=False, doc="All combinations of r elements of a vector.")
composite("histogram(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
          tuple_name="histogram", out="exact", doc="A histogram with equal bins, and the edges of the bins.")
composite("histogram_edges(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
          names="histogram", method=True, tuple_name="histogram", out="exact", doc="A histogram with the given edges of bins.")
composite("histogramdd(Tensor self, int[] bins, *, float[]? range=None, Tensor? weight=None, bool density=False) -> Tensor[]", names="_histogramdd",
          method=False, out=False, doc="A histogram over several dimensions with equal bins, then the edges of each dimension.")
composite("histogramdd_edges(Tensor self, Tensor[] bins, *, Tensor? weight=None, bool density=False) -> Tensor[]", names="_histogramdd_edges",
          method=False, out=False, doc="A histogram over several dimensions with the given edges, then these.")

# ---- finite differences, hashes
composite("gradient(Tensor self, float[]? spacing=None, int[]? dim=None, int edge_order=1) -> Tensor[]", names="_gradient", method=False,
          out=False, doc="Estimates of the derivatives along dimensions by central differences; `spacing` is the step of each (1 without).")
composite("gradient_coordinates(Tensor self, Tensor[] spacing, int[]? dim=None, int edge_order=1) -> Tensor[]", names="_gradient_coordinates",
          method=False, out=False, doc="gradient where `spacing` has the coordinates along each dimension.")
composite("hash_tensor(Tensor self, int[] dim=[], *, bool keepdim=False, int mode=0)", out="exact",
          doc="A hash over dimensions, uint64: the bits of the elements, as float64 or int64, combined by exclusive or. Mode 0 is the only one.")
