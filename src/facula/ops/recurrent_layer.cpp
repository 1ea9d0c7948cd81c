// One recurrent layer in one direction: a product of all inputs, then a small product and a gate
// kernel a step; backward keeps the gate gradients of all steps for three large products.
#include <algorithm>
#include <cstring>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/kernels/recurrent.h"
#include "facula/ops/activation_functions.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/counts.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/products.h"
#include "facula/ops/recompute.h"
#include "facula/ops/recurrent_functions.h"
#include "facula/ops/recurrent_steps.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

enum class Recurrence { kTanh, kRelu, kGru, kLstm };

Recurrence recurrence_of(std::string_view mode) {
  if (mode == "lstm") return Recurrence::kLstm;
  if (mode == "gru") return Recurrence::kGru;
  return mode == "relu" ? Recurrence::kRelu : Recurrence::kTanh;
}

// The sizes of a layer and the order of its steps.
struct LayerPlan {
  Recurrence kind;
  IntList batch_sizes;
  bool reverse;
  int64_t batch, hidden, out, gates, total = 0;
  Sizes offsets;

  LayerPlan(std::string_view mode, IntList sizes, const Tensor& h0, const Tensor& w_hh,
            bool reverse)
      : kind(recurrence_of(mode)), batch_sizes(sizes), reverse(reverse) {
    gates = kind == Recurrence::kLstm ? 4 : kind == Recurrence::kGru ? 3 : 1;
    batch = h0->sizes[0];
    out = h0->sizes[1];
    hidden = w_hh->sizes[0] / gates;
    for (int64_t n : sizes) {
      offsets.push_back(total);
      add_count("recurrent layer", total, n);
    }
  }
  int64_t steps() const { return batch_sizes.ssize(); }
  // The i-th step to compute.
  int64_t step(int64_t i) const { return reverse ? steps() - 1 - i : i; }
  bool lstm() const { return kind == Recurrence::kLstm; }
};

// Rows [begin, begin + count) of a dense matrix.
Tensor rows_of(const Tensor& t, int64_t begin, int64_t count) {
  return alias_storage(t, {count, t->sizes[1]}, {t->sizes[1], 1},
                       t.storage_offset() + begin * t->sizes[1]);
}

Tensor transposed_of(const Tensor& t) {
  return alias_storage(t, {t->sizes[1], t->sizes[0]}, {t->strides[1], t->strides[0]},
                       t.storage_offset());
}

Tensor dense_copy(const Tensor& t) {
  Tensor copy = new_empty(t.sizes(), t.dtype(), t.device());
  copy_raw(copy, t);
  return copy;
}

void copy_rows(const Tensor& to, int64_t to_row, const Tensor& from, int64_t from_row,
               int64_t count) {
  int64_t bytes = to->sizes[1] * item_size(to.dtype());
  std::memcpy(to.data_as<char>() + to_row * bytes, from.data_as<char>() + from_row * bytes,
              count * bytes);
}

void* row_pointer(const Tensor& t, int64_t row) {
  return t.defined() ? t.data_as<char>() + row * t->sizes[1] * item_size(t.dtype()) : nullptr;
}

template <class T>
void add_rows_typed(T* to, const T* from, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] += from[i];
}

// to[0 ...] += from[row ...] for `count` rows.
void add_rows(const Tensor& to, const Tensor& from, int64_t row, int64_t count) {
  int64_t n = count * to->sizes[1];
  if (to.dtype() == kFloat32) {
    add_rows_typed(to.data_as<float>(), static_cast<float*>(row_pointer(from, row)), n);
  } else {
    add_rows_typed(to.data_as<double>(), static_cast<double*>(row_pointer(from, row)), n);
  }
}

Tensor bias_sum(const Tensor& a, const Tensor& b) {
  Tensor sum = new_empty(a.sizes(), a.dtype());
  copy_raw(sum, a);
  Tensor row = alias_storage(sum, {1, sum->sizes[0]}, {sum->sizes[0], 1}, 0);
  add_rows(row, alias_storage(b, {1, b->sizes[0]}, {b->sizes[0], 1}, b.storage_offset()), 0, 1);
  return sum;
}

// A bias has a number for each row of sums.
void check_bias(const LayerPlan& p, const Tensor& bias) {
  if (!bias.defined() || (bias.dim() == 1 && bias->sizes[0] == p.gates * p.hidden)) return;
  raise_error(ErrorKind::kRuntime, "recurrent layer: expected a bias of size [", p.gates * p.hidden,
              "], got ", list_text(bias.sizes()));
}

void check_layer(const LayerPlan& p, const LayerOperands& x) {
  const auto& [data, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr] = x;
  auto refuse = [](const char* what, IntList wanted, const Tensor& got) {
    raise_error(ErrorKind::kRuntime, "recurrent layer: expected ", what, " of size ",
                list_text(wanted), ", got ", list_text(got.sizes()));
  };
  for (const Tensor* t : {&h0, &c0, &w_ih, &w_hh, &b_ih, &b_hh, &w_hr}) {
    if (t->defined() && t->dtype() != data.dtype()) {
      raise_error(ErrorKind::kRuntime, "recurrent layer: expected all tensors to be ",
                  dtype_name(data.dtype()), ", got ", dtype_name(t->dtype()));
    }
    if (t->defined() && !(t->device() == data.device())) {
      raise_error(ErrorKind::kRuntime, "recurrent layer: expected all tensors to be on the same ",
                  "device, got ", device_text(data.device()), " and ", device_text(t->device()));
    }
  }
  if (data->sizes[0] != p.total) refuse("data", {p.total, w_ih->sizes[1]}, data);
  if (data->sizes[1] != w_ih->sizes[1] || w_ih->sizes[0] != p.gates * p.hidden) {
    refuse("input weights", {p.gates * p.hidden, data->sizes[1]}, w_ih);
  }
  if (w_hh->sizes[0] != p.gates * p.hidden || w_hh->sizes[1] != p.out) {
    refuse("hidden weights", {p.gates * p.hidden, p.out}, w_hh);
  }
  if (w_hr.defined() ? w_hr->sizes[0] != p.out || w_hr->sizes[1] != p.hidden : p.out != p.hidden) {
    refuse("a hidden state", {p.batch, w_hr.defined() ? w_hr->sizes[0] : p.hidden}, h0);
  }
  if (p.lstm() && (!c0.defined() || c0->sizes[0] != p.batch || c0->sizes[1] != p.hidden)) {
    refuse("a cell state", {p.batch, p.hidden}, c0.defined() ? c0 : h0);
  }
  check_bias(p, b_ih);
  check_bias(p, b_hh);
  for (int64_t t = 0; t < p.steps(); ++t) {
    int64_t most = t ? p.batch_sizes[t - 1] : p.batch;
    if (p.batch_sizes[t] < (p.batch ? 1 : 0) || p.batch_sizes[t] > most ||
        (t == 0 && p.batch_sizes[0] != p.batch)) {
      raise_error(ErrorKind::kRuntime,
                  "recurrent layer: batch sizes must not increase and begin with ",
                  "the batch of the hidden state (", p.batch, "), got ", list_text(p.batch_sizes));
    }
  }
}

// The plan of operands that fit together.
LayerPlan plan_layer(const LayerOperands& x, IntList batch_sizes, std::string_view mode,
                     bool reverse) {
  for (const Tensor* t : {&x.data, &x.h0, &x.c0, &x.w_ih, &x.w_hh, &x.w_hr}) {
    FACULA_CHECK(!t->defined() || t->dim() == 2, kRuntime,
                 "recurrent layer: expected data, states and weights to be matrices, got one of ",
                 "size ", list_text(t->sizes()));
  }
  LayerPlan p(mode, batch_sizes, x.h0, x.w_hh, reverse);
  check_layer(p, x);
  return p;
}

// The recurrent weight as the step's product wants it: transposed once where that pays.
Tensor step_weight(const LayerPlan& p, const Tensor& w_hh) {
  Tensor wt = transposed_of(w_hh);
  return p.steps() >= 4 && p.hidden >= 64 ? to_contiguous(wt) : wt;
}

}  // namespace

namespace forward {

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> recurrent_layer(
    const Tensor& data, IntList batch_sizes, const Tensor& h0, const Tensor& c0, const Tensor& w_ih,
    const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh, const Tensor& w_hr,
    std::string_view mode, bool reverse) {
  LayerPlan p =
      plan_layer({data, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr}, batch_sizes, mode, reverse);
  DType type = data.dtype();
  if (type != kFloat32 && type != kFloat64) {
    raise_error(ErrorKind::kNotImplemented, "\"recurrent layer\" not implemented for '",
                dtype_title(type), "'");
  }
  Device device = data.device();
  Tensor output = new_empty({p.total, p.out}, type, device), hy = dense_copy(h0);
  Tensor cy = p.lstm() ? dense_copy(c0) : Tensor();
  Tensor cells = p.lstm() ? new_empty({p.total, p.hidden}, type, device) : Tensor();
  Tensor sums = new_empty({p.total, p.gates * p.hidden}, type, device), gates;
  bool gru = p.kind == Recurrence::kGru;
  if (p.lstm()) gates = sums;
  if (gru) gates = new_empty({p.total, 4 * p.hidden}, type, device);
  if (output.is_meta()) return {output, hy, cy, gates, cells};
  Product from_input, from_hidden;
  if (!gru && b_ih.defined() && b_hh.defined()) {
    from_input.bias = bias_sum(b_ih, to_contiguous(b_hh));
  } else if (const Tensor& only = gru || b_ih.defined() ? b_ih : b_hh; only.defined()) {
    from_input.bias = to_contiguous(only);
  }
  if (gru && b_hh.defined()) from_hidden.bias = to_contiguous(b_hh);
  multiply_into(sums, to_contiguous(data), transposed_of(w_ih), from_input);
  from_hidden.beta = gru ? 0 : 1;
  Tensor wt = step_weight(p, w_hh);
  Tensor hidden_sums = gru ? new_empty({p.batch, 3 * p.hidden}, type) : Tensor();
  Tensor unprojected = w_hr.defined() ? new_empty({p.batch, p.hidden}, type) : Tensor();
  for (int64_t i = 0; i < p.steps(); ++i) {
    int64_t t = p.step(i), n = p.batch_sizes[t], at = p.offsets[t];
    Tensor target = rows_of(gru ? hidden_sums : sums, gru ? 0 : at, n);
    multiply_into(target, rows_of(hy, 0, n), wt, from_hidden);
    void* out = row_pointer(output, at);
    if (gru) {
      kernels::recurrent->gru(type, row_pointer(sums, at), hidden_sums.data(),
                              row_pointer(gates, at), hy.data(), out, n, p.hidden);
    } else if (p.lstm()) {
      void* h = w_hr.defined() ? unprojected.data() : out;
      kernels::recurrent->lstm(type, row_pointer(gates, at), cy.data(), row_pointer(cells, at), h,
                               n, p.hidden);
      if (w_hr.defined()) {
        multiply_into(rows_of(output, at, n), rows_of(unprojected, 0, n), transposed_of(w_hr));
      }
      copy_rows(hy, 0, output, at, n);
    } else {
      kernels::recurrent->plain(type, row_pointer(sums, at), hy.data(), out, n * p.hidden,
                                p.kind == Recurrence::kRelu);
    }
  }
  return {output, hy, cy, gates, cells};
}

namespace {

// The states before each step, as rows beside the step's own.
Tensor states_before(const LayerPlan& p, const Tensor& states, const Tensor& first) {
  Tensor before = new_empty(states.sizes(), states.dtype());
  Tensor start = to_contiguous(first);
  for (int64_t t = 0; t < p.steps(); ++t) {
    int64_t n = p.batch_sizes[t], at = p.offsets[t], from = p.reverse ? t + 1 : t - 1;
    bool inner = from >= 0 && from < p.steps();
    int64_t known = inner ? std::min(n, p.batch_sizes[from]) : 0;
    if (known) copy_rows(before, at, states, p.offsets[from], known);
    if (known < n) copy_rows(before, at + known, start, known, n - known);
  }
  return before;
}

Tensor start_gradient(const Tensor& grad, IntList sizes, DType type) {
  Tensor t = new_empty(sizes, type);
  if (grad.defined())
    copy_raw(t, grad);
  else
    fill_raw(t, 0);
  return t;
}

Tensor column_sum(const Tensor& t) {
  NoGrad no_grad;
  return sum(t, IntList({0}));
}

// a^T b
Tensor product_over_rows(const Tensor& a, const Tensor& b) {
  Tensor out = new_empty({a->sizes[1], b->sizes[1]}, a.dtype());
  multiply_into(out, transposed_of(a), b);
  return out;
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor>
recurrent_layer_backward_fused(const Tensor& grad_output, const Tensor& grad_hy,
                               const Tensor& grad_cy, const Tensor& data, IntList batch_sizes,
                               const Tensor& h0, const Tensor& c0, const Tensor& w_ih,
                               const Tensor& w_hh, const Tensor& b_ih, const Tensor& b_hh,
                               const Tensor& w_hr, const Tensor& output, const Tensor& gates,
                               const Tensor& cells, std::string_view mode, bool reverse,
                               uint64_t output_mask) {
  LayerPlan p(mode, batch_sizes, h0, w_hh, reverse);
  DType type = data.dtype();
  bool gru = p.kind == Recurrence::kGru, projected = w_hr.defined();
  Tensor dy = grad_output.defined() ? to_contiguous(to_dtype(grad_output, type)) : Tensor();
  Tensor dh = start_gradient(grad_hy, {p.batch, p.out}, type), dc, c_before;
  if (p.lstm()) {
    dc = start_gradient(grad_cy, {p.batch, p.hidden}, type);
    c_before = states_before(p, cells, c0);
  }
  Tensor h_before = states_before(p, output, h0);
  Tensor by_input = new_empty({p.total, p.gates * p.hidden}, type);
  Tensor by_hidden = gru ? new_empty({p.total, p.gates * p.hidden}, type) : by_input;
  Tensor dh_rows = projected ? new_empty({p.total, p.out}, type) : Tensor();
  Tensor dm = projected ? new_empty({p.batch, p.hidden}, type) : Tensor();
  Tensor w = to_contiguous(w_hh);
  for (int64_t i = p.steps() - 1; i >= 0; --i) {
    int64_t t = p.step(i), n = p.batch_sizes[t], at = p.offsets[t];
    if (dy.defined()) add_rows(dh, dy, at, n);
    Tensor now = rows_of(dh, 0, n);
    if (projected) {
      copy_rows(dh_rows, at, dh, 0, n);
      multiply_into(rows_of(dm, 0, n), now, w_hr);
    }
    void *d = row_pointer(by_input, at), *old = row_pointer(h_before, at);
    if (gru) {
      kernels::recurrent->gru_backward(type, d, row_pointer(by_hidden, at), row_pointer(gates, at),
                                       old, dh.data(), n, p.hidden);
    } else if (p.lstm()) {
      kernels::recurrent->lstm_backward(type, d, row_pointer(gates, at), row_pointer(c_before, at),
                                        row_pointer(cells, at), projected ? dm.data() : dh.data(),
                                        dc.data(), n, p.hidden);
    } else {
      kernels::recurrent->plain_backward(type, d, row_pointer(output, at), dh.data(), n * p.hidden,
                                         p.kind == Recurrence::kRelu);
    }
    Product how;
    how.beta = gru ? 1 : 0;
    multiply_into(now, rows_of(by_hidden, at, n), w, how);
  }
  Tensor dx, dw_ih, dw_hh, db_ih, db_hh, dw_hr;
  if (output_mask & 1) {
    dx = new_empty(data.sizes(), type);
    multiply_into(dx, by_input, w_ih);
  }
  if (output_mask & 8) dw_ih = product_over_rows(by_input, to_contiguous(data));
  if (output_mask & 16) dw_hh = product_over_rows(by_hidden, h_before);
  if (output_mask & 32) db_ih = column_sum(by_input);
  if (output_mask & 64) db_hh = gru || !db_ih.defined() ? column_sum(by_hidden) : dense_copy(db_ih);
  if (output_mask & 128) {
    NoGrad no_grad;
    Tensor o = alias_storage(gates, {p.total, p.hidden}, {4 * p.hidden, 1},
                             gates.storage_offset() + 3 * p.hidden);
    dw_hr = product_over_rows(dh_rows, mul(o, tanh(alias(cells))));
  }
  return {dx, dh, dc, dw_ih, dw_hh, db_ih, db_hh, dw_hr};
}

}  // namespace forward

namespace {

// The next hidden (and, of an LSTM, cell) state from parts that have derivatives.
Tensor next_state(Recurrence kind, const Tensor& from_input, const Tensor& from_hidden,
                  const Tensor& h, Tensor& c) {
  int64_t parts = kind == Recurrence::kLstm ? 4 : kind == Recurrence::kGru ? 3 : 1;
  int64_t size = from_input->sizes[1] / parts;
  auto part = [&](const Tensor& t, int64_t i) { return narrow(t, 1, i * size, size); };
  if (kind == Recurrence::kLstm) {
    Tensor s = add(from_input, from_hidden);
    c = add(mul(sigmoid(part(s, 1)), c), mul(sigmoid(part(s, 0)), tanh(part(s, 2))));
    return mul(sigmoid(part(s, 3)), tanh(c));
  }
  if (kind == Recurrence::kGru) {
    Tensor r = sigmoid(add(part(from_input, 0), part(from_hidden, 0)));
    Tensor z = sigmoid(add(part(from_input, 1), part(from_hidden, 1)));
    Tensor n = tanh(add(part(from_input, 2), mul(r, part(from_hidden, 2))));
    return add(n, mul(z, sub(h, n)));
  }
  Tensor s = add(from_input, from_hidden);
  return kind == Recurrence::kRelu ? relu(s) : tanh(s);
}

// The layer from parts; x are the first eight tensors of the row, results output, hy and cy.
std::vector<Tensor> layer_from_parts(const std::vector<Tensor>& x, const LayerPlan& p) {
  Tensor all = linear(x[0], x[3], x[5]), h = x[1], c = x[2];
  std::vector<Tensor> outputs(static_cast<size_t>(p.steps()));
  for (int64_t i = 0; i < p.steps(); ++i) {
    int64_t t = p.step(i), n = p.batch_sizes[t];
    Tensor h_now = narrow(h, 0, 0, n), c_now = p.lstm() ? narrow(c, 0, 0, n) : Tensor();
    Tensor next = next_state(p.kind, narrow(all, 0, p.offsets[t], n), linear(h_now, x[4], x[6]),
                             h_now, c_now);
    if (x[7].defined()) next = linear(next, x[7]);
    outputs[t] = next;
    auto rest = [&](const Tensor& now, const Tensor& old) {
      if (n == p.batch) return now;
      Tensor both[2] = {now, narrow(old, 0, n, p.batch - n)};
      return cat({both, 2}, 0);
    };
    h = rest(next, h);
    if (p.lstm()) c = rest(c_now, c);
  }
  return {cat({outputs.data(), outputs.size()}, 0), h, c};
}

LayerStates complex_layer(const LayerOperands& x, IntList batch_sizes, std::string_view mode,
                          bool reverse) {
  LayerPlan p = plan_layer(x, batch_sizes, mode, reverse);
  std::vector<Tensor> r =
      layer_from_parts({x.data, x.h0, x.c0, x.w_ih, x.w_hh, x.b_ih, x.b_hh, x.w_hr}, p);
  return {r[0], r[1], r[2]};
}

// Whether all operands are of one half type.
bool all_reduced(const LayerOperands& x) {
  const DType type = x.data.dtype();
  if (!is_reduced(type)) return false;
  for (const Tensor* t : {&x.h0, &x.c0, &x.w_ih, &x.w_hh, &x.b_ih, &x.b_hh, &x.w_hr}) {
    if (t->defined() && t->dtype() != type) return false;
  }
  return true;
}

// A layer of a half type, computed in float32.
LayerStates widened_layer(const LayerOperands& x, IntList batch_sizes, std::string_view mode,
                          bool reverse) {
  auto wide = [](const Tensor& t) { return t.defined() ? to_dtype_copy(t, kFloat32) : t; };
  const Tensor data = wide(x.data), h0 = wide(x.h0), c0 = wide(x.c0), w_ih = wide(x.w_ih),
               w_hh = wide(x.w_hh), b_ih = wide(x.b_ih), b_hh = wide(x.b_hh), w_hr = wide(x.w_hr);
  LayerStates r =
      layer_states({data, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr}, batch_sizes, mode, reverse);
  auto back = [&](const Tensor& t) { return t.defined() ? to_dtype_copy(t, x.data.dtype()) : t; };
  return {back(r.output), back(r.hy), back(r.cy)};
}

}  // namespace

LayerStates layer_states(const LayerOperands& x, IntList batch_sizes, std::string_view mode,
                         bool reverse) {
  if (all_reduced(x)) return widened_layer(x, batch_sizes, mode, reverse);
  if (is_complex(x.data.dtype())) return complex_layer(x, batch_sizes, mode, reverse);
  auto [output, hy, cy, gates, cells] = recurrent_layer(
      x.data, batch_sizes, x.h0, x.c0, x.w_ih, x.w_hh, x.b_ih, x.b_hh, x.w_hr, mode, reverse);
  return {output, hy, cy};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor> recurrent_layer_backward(
    const Tensor& grad_output, const Tensor& grad_hy, const Tensor& grad_cy, const Tensor& data,
    IntList batch_sizes, const Tensor& h0, const Tensor& c0, const Tensor& w_ih, const Tensor& w_hh,
    const Tensor& b_ih, const Tensor& b_hh, const Tensor& w_hr, const Tensor& output,
    const Tensor& gates, const Tensor& cells, std::string_view mode, bool reverse,
    uint64_t output_mask) {
  if (!recording_any({&grad_output, &grad_hy, &grad_cy, &data, &h0, &c0, &w_ih, &w_hh, &w_hr})) {
    return recurrent_layer_backward_fused(grad_output, grad_hy, grad_cy, data, batch_sizes, h0, c0,
                                          w_ih, w_hh, b_ih, b_hh, w_hr, output, gates, cells, mode,
                                          reverse, output_mask);
  }
  LayerPlan p(mode, batch_sizes, h0, w_hh, reverse);
  Tensor inputs[8] = {data, h0, c0, w_ih, w_hh, b_ih, b_hh, w_hr};
  Tensor grads[3] = {grad_output, grad_hy, grad_cy};
  std::vector<Tensor> g = gradients_by_recomputing(
      inputs, grads, output_mask,
      [&](const std::vector<Tensor>& x) { return layer_from_parts(x, p); });
  return {g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7]};
}

}  // namespace facula
