// One recurrent layer of any dtype: the row recurrent_layer knows float32 and float64, half types
// are computed in float32, complex ones step by step.
#pragma once
#include <string_view>

#include "facula/core/tensor.h"

namespace facula {

// What a layer computes from; c0 (LSTM), biases and w_hr (projections) may be undefined.
struct LayerOperands {
  Tensor data, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr;
};
inline constexpr Tensor LayerOperands::* kLayerOperands[] = {
    &LayerOperands::data, &LayerOperands::h0,   &LayerOperands::c0,   &LayerOperands::w_ih,
    &LayerOperands::w_hh, &LayerOperands::b_ih, &LayerOperands::b_hh, &LayerOperands::w_hr};

struct LayerStates {
  Tensor output, hy, cy;
};

// layer_states runs a layer over the rows of all steps: batch_sizes[t] of them at step t.
LayerStates layer_states(const LayerOperands& x, IntList batch_sizes, std::string_view mode,
                         bool reverse);

}  // namespace facula
