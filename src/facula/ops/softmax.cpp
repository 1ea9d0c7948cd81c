// softmax and log_softmax: checks and calls of the kernels.
#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/kernels/softmax.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/recompute.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/softmax_functions.h"

namespace facula {
namespace {

// The [outer, n, inner] view of a dense tensor around a dimension; 0-d tensors have one row.
kernels::Rows rows_around(const Tensor& t, int64_t dim) {
  kernels::Rows r{1, 1, 1};
  for (int64_t d = 0; d < t.dim(); ++d) {
    (d < dim ? r.outer : d == dim ? r.n : r.inner) *= t->sizes[d];
  }
  return r;
}

Tensor softmax_forward(const char* op, const Tensor& self, int64_t dim, std::optional<DType> dtype,
                       bool log) {
  Tensor x = dtype ? to_dtype(self, *dtype) : self;
  dim = wrap_dim(dim, self.dim(), op);
  if (!x.is_floating_point()) {
    raise_error(ErrorKind::kNotImplemented, '"', op, "\" not implemented for '",
                dtype_title(x.dtype()), "'");
  }
  x = to_contiguous(x);
  Tensor out = new_empty(x.sizes(), x.dtype(), x.device());
  if (!out.is_meta() && out.numel()) {
    kernels::softmaxes->softmax(x.dtype(), out.data(), x.data(), rows_around(x, dim), log);
  }
  return out;
}

Tensor softmax_gradient(const char* op, const Tensor& grad_output, const Tensor& result,
                        int64_t dim, bool log) {
  dim = wrap_dim(dim, result.dim(), op);
  Tensor y = to_contiguous(result), g = to_contiguous(to_dtype(grad_output, y.dtype()));
  Tensor out = new_empty(y.sizes(), y.dtype(), y.device());
  if (!out.is_meta() && out.numel()) {
    kernels::softmaxes->softmax_backward(y.dtype(), out.data(), g.data(), y.data(),
                                         rows_around(y, dim), log);
  }
  return out;
}

}  // namespace

namespace forward {

Tensor softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return softmax_forward("softmax", self, dim, dtype, false);
}

Tensor softmax_backward_fused(const Tensor& grad_output, const Tensor& result, int64_t dim) {
  return softmax_gradient("softmax", grad_output, result, dim, false);
}

Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<DType> dtype) {
  return softmax_forward("log_softmax", self, dim, dtype, true);
}

Tensor log_softmax_backward_fused(const Tensor& grad_output, const Tensor& result, int64_t dim) {
  return softmax_gradient("log_softmax", grad_output, result, dim, true);
}

}  // namespace forward

Tensor softmax_backward(const Tensor& grad_output, const Tensor& result, int64_t dim) {
  if (!recording_any({&grad_output, &result})) {
    return softmax_backward_fused(grad_output, result, dim);
  }
  return mul(result, sub(grad_output, sum(mul(grad_output, result), IntList(dim), true)));
}

Tensor log_softmax_backward(const Tensor& grad_output, const Tensor& result, int64_t dim) {
  if (!recording_any({&grad_output, &result})) {
    return log_softmax_backward_fused(grad_output, result, dim);
  }
  return sub(grad_output, mul(exp(result), sum(grad_output, IntList(dim), true)));
}

}  // namespace facula
