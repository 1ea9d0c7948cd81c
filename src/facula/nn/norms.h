// Normalisation over batches, layers, groups, instances and by the root mean square.
//
//   nn::GroupNorm norm(2, 6);
//   Tensor out = norm(rand({1, 6, 4, 4}));
#pragma once
#include <optional>

#include "facula/nn/module.h"

namespace facula::nn {

struct BatchNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  // nothing: the plain average of all batches
  bool affine = true, track_running_stats = true;
  DType dtype = kFloat32;
};

// BatchNormNd normalises each channel of an input with N spatial dimensions over a batch.
template <int N>
class FACULA_API BatchNormNd : public Module {
 public:
  explicit BatchNormNd(int64_t num_features, const BatchNormOptions& options = {});
  void reset_parameters();
  // forward raises ValueError for inputs of another rank; BatchNorm1d takes (N, C) too.
  Tensor forward(const Tensor& input) override;

  Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 protected:
  std::string extra_repr() const override;

 private:
  int64_t num_features_;
  BatchNormOptions options_;
};
using BatchNorm1d = BatchNormNd<1>;
using BatchNorm2d = BatchNormNd<2>;
using BatchNorm3d = BatchNormNd<3>;

struct InstanceNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;
  bool affine = false, track_running_stats = false;
  DType dtype = kFloat32;
};

// InstanceNormNd normalises each channel of each sample, with or without a batch dimension.
template <int N>
class FACULA_API InstanceNormNd : public Module {
 public:
  explicit InstanceNormNd(int64_t num_features, const InstanceNormOptions& options = {});
  void reset_parameters();
  Tensor forward(const Tensor& input) override;

  Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 protected:
  std::string extra_repr() const override;

 private:
  int64_t num_features_;
  InstanceNormOptions options_;
};
using InstanceNorm1d = InstanceNormNd<1>;
using InstanceNorm2d = InstanceNormNd<2>;
using InstanceNorm3d = InstanceNormNd<3>;

struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;
  DType dtype = kFloat32;
};

// GroupNorm normalises over num_groups groups of channels of each sample.
class FACULA_API GroupNorm : public Module {
 public:
  GroupNorm(int64_t num_groups, int64_t num_channels, const GroupNormOptions& options = {});
  void reset_parameters();
  Tensor forward(const Tensor& input) override;

  Tensor weight, bias;

 protected:
  std::string extra_repr() const override;

 private:
  int64_t num_groups_, num_channels_;
  GroupNormOptions options_;
};

struct RMSNormOptions {
  std::optional<double> eps = std::nullopt;  // the dtype's unless given
  bool elementwise_affine = true;
  DType dtype = kFloat32;
};

// RMSNorm divides by the root mean square over the last dimensions.
class FACULA_API RMSNorm : public Module {
 public:
  explicit RMSNorm(IntList normalized_shape, const RMSNormOptions& options = {});
  void reset_parameters();
  Tensor forward(const Tensor& input) override;

  Tensor weight;

 protected:
  std::string extra_repr() const override;

 private:
  Sizes shape_;
  RMSNormOptions options_;
};

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true, bias = true;
  DType dtype = kFloat32;
};

// LayerNorm normalises over the last dimensions, those of normalized_shape.
class FACULA_API LayerNorm : public Module {
 public:
  explicit LayerNorm(IntList normalized_shape, const LayerNormOptions& options = {});
  void reset_parameters();
  Tensor forward(const Tensor& input) override;

  Tensor weight, bias;

 protected:
  std::string extra_repr() const override;

 private:
  Sizes shape_;
  LayerNormOptions options_;
};

}  // namespace facula::nn
