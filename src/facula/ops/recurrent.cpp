// Stacks of recurrent layers over padded batches and packed sequences, and single cells.
#include "facula/base/error.h"
#include "facula/ops/random_functions.h"
#include "facula/ops/recurrent_functions.h"
#include "facula/ops/recurrent_steps.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

// The arguments that all stacks share.
struct Stack {
  std::string_view mode;
  TensorList params;
  bool has_biases;
  int64_t num_layers;
  double dropout;
  bool train, bidirectional;
};

struct StackResult {
  Tensor output, hy, cy;
};

void check_stack(const Stack& s, const Tensor& h0, int64_t each) {
  int64_t sets = s.num_layers * (s.bidirectional ? 2 : 1);
  if (static_cast<int64_t>(s.params.size()) != sets * each) {
    raise_error(ErrorKind::kRuntime, s.mode, ": expected ", sets * each, " parameters for ",
                s.num_layers, " layers, got ", s.params.size());
  }
  if (h0.dim() != 3 || h0->sizes[0] != sets) {
    raise_error(ErrorKind::kRuntime, s.mode, ": Expected hidden size of ", sets,
                " in dimension 0 of a 3-D hidden state, got ", list_text(h0.sizes()));
  }
}

// Runs all layers over the rows of data; c0 is undefined except for LSTMs.
StackResult run_stack(const Stack& s, const Tensor& data, IntList batch_sizes, const Tensor& h0,
                      const Tensor& c0) {
  bool projected = c0.defined() && h0.dim() == 3 && c0.dim() == 3 && h0->sizes[2] != c0->sizes[2];
  int64_t each = 2 + (s.has_biases ? 2 : 0) + (projected ? 1 : 0);
  check_stack(s, h0, each);
  int64_t directions = s.bidirectional ? 2 : 1;
  std::vector<Tensor> last_h, last_c;
  const Tensor none;
  Tensor x = data;
  for (int64_t layer = 0; layer < s.num_layers; ++layer) {
    Tensor outs[2];
    for (int64_t d = 0; d < directions; ++d) {
      int64_t set = layer * directions + d;
      const Tensor* w = s.params.data() + set * each;
      const Tensor h = select(h0, 0, set), c = c0.defined() ? select(c0, 0, set) : Tensor();
      const Tensor &b_ih = s.has_biases ? w[2] : none, &b_hh = s.has_biases ? w[3] : none,
                   &w_hr = projected ? w[each - 1] : none;
      LayerStates r =
          layer_states({x, h, c, w[0], w[1], b_ih, b_hh, w_hr}, batch_sizes, s.mode, d == 1);
      outs[d] = r.output;
      last_h.push_back(r.hy);
      if (c0.defined()) last_c.push_back(r.cy);
    }
    x = directions == 2 ? cat({outs, 2}, 1) : outs[0];
    if (s.dropout > 0 && s.train && layer + 1 < s.num_layers) x = dropout(x, s.dropout, true);
  }
  return {x, stack(last_h, 0), c0.defined() ? stack(last_c, 0) : none};
}

// A padded [time, batch, features] (or batch first) input.
StackResult run_padded(const Stack& s, const Tensor& input, const Tensor& h0, const Tensor& c0,
                       bool batch_first) {
  if (input.dim() != 3) {
    raise_error(ErrorKind::kRuntime, s.mode, ": expected a 3-D input, got ",
                list_text(input.sizes()));
  }
  Tensor x = batch_first ? transpose(input, 0, 1) : input;
  int64_t steps = x->sizes[0], batch = x->sizes[1];
  if (steps == 0) {
    raise_error(ErrorKind::kRuntime, s.mode,
                ": Expected sequence length to be larger than 0 in RNN");
  }
  Sizes sizes(static_cast<size_t>(steps), batch);
  StackResult r = run_stack(s, reshape(x, IntList({steps * batch, x->sizes[2]})), sizes, h0, c0);
  r.output = view(r.output, IntList({steps, batch, r.output->sizes[1]}));
  if (batch_first) r.output = transpose(r.output, 0, 1);
  return r;
}

StackResult run_packed(const Stack& s, const Tensor& data, const Tensor& batch_sizes,
                       const Tensor& h0, const Tensor& c0) {
  if (batch_sizes.dim() != 1 || batch_sizes.dtype() != kInt64 || !batch_sizes.device().is_cpu()) {
    raise_error(ErrorKind::kRuntime, s.mode, ": batch_sizes must be a 1-D int64 tensor on the CPU");
  }
  Tensor dense = to_contiguous(batch_sizes);
  const int64_t* p = dense.data_as<int64_t>();
  return run_stack(s, data, IntList(p, static_cast<size_t>(dense.numel())), h0, c0);
}

void check_states(TensorList hx) {
  if (hx.size() == 2) return;
  raise_error(ErrorKind::kRuntime, "lstm: expected two hidden states, got ", hx.size());
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, TensorList hx, TensorList params,
                                        bool has_biases, int64_t num_layers, double dropout,
                                        bool train, bool bidirectional, bool batch_first) {
  check_states(hx);
  Stack s{"lstm", params, has_biases, num_layers, dropout, train, bidirectional};
  StackResult r = run_padded(s, input, hx[0], hx[1], batch_first);
  return {r.output, r.hy, r.cy};
}

std::tuple<Tensor, Tensor, Tensor> lstm_packed(const Tensor& data, const Tensor& batch_sizes,
                                               TensorList hx, TensorList params, bool has_biases,
                                               int64_t num_layers, double dropout, bool train,
                                               bool bidirectional) {
  check_states(hx);
  Stack s{"lstm", params, has_biases, num_layers, dropout, train, bidirectional};
  StackResult r = run_packed(s, data, batch_sizes, hx[0], hx[1]);
  return {r.output, r.hy, r.cy};
}

namespace {

// The operands of a cell as rows: a single sample gets a batch of one.
struct CellInput {
  Tensor input, h;
  bool single;
};

CellInput cell_input(const char* op, const Tensor& input, const Tensor& h) {
  if (input.dim() != 1 && input.dim() != 2) {
    raise_error(ErrorKind::kRuntime, op, ": Expected input to be 1D or 2D, got ", input.dim(),
                "D instead");
  }
  if (input.dim() != h.dim() || (input.dim() == 2 && input->sizes[0] != h->sizes[0])) {
    raise_error(ErrorKind::kRuntime, op,
                ": Input batch size doesn't match hidden batch size: ", list_text(input.sizes()),
                " and ", list_text(h.sizes()));
  }
  if (input.dim() == 2) return {input, h, false};
  return {unsqueeze(input, 0), unsqueeze(h, 0), true};
}

}  // namespace

std::tuple<Tensor, Tensor> recurrent_padded(const Tensor& input, const Tensor& hx,
                                            TensorList params, bool has_biases, int64_t num_layers,
                                            double dropout, bool train, bool bidirectional,
                                            bool batch_first, std::string_view mode) {
  Stack s{mode, params, has_biases, num_layers, dropout, train, bidirectional};
  StackResult r = run_padded(s, input, hx, Tensor(), batch_first);
  return {r.output, r.hy};
}

std::tuple<Tensor, Tensor> recurrent_packed(const Tensor& data, const Tensor& batch_sizes,
                                            const Tensor& hx, TensorList params, bool has_biases,
                                            int64_t num_layers, double dropout, bool train,
                                            bool bidirectional, std::string_view mode) {
  Stack s{mode, params, has_biases, num_layers, dropout, train, bidirectional};
  StackResult r = run_packed(s, data, batch_sizes, hx, Tensor());
  return {r.output, r.hy};
}

Tensor recurrent_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                      const Tensor& b_ih, const Tensor& b_hh, std::string_view mode) {
  CellInput c = cell_input("recurrent cell", input, hx);
  int64_t batch = c.input->sizes[0];
  const Tensor none;
  Tensor hy =
      layer_states({c.input, c.h, none, w_ih, w_hh, b_ih, b_hh, none}, {&batch, 1}, mode, false).hy;
  return c.single ? select(hy, 0, 0) : hy;
}

std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, TensorList hx, const Tensor& w_ih,
                                     const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh) {
  check_states(hx);
  CellInput c = cell_input("lstm_cell", input, hx[0]);
  int64_t batch = c.input->sizes[0];
  Tensor cell = c.single ? unsqueeze(hx[1], 0) : hx[1];
  const Tensor none;
  LayerStates r =
      layer_states({c.input, c.h, cell, w_ih, w_hh, b_ih, b_hh, none}, {&batch, 1}, "lstm", false);
  if (c.single) return {select(r.hy, 0, 0), select(r.cy, 0, 0)};
  return {r.hy, r.cy};
}

}  // namespace facula
