// Error, raise_error and FACULA_CHECK.
#include "facula/base/error.h"

#include <gtest/gtest.h>

#include <vector>

namespace facula {
namespace {

TEST(Error, CarriesKindAndMessage) {
  try {
    raise_error(ErrorKind::kIndex, "softmax: expected dim in ", std::vector<int>{-2, 1}, ", got ",
                5);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kIndex);
    EXPECT_EQ(error.message(), "softmax: expected dim in [-2, 1], got 5");
    EXPECT_STREQ(error.what(), "softmax: expected dim in [-2, 1], got 5");
    return;
  }
  FAIL() << "nothing was thrown";
}

TEST(Error, IsAStandardException) { EXPECT_THROW(fail(ErrorKind::kValue, "no"), std::exception); }

TEST(Error, CheckThrowsOnlyWhenTheConditionFails) {
  int evaluated = 0;
  auto message = [&] {
    ++evaluated;
    return "message";
  };
  EXPECT_NO_THROW(FACULA_CHECK(1 + 1 == 2, kRuntime, message()));
  EXPECT_EQ(evaluated, 0);
  EXPECT_THROW(FACULA_CHECK(1 + 1 == 3, kRuntime, message()), Error);
  EXPECT_EQ(evaluated, 1);
}

TEST(Error, EveryKindHasTheNameOfAPythonException) {
  EXPECT_EQ(name_of(ErrorKind::kRuntime), "RuntimeError");
  EXPECT_EQ(name_of(ErrorKind::kType), "TypeError");
  EXPECT_EQ(name_of(ErrorKind::kValue), "ValueError");
  EXPECT_EQ(name_of(ErrorKind::kIndex), "IndexError");
  EXPECT_EQ(name_of(ErrorKind::kNotImplemented), "NotImplementedError");
  EXPECT_EQ(name_of(ErrorKind::kZeroDivision), "ZeroDivisionError");
  EXPECT_EQ(name_of(ErrorKind::kOutOfMemory), "OutOfMemoryError");
  EXPECT_EQ(name_of(ErrorKind::kAttribute), "AttributeError");
  EXPECT_EQ(name_of(ErrorKind::kKey), "KeyError");
  EXPECT_EQ(name_of(ErrorKind::kOverflow), "OverflowError");
  EXPECT_EQ(name_of(ErrorKind::kAssertion), "AssertionError");
  EXPECT_EQ(name_of(ErrorKind::kBuffer), "BufferError");
}

}  // namespace
}  // namespace facula
