// The thread's modes: scopes restore what they found, other threads start clean.
#include "facula/core/thread_state.h"

#include <gtest/gtest.h>

#include <thread>

namespace facula {
namespace {

TEST(ThreadState, GradModesNest) {
  EXPECT_TRUE(grad_enabled());
  {
    NoGrad off;
    EXPECT_FALSE(grad_enabled());
    {
      GradMode on(true);
      EXPECT_TRUE(grad_enabled());
    }
    EXPECT_FALSE(grad_enabled());
  }
  EXPECT_TRUE(grad_enabled());
}

TEST(ThreadState, InferenceModeEndsAndBeginsAgain) {
  {
    InferenceMode on;
    EXPECT_TRUE(tls.inference);
    EXPECT_FALSE(grad_enabled());
    {
      InferenceMode off(false);
      EXPECT_FALSE(tls.inference);
      EXPECT_TRUE(grad_enabled());
    }
    EXPECT_TRUE(tls.inference);
  }
  EXPECT_FALSE(tls.inference);
  EXPECT_TRUE(grad_enabled());
}

TEST(ThreadState, BelongsToOneThread) {
  NoGrad off;
  bool enabled = false;
  std::thread([&] { enabled = grad_enabled(); }).join();
  EXPECT_TRUE(enabled);
}

}  // namespace
}  // namespace facula
