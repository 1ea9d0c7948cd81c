// Devices as text.
#include "facula/core/device.h"

#include <gtest/gtest.h>

#include "facula/base/error.h"

namespace facula {
namespace {

TEST(Device, ReadsAndWrites) {
  EXPECT_EQ(device_text(parse_device("cpu")), "cpu");
  EXPECT_EQ(device_text(parse_device("cuda:1")), "cuda:1");
  EXPECT_TRUE(parse_device("meta").is_meta());
  EXPECT_EQ(device_text(parse_device("mps:0")), "mps:0");
  EXPECT_EQ(device_text(parse_device("privateuseone")), "privateuseone");
  EXPECT_FALSE(parse_device("xpu") == parse_device("hpu"));
  for (const char* bad : {"", "foo", "cpu:", "cpu:x", "cpu:-1", "cpu:01", "cpu:1 ", "cuda:200"}) {
    EXPECT_THROW(parse_device(bad), Error) << bad;
  }
}

}  // namespace
}  // namespace facula
