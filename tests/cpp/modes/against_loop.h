// expect_like_loop: a function under vmap gives what it gives for each sample, and no operator in
// it falls back to the loop over samples.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "facula/modes/vmap.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/random_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula {

inline std::string& looped_operators() {
  static std::string names;
  return names;
}

// Watch notes operators that are run sample by sample, for its scope.
struct Watch {
  Watch() {
    looped_operators().clear();
    vmap_warning = [](const char* op) { looped_operators() += std::string(op) + " "; };
  }
  ~Watch() { vmap_warning = nullptr; }
};

using Mapped = std::function<Tensor(const std::vector<Tensor>&)>;

// under_vmap runs f with dimension 0 of the arguments in `mapped` (a bit mask) hidden.
inline Tensor under_vmap(const Mapped& f, const std::vector<Tensor>& args, unsigned mapped,
                         int64_t size, Randomness randomness = Randomness::kError) {
  int64_t level = push_vmap(size, randomness);
  std::vector<Tensor> hidden;
  for (size_t i = 0; i < args.size(); ++i) {
    hidden.push_back(mapped >> i & 1 ? hide_batch(args[i], level) : args[i]);
  }
  struct Pop {
    ~Pop() { InterpreterStack::of_thread().pop(StackSide::kAbove); }
  } pop;
  return show_batch(f(hidden), level, size);
}

inline void expect_like_loop(const Mapped& f, const std::vector<Tensor>& args, unsigned mapped) {
  int64_t size = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    if (mapped >> i & 1) size = args[i].size(0);
  }
  std::vector<Tensor> rows;
  for (int64_t k = 0; k < size; ++k) {
    std::vector<Tensor> picked;
    for (size_t i = 0; i < args.size(); ++i) {
      picked.push_back(mapped >> i & 1 ? select(args[i], 0, k) : args[i]);
    }
    rows.push_back(f(picked));
  }
  Tensor want = stack(rows, 0);
  Watch watch;
  Tensor got = under_vmap(f, args, mapped, size);
  EXPECT_EQ(looped_operators(), "");
  ASSERT_TRUE(got.sizes() == want.sizes());
  EXPECT_EQ(got.dtype(), want.dtype());
  EXPECT_TRUE(allclose(got, want, 1e-5, 1e-5, true));
}

}  // namespace facula
