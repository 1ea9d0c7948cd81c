// The operators run all layers and directions; here are weights, states and checks.
#include "facula/nn/recurrent.h"

#include <cmath>

#include "facula/nn/init.h"
#include "facula/nn/options.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/recurrent_functions.h"
#include "facula/ops/shape_functions.h"

namespace facula::nn {
namespace {

void check_nonlinearity(const char* module, const std::string& nonlinearity) {
  check_option(module, "nonlinearity", nonlinearity, {"tanh", "relu"});
}

}  // namespace

RNNBase::RNNBase(const char* name, int64_t gates, int64_t input_size, int64_t hidden_size,
                 const RecurrentOptions& o)
    : Module(name), input_size_(input_size), hidden_size_(hidden_size), options_(o) {
  FACULA_CHECK(hidden_size > 0, kValue, "hidden_size must be greater than zero");
  FACULA_CHECK(o.num_layers > 0, kValue, "num_layers must be greater than zero");
  FACULA_CHECK(o.dropout >= 0 && o.dropout <= 1, kValue,
               "dropout should be a number in range [0, 1] representing the probability of an "
               "element being zeroed");
  FACULA_CHECK(o.proj_size >= 0 && o.proj_size < hidden_size, kValue,
               "proj_size has to be smaller than hidden_size and not negative");
  FACULA_CHECK(o.proj_size == 0 || type_name() == "LSTM", kValue,
               "proj_size argument is only supported for LSTM, not RNN or GRU");
  int64_t rows = gates * hidden_size, directions = o.bidirectional ? 2 : 1;
  for (int64_t layer = 0; layer < o.num_layers; ++layer) {
    int64_t columns = layer == 0 ? input_size : out_size() * directions;
    for (int64_t d = 0; d < directions; ++d) {
      std::string end = str("_l", layer, d ? "_reverse" : "");
      auto add = [&](const char* kind, const Sizes& shape) {
        weights_.push_back(register_parameter(kind + end, new_empty(shape, o.dtype)));
      };
      add("weight_ih", Sizes{rows, columns});
      add("weight_hh", Sizes{rows, out_size()});
      if (o.bias) {
        add("bias_ih", Sizes{rows});
        add("bias_hh", Sizes{rows});
      }
      if (o.proj_size > 0) add("weight_hr", Sizes{o.proj_size, hidden_size});
    }
  }
  reset_parameters();
}

int64_t RNNBase::out_size() const {
  return options_.proj_size > 0 ? options_.proj_size : hidden_size_;
}

void RNNBase::reset_parameters() {
  double bound = 1 / std::sqrt(static_cast<double>(hidden_size_));
  for (const Tensor& w : weights_) init::uniform_(w, -bound, bound);
}

void RNNBase::check(const Tensor& input, const std::vector<Tensor>& state, int64_t batch) const {
  FACULA_CHECK(input.dtype() == weights_[0].dtype(), kValue, "RNN input dtype (",
               dtype_name(input.dtype()), ") does not match weight dtype (",
               dtype_name(weights_[0].dtype()), ")");
  FACULA_CHECK(input.size(-1) == input_size_, kRuntime,
               "input.size(-1) must be equal to input_size. Expected ", input_size_, ", got ",
               input.size(-1));
  int64_t layers = options_.num_layers * (options_.bidirectional ? 2 : 1);
  for (size_t i = 0; i < state.size(); ++i) {
    Sizes expected{layers, batch, i == 0 ? out_size() : hidden_size_};
    FACULA_CHECK(state[i].sizes() == IntList(expected), kRuntime, "Expected hidden size ",
                 list_text(expected), ", got ", list_text(state[i].sizes()));
  }
}

std::vector<Tensor> RNNBase::run(const Tensor& input, std::vector<Tensor> state) const {
  const RecurrentOptions& o = options_;
  FACULA_CHECK(input.dim() == 2 || input.dim() == 3, kValue, type_name(),
               ": Expected input to be 2D or 3D, got ", input.dim(), "D instead");
  bool batched = input.dim() == 3;
  int64_t batch_dim = o.batch_first ? 0 : 1;
  Tensor x = batched ? input : unsqueeze(input, batch_dim);
  int64_t layers = o.num_layers * (o.bidirectional ? 2 : 1), batch = x.size(batch_dim);
  for (size_t i = 0; i < state.size(); ++i) {
    if (!state[i].defined()) {
      state[i] = zeros({layers, batch, i == 0 ? out_size() : hidden_size_}, x.dtype());
    } else if (!batched) {
      state[i] = unsqueeze(state[i], 1);
    }
  }
  check(x, state, batch);
  std::vector<Tensor> out;
  auto call = [&](auto op) {
    auto [y, h] = op(x, state[0], weights_, o.bias, o.num_layers, o.dropout, is_training(),
                     o.bidirectional, o.batch_first);
    out = {y, h};
  };
  if (state.size() == 2) {
    auto [y, h, c] = lstm(x, state, weights_, o.bias, o.num_layers, o.dropout, is_training(),
                          o.bidirectional, o.batch_first);
    out = {y, h, c};
  } else if (type_name() == "GRU") {
    call(gru);
  } else {
    call(o.nonlinearity == "relu" ? rnn_relu : rnn_tanh);
  }
  if (batched) return out;
  out[0] = squeeze_dim(out[0], {batch_dim});
  for (size_t i = 1; i < out.size(); ++i) out[i] = squeeze_dim(out[i], {1});
  return out;
}

std::string RNNBase::extra_repr() const {
  const RecurrentOptions& o = options_;
  std::string s = str(input_size_, ", ", hidden_size_);
  if (o.proj_size != 0) s += str(", proj_size=", o.proj_size);
  if (o.num_layers != 1) s += str(", num_layers=", o.num_layers);
  if (!o.bias) s += ", bias=False";
  if (o.batch_first) s += ", batch_first=True";
  if (o.dropout != 0) s += ", dropout=" + float_text(o.dropout);
  if (o.bidirectional) s += ", bidirectional=True";
  return s;
}

RNN::RNN(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options)
    : RNNBase("RNN", 1, input_size, hidden_size, options) {
  check_nonlinearity("RNN", options.nonlinearity);
}
std::pair<Tensor, Tensor> RNN::operator()(const Tensor& input, const Tensor& hx) const {
  std::vector<Tensor> out = run(input, {hx});
  return {out[0], out[1]};
}

GRU::GRU(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options)
    : RNNBase("GRU", 3, input_size, hidden_size, options) {}
std::pair<Tensor, Tensor> GRU::operator()(const Tensor& input, const Tensor& hx) const {
  std::vector<Tensor> out = run(input, {hx});
  return {out[0], out[1]};
}

LSTM::LSTM(int64_t input_size, int64_t hidden_size, const RecurrentOptions& options)
    : RNNBase("LSTM", 4, input_size, hidden_size, options) {}
std::pair<Tensor, LSTM::State> LSTM::operator()(const Tensor& input, const State& state) const {
  FACULA_CHECK(state.first.defined() == state.second.defined(), kValue,
               "LSTM: expected both a hidden and a cell state, or neither");
  std::vector<Tensor> out = run(input, {state.first, state.second});
  return {out[0], {out[1], out[2]}};
}

RNNCellBase::RNNCellBase(const char* name, int64_t gates, int64_t input_size, int64_t hidden_size,
                         const CellOptions& options)
    : Module(name), hidden_size_(hidden_size), options_(options) {
  int64_t n = gates * hidden_size;
  weight_ih = register_parameter("weight_ih", new_empty({n, input_size}, options.dtype));
  weight_hh = register_parameter("weight_hh", new_empty({n, hidden_size}, options.dtype));
  auto vector = [&] { return options.bias ? new_empty({n}, options.dtype) : Tensor(); };
  bias_ih = register_parameter("bias_ih", vector());
  bias_hh = register_parameter("bias_hh", vector());
  reset_parameters();
}

void RNNCellBase::reset_parameters() {
  double bound = hidden_size_ > 0 ? 1 / std::sqrt(static_cast<double>(hidden_size_)) : 0;
  for (const Tensor& w : parameters()) init::uniform_(w, -bound, bound);
}

Tensor RNNCellBase::rows(const Tensor& state, const Tensor& input) const {
  FACULA_CHECK(input.dim() == 1 || input.dim() == 2, kValue, type_name(),
               ": Expected input to be 1D or 2D, got ", input.dim(), "D instead");
  if (!state.defined()) {
    return zeros({input.dim() == 2 ? input.size(0) : 1, hidden_size_}, input.dtype());
  }
  FACULA_CHECK(state.dim() == 1 || state.dim() == 2, kValue, type_name(),
               ": Expected hidden to be 1D or 2D, got ", state.dim(), "D instead");
  return input.dim() == 2 ? state : unsqueeze(state, 0);
}

std::string RNNCellBase::extra_repr() const {
  std::string s = str(weight_ih.size(1), ", ", hidden_size_);
  if (!options_.bias) s += ", bias=False";
  if (options_.nonlinearity != "tanh") s += ", nonlinearity=" + options_.nonlinearity;
  return s;
}

RNNCell::RNNCell(int64_t input_size, int64_t hidden_size, const CellOptions& options)
    : RNNCellBase("RNNCell", 1, input_size, hidden_size, options) {
  check_nonlinearity("RNNCell", options.nonlinearity);
}
Tensor RNNCell::operator()(const Tensor& input, const Tensor& hx) const {
  Tensor h = rows(hx, input), x = input.dim() == 2 ? input : unsqueeze(input, 0);
  auto step = options_.nonlinearity == "relu" ? rnn_relu_cell : rnn_tanh_cell;
  Tensor out = step(x, h, weight_ih, weight_hh, bias_ih, bias_hh);
  return input.dim() == 2 ? out : squeeze_dim(out, {0});
}

GRUCell::GRUCell(int64_t input_size, int64_t hidden_size, const CellOptions& options)
    : RNNCellBase("GRUCell", 3, input_size, hidden_size, options) {}
Tensor GRUCell::operator()(const Tensor& input, const Tensor& hx) const {
  Tensor h = rows(hx, input), x = input.dim() == 2 ? input : unsqueeze(input, 0);
  Tensor out = gru_cell(x, h, weight_ih, weight_hh, bias_ih, bias_hh);
  return input.dim() == 2 ? out : squeeze_dim(out, {0});
}

LSTMCell::LSTMCell(int64_t input_size, int64_t hidden_size, const CellOptions& options)
    : RNNCellBase("LSTMCell", 4, input_size, hidden_size, options) {}
LSTM::State LSTMCell::operator()(const Tensor& input, const LSTM::State& state) const {
  std::vector<Tensor> hx = {rows(state.first, input), rows(state.second, input)};
  Tensor x = input.dim() == 2 ? input : unsqueeze(input, 0);
  auto [h, c] = lstm_cell(x, hx, weight_ih, weight_hh, bias_ih, bias_hh);
  if (input.dim() == 2) return {h, c};
  return {squeeze_dim(h, {0}), squeeze_dim(c, {0})};
}

}  // namespace facula::nn
