// Tests of the rules of matrix products and convolutions, for every choice of what has samples.
#include "against_loop.h"
#include "facula/ops/conv_functions.h"
#include "facula/ops/matmul_functions.h"

namespace facula {
namespace {

using Args = std::vector<Tensor>;

void for_all_choices(const Mapped& f, const Args& args) {
  for (unsigned mapped = 1; mapped < 1u << args.size(); ++mapped) {
    Args given;
    for (size_t i = 0; i < args.size(); ++i) {
      given.push_back(mapped >> i & 1 ? args[i] : select(args[i], 0, 0));
    }
    expect_like_loop(f, given, mapped);
  }
}

TEST(BatchLinear, Products) {
  Tensor m = randn(IntList({3, 2, 4})), n = randn(IntList({3, 4, 5})), v = randn(IntList({3, 4}));
  Tensor w = randn(IntList({3, 5, 4})), b = randn(IntList({3, 5}));
  for_all_choices([](const Args& t) { return mm(t[0], t[1]); }, {m, n});
  for_all_choices([](const Args& t) { return mv(t[0], t[1]); }, {m, v});
  for_all_choices([](const Args& t) { return dot(t[0], t[1]); }, {v, v});
  for_all_choices([](const Args& t) { return linear_product(t[0], t[1], t[2]); }, {m, w, b});
  for_all_choices([](const Args& t) { return linear_product(t[0], t[1]); }, {v, w});
  for_all_choices([](const Args& t) { return addmm(t[0], t[1], t[2], Scalar(2), Scalar(3)); },
                  {b, m, n});
  for_all_choices([](const Args& t) { return linear_weight_grad(t[0], t[1]); }, {m, m});
}

TEST(BatchLinear, Convolutions) {
  Tensor x = randn(IntList({3, 2, 4, 6, 5})), w = randn(IntList({3, 6, 2, 3, 3})),
         b = randn(IntList({3, 6}));
  for_all_choices(
      [](const Args& t) {
        return convolution(t[0], t[1], t[2], {2, 1}, {1, 1}, {1, 1}, false, {0, 0}, 2);
      },
      {x, w, b});
  Tensor u = randn(IntList({3, 4, 3, 2, 2})), c = randn(IntList({3, 6}));
  for_all_choices(
      [](const Args& t) {
        return convolution(t[0], t[1], t[2], {2, 2}, {0, 0}, {1, 1}, true, {1, 1}, 2);
      },
      {x, u, c});
}

TEST(BatchLinear, GradientsOfConvolutions) {
  Tensor x = randn(IntList({3, 2, 4, 5, 5})), w = randn(IntList({3, 6, 2, 3, 3}));
  Tensor g = randn(IntList({3, 2, 6, 3, 3}));
  for (int which : {0, 1, 2}) {
    for_all_choices(
        [which](const Args& t) {
          auto all =
              convolution_backward(t[0], t[1], t[2], {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 2, 7);
          return which == 0 ? std::get<0>(all) : which == 1 ? std::get<1>(all) : std::get<2>(all);
        },
        {g, x, w});
  }
}

}  // namespace
}  // namespace facula
