// grouped_mm: products of matrices by groups, as layers with several experts need them.
#include "facula/base/error.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/kernel_call.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/matrix_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

void check_operands(const Tensor& a, const Tensor& b, bool has_offsets) {
  for (auto [mat, name] : {std::pair(&a, "mat_a"), std::pair(&b, "mat_b")}) {
    FACULA_CHECK(mat->dim() == 2 || mat->dim() == 3, kRuntime, "grouped_mm: ", name,
                 " has to be 2 or 3d, got ", mat->dim(), "d");
    FACULA_CHECK(is_floating(mat->dtype()), kRuntime, "grouped_mm: expected ", name,
                 " of a floating type, got ", dtype_name(mat->dtype()));
  }
  FACULA_CHECK(a.dtype() == b.dtype(), kRuntime,
               "grouped_mm: Expected mat_a and mat_b to have the same dtype, got ",
               dtype_name(a.dtype()), " and ", dtype_name(b.dtype()));
  FACULA_CHECK(a.size(-1) == b.size(-2), kRuntime,
               "grouped_mm: contraction dimension of mat_a and mat_b must match, got shapes ",
               list_text(a.sizes()), " and ", list_text(b.sizes()));
  bool jagged = a.dim() == 2 || b.dim() == 2;
  FACULA_CHECK(jagged == has_offsets, kRuntime,
               "grouped_mm: Have to provide offsets if there is a 2d matrix, or no offset if both ",
               "matrices are 3d");
}

// group_ends reads the ends of the groups, which must ascend within the dimension that they divide.
Sizes group_ends(const Tensor& a, const Tensor& b, const Tensor& offs) {
  FACULA_CHECK(offs.dtype() == kInt32 && offs.dim() == 1, kRuntime,
               "grouped_mm: Offsets have to be int32 and 1d, got ", dtype_name(offs.dtype()),
               " and ", offs.dim(), "d");
  for (const Tensor* mat : {&a, &b}) {
    FACULA_CHECK(mat->dim() == 2 || mat->size(0) == offs.size(0), kRuntime,
                 "grouped_mm: matrix batch sizes have to match, got ", mat->size(0),
                 " matrices and ", offs.size(0), " offsets");
  }
  int64_t length = b.size(1);
  if (a.dim() == 2) length = b.dim() == 3 ? a.size(0) : a.size(1);
  require_data("grouped_mm", offs);
  Tensor dense = to_contiguous(offs);
  const int32_t* p = dense.data_as<int32_t>();
  Sizes ends(p, p + dense.numel());
  int64_t before = 0;
  for (int64_t end : ends) {
    FACULA_CHECK(end >= before && end <= length, kRuntime,
                 "grouped_mm: expected offsets that ascend from 0 to at most ", length, ", got ",
                 list_text(ends));
    before = end;
  }
  return ends;
}

}  // namespace

Tensor grouped_mm(const Tensor& mat_a, const Tensor& mat_b, const Tensor& offs, const Tensor& bias,
                  std::optional<DType> out_dtype) {
  check_operands(mat_a, mat_b, offs.defined());
  FACULA_CHECK(!bias.defined(), kRuntime, "grouped_mm: Bias not supported yet");
  FACULA_CHECK(!out_dtype || *out_dtype == mat_a.dtype(), kRuntime,
               "grouped_mm: Grouped gemm output dtype must match `mat_a` dtype");
  if (!offs.defined()) return bmm(mat_a, mat_b);
  Sizes ends = group_ends(mat_a, mat_b, offs);
  bool by_rows = mat_a.dim() == 2, by_parts = by_rows && mat_b.dim() == 2;
  int64_t rows = mat_a.size(-2), columns = mat_b.size(-1), start = 0;
  if (by_parts && ends.empty()) return new_zeros(mat_a, {0, rows, columns});
  std::vector<Tensor> found;
  for (int64_t i = 0; i < IntList(ends).ssize(); ++i) {
    int64_t length = ends[static_cast<size_t>(i)] - start;
    if (by_parts) {
      found.push_back(mm(narrow(mat_a, 1, start, length), narrow(mat_b, 0, start, length)));
    } else if (length > 0 && by_rows) {
      found.push_back(mm(narrow(mat_a, 0, start, length), select(mat_b, 0, i)));
    } else if (length > 0) {
      found.push_back(mm(select(mat_a, 0, i), narrow(mat_b, 1, start, length)));
    }
    start += length;
  }
  if (by_parts) return stack(found, 0);
  Sizes left{by_rows ? rows - start : rows, by_rows ? columns : columns - start};
  if (found.empty() || (left[0] != 0 && left[1] != 0)) found.push_back(new_zeros(mat_a, left));
  return found.size() == 1 ? found[0] : cat(found, by_rows ? 0 : 1);
}

}  // namespace facula
