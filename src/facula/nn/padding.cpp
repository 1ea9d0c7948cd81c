// Circular padding joins slices; the other modes are operators.
#include "facula/nn/padding.h"

#include <vector>

#include "facula/ops/pad_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula::nn {
namespace {

Tensor pad_circular(Tensor x, IntList pad) {
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    int64_t before = pad[2 * i], after = pad[2 * i + 1];
    int64_t dim = x.dim() - 1 - static_cast<int64_t>(i), size = x.size(dim);
    FACULA_CHECK(before <= size && after <= size, kRuntime,
                 "Padding value causes wrapping around more than once.");
    FACULA_CHECK(size + before + after >= 0, kRuntime,
                 "Negative padding value is resulting in an empty dimension.");
    int64_t start = std::max<int64_t>(-before, 0);
    Tensor core = narrow(x, dim, start, size - start - std::max<int64_t>(-after, 0));
    std::vector<Tensor> parts;
    if (before > 0) parts.push_back(narrow(core, dim, core.size(dim) - before, before));
    parts.push_back(core);
    if (after > 0) parts.push_back(narrow(core, dim, 0, after));
    x = parts.size() > 1 ? cat(parts, dim) : core;
  }
  return x;
}

}  // namespace

Tensor pad_edges(const Tensor& x, IntList pad, PadMode mode) {
  int64_t spatial = static_cast<int64_t>(pad.size()) / 2;
  if (mode == PadMode::kCircular) {
    FACULA_CHECK(x.dim() == spatial + 1 || x.dim() == spatial + 2, kValue, "expected ", spatial + 1,
                 "D or ", spatial + 2, "D input (got ", x.dim(), "D input)");
    return pad_circular(x, pad);
  }
  FACULA_CHECK(x.dim() == spatial + 1 || x.dim() == spatial + 2, kNotImplemented, "Padding size ",
               static_cast<int64_t>(pad.size()), " is not supported for ", x.dim(),
               "D input tensor.");
  return pad_nd(x, pad, mode == PadMode::kReflect ? "reflect" : "replicate", spatial);
}

template <size_t N>
Tensor ConstantPadOptions<N>::call(const Tensor& x) const {
  return constant_pad_nd(x, padding.list(), value);
}
template struct ConstantPadOptions<1>;
template struct ConstantPadOptions<2>;
template struct ConstantPadOptions<3>;

}  // namespace facula::nn
