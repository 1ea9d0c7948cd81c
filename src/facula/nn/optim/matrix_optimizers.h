// Optimisers that look at a parameter as a matrix: Adafactor and Muon.
//
//   nn::Linear model(4, 3, {.bias = false});
//   optim::Muon optimizer(model.parameters(), {.lr = 0.02});
//   optimizer.zero_grad();
#pragma once
#include "facula/nn/optim/optimizer.h"

namespace facula::optim {

struct AdafactorOptions {
  double lr = 1e-2, beta2_decay = -0.8;
  std::optional<double> eps1 = std::nullopt;  // the dtype's unless given
  double eps2 = 1e-3, d = 1, weight_decay = 0;
};

// Adafactor: Adam's rate from one vector a row and one a column, Shazeer and Stern 2018.
class FACULA_API Adafactor final : public Optimizer {
 public:
  explicit Adafactor(std::vector<Tensor> params, AdafactorOptions options = {});
  // add_group adds parameters with options of their own.
  void add_group(std::vector<Tensor> params, AdafactorOptions options);
  AdafactorOptions& options(size_t group = 0) { return options_.at(group); }

 private:
  void update_param(size_t group, const Tensor& param, const Tensor& grad,
                    ParamState& state) override;
  double& rate(size_t group) override { return options_.at(group).lr; }
  std::vector<AdafactorOptions> options_;
};

struct MuonOptions {
  double lr = 1e-3, weight_decay = 0.1, momentum = 0.95;
  bool nesterov = true;
  double a = 3.4445, b = -4.7750, c = 2.0315;  // of the Newton-Schulz iteration
  double eps = 1e-7;
  int64_t ns_steps = 5;
  bool match_rms_adamw = false;  // scales the rate by 0.2 sqrt(max(rows, columns))
};

// Muon: momentum brought near an orthogonal matrix, Jordan et al. 2024. ValueError for parameters
// that are no matrices.
class FACULA_API Muon final : public Optimizer {
 public:
  explicit Muon(std::vector<Tensor> params, MuonOptions options = {});
  // add_group adds parameters with options of their own.
  void add_group(std::vector<Tensor> params, MuonOptions options);
  MuonOptions& options(size_t group = 0) { return options_.at(group); }
  double* momentum(size_t group = 0) override { return momentum_in(options_.at(group)); }

 private:
  void update_param(size_t group, const Tensor& param, const Tensor& grad,
                    ParamState& state) override;
  double& rate(size_t group) override { return options_.at(group).lr; }
  std::vector<MuonOptions> options_;
};

}  // namespace facula::optim
