// Layers with weights: linear maps, convolutions, embeddings. They start from the same draws as
// Python's layers of the same name.
//
//   nn::Conv2d layer(3, 8, 3, {.padding = 1});
//   Tensor out = layer(rand({2, 3, 16, 16}));
#pragma once
#include <optional>

#include "facula/nn/module.h"

namespace facula::nn {

// Pair is a number for height and width: both the same, or {height, width}.
struct Pair {
  int64_t height, width;
  Pair(int64_t both) : height(both), width(both) {}
  Pair(int64_t h, int64_t w) : height(h), width(w) {}
  Sizes list() const { return Sizes{height, width}; }
  friend bool operator==(const Pair&, const Pair&) = default;
};

struct LinearOptions {
  bool bias = true;
  DType dtype = kFloat32;
};

// Linear: x @ weight.T + bias; weight is (out_features, in_features).
class FACULA_API Linear : public Module {
 public:
  Linear(int64_t in_features, int64_t out_features, const LinearOptions& options = {});
  void reset_parameters();
  Tensor forward(const Tensor& input) override;

  Tensor weight, bias;

 protected:
  std::string extra_repr() const override;
};

struct Conv2dOptions {
  Pair stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  DType dtype = kFloat32;
};

// Conv2d: convolution over (N, C, H, W) or (C, H, W).
class FACULA_API Conv2d : public Module {
 public:
  Conv2d(int64_t in_channels, int64_t out_channels, Pair kernel_size,
         const Conv2dOptions& options = {});
  void reset_parameters();
  Tensor forward(const Tensor& input) override;

  Tensor weight, bias;

 protected:
  std::string extra_repr() const override;

 private:
  int64_t in_channels_, out_channels_;
  Pair kernel_size_;
  Conv2dOptions options_;
};

struct ConvTranspose2dOptions {
  Pair stride = 1, padding = 0, output_padding = 0;
  int64_t groups = 1;
  bool bias = true;
  Pair dilation = 1;
  DType dtype = kFloat32;
};

// ConvTranspose2d: the transpose of a convolution over (N, C, H, W) or (C, H, W).
class FACULA_API ConvTranspose2d : public Module {
 public:
  ConvTranspose2d(int64_t in_channels, int64_t out_channels, Pair kernel_size,
                  const ConvTranspose2dOptions& options = {});
  void reset_parameters();
  Tensor forward(const Tensor& input) override;

  Tensor weight, bias;

 protected:
  std::string extra_repr() const override;

 private:
  int64_t in_channels_, out_channels_;
  Pair kernel_size_;
  ConvTranspose2dOptions options_;
};

struct EmbeddingOptions {
  std::optional<int64_t> padding_idx = std::nullopt;  // this row is zero and does not learn
  bool scale_grad_by_freq = false;
  DType dtype = kFloat32;
};

// Embedding: a table of vectors; gives those at the indices of its input.
class FACULA_API Embedding : public Module {
 public:
  Embedding(int64_t num_embeddings, int64_t embedding_dim, const EmbeddingOptions& options = {});
  void reset_parameters();
  Tensor forward(const Tensor& input) override;

  Tensor weight;

 protected:
  std::string extra_repr() const override;

 private:
  EmbeddingOptions options_;
};

}  // namespace facula::nn
