"""Orders and searches: sort, topk, median, quantile, unique, searchsorted, histograms."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

# ---- orders
manual("sort(Tensor self, int dim=-1, bool descending=False, *, bool? stable=None) -> (Tensor values, Tensor indices)", overlap="whole", batch="along", tuple_name="sort",
       grad={"self": "picked_backward(grad_values, dim, indices, shape(self), True)"},
       out="exact", doc="The elements in order along a dimension, and where they stood. NaN is the largest; equal elements keep their order.")
composite("argsort(Tensor self, int dim=-1, bool descending=False, *, bool stable=False)", out=False, doc="The positions of the elements in order.")
composite("msort(Tensor self)", overlap="whole", out="exact", doc="The elements in order along the first dimension.")
manual("topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)", overlap="whole", batch="along", tuple_name="topk",
       grad={"self": "picked_backward(grad_values, dim, indices, shape(self), True)"},
       out="exact", doc="The k largest (or smallest) elements along a dimension, in order, and where they stand.")
manual("kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", overlap="none", batch="along", tuple_name="kthvalue",
       grad={"self": "picked_backward(grad_values, dim, indices, shape(self), keepdim)"}, out="exact", doc="The k-th smallest element along a dimension, from 1.")
manual("mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", overlap="none", batch="along", tuple_name="mode",
       grad={"self": "picked_backward(grad_values, dim, indices, shape(self), keepdim)"},
       out="exact", doc="The most frequent element along a dimension, and its last position.")
for name, text in (("median", "The lower median; NaN if there is one"), ("nanmedian", "The lower median of the numbers that are not NaN")):
    composite(f"{name}(Tensor self)", doc=f"{text}.", out=False)
    manual(f"{name}_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", batch="along", names=name, method=True, tuple_name=name,
           grad={"self": "picked_backward(grad_values, dim, indices, shape(self), keepdim)"}, out="exact", doc=f"{text}, along a dimension.")
for name, text in (("quantile", "Quantiles"), ("nanquantile", "Quantiles of the numbers that are not NaN")):
    composite(f"{name}_tensor(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear')", names=name, method=True,
              out="exact", doc=f"{text}, of all elements or along a dimension.")
    composite(f"{name}(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear')", method=True,
              out="exact", doc=f"{text}, of all elements or along a dimension.")

# ---- sets
manual("unique_rows(Tensor rows, bool sorted) -> (Tensor first, Tensor inverse, Tensor counts)", names="", nondifferentiable="positions",
       doc="The first row of each set of equal rows, the set of each row, the sizes of the sets.")
composite("unique_all(Tensor self, bool sorted=True) -> (Tensor output, Tensor inverse, Tensor counts)", names="_unique", method=False, out=False,
          doc="The distinct elements in order, the number of each element's one, and how often each occurs.")
composite("unique_dim(Tensor self, int dim, bool sorted=True) -> (Tensor output, Tensor inverse, Tensor counts)", names="_unique_dim",
          method=False, out=False, doc="The distinct slices of a dimension in order.")
composite("unique_runs(Tensor self, int? dim=None) -> (Tensor output, Tensor inverse, Tensor counts)", names="_unique_consecutive", method=False,
          out=False, doc="The first of each run of equal elements or slices.")
composite("isin(Tensor|Scalar elements, Tensor|Scalar test_elements, *, bool assume_unique=False, bool invert=False)", out="exact", doc="Whether elements occur among others.")

# ---- searches and histograms
manual("searchsorted(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None)",
       method=False, nondifferentiable="positions", out="exact", doc="Where values belong in sorted sequences.")
composite("searchsorted_number(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None)",
          names="searchsorted", method=False, doc="Where a number belongs in a sorted sequence.")
composite("bucketize(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False)", method=False, out="exact", doc="The buckets between boundaries that values fall into.")
composite("bucketize_number(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False)", names="bucketize", method=False,
          doc="The bucket that a number falls into.")
manual("bincount(Tensor self, Tensor? weights=None, int minlength=0)", out=False, nondifferentiable="counts",
       doc="How often each number occurs, or the sum of its weights.")
manual("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0)", nondifferentiable="counts", out="exact", doc="The number of elements in equal bins of [min, max].")
manual("unravel_index(Tensor indices, int[] shape) -> Tensor[]", batch="leading", nondifferentiable="positions",
       doc="The coordinates of positions in row-major order.")
