// Tests of references to callables.
#include "facula/base/function_ref.h"

#include <gtest/gtest.h>

#include <string>

namespace facula {
namespace {

int twice(FunctionRef<int(int)> f, int v) { return f(f(v)); }

TEST(FunctionRef, CallsLambdasFunctorsAndConst) {
  int calls = 0;
  EXPECT_EQ(twice(
                [&](int v) {
                  ++calls;
                  return v + 1;
                },
                3),
            5);
  EXPECT_EQ(calls, 2);
  struct Add {
    int by;
    int operator()(int v) const { return v + by; }
  };
  const Add add{10};
  EXPECT_EQ(twice(add, 0), 20);
}

TEST(FunctionRef, PassesReferences) {
  std::string text = "a";
  auto append = [](std::string& s, const char* t) { s += t; };
  FunctionRef<void(std::string&, const char*)> f = append;
  f(text, "b");
  EXPECT_EQ(text, "ab");
}

}  // namespace
}  // namespace facula
