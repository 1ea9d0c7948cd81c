// What autograd needs of operators, handed over when the library is loaded.
#include "facula/core/intercept.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/hidden_values.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

Tensor add_tensors(const Tensor& a, const Tensor& b) { return add(a, b); }
void add_into(const Tensor& a, const Tensor& b) { add_(a, b); }
Tensor zeros_of(IntList sizes, DType dtype, Device device) { return zeros(sizes, dtype, device); }
Tensor ones_of(IntList sizes, DType dtype, Device device) { return ones(sizes, dtype, device); }
Tensor dense_copy(const Tensor& t) { return clone(t); }
Tensor sum_to(const Tensor& t, IntList sizes) { return sum_to_size(t, sizes); }
Tensor cast_to(const Tensor& t, DType dtype) { return cast(t, dtype); }
Tensor real_part(const Tensor& t) { return real(t); }
Tensor strided(const Tensor& t, IntList sizes, IntList strides, int64_t offset) {
  return as_strided(t, sizes, strides, offset);
}
void copy_into(const Tensor& dst, const Tensor& src) { copy_(dst, src); }

Tensor as_real(const Tensor& t) { return view_as_real(t); }
Tensor as_complex(const Tensor& t) { return view_as_complex(t); }
bool has_nan(const Tensor& t) {
  if (t->intercept & kInterceptDispatch) return false;  // only its class can read its values
  Tensor flags = to_contiguous(all_samples(isnan(t)));
  const bool* p = flags.data_as<bool>();
  for (int64_t i = 0; i < flags.numel(); ++i) {
    if (p[i]) return true;
  }
  return false;
}

// Before the constructors without a priority: the sparse layer puts its functions over these.
__attribute__((constructor(200))) void fill_table() {
  gradient_ops = GradientOps{add_tensors, add_into, zeros_of,  ones_of, dense_copy, sum_to, cast_to,
                             real_part,   strided,  copy_into, as_real, as_complex, has_nan};
}

}  // namespace
}  // namespace facula
