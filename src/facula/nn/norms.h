// Normalisation: BatchNorm2d and LayerNorm.
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

// BatchNorm2d normalises each channel of (N, C, H, W) over a batch.
class FACULA_API BatchNorm2d : public Module {
 public:
  explicit BatchNorm2d(int64_t num_features, const BatchNormOptions& options = {});
  void reset_parameters();
  // forward raises ValueError for inputs that are not 4-d.
  Tensor forward(const Tensor& input) override;

  Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 protected:
  std::string extra_repr() const override;

 private:
  int64_t num_features_;
  BatchNormOptions options_;
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
