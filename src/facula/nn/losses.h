// Losses as objects with options, for programs that pass them around; each calls the operator of
// the same name. `reduction` is "mean", "sum" or "none".
//
//   nn::CrossEntropyLoss loss({.label_smoothing = 0.1});
//   Tensor value = loss(rand({4, 3}), randint(3, {4}));
#pragma once
#include <string>

#include "facula/nn/module.h"

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

}  // namespace facula::nn
