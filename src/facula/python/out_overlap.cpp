// What an out= argument may share memory with. Results are computed before they are stored, so that
// no operator needs this; programs meet the refusals of PyTorch.
#include "facula/python/out_overlap.h"

#include <algorithm>
#include <string_view>

#include "facula/python/arguments.h"
#include "facula/python/types.h"

namespace facula::python {

namespace {

// These share no memory with what they read, not even all of it.
constexpr std::string_view kApart[] = {
    "aminmax", "cat",      "column_stack",   "concat", "concatenate", "cross",
    "diff",    "dstack",   "gather",         "ger",    "hstack",      "index_select",
    "kron",    "kthvalue", "masked_select",  "mode",   "outer",       "row_stack",
    "stack",   "take",     "take_along_dim", "vstack",
};

// These take any: reductions, products and factors of matrices.
constexpr std::string_view kAnywhere[] = {
    "amax",
    "amin",
    "avg_pool2d",
    "bernoulli",
    "bmm",
    "chain_matmul",
    "cholesky",
    "cholesky_ex",
    "cholesky_inverse",
    "cholesky_solve",
    "cummax",
    "cummin",
    "det",
    "diag",
    "dot",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "geqrf",
    "histc",
    "householder_product",
    "inv",
    "inv_ex",
    "inverse",
    "ldl_factor",
    "ldl_solve",
    "linear",
    "log_softmax",
    "logsumexp",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "mean",
    "median",
    "mm",
    "multi_dot",
    "multinomial",
    "mv",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "narrow_copy",
    "norm",
    "ormqr",
    "pinv",
    "poisson",
    "prod",
    "qr",
    "quantile",
    "slogdet",
    "softmax",
    "solve",
    "solve_ex",
    "std",
    "sum",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "trace",
    "tril",
    "triu",
    "var",
    "vdot",
    "vector_norm",
};

bool among(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void refuse(const char* name, const Tensor& out, PyObject* object, bool apart) {
  if (!is_tensor(object)) return;
  Overlap found = memory_overlap(out, unwrap(object));
  if (found == Overlap::kPartial || (apart && found == Overlap::kFull)) {
    raise_error(ErrorKind::kRuntime, name, "(): unsupported operation: some elements of the input ",
                "tensor and the written-to tensor refer to a single memory location. Please ",
                "clone() the tensor before performing the operation.");
  }
}

}  // namespace

void refuse_overlap(const Bound& b, int i, const Tensor& out, size_t count) {
  std::string_view name = b.sig->name;
  bool pair = count == 2 && (name == "max" || name == "min"), apart = pair || among(kApart, name);
  if (!apart && among(kAnywhere, name)) return;
  if (out.numel() == 0 || name.starts_with("fft")) return;
  if (apart && overlaps_itself(out)) {
    raise_error(ErrorKind::kRuntime, name, "(): unsupported operation: more than one element of ",
                "the written-to tensor refers to a single memory location. Please clone() the ",
                "tensor before performing the operation.");
  }
  for (int k = 0; k < b.sig->count; ++k) {
    PyObject* v = b.v[k];
    if (k == i || !v) continue;
    refuse(b.sig->name, out, v, apart);
    if (!PyTuple_Check(v) && !PyList_Check(v)) continue;
    for (Py_ssize_t j = 0; j < PySequence_Fast_GET_SIZE(v); ++j) {
      refuse(b.sig->name, out, PySequence_Fast_GET_ITEM(v, j), apart);
    }
  }
}

void refuse_shared_outs(const char* name, std::span<const Tensor> outs) {
  for (size_t i = 0; i < outs.size(); ++i) {
    for (size_t k = i + 1; k < outs.size(); ++k) {
      Overlap found = memory_overlap(outs[i], outs[k]);
      if (outs[i].numel() && (found == Overlap::kFull || found == Overlap::kPartial)) {
        raise_error(ErrorKind::kValue, name, "(): the out= tensors must not overlap.");
      }
    }
  }
}

}  // namespace facula::python
