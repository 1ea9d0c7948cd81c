// Tests of saved tensors: the version error and its message, results without cycles, hooks.
#include <gtest/gtest.h>

#include "facula/autograd/engine.h"
#include "facula/core/allocator.h"
#include "small_ops.h"

namespace facula {
namespace {

using namespace small;

class Saved : public ::testing::Test {
  SmallOps ops_;
};

TEST_F(Saved, OverwrittenResultsRaise) {
  Tensor x = leaf({1, 2, 3});
  Tensor y = sigmoid(x);
  add_(y, vec({1}));
  EXPECT_EQ(message_of([&] { backward(sum(y)); }),
            "one of the variables needed for gradient computation has been modified by an inplace "
            "operation: [facula.DoubleTensor [3]], which is output 0 of Sigmoid, is at version 1; "
            "expected version 0 instead. It was saved by sigmoid and overwritten by add_.");
}

// Locations as an embedding language would give them: the "code object" is a counted line.
int live_codes = 0;
int line = 0;
SourceLocation capture() {
  ++live_codes;
  return SourceLocation(new int(1), line);
}
void release_code(void* code) {
  --live_codes;
  delete static_cast<int*>(code);
}
std::string resolve(void*, int offset) { return str("net.py:", offset); }

TEST_F(Saved, MessagesNameBothLines) {
  SourceLocation::capture = capture;
  SourceLocation::release = release_code;
  SourceLocation::resolve = resolve;
  {
    Tensor x = leaf({1, 2}), w = mul(x, vec({1, 1}));
    line = 12;
    Tensor y = mul(w, w);
    line = 14;
    mul_(w, vec({2, 2}));
    std::string text = message_of([&] { backward(sum(y)); });
    EXPECT_NE(text.find("which is output 0 of Mul, is at version 1; expected version 0 instead. It "
                        "was saved by mul at net.py:12 and overwritten by mul_ at net.py:14."),
              std::string::npos)
        << text;
  }
  SourceLocation::capture = nullptr;
  EXPECT_EQ(live_codes, 0);
}

TEST_F(Saved, LeavesAreCheckedToo) {
  Tensor x = leaf({1}), w = leaf({2});
  Tensor y = sum(mul(x, w));
  {
    NoGrad off;
    add_(w, vec({1}));
  }
  EXPECT_NE(message_of([&] { backward(y); }).find("[facula.DoubleTensor [1]] is at version 1"),
            std::string::npos);
  Tensor z = sum(mul(x, w));
  mul_(alias_unversioned(w), vec({2}));  // `.data`
  backward(z);
  EXPECT_EQ(values(grad(x)), (Numbers{6}));
}

TEST_F(Saved, ResultsMakeNoCycle) {
  int64_t before = cpu_allocator().stats().allocated.current;
  {
    Tensor x = leaf({1});
    sigmoid_(mul(x, x));
    sigmoid(mul(x, x));
    Tensor base = mul(x, x);
    sigmoid_(as_strided(base, {1}, {1}, 0));
  }
  EXPECT_EQ(cpu_allocator().stats().allocated.current, before);
}

TEST_F(Saved, InPlaceResultsAreDifferentiable) {
  Tensor x = leaf({0.3});
  Tensor y = mul(x, vec({1}));
  sigmoid_(as_strided(y, {1}, {1}, 0));
  Tensor s = sum(y);
  Tensor g = grad({&s, 1}, {&x, 1}, {}, {.create_graph = true})[0];
  Tensor t = sum(g);
  double v = sigmoid_of(0.3);
  EXPECT_NEAR(values(grad({&t, 1}, {&x, 1})[0])[0], v * (1 - v) * (1 - 2 * v), 1e-12);
}

// Keeps tensors doubled, and gives them back halved. It is given inputs as they are, and results
// without history.
struct Doubling final : SavedTensorHooks {
  int packed = 0, with_history = 0, unpacked = 0;
  std::shared_ptr<void> pack(const Tensor& t) override {
    ++packed;
    with_history += requires_grad(t);
    EXPECT_FALSE(grad_enabled());
    return std::make_shared<Tensor>(mul(t, vec({2})));
  }
  Tensor unpack(const std::shared_ptr<void>& p) override {
    ++unpacked;
    return mul(*static_cast<Tensor*>(p.get()), vec({0.5}));
  }
};

TEST_F(Saved, HooksReplaceWhatIsKept) {
  auto hooks = std::make_shared<Doubling>();
  Tensor x = leaf({3});
  push_saved_hooks(hooks);
  Tensor y = mul(mul(x, x), x);
  Tensor z = sigmoid(x);
  pop_saved_hooks();
  EXPECT_EQ(tls.saved_hooks, nullptr);
  EXPECT_EQ(hooks->packed, 5);
  EXPECT_EQ(hooks->with_history, 4);
  Tensor s = sum(y);
  Tensor g = grad({&s, 1}, {&x, 1}, {}, {.create_graph = true})[0];
  EXPECT_EQ(values(g), (Numbers{27}));
  EXPECT_EQ(values(grad({&g, 1}, {&x, 1})[0]), (Numbers{18}));  // history comes back as well
  backward(sum(z));
  EXPECT_GE(hooks->unpacked, 5);
}

}  // namespace
}  // namespace facula
