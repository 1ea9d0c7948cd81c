// Tensors of different devices are refused by the functions themselves, whoever calls them.
#include <gtest/gtest.h>

#include "facula/base/error.h"
#include "facula/ops/functions.h"

namespace facula {
namespace {

TEST(Devices, AreNotMixed) {
  const Tensor a = ones({3, 3});
  const Tensor m = ones({3, 3}, kFloat32, Device(DeviceType::kMeta));
  const Tensor index = zeros({3, 3}, kInt64);
  EXPECT_THROW(matmul(a, m), Error);
  EXPECT_THROW(cat(std::vector<Tensor>{m, a}, 0), Error);
  EXPECT_THROW(gather(m, 0, index), Error);
  EXPECT_THROW(embedding(m, index), Error);
  EXPECT_THROW(add(a, m), Error);
}

TEST(Devices, SomeFunctionsTakeSeveral) {
  const Tensor a = ones({2, 3});
  const Tensor m = ones({6}, kFloat32, Device(DeviceType::kMeta));
  EXPECT_EQ(view_as(m, a).sizes(), a.sizes());
  EXPECT_TRUE(copy_(clone(m), ones({6})).is_meta());
}

}  // namespace
}  // namespace facula
