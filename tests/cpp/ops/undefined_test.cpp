// Undefined tensors, which grad() gives for a leaf without a gradient, in the place of tensors.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/ops/functions.h"

namespace facula {
namespace {

// A default-made handle is refused wherever it stands for a tensor: never read, never a number.
TEST(Undefined, IsRefused) {
  Tensor none, a = full({2, 2}, 3.0);
  const std::vector<std::function<void()>> calls = {
      [&] { none.dim(); },
      [&] { none.numel(); },
      [&] { none.dtype(); },
      [&] { none.size(0); },
      [&] { none.stride(0); },
      [&] { none.sizes(); },
      [&] { none.data(); },
      [&] { none.is_contiguous(); },
      [&] { facula::grad(none); },
      [&] { set_grad(none, none); },
      [&] { set_grad(none, a); },
      [&] { set_requires_grad(none, true); },
      [&] { detach(none); },
      [&] { is_leaf(none); },
      [&] { add(a, none); },
      [&] { add(none, none); },
      [&] { sub(none, a); },
      [&] { mul(a, none); },
      [&] { div(a, none); },
      [&] { pow(a, none); },
      [&] { eq(a, none); },
      [&] { add_(a, none); },
      [&] { lerp(a, a, none); },
      [&] { where(gt(a, Scalar(1)), a, none); },
      [&] { masked_fill(a, none, Scalar(1.0)); },
      [&] { matmul(none, a); },
      [&] { matmul(a, none); },
      [&] { reshape(none, {2}); },
      [&] { sum(none); },
      [&] { mse_loss(a, none); },
      [&] { linear(a, none); },
      [&] { cross_entropy(a, none); },
      [&] { cross_entropy(none, a); },
      [&] { cat(std::vector<Tensor>{a, none}, 0); },
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    try {
      calls[i]();
      ADD_FAILURE() << "call " << i << " took an undefined tensor";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kType) << "call " << i << ": " << e.message();
    }
  }
}

}  // namespace
}  // namespace facula
