// Which processors are refused. (What is printed on one of them can be seen under an emulator:
// qemu-x86_64 -cpu Nehalem build/dev/bin/base_test.)
#include "facula/base/pool/processor.h"

#include <gtest/gtest.h>

namespace facula::pool {
namespace {

TEST(Processor, NamesWhatIsMissing) {
  EXPECT_EQ(missing_feature({true, true, true, true}), nullptr);
  EXPECT_STREQ(missing_feature({false, true, true, true}), "AVX2");
  EXPECT_STREQ(missing_feature({true, false, true, true}), "BMI2");
  EXPECT_STREQ(missing_feature({true, true, false, true}), "F16C");
  EXPECT_STREQ(missing_feature({true, true, true, false}), "FMA");
  EXPECT_STREQ(missing_feature({false, false, false, false}), "AVX2");
}

}  // namespace
}  // namespace facula::pool
