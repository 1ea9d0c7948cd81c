// One recurrent layer of any dtype: the row recurrent_layer knows float32 and float64, half types
// are computed in float32, complex ones step by step.
#pragma once
#include <string_view>

#include "facula/core/tensor.h"

namespace facula {

// What a layer computes from; c0 (LSTM), biases and w_hr (projections) may be undefined. It refers
// to tensors of the caller: a step of a cell is short, and counting references would show.
struct LayerOperands {
  const Tensor &data, &h0, &c0, &w_ih, &w_hh, &b_ih, &b_hh, &w_hr;
};

struct LayerStates {
  Tensor output, hy, cy;
};

// layer_states runs a layer over the rows of all steps: batch_sizes[t] of them at step t.
LayerStates layer_states(const LayerOperands& x, IntList batch_sizes, std::string_view mode,
                         bool reverse);

}  // namespace facula
