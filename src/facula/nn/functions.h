// Layers without weights: activations, pooling, flattening, dropout. Each calls one operator.
//
//   nn::MaxPool2d pool(2);
//   Tensor halved = pool(rand({1, 3, 8, 8}));
#pragma once
#include <optional>

#include "facula/nn/layers.h"
#include "facula/nn/module.h"

namespace facula::nn {

// ReLU: max(x, 0).
class FACULA_API ReLU : public Module {
 public:
  ReLU() : Module("ReLU") {}
  Tensor forward(const Tensor& input) override;
};

// LeakyReLU: x above 0, negative_slope * x below.
class FACULA_API LeakyReLU : public Module {
 public:
  explicit LeakyReLU(double negative_slope = 0.01) : Module("LeakyReLU"), slope_(negative_slope) {}
  Tensor forward(const Tensor& input) override;

 protected:
  std::string extra_repr() const override;

 private:
  double slope_;
};

// Tanh: the hyperbolic tangent.
class FACULA_API Tanh : public Module {
 public:
  Tanh() : Module("Tanh") {}
  Tensor forward(const Tensor& input) override;
};

// Sigmoid: 1 / (1 + exp(-x)).
class FACULA_API Sigmoid : public Module {
 public:
  Sigmoid() : Module("Sigmoid") {}
  Tensor forward(const Tensor& input) override;
};

// GELU: x times the normal distribution's share below x; "none" or "tanh" as approximation.
class FACULA_API GELU : public Module {
 public:
  explicit GELU(std::string approximate = "none")
      : Module("GELU"), approximate_(std::move(approximate)) {}
  Tensor forward(const Tensor& input) override;

 protected:
  std::string extra_repr() const override;

 private:
  std::string approximate_;
};

// Dropout: zeros of probability p in training, what is kept divided by 1 - p.
class FACULA_API Dropout : public Module {
 public:
  explicit Dropout(double p = 0.5);
  Tensor forward(const Tensor& input) override;

 protected:
  std::string extra_repr() const override;

 private:
  double p_;
};

// Flatten: makes one dimension of those from start_dim to end_dim.
class FACULA_API Flatten : public Module {
 public:
  explicit Flatten(int64_t start_dim = 1, int64_t end_dim = -1)
      : Module("Flatten"), start_(start_dim), end_(end_dim) {}
  Tensor forward(const Tensor& input) override;

 protected:
  std::string extra_repr() const override;

 private:
  int64_t start_, end_;
};

struct MaxPool2dOptions {
  std::optional<Pair> stride = std::nullopt;  // the kernel's size unless given
  Pair padding = 0, dilation = 1;
  bool ceil_mode = false;
};

// MaxPool2d: the largest value of each window of (N, C, H, W) or (C, H, W).
class FACULA_API MaxPool2d : public Module {
 public:
  explicit MaxPool2d(Pair kernel_size, const MaxPool2dOptions& options = {})
      : Module("MaxPool2d"), kernel_size_(kernel_size), options_(options) {}
  Tensor forward(const Tensor& input) override;

 protected:
  std::string extra_repr() const override;

 private:
  Pair kernel_size_;
  MaxPool2dOptions options_;
};

struct AvgPool2dOptions {
  std::optional<Pair> stride = std::nullopt;  // the kernel's size unless given
  Pair padding = 0;
  bool ceil_mode = false, count_include_pad = true;
  std::optional<int64_t> divisor_override = std::nullopt;
};

// AvgPool2d: the mean of each window of (N, C, H, W) or (C, H, W).
class FACULA_API AvgPool2d : public Module {
 public:
  explicit AvgPool2d(Pair kernel_size, const AvgPool2dOptions& options = {})
      : Module("AvgPool2d"), kernel_size_(kernel_size), options_(options) {}
  Tensor forward(const Tensor& input) override;

 protected:
  std::string extra_repr() const override;

 private:
  Pair kernel_size_;
  AvgPool2dOptions options_;
};

}  // namespace facula::nn
