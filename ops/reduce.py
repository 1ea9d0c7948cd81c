"""Reductions and running sums: sums, products, extremes, moments, norms, scans."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

# ---- sums and products
manual("sum(Tensor self, int[]? dim=None, bool keepdim=False, *, DType? dtype=None)", linear=True, batch="along",
       grad={"self": "expand_reduced(grad, shape(self), dim, keepdim)"}, doc="The sum over dimensions; integers are summed in int64.")
composite("expand_reduced(Tensor grad, int[] sizes, int[]? dim, bool keepdim)", names="", doc="Repeats a reduced tensor along the dimensions that were folded.")
manual("nansum(Tensor self, int[]? dim=None, bool keepdim=False, *, DType? dtype=None)", batch="along",
       grad={"self": "where(isnan(self), 0, expand_reduced(grad, shape(self), dim, keepdim))"}, doc="The sum over dimensions, NaN counted as 0.")
manual("mean(Tensor self, int[]? dim=None, bool keepdim=False, *, DType? dtype=None)", linear=True, batch="along",
       grad={"self": "expand_reduced(grad, shape(self), dim, keepdim) / reduced_numel(shape(self), dim)"}, doc="The mean over dimensions.")
composite("nanmean(Tensor self, int[]? dim=None, bool keepdim=False, *, DType? dtype=None)", doc="The mean of the elements that are not NaN.")
manual("prod(Tensor self, *, DType? dtype=None)", grad={"self": "prod_backward(grad, self, result)"}, doc="The product of all elements.")
manual("prod_dim(Tensor self, int dim, bool keepdim=False, *, DType? dtype=None)", batch="along", names="prod", method=True,
       grad={"self": "prod_dim_backward(grad, self, result, dim, keepdim)"}, doc="The product along a dimension.")
composite("prod_backward(Tensor grad, Tensor self, Tensor result)", names="")
composite("prod_dim_backward(Tensor grad, Tensor self, Tensor result, int dim, bool keepdim)", names="")
composite("trace(Tensor self)", doc="The sum of a matrix's diagonal.")

# ---- truth
manual("any(Tensor self, int[]? dim=None, bool keepdim=False)", batch="along", doc="Whether any element is non-zero.")
manual("all(Tensor self, int[]? dim=None, bool keepdim=False)", batch="along", doc="Whether all elements are non-zero.")
manual("count_nonzero(Tensor self, int[]? dim=None)", batch="along", out=False, doc="The number of non-zero elements.")

# ---- extremes
manual("amax(Tensor self, int[]? dim=None, bool keepdim=False)", batch="along",
       grad={"self": "extreme_backward(grad, self, result, dim, keepdim)"}, out="exact", doc="The largest element over dimensions; ties share the gradient.")
manual("amin(Tensor self, int[]? dim=None, bool keepdim=False)", batch="along",
       grad={"self": "extreme_backward(grad, self, result, dim, keepdim)"}, out="exact", doc="The smallest element over dimensions; ties share the gradient.")
composite("extreme_backward(Tensor grad, Tensor self, Tensor result, int[]? dim, bool keepdim)", names="")
manual("max(Tensor self)", grad={"self": "extreme_backward(grad, self, result, None, False)"}, doc="The largest element.")
manual("min(Tensor self)", grad={"self": "extreme_backward(grad, self, result, None, False)"}, doc="The smallest element.")
composite("max_other(Tensor self, Tensor other)", "maximum(self, other)", overlap="whole", names="max", method=True, doc="The larger element of two tensors.")
manual("max_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", overlap="none", batch="along", names="max", method=True,
       grad={"self": "picked_backward(grad_values, dim, indices, shape(self), keepdim)"}, tuple_name="max",
       out="exact", doc="The largest elements along a dimension, and the first positions where they stand.")
composite("min_other(Tensor self, Tensor other)", "minimum(self, other)", overlap="whole", names="min", method=True, doc="The smaller element of two tensors.")
manual("min_dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", overlap="none", batch="along", names="min", method=True,
       grad={"self": "picked_backward(grad_values, dim, indices, shape(self), keepdim)"}, tuple_name="min",
       out="exact", doc="The smallest elements along a dimension, and the first positions where they stand.")
composite("picked_backward(Tensor grad, int dim, Tensor indices, int[] sizes, bool keepdim)", names="",
          doc="Zeros with the gradient at the picked positions.")
composite("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", overlap="none", tuple_name="aminmax",
          out="exact", doc="The smallest and the largest element.")
manual("argmax(Tensor self, int? dim=None, bool keepdim=False)", nondifferentiable="positions",
       out="exact", doc="The first position of the largest element, of all elements or along a dimension.")
manual("argmin(Tensor self, int? dim=None, bool keepdim=False)", nondifferentiable="positions",
       out="exact", doc="The first position of the smallest element, of all elements or along a dimension.")

# ---- moments
composite("var_unbiased(Tensor self, bool unbiased)", names="var", method=True, out=False, doc="The variance, with the sample's or the population's divisor.")
manual("var(Tensor self, int[]? dim=None, *, Scalar? correction=None, bool keepdim=False)", batch="along",
       grad={"self": "var_backward(grad, self, dim, correction, keepdim)"}, doc="The variance over dimensions, with the divisor n - correction.")
composite("var_dim(Tensor self, int[]? dim, bool unbiased=True, bool keepdim=False)", names="var", method=True, doc="The variance over dimensions.")
composite("var_backward(Tensor grad, Tensor self, int[]? dim, Scalar? correction, bool keepdim)", names="")
composite("std_unbiased(Tensor self, bool unbiased)", names="std", method=True, out=False, doc="The standard deviation.")
manual("std(Tensor self, int[]? dim=None, *, Scalar? correction=None, bool keepdim=False)", batch="along",
       grad={"self": "std_backward(grad, self, result, dim, correction, keepdim)"}, doc="The standard deviation over dimensions, with the divisor n - correction.")
composite("std_dim(Tensor self, int[]? dim, bool unbiased=True, bool keepdim=False)", names="std", method=True, doc="The standard deviation over dimensions.")
composite("std_backward(Tensor grad, Tensor self, Tensor result, int[]? dim, Scalar? correction, bool keepdim)", names="")
for name in ("var", "std"):
    composite(f"{name}_mean_unbiased(Tensor self, bool unbiased) -> (Tensor {name}, Tensor mean)", names=f"{name}_mean", tuple_name="", out=False,
              method=False, doc=f"{name} and mean of all elements.")
    composite(f"{name}_mean(Tensor self, int[]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor {name}, Tensor mean)",
              tuple_name="", out=False, method=False, doc=f"{name} and mean over dimensions.")
    composite(f"{name}_mean_dim(Tensor self, int[]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor {name}, Tensor mean)",
              names=f"{name}_mean", tuple_name="", out=False, method=False, doc=f"{name} and mean over dimensions.")

# ---- norms
manual("vector_norm(Tensor self, Scalar ord=2, int[]? dim=None, bool keepdim=False, *, DType? dtype=None)", out="exact", batch="along", names="linalg.vector_norm",
       grad={"self": "vector_norm_backward(grad, self, result, ord, dim, keepdim)"}, doc="(sum |x|^ord)^(1/ord) over dimensions.")
composite("vector_norm_backward(Tensor grad, Tensor self, Tensor result, Scalar ord, int[]? dim, bool keepdim)", names="")
composite("norm(Tensor self, Scalar? p=2, int[]? dim=None, bool keepdim=False, *, DType? dtype=None)", out="exact", doc="The p-norm over dimensions.")
composite("norm_named(Tensor self, str p, int[]? dim=None, bool keepdim=False, *, DType? dtype=None)", out="exact", names="norm", method=True,
          doc="The Frobenius (`fro`) norm over dimensions.")
composite("dist(Tensor self, Tensor other, Scalar p=2)", doc="The p-norm of a difference.", out=False)
composite("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm)", overlap="whole", inplace=True, saves_self=True, out="exact",
          doc="Scales the slices of a dimension down to a largest p-norm.")
manual("logsumexp(Tensor self, int[] dim, bool keepdim=False)", batch="along", names="logsumexp special.logsumexp", method=True,
       grad={"self": "logsumexp_backward(grad, self, result, dim, keepdim)"}, doc="`log(sum(exp(self)))` over dimensions, without overflow.")
composite("logsumexp_backward(Tensor grad, Tensor self, Tensor result, int[] dim, bool keepdim)", names="")

# ---- scans
manual("cumsum(Tensor self, int dim, *, DType? dtype=None)", overlap="whole", linear=True, batch="along", inplace=True, grad={"self": "flip(cumsum(flip(grad, dim), dim), dim)"},
       doc="Running sums along a dimension.")
manual("cumprod(Tensor self, int dim, *, DType? dtype=None)", overlap="whole", batch="along", inplace=True, grad={"self": "cumprod_backward(grad, self, result, dim)"},
       doc="Running products along a dimension.")
composite("cumprod_backward(Tensor grad, Tensor self, Tensor result, int dim)", names="")
manual("cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", batch="along", tuple_name="cummax",
       grad={"self": "scanned_backward(grad_values, dim, indices, shape(self))"}, out="exact", doc="Running maxima along a dimension, and where they stand.")
manual("cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", batch="along", tuple_name="cummin",
       grad={"self": "scanned_backward(grad_values, dim, indices, shape(self))"}, out="exact", doc="Running minima along a dimension, and where they stand.")
composite("scanned_backward(Tensor grad, int dim, Tensor indices, int[] sizes)", names="")
manual("logcumsumexp(Tensor self, int dim)", overlap="whole", batch="along", grad={"self": "logcumsumexp_backward(grad, self, result, dim)"},
       out="exact", doc="`log(cumsum(exp(self)))` along a dimension, without overflow.")
composite("logcumsumexp_backward(Tensor grad, Tensor self, Tensor result, int dim)", names="")

# ---- differences and integrals
composite("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None)", overlap="none", doc="Differences of neighbours along a dimension, n times.")
composite("trapezoid(Tensor y, Tensor x, *, int dim=-1)", names="trapezoid trapz", out=False, doc="The integral by the trapezoidal rule over points x.")
composite("trapezoid_dx(Tensor y, *, Scalar dx=1, int dim=-1)", names="trapezoid trapz", out=False, doc="The integral by the trapezoidal rule with a fixed step.")
composite("cumulative_trapezoid(Tensor y, Tensor x, *, int dim=-1)", out=False, doc="Running integrals by the trapezoidal rule over points x.")
composite("cumulative_trapezoid_dx(Tensor y, *, Scalar dx=1, int dim=-1)", names="cumulative_trapezoid", out=False,
          doc="Running integrals by the trapezoidal rule with a fixed step.")
