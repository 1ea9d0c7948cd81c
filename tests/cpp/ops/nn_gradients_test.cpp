// First and second derivatives of the operators of neural networks.
#include "gradients.h"

namespace facula {
namespace {

TEST(NnGradients, Products) {
  check_second([](const Tensors& x) { return Tensors{mm(x[0], x[1])}; },
               {wavy({2, 3}), wavy({3, 4})});
  check_second([](const Tensors& x) { return Tensors{bmm(x[0], x[1])}; },
               {wavy({2, 2, 3}), wavy({2, 3, 2})});
  check_second([](const Tensors& x) { return Tensors{mv(x[0], x[1])}; }, {wavy({2, 3}), wavy({3})});
  check_second([](const Tensors& x) { return Tensors{dot(x[0], x[1])}; },
               {wavy({3}), wavy({3}, 0.4)});
  check_second([](const Tensors& x) { return Tensors{addmm(x[0], x[1], x[2], 0.5, 2.0)}; },
               {wavy({4}), wavy({2, 3}), wavy({3, 4})});
  check_second([](const Tensors& x) { return Tensors{baddbmm(x[0], x[1], x[2], 0.5, 2.0)}; },
               {wavy({2, 4}), wavy({3, 2, 3}), wavy({3, 3, 4})});
  check_second([](const Tensors& x) { return Tensors{matmul(x[0], x[1])}; },
               {wavy({2, 1, 2, 3}), wavy({3, 3, 2})});
  check_second([](const Tensors& x) { return Tensors{linear(x[0], x[1], x[2])}; },
               {wavy({2, 2, 3}), wavy({4, 3}), wavy({4})});
  check_second([](const Tensors& x) { return Tensors{bilinear(x[0], x[1], x[2], x[3])}; },
               {wavy({2, 3}), wavy({2, 2}), wavy({2, 3, 2}), wavy({2})});
}

TEST(NnGradients, Softmax) {
  check_second([](const Tensors& x) { return Tensors{softmax(x[0], 1)}; }, {wavy({2, 4})});
  check_second([](const Tensors& x) { return Tensors{log_softmax(x[0], 1)}; }, {wavy({2, 3, 2})});
  Tensor target = index_tensor({1, 2, -100}, {3});
  Tensor weight = detach(wavy({4}, 0.3, 1.5));
  for (const char* reduction : {"mean", "sum", "none"}) {
    check_second(
        [&](const Tensors& x) {
          return Tensors{cross_entropy(x[0], target, weight, -100, reduction, 0.1)};
        },
        {wavy({3, 4})});
    check_second(
        [&](const Tensors& x) { return Tensors{nll_loss(x[0], target, weight, -100, reduction)}; },
        {wavy({3, 4})});
  }
  check_second([](const Tensors& x) { return Tensors{cross_entropy(x[0], softmax(x[1], 1))}; },
               {wavy({3, 4}), wavy({3, 4}, 0.2)});
}

TEST(NnGradients, Convolution) {
  auto conv = [](IntList stride, IntList padding, IntList dilation, int64_t groups) {
    return [=](const Tensors& x) {
      return Tensors{conv2d(x[0], x[1], x[2], stride, padding, dilation, groups)};
    };
  };
  int64_t one = 1, two = 2;
  check_second(conv(one, one, one, 1), {wavy({2, 2, 4, 3}), wavy({3, 2, 3, 2}), wavy({3})});
  check_second(conv(two, one, one, 2), {wavy({1, 4, 5, 4}), wavy({2, 2, 2, 2}), wavy({2})});
  check_second(
      [](const Tensors& x) { return Tensors{conv_transpose2d(x[0], x[1], x[2], 2, 1, 1, 2, 1)}; },
      {wavy({1, 4, 3, 2}), wavy({4, 1, 3, 2}), wavy({2})});
  check_second(
      [](const Tensors& x) { return Tensors{conv1d_named_padding(x[0], x[1], x[2], 1, "same")}; },
      {wavy({2, 5}), wavy({3, 2, 2}), wavy({3})});
}

TEST(NnGradients, Pooling) {
  check_second([](const Tensors& x) { return Tensors{max_pool2d(x[0], 2, std::nullopt, 1)}; },
               {wavy({1, 2, 5, 4})});
  check_second(
      [](const Tensors& x) {
        return Tensors{avg_pool2d(x[0], 2, OptIntList(IntList({1, 2})), 1, true, false)};
      },
      {wavy({1, 2, 5, 4})});
  check_second([](const Tensors& x) { return Tensors{adaptive_avg_pool2d(x[0], IntList({2, 3}))}; },
               {wavy({2, 5, 4})});
  check_second([](const Tensors& x) { return Tensors{std::get<0>(adaptive_max_pool1d(x[0], 3))}; },
               {wavy({2, 2, 7})});
}

TEST(NnGradients, Norms) {
  Tensor mean = detach(wavy({3}, 0.2)), var = detach(wavy({3}, 0.3, 2));
  for (bool training : {true, false}) {
    check_second(
        [&](const Tensors& x) {
          return Tensors{batch_norm(x[0], training ? Tensor() : mean, training ? Tensor() : var,
                                    x[1], x[2], training)};
        },
        {wavy({3, 3, 2}), wavy({3}), wavy({3})});
  }
  check_second(
      [](const Tensors& x) { return Tensors{layer_norm(x[0], IntList({2, 3}), x[1], x[2])}; },
      {wavy({3, 2, 3}), wavy({2, 3}), wavy({2, 3})});
  check_second([](const Tensors& x) { return Tensors{rms_norm(x[0], IntList({4}), x[1])}; },
               {wavy({3, 4}), wavy({4})});
  check_second([](const Tensors& x) { return Tensors{group_norm(x[0], 2, x[1], x[2])}; },
               {wavy({2, 4, 3}), wavy({4}), wavy({4})});
  check_second([](const Tensors& x) { return Tensors{instance_norm(x[0])}; }, {wavy({2, 2, 4})});
}

Tensors recurrent_inputs(int64_t gates, bool lstm) {
  Tensors x = {wavy({3, 2, 2}), wavy({1, 2, 3}, 0.3)};
  if (lstm) x.push_back(wavy({1, 2, 3}, 0.5));
  for (const Tensor& t : {wavy({gates * 3, 2}, 0.9), wavy({gates * 3, 3}, 1.1),
                          wavy({gates * 3}, 0.4), wavy({gates * 3}, 0.6)}) {
    x.push_back(t);
  }
  return x;
}

TEST(NnGradients, Recurrent) {
  check_second(
      [](const Tensors& x) {
        auto [y, h, c] =
            lstm(x[0], {x.data() + 1, 2}, {x.data() + 3, 4}, true, 1, 0, false, false, false);
        return Tensors{y, h, c};
      },
      recurrent_inputs(4, true));
  check_second(
      [](const Tensors& x) {
        auto [y, h] = gru(x[0], x[1], {x.data() + 2, 4}, true, 1, 0, false, false, true);
        return Tensors{y, h};
      },
      {wavy({2, 3, 2}), wavy({1, 2, 3}, 0.3), wavy({9, 2}, 0.9), wavy({9, 3}, 1.1), wavy({9}, 0.4),
       wavy({9}, 0.6)});
  check_second(
      [](const Tensors& x) {
        auto [y, h] = rnn_tanh(x[0], x[1], {x.data() + 2, 4}, true, 1, 0, false, false, false);
        return Tensors{y, h};
      },
      recurrent_inputs(1, false));
  Tensor sizes = index_tensor({3, 2, 1}, {3});
  check_second(
      [&](const Tensors& x) {
        auto [y, h, c] = lstm_packed(x[0], sizes, {x.data() + 1, 2}, {x.data() + 3, 6}, false, 1, 0,
                                     false, true);
        return Tensors{y, h, c};
      },
      {wavy({6, 2}), wavy({2, 3, 2}, 0.3), wavy({2, 3, 3}, 0.5), wavy({12, 2}, 0.9),
       wavy({12, 2}, 1.1), wavy({2, 3}, 0.2), wavy({12, 2}, 0.8), wavy({12, 2}, 1.3),
       wavy({2, 3}, 0.25)});
}

TEST(NnGradients, Attention) {
  auto attend = [](bool causal, bool with_mask) {
    return [=](const Tensors& x) {
      return Tensors{
          scaled_dot_product_attention(x[0], x[1], x[2], with_mask ? x[3] : Tensor(), 0, causal)};
    };
  };
  Tensor q = wavy({2, 2, 3, 2}), k = wavy({2, 2, 4, 2}, 0.4), v = wavy({2, 2, 4, 3}, 0.9);
  check_second(attend(false, false), {q, k, v});
  check_second(attend(true, false), {q, k, v});
  check_second(attend(false, true), {q, k, v, wavy({3, 4}, 1.2)});
}

TEST(NnGradients, Images) {
  check_second(
      [](const Tensors& x) { return Tensors{constant_pad_nd(x[0], IntList({1, -1, 0, 2}), 3)}; },
      {wavy({2, 3, 4})});
  check_second(
      [](const Tensors& x) { return Tensors{reflection_pad2d(x[0], IntList({1, 2, 0, 1}))}; },
      {wavy({1, 3, 3})});
  check_second([](const Tensors& x) { return Tensors{im2col(x[0], 2, 1, 1, 2)}; },
               {wavy({1, 2, 3, 4})});
  check_second(
      [](const Tensors& x) { return Tensors{upsample_bilinear2d(x[0], IntList({5, 2}), false)}; },
      {wavy({1, 2, 3, 4})});
  check_second(
      [](const Tensors& x) { return Tensors{upsample_bicubic2d(x[0], IntList({5, 6}), true)}; },
      {wavy({1, 1, 3, 4})});
  check_second([](const Tensors& x) { return Tensors{upsample_nearest2d(x[0], IntList({5, 6}))}; },
               {wavy({1, 1, 3, 4})});
  for (const char* mode : {"bilinear", "bicubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      check_second(
          [&](const Tensors& x) { return Tensors{grid_sample(x[0], x[1], mode, padding, false)}; },
          {wavy({1, 2, 3, 4}), wavy({1, 2, 3, 2}, 1.3)});
    }
  }
}

TEST(NnGradients, EmbeddingBags) {
  Tensor indices = index_tensor({0, 2, 3, 2, 1}, {5}), offsets = index_tensor({0, 2, 2}, {3});
  for (int64_t mode = 0; mode < 3; ++mode) {
    check_second(
        [&](const Tensors& x) {
          return Tensors{std::get<0>(
              embedding_bag(x[0], indices, offsets, false, mode, false, Tensor(), false, 3))};
        },
        {wavy({4, 3})});
  }
  check_second(
      [&](const Tensors& x) {
        return Tensors{std::get<0>(embedding_bag(x[0], indices, offsets, false, 0, false, x[1]))};
      },
      {wavy({4, 3}), wavy({5}, 1.1)});
}

}  // namespace
}  // namespace facula
