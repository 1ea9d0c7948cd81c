// Convolutions in one and three dimensions, Bilinear and EmbeddingBag; Conv2d and Linear are in
// layers.h. They start from the same draws as Python's layers of the same name.
//
//   nn::Conv1d layer(4, 8, 3, {.padding = 1});
//   Tensor out = layer(rand({2, 4, 10}));
#pragma once
#include "facula/nn/simple.h"

namespace facula::nn {

template <size_t N>
struct ConvOptions {
  Extent<N> stride = 1, padding = 0, dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  DType dtype = kFloat32;
};

// ConvNd: convolution over (batch, channels, N spatial dimensions), or without the batch.
template <size_t N>
class FACULA_API ConvNd : public Module {
 public:
  ConvNd(int64_t in_channels, int64_t out_channels, Extent<N> kernel_size,
         const ConvOptions<N>& options = {});
  void reset_parameters();
  Tensor forward(const Tensor& input) override;

  Tensor weight, bias;

 protected:
  std::string extra_repr() const override;

 private:
  int64_t in_channels_, out_channels_;
  Extent<N> kernel_size_;
  ConvOptions<N> options_;
};
using Conv1d = ConvNd<1>;
using Conv3d = ConvNd<3>;

template <size_t N>
struct ConvTransposeOptions {
  Extent<N> stride = 1, padding = 0, output_padding = 0;
  int64_t groups = 1;
  bool bias = true;
  Extent<N> dilation = 1;
  DType dtype = kFloat32;
};

// ConvTransposeNd: the transpose of a convolution.
template <size_t N>
class FACULA_API ConvTransposeNd : public Module {
 public:
  ConvTransposeNd(int64_t in_channels, int64_t out_channels, Extent<N> kernel_size,
                  const ConvTransposeOptions<N>& options = {});
  void reset_parameters();
  Tensor forward(const Tensor& input) override;

  Tensor weight, bias;

 protected:
  std::string extra_repr() const override;

 private:
  int64_t in_channels_, out_channels_;
  Extent<N> kernel_size_;
  ConvTransposeOptions<N> options_;
};
using ConvTranspose1d = ConvTransposeNd<1>;
using ConvTranspose3d = ConvTransposeNd<3>;

struct BilinearOptions {
  bool bias = true;
  DType dtype = kFloat32;
};

// Bilinear: x1 @ weight @ x2 + bias; weight is (out_features, in1_features, in2_features).
class FACULA_API Bilinear : public Module {
 public:
  Bilinear(int64_t in1_features, int64_t in2_features, int64_t out_features,
           const BilinearOptions& options = {});
  void reset_parameters();
  Tensor operator()(const Tensor& x1, const Tensor& x2) const;

  Tensor weight, bias;

 protected:
  std::string extra_repr() const override;
};

struct EmbeddingBagOptions {
  std::string mode = "mean";  // "sum", "mean" or "max"
  bool scale_grad_by_freq = false, include_last_offset = false;
  std::optional<int64_t> padding_idx = std::nullopt;
  DType dtype = kFloat32;
};

// EmbeddingBag gives the sum, mean or maximum of the vectors of each bag of indices: bags are the
// rows of a matrix, or begin at the offsets in a vector.
class FACULA_API EmbeddingBag : public Module {
 public:
  EmbeddingBag(int64_t num_embeddings, int64_t embedding_dim,
               const EmbeddingBagOptions& options = {});
  void reset_parameters();
  Tensor forward(const Tensor& input) override { return bags(input, Tensor(), Tensor()); }
  using Module::operator();
  Tensor operator()(const Tensor& input, const Tensor& offsets,
                    const Tensor& per_sample_weights = Tensor()) const {
    return bags(input, offsets, per_sample_weights);
  }

  Tensor weight;

 protected:
  std::string extra_repr() const override;

 private:
  Tensor bags(const Tensor& input, const Tensor& offsets, const Tensor& weights) const;
  EmbeddingBagOptions options_;
};

}  // namespace facula::nn
