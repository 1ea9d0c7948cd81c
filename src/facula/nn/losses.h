// Losses as objects with options, for programs that pass them around; each calls the operator of
// the same name. `reduction` is "mean", "sum" or "none".
//
//   nn::CrossEntropyLoss loss({.label_smoothing = 0.1});
//   Tensor value = loss(rand({4, 3}), randint(3, {4}));
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "facula/nn/layers.h"
#include "facula/nn/sequential.h"

namespace facula::nn {

// Loss compares an input with a target.
class FACULA_API Loss : public Module {
 public:
  Loss(const char* name, std::string reduction);
  using Module::forward;
  virtual Tensor forward(const Tensor& input, const Tensor& target) = 0;
  Tensor operator()(const Tensor& input, const Tensor& target) { return forward(input, target); }

 protected:
  std::string reduction_;
};

// MSELoss: the squared difference.
class FACULA_API MSELoss : public Loss {
 public:
  explicit MSELoss(std::string reduction = "mean") : Loss("MSELoss", std::move(reduction)) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;
};

// L1Loss: the absolute difference.
class FACULA_API L1Loss : public Loss {
 public:
  explicit L1Loss(std::string reduction = "mean") : Loss("L1Loss", std::move(reduction)) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;
};

// SmoothL1Loss: squared below beta, absolute above.
class FACULA_API SmoothL1Loss : public Loss {
 public:
  explicit SmoothL1Loss(double beta = 1, std::string reduction = "mean")
      : Loss("SmoothL1Loss", std::move(reduction)), beta_(beta) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;

 private:
  double beta_;
};

struct CrossEntropyLossOptions {
  Tensor weight = {};  // of the classes
  int64_t ignore_index = -100;
  std::string reduction = "mean";
  double label_smoothing = 0;
};

// CrossEntropyLoss: of unnormalised scores with class indices or probabilities.
class FACULA_API CrossEntropyLoss : public Loss {
 public:
  explicit CrossEntropyLoss(const CrossEntropyLossOptions& options = {});
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;

 private:
  Tensor weight_;
  int64_t ignore_index_;
  double label_smoothing_;
};

// NLLLoss: the negative log-probability of the target classes.
class FACULA_API NLLLoss : public Loss {
 public:
  explicit NLLLoss(const Tensor& weight = {}, int64_t ignore_index = -100,
                   std::string reduction = "mean");
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;

 private:
  Tensor weight_;
  int64_t ignore_index_;
};

// BCELoss: cross-entropy of probabilities.
class FACULA_API BCELoss : public Loss {
 public:
  explicit BCELoss(std::string reduction = "mean") : Loss("BCELoss", std::move(reduction)) {}
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;
};

// BCEWithLogitsLoss: cross-entropy of sigmoid(input).
class FACULA_API BCEWithLogitsLoss : public Loss {
 public:
  explicit BCEWithLogitsLoss(const Tensor& pos_weight = {}, std::string reduction = "mean");
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;

 private:
  Tensor pos_weight_;
};

struct LinearCrossEntropyLossOptions {
  std::vector<int64_t> out_features = {};  // of each class
  bool bias = false;
  Tensor weight = {};  // of the classes
  std::string reduction = "mean";
  std::optional<int64_t> ignore_index = std::nullopt;  // -100 unless given
  double label_smoothing = 0;
  DType dtype = kFloat32;
};

// LinearCrossEntropyLoss: the cross-entropy of a linear map of the input.
class FACULA_API LinearCrossEntropyLoss : public Loss {
 public:
  LinearCrossEntropyLoss(int64_t in_features, int64_t num_classes,
                         const LinearCrossEntropyLossOptions& options = {});
  using Loss::forward;
  Tensor forward(const Tensor& input, const Tensor& target) override;

  Linear& linear;

 private:
  Tensor weight_;
  Sizes shape_;  // of the map's weight: classes, out_features, in_features
  std::optional<int64_t> ignore_index_;
  double label_smoothing_;
};

struct AdaptiveLogSoftmaxOptions {
  double div_value = 4;
  bool head_bias = false;
  DType dtype = kFloat32;
};

// AdaptiveLogSoftmaxWithLoss: the adaptive softmax of Grave et al. (2017) over n_classes classes,
// sorted by falling frequency. Cutoffs are the first classes of the tails; tail i works with
// in_features / div_value^(i + 1) features. ValueError for cutoffs that do not rise inside of
// [1, n_classes - 1].
//
//   nn::AdaptiveLogSoftmaxWithLoss loss(8, 20, {4, 10});
//   auto [log_prob, value] = loss(rand({3, 8}), randint(20, {3}));
class FACULA_API AdaptiveLogSoftmaxWithLoss : public Module {
  std::vector<int64_t> cutoffs_;  // and n_classes; made before the layers, which read them

 public:
  // Output is the log probability of each target, and the mean of what is lacking to 0.
  struct Output {
    Tensor output, loss;
  };
  AdaptiveLogSoftmaxWithLoss(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs,
                             const AdaptiveLogSoftmaxOptions& options = {});
  using Module::forward;
  // The call takes inputs (N, in_features) and targets (N), or one input and a 0-d target.
  Output operator()(const Tensor& input, const Tensor& target);
  // log_prob gives the log probabilities of all classes, (N, n_classes); predict the most probable
  // class of each row.
  Tensor log_prob(const Tensor& input);
  Tensor predict(const Tensor& input);

  Linear& head;
  ModuleList<Sequential>& tail;
};

}  // namespace facula::nn
