// RNN, LSTM and GRU over whole sequences, and their cells. Sequences are (L, N, features), or
// (N, L, features) with batch_first, or without N.
//
//   nn::LSTM lstm(8, 16, {.num_layers = 2});
//   auto [output, state] = lstm(rand({5, 3, 8}));
//   nn::GRUCell cell(8, 16);
//   Tensor next = cell(rand({3, 8}));
#pragma once
#include <utility>
#include <vector>

#include "facula/nn/simple.h"

namespace facula::nn {

struct RecurrentOptions {
  int64_t num_layers = 1;
  bool bias = true, batch_first = false;
  double dropout = 0;  // between layers
  bool bidirectional = false;
  int64_t proj_size = 0;              // of LSTM
  std::string nonlinearity = "tanh";  // of RNN; or "relu"
  DType dtype = kFloat32;
};

// RNNBase holds the weights: those of layer k are weight_ih_l{k}, weight_hh_l{k}, bias_ih_l{k},
// bias_hh_l{k} and, with projections, weight_hr_l{k}; the backward direction's end in _reverse.
class FACULA_API RNNBase : public Module {
 public:
  // reset_parameters draws all weights from U(-1/sqrt(hidden_size), 1/sqrt(hidden_size)).
  void reset_parameters();
  const std::vector<Tensor>& weights() const { return weights_; }

 protected:
  RNNBase(const char* name, int64_t gates, int64_t input_size, int64_t hidden_size,
          const RecurrentOptions& options);
  // run gives the output, and the hidden state followed, for an LSTM, by the cell state. States
  // that are not given are zeros.
  std::vector<Tensor> run(const Tensor& input, std::vector<Tensor> state) const;
  std::string extra_repr() const override;

 private:
  void check(const Tensor& input, const std::vector<Tensor>& state, int64_t batch) const;
  int64_t out_size() const;

  int64_t input_size_, hidden_size_;
  RecurrentOptions options_;
  std::vector<Tensor> weights_;
};

// RNN: the Elman network tanh(w_ih x + b_ih + w_hh h + b_hh), or with relu.
class FACULA_API RNN : public RNNBase {
 public:
  RNN(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {});
  // The call gives the outputs of all steps and the last hidden state.
  std::pair<Tensor, Tensor> operator()(const Tensor& input, const Tensor& hx = Tensor()) const;
};

// GRU: gated recurrent units, Cho et al. 2014.
class FACULA_API GRU : public RNNBase {
 public:
  GRU(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {});
  std::pair<Tensor, Tensor> operator()(const Tensor& input, const Tensor& hx = Tensor()) const;
};

// LSTM: long short-term memory, Hochreiter and Schmidhuber 1997.
class FACULA_API LSTM : public RNNBase {
 public:
  using State = std::pair<Tensor, Tensor>;  // hidden and cell
  LSTM(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options = {});
  std::pair<Tensor, State> operator()(const Tensor& input, const State& state = {}) const;
};

struct CellOptions {
  bool bias = true;
  std::string nonlinearity = "tanh";  // of RNNCell; or "relu"
  DType dtype = kFloat32;
};

// RNNCellBase holds one step's weights. Inputs are (N, features), or without N.
class FACULA_API RNNCellBase : public Module {
 public:
  void reset_parameters();
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

 protected:
  RNNCellBase(const char* name, int64_t gates, int64_t input_size, int64_t hidden_size,
              const CellOptions& options);
  // rows gives a state with a batch dimension: zeros where it is not given.
  Tensor rows(const Tensor& state, const Tensor& input) const;
  std::string extra_repr() const override;

  int64_t hidden_size_;
  CellOptions options_;
};

class FACULA_API RNNCell : public RNNCellBase {
 public:
  RNNCell(int64_t input_size, int64_t hidden_size, const CellOptions& options = {});
  Tensor operator()(const Tensor& input, const Tensor& hx = Tensor()) const;
};

class FACULA_API GRUCell : public RNNCellBase {
 public:
  GRUCell(int64_t input_size, int64_t hidden_size, const CellOptions& options = {});
  Tensor operator()(const Tensor& input, const Tensor& hx = Tensor()) const;
};

// LSTMCell gives the new hidden and cell state.
class FACULA_API LSTMCell : public RNNCellBase {
 public:
  LSTMCell(int64_t input_size, int64_t hidden_size, const CellOptions& options = {});
  LSTM::State operator()(const Tensor& input, const LSTM::State& state = {}) const;
};

}  // namespace facula::nn
