// Convolutions: the oneDNN plans in all layouts, and unfolding, against the definition.
#include "facula/kernels/conv.h"

#include <gtest/gtest.h>

#include <vector>

#include "facula/base/parallel.h"

namespace facula::kernels {
namespace {

ConvShape shape_of(int64_t batch, int64_t in, int64_t out, int64_t groups, int64_t size,
                   int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  ConvShape s;
  s.batch = batch, s.in_channels = in, s.out_channels = out, s.groups = groups;
  for (int d = 1; d < 3; ++d) {
    s.input[d] = size + d, s.kernel[d] = kernel, s.stride[d] = stride;
    s.padding[d] = padding, s.dilation[d] = dilation;
    s.output[d] = (s.input[d] + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  }
  return s;
}

// Offset of an element of an image tensor.
int64_t at(const int64_t (&sizes)[3], int64_t channels, ConvLayout layout, int64_t n, int64_t c,
           int64_t y, int64_t x) {
  int64_t position = y * sizes[2] + x, count = sizes[1] * sizes[2];
  return layout == ConvLayout::kChannelsLast ? (n * count + position) * channels + c
                                             : (n * channels + c) * count + position;
}

// Calls f(x offset, w offset, y offset) for every product of the convolution.
template <class F>
void each_product(const ConvShape& s, ConvLayout lx, ConvLayout ly, F&& f) {
  int64_t ig = s.in_channels / s.groups, og = s.out_channels / s.groups;
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t o = 0; o < s.out_channels; ++o) {
      for (int64_t y = 0; y < s.output[1]; ++y) {
        for (int64_t x = 0; x < s.output[2]; ++x) {
          for (int64_t i = 0; i < ig; ++i) {
            for (int64_t a = 0; a < s.kernel[1]; ++a) {
              for (int64_t b = 0; b < s.kernel[2]; ++b) {
                int64_t p = y * s.stride[1] + a * s.dilation[1] - s.padding[1];
                int64_t q = x * s.stride[2] + b * s.dilation[2] - s.padding[2];
                if (p < 0 || q < 0 || p >= s.input[1] || q >= s.input[2]) continue;
                f(at(s.input, s.in_channels, lx, n, o / og * ig + i, p, q),
                  ((o * ig + i) * s.kernel[1] + a) * s.kernel[2] + b,
                  at(s.output, s.out_channels, ly, n, o, y, x));
              }
            }
          }
        }
      }
    }
  }
}

std::vector<float> numbers(int64_t n, int seed) {
  std::vector<float> v(n);
  for (int64_t i = 0; i < n; ++i) v[i] = static_cast<float>((i * 5 + seed) % 7 - 3);
  return v;
}

void check_plans(const ConvShape& s, ConvLayout lx, ConvLayout ly) {
  int64_t nx = s.batch * s.in_channels * s.input_size();
  int64_t ny = s.batch * s.out_channels * s.output_size();
  int64_t nw = s.out_channels * (s.in_channels / s.groups) * s.kernel_size();
  for (ConvKind kind : {ConvKind::kForward, ConvKind::kInput, ConvKind::kWeight}) {
    auto x = numbers(nx, 1), w = numbers(nw, 2), y = numbers(ny, 3);
    auto& result = kind == ConvKind::kForward ? y : kind == ConvKind::kInput ? x : w;
    std::vector<float> want(result.size(), 0.0f);
    each_product(s, lx, ly, [&](int64_t i, int64_t k, int64_t o) {
      if (kind == ConvKind::kForward)
        want[o] += x[i] * w[k];
      else if (kind == ConvKind::kInput)
        want[i] += y[o] * w[k];
      else
        want[k] += x[i] * y[o];
    });
    ConvPlan* plan = plan_conv(kind, s, lx, ly, false, false);
    ASSERT_NE(plan, nullptr);
    std::vector<float> work(conv_workspace(plan) / 4 + 16);
    run_conv(plan, x.data(), w.data(), nullptr, y.data(), work.data());
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(result[i], want[i], 1e-3) << i;
  }
}

TEST(Conv, PlansMatchTheDefinition) {
  for (ConvShape s : {shape_of(2, 3, 5, 1, 9, 3, 1, 1, 1), shape_of(4, 16, 16, 1, 12, 3, 2, 1, 1),
                      shape_of(3, 8, 8, 8, 10, 3, 1, 1, 1), shape_of(2, 8, 12, 2, 10, 3, 1, 2, 2),
                      shape_of(2, 16, 32, 1, 7, 1, 1, 0, 1), shape_of(1, 1, 4, 1, 8, 5, 1, 2, 1)}) {
    check_plans(s, ConvLayout::kChannelsFirst, ConvLayout::kChannelsFirst);
    check_plans(s, ConvLayout::kChannelsLast, ConvLayout::kChannelsLast);
    check_plans(s, ConvLayout::kChannelsFirst, ConvLayout::kChannelsLast);
  }
}

TEST(Conv, WeightGradientsDoNotDependOnThreads) {
  ConvShape s = shape_of(8, 16, 24, 1, 14, 3, 1, 1, 1);
  std::vector<float> x(s.batch * s.in_channels * s.input_size());
  std::vector<float> y(s.batch * s.out_channels * s.output_size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(i % 101 + 1);
  for (size_t i = 0; i < y.size(); ++i) y[i] = 1.0f / static_cast<float>(i % 83 + 2);
  std::vector<float> w[2];
  int threads = num_threads();
  for (int t = 0; t < 2; ++t) {
    set_num_threads(t ? 3 : 1);
    w[t].resize(s.out_channels * s.in_channels * s.kernel_size());
    ConvPlan* plan = plan_conv(ConvKind::kWeight, s, ConvLayout::kChannelsFirst,
                               ConvLayout::kChannelsFirst, false, false);
    std::vector<float> work(conv_workspace(plan) / 4 + 16);
    run_conv(plan, x.data(), w[t].data(), nullptr, y.data(), work.data());
  }
  set_num_threads(threads);
  EXPECT_EQ(w[0], w[1]);
}

TEST(Conv, FoldIsTheAdjointOfUnfold) {
  ConvShape s = shape_of(1, 3, 1, 1, 6, 3, 2, 1, 2);
  int64_t images = 3 * s.input_size(), count = 3 * s.kernel_size() * s.output_size();
  auto image = numbers(images, 1), columns = numbers(count, 2);
  std::vector<float> unfolded(count), folded(images);
  unfold(kFloat32, image.data(), unfolded.data(), s, 3);
  fold(kFloat32, columns.data(), folded.data(), s, 3);
  double a = 0, b = 0;
  for (int64_t i = 0; i < count; ++i) a += unfolded[i] * columns[i];
  for (int64_t i = 0; i < images; ++i) b += folded[i] * image[i];
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace facula::kernels
