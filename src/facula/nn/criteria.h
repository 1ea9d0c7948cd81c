// The losses beside those of losses.h. `reduction` is "mean", "sum" or "none".
//
//   nn::HuberLoss loss({.delta = 0.5});
//   Tensor value = loss(rand({3}), rand({3}));
//   nn::TripletMarginLoss triplet;
//   Tensor apart = triplet(rand({2, 4}), rand({2, 4}), rand({2, 4}));
#pragma once
#include "facula/nn/simple.h"

namespace facula::nn {

// check_reduction raises ValueError, in the name of a module, for other words.
FACULA_API void check_reduction(const char* name, const std::string& reduction);
// reduced applies a reduction to losses of the elements.
FACULA_API Tensor reduced(const char* name, const Tensor& losses, const std::string& reduction);

struct FACULA_API HuberLossOptions {
  static constexpr const char* kName = "HuberLoss";
  std::string reduction = "mean";
  double delta = 1;
  Tensor call(const Tensor& x, const Tensor& target) const;
  void check() const { check_reduction(kName, reduction); }
};
using HuberLoss = Simple<HuberLossOptions>;  // squared below delta, absolute above

struct FACULA_API KLDivLossOptions {
  static constexpr const char* kName = "KLDivLoss";
  std::string reduction = "mean";  // or "batchmean"
  bool log_target = false;
  Tensor call(const Tensor& x, const Tensor& target) const;
  void check() const;
};
using KLDivLoss = Simple<KLDivLossOptions>;  // of log-probabilities and probabilities

struct FACULA_API PoissonNLLLossOptions {
  static constexpr const char* kName = "PoissonNLLLoss";
  bool log_input = true, full = false;
  double eps = 1e-8;
  std::string reduction = "mean";
  Tensor call(const Tensor& x, const Tensor& target) const;
  void check() const { check_reduction(kName, reduction); }
};
using PoissonNLLLoss = Simple<PoissonNLLLossOptions>;

// GaussianNLLLossOptions: called with means, targets and variances.
struct FACULA_API GaussianNLLLossOptions {
  static constexpr const char* kName = "GaussianNLLLoss";
  bool full = false;
  double eps = 1e-6;
  std::string reduction = "mean";
  Tensor call(const Tensor& x, const Tensor& target, const Tensor& var) const;
  void check() const { check_reduction(kName, reduction); }
};
using GaussianNLLLoss = Simple<GaussianNLLLossOptions>;

struct FACULA_API HingeEmbeddingLossOptions {
  static constexpr const char* kName = "HingeEmbeddingLoss";
  double margin = 1;
  std::string reduction = "mean";
  Tensor call(const Tensor& x, const Tensor& target) const;
  void check() const { check_reduction(kName, reduction); }
};
using HingeEmbeddingLoss = Simple<HingeEmbeddingLossOptions>;  // targets are 1 and -1

struct FACULA_API CosineEmbeddingLossOptions {
  static constexpr const char* kName = "CosineEmbeddingLoss";
  double margin = 0;
  std::string reduction = "mean";
  Tensor call(const Tensor& x1, const Tensor& x2, const Tensor& target) const;
  void check() const { check_reduction(kName, reduction); }
};
using CosineEmbeddingLoss = Simple<CosineEmbeddingLossOptions>;

struct FACULA_API MarginRankingLossOptions {
  static constexpr const char* kName = "MarginRankingLoss";
  double margin = 0;
  std::string reduction = "mean";
  Tensor call(const Tensor& x1, const Tensor& x2, const Tensor& target) const;
  void check() const { check_reduction(kName, reduction); }
};
using MarginRankingLoss = Simple<MarginRankingLossOptions>;

struct FACULA_API SoftMarginLossOptions {
  static constexpr const char* kName = "SoftMarginLoss";
  std::string reduction = "mean";
  Tensor call(const Tensor& x, const Tensor& target) const;
  void check() const { check_reduction(kName, reduction); }
};
using SoftMarginLoss = Simple<SoftMarginLossOptions>;

struct FACULA_API MultiLabelMarginLossOptions {
  static constexpr const char* kName = "MultiLabelMarginLoss";
  std::string reduction = "mean";
  Tensor call(const Tensor& x, const Tensor& target) const;
  void check() const { check_reduction(kName, reduction); }
};
using MultiLabelMarginLoss = Simple<MultiLabelMarginLossOptions>;

struct FACULA_API MultiLabelSoftMarginLossOptions {
  static constexpr const char* kName = "MultiLabelSoftMarginLoss";
  Tensor weight = {};  // of the classes
  std::string reduction = "mean";
  Tensor call(const Tensor& x, const Tensor& target) const;
  void check() const { check_reduction(kName, reduction); }
};
using MultiLabelSoftMarginLoss = Simple<MultiLabelSoftMarginLossOptions>;

struct FACULA_API MultiMarginLossOptions {
  static constexpr const char* kName = "MultiMarginLoss";
  int64_t p = 1;  // or 2
  double margin = 1;
  Tensor weight = {};  // of the classes
  std::string reduction = "mean";
  Tensor call(const Tensor& x, const Tensor& target) const;
  void check() const;
};
using MultiMarginLoss = Simple<MultiMarginLossOptions>;

struct FACULA_API TripletMarginLossOptions {
  static constexpr const char* kName = "TripletMarginLoss";
  double margin = 1, p = 2, eps = 1e-6;
  bool swap = false;
  std::string reduction = "mean";
  Tensor call(const Tensor& anchor, const Tensor& positive, const Tensor& negative) const;
  void check() const;
};
using TripletMarginLoss = Simple<TripletMarginLossOptions>;

// TripletMarginWithDistanceLossOptions: the same with any distance; the Euclidean one by default.
struct FACULA_API TripletMarginWithDistanceLossOptions {
  static constexpr const char* kName = "TripletMarginWithDistanceLoss";
  Tensor (*distance_function)(const Tensor&, const Tensor&) = nullptr;
  double margin = 1;
  bool swap = false;
  std::string reduction = "mean";
  Tensor call(const Tensor& anchor, const Tensor& positive, const Tensor& negative) const;
  void check() const;
};
using TripletMarginWithDistanceLoss = Simple<TripletMarginWithDistanceLossOptions>;

// CTCLossOptions: called with log probabilities (T, N, C), targets and the lengths of both.
struct FACULA_API CTCLossOptions {
  static constexpr const char* kName = "CTCLoss";
  int64_t blank = 0;
  std::string reduction = "mean";
  bool zero_infinity = false;  // losses of targets that cannot be reached
  Tensor call(const Tensor& log_probs, const Tensor& targets, IntList input_lengths,
              IntList target_lengths) const;
  void check() const { check_reduction(kName, reduction); }
};
using CTCLoss = Simple<CTCLossOptions>;  // connectionist temporal classification

}  // namespace facula::nn
