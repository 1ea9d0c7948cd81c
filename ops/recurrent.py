"""Recurrent layers and cells. A layer of one direction is one row; stacks of them are composites."""
# ruff: noqa: F821 - the row functions are put into scope by tools/opgen

LAYERS = ", bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"
DOCS = {"gru": "gated recurrent units", "rnn_tanh": "recurrent layers with tanh", "rnn_relu": "recurrent layers with relu"}

composite(f"lstm(Tensor input, Tensor[] hx, Tensor[] params{LAYERS}, bool batch_first) -> (Tensor output, Tensor hy, Tensor cy)",
          names="lstm nn.functional.lstm", out=False, doc="Stacked long short-term memory layers over a padded batch.")
composite(f"lstm_packed(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params{LAYERS})"
          " -> (Tensor output, Tensor hy, Tensor cy)", names="lstm nn.functional.lstm_packed", out=False,
          doc="Stacked long short-term memory layers over a packed sequence.")
for name, text in DOCS.items():
    mode = name.removeprefix("rnn_")
    composite(f"{name}(Tensor input, Tensor hx, Tensor[] params{LAYERS}, bool batch_first) -> (Tensor output, Tensor hy)",
              f"recurrent_padded(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first, '{mode}')",
              names=f"{name} nn.functional.{name}", out=False, doc=f"Stacked {text} over a padded batch.")
    composite(f"{name}_packed(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params{LAYERS}) -> (Tensor output, Tensor hy)",
              f"recurrent_packed(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional, '{mode}')",
              names=f"{name} nn.functional.{name}_packed", out=False, doc=f"Stacked {text} over a packed sequence.")
    composite(f"{name}_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)",
              f"recurrent_cell(input, hx, w_ih, w_hh, b_ih, b_hh, '{mode}')",
              names=f"{name}_cell nn.functional.{name}_cell", out=False, doc=f"One step of {text}.")
composite(f"recurrent_padded(Tensor input, Tensor hx, Tensor[] params{LAYERS}, bool batch_first, str mode)"
          " -> (Tensor output, Tensor hy)", names="")
composite(f"recurrent_packed(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params{LAYERS}, str mode)"
          " -> (Tensor output, Tensor hy)", names="")
composite("recurrent_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh, str mode)", names="")
composite("lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)"
          " -> (Tensor hy, Tensor cy)", names="lstm_cell nn.functional.lstm_cell", out=False,
          doc="One step of a long short-term memory layer.")

# data holds the rows of all steps, batch_sizes[t] of them at step t, never more than at the step before
manual("recurrent_layer(Tensor data, int[] batch_sizes, Tensor h0, Tensor? c0, Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh,"
       " Tensor? w_hr, str mode, bool reverse) -> (Tensor output, Tensor hy, Tensor cy, Tensor gates, Tensor cells)", names="",
       grad={("data", "h0", "c0", "w_ih", "w_hh", "b_ih", "b_hh", "w_hr"):
             "recurrent_layer_backward(grad_output if defined(grad_output) else None, grad_hy if defined(grad_hy) else None,"
             " grad_cy if defined(grad_cy) else None, data, batch_sizes, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr, output, gates, cells,"
             " mode, reverse, mask)"})
BACKWARD = ("(Tensor? grad_output, Tensor? grad_hy, Tensor? grad_cy, Tensor data, int[] batch_sizes, Tensor h0, Tensor? c0,"
            " Tensor w_ih, Tensor w_hh, Tensor? b_ih, Tensor? b_hh, Tensor? w_hr, Tensor output, Tensor? gates, Tensor? cells,"
            " str mode, bool reverse, bool[] output_mask)"
            " -> (Tensor dx, Tensor dh0, Tensor dc0, Tensor dw_ih, Tensor dw_hh, Tensor db_ih, Tensor db_hh, Tensor dw_hr)")
composite("recurrent_layer_backward" + BACKWARD, names="")
manual("recurrent_layer_backward_fused" + BACKWARD, names="",
       nondifferentiable="recurrent_layer_backward uses it when nothing is recorded")
