// The operators of ops/pool.py: window arithmetic, layouts, and calls of the kernels.
#include "facula/kernels/pool.h"

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/ops/conv_products.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/pool_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/window_checks.h"

namespace facula {
namespace {

using kernels::PoolShape;

Sizes window_list(const char* op, const char* name, IntList list, int64_t n) {
  if (list.ssize() == n) return list.to_sizes();
  if (list.ssize() != 1) {
    raise_error(ErrorKind::kRuntime, op, ": ", name, " must either be a single int, or a list of ",
                n, " ints, got ", list_text(list));
  }
  return Sizes(static_cast<size_t>(n), list[0]);
}

void check_pool_input(const char* op, const Tensor& input, int64_t n,
                      ErrorKind kind = ErrorKind::kRuntime) {
  bool shaped = input.dim() == n + 1 || input.dim() == n + 2;
  for (int64_t d = input.dim() - n; shaped && d < input.dim(); ++d) shaped = input->sizes[d] > 0;
  // Channels must not be empty either; only a batch may be.
  if (shaped) shaped = input->sizes[input.dim() - n - 1] > 0;
  if (!shaped) {
    raise_error(kind, op, ": Expected ", n + 1, "D or ", n + 2,
                "D (batch mode) tensor with optional 0 dim batch size for input, but got: ",
                list_text(input.sizes()));
  }
}

// Batch and channels of a tensor whose last n dimensions are spatial.
PoolShape planes_around(const Tensor& t, int64_t n) {
  PoolShape s;
  s.channels = t.dim() > n ? t->sizes[t.dim() - n - 1] : 1;
  for (int64_t d = 0; d < t.dim() - n - 1; ++d) s.batch *= t->sizes[d];
  return s;
}

void set_spatial(int64_t (&to)[3], IntList from, int64_t n) {
  for (int64_t d = 0; d < n; ++d) to[3 - n + d] = from[from.size() - n + d];
}

// The checked geometry of a pooling with windows.
PoolShape window_shape(const char* op, IntList input, IntList kernel, IntList stride,
                       IntList padding, IntList dilation, bool ceil_mode, PoolShape s) {
  int64_t n = kernel.ssize();
  check_within(op, "kernel_size", kernel, kMostWindow);
  check_within(op, "stride", stride, kMostWindow);
  check_within(op, "padding", padding, kMostWindow);
  check_within(op, "dilation", dilation, kMostWindow);
  set_spatial(s.input, input, n);
  for (int64_t d = 0; d < n; ++d) {
    int64_t at = 3 - n + d, k = kernel[d], p = padding[d], step = stride[d];
    int64_t reach = dilation[d] * (k - 1) + 1;
    if (k < 1)
      raise_error(ErrorKind::kRuntime, op, ": kernel size should be greater than zero, got ",
                  list_text(kernel));
    if (step < 1)
      raise_error(ErrorKind::kRuntime, op, ": stride should not be zero, got ", list_text(stride));
    if (dilation[d] < 1)
      raise_error(ErrorKind::kRuntime, op, ": dilation should be greater than zero, got ",
                  list_text(dilation));
    if (p < 0) raise_error(ErrorKind::kRuntime, op, ": pad must be non-negative, but got pad: ", p);
    if (p > reach / 2) {
      raise_error(ErrorKind::kRuntime, op,
                  ": pad should be at most half of effective kernel size, ", "but got pad=", p,
                  ", kernel_size=", k, " and dilation=", dilation[d]);
    }
    int64_t room = s.input[at] + 2 * p - reach + (ceil_mode ? step - 1 : 0);
    int64_t out = (room >= 0 ? room / step : -((-room + step - 1) / step)) + 1;
    if (ceil_mode && (out - 1) * step >= s.input[at] + p) --out;
    if (out < 1) {
      raise_error(ErrorKind::kRuntime, op, ": Given input size: ", list_text(input),
                  ". Calculated output size: ", out, " in spatial dimension ", d,
                  ". Output size is too small");
    }
    s.kernel[at] = k, s.padding[at] = p, s.stride[at] = step, s.dilation[at] = dilation[d];
    s.output[at] = out;
  }
  return s;
}

// The shape of the output of s for an input with n spatial dimensions.
Sizes pooled_sizes(IntList input, const PoolShape& s, int64_t n) {
  Sizes sizes = input.to_sizes();
  for (int64_t d = 0; d < n; ++d) sizes[sizes.size() - n + d] = s.output[3 - n + d];
  return sizes;
}

Tensor pool_layout(const Tensor& t) { return is_channels_last(t) ? t : to_contiguous(t); }

Tensor new_layout(IntList sizes, DType dtype, Device device, bool last) {
  return new_formatted(sizes, dtype, device,
                       last ? channels_last_format(sizes.ssize()) : MemoryFormat::kContiguous);
}

// A copy of t in the wanted layout, or t itself.
Tensor in_layout(const Tensor& t, bool last) {
  if (!last) return to_contiguous(t);
  if (is_contiguous_as(t, channels_last_format(t.dim()))) return t;
  Tensor copy = new_layout(t.sizes(), t.dtype(), t.device(), true);
  copy_raw(copy, t);
  return copy;
}

void check_pool_type(const char* op, const Tensor& t, bool integers) {
  if (t.is_floating_point() || (integers && is_integral(t.dtype())) ||
      (!integers && t.dtype() == kInt64)) {
    return;
  }
  raise_error(ErrorKind::kNotImplemented, '"', op, "\" not implemented for '",
              dtype_title(t.dtype()), "'");
}

std::tuple<Tensor, Tensor> run_max(const Tensor& input, PoolShape s, int64_t n, bool with_indices) {
  check_pool_type("max_pool", input, true);
  Tensor x = pool_layout(input);
  s.last = is_channels_last(x);
  Sizes sizes = pooled_sizes(input.sizes(), s, n);
  Tensor out = new_layout(sizes, x.dtype(), x.device(), s.last), indices;
  if (with_indices) indices = new_layout(sizes, kInt64, x.device(), s.last);
  if (!out.is_meta() && out.numel()) {
    kernels::pools->max_pool(x.dtype(), out.data(),
                             with_indices ? indices.data_as<int64_t>() : nullptr, x.data(), s);
  }
  return {out, indices};
}

PoolShape adaptive_shape(const char* op, const Tensor& input, IntList output_size) {
  int64_t n = output_size.ssize();
  for (int64_t d = 0; d < n; ++d) {
    if (output_size[d] < 0) {
      raise_error(ErrorKind::kRuntime, op,
                  ": elements of output_size must be greater than or equal ", "to 0 but received ",
                  list_text(output_size));
    }
  }
  if (input.dim() != n + 1 && input.dim() != n + 2) {
    raise_error(ErrorKind::kRuntime, op, ": Expected ", n + 1, "D or ", n + 2, "D tensor, but got ",
                list_text(input.sizes()));
  }
  for (int64_t d = input.dim() - n; d < input.dim(); ++d) {
    if (input->sizes[d] < 1) {
      raise_error(ErrorKind::kRuntime, op, ": Expected input to have non-zero size for non-batch ",
                  "dimensions, but input has sizes ", list_text(input.sizes()), " with dimension ",
                  d, " being empty");
    }
  }
  PoolShape s = planes_around(input, n);
  s.adaptive = true;
  set_spatial(s.input, input.sizes(), n);
  set_spatial(s.output, output_size, n);
  return s;
}

// The geometry in which recorded indices are read: `outer` has the full planes.
PoolShape index_shape(const Tensor& indices, IntList outer, int64_t n) {
  PoolShape s = planes_around(indices, n);
  set_spatial(s.output, indices.sizes(), n);
  set_spatial(s.input, outer, n);
  return s;
}

}  // namespace

namespace forward {

std::tuple<Tensor, Tensor> max_pool(const Tensor& input, IntList kernel_size, IntList stride,
                                    IntList padding, IntList dilation, bool ceil_mode,
                                    bool with_indices) {
  int64_t n = kernel_size.ssize();
  PoolShape s = window_shape("max_pool", input.sizes(), kernel_size, stride, padding, dilation,
                             ceil_mode, planes_around(input, n));
  return run_max(input, s, n, with_indices);
}

std::tuple<Tensor, Tensor> adaptive_max_pool(const Tensor& input, IntList output_size) {
  PoolShape s = adaptive_shape("adaptive_max_pool", input, output_size);
  return run_max(input, s, output_size.ssize(), true);
}

Tensor max_pool_backward(const Tensor& grad_output, const Tensor& indices, IntList size,
                         int64_t spatial) {
  Tensor where = pool_layout(indices);
  bool last = is_channels_last(where);
  Tensor g = in_layout(grad_output, last);
  Tensor dx = new_layout(size, g.dtype(), g.device(), last);
  if (dx.is_meta() || dx.numel() == 0) return dx;
  PoolShape s = index_shape(where, size, spatial);
  s.last = last;
  kernels::pools->max_pool_backward(g.dtype(), dx.data(), g.data(), where.data_as<int64_t>(), s);
  return dx;
}

Tensor max_pool_gather(const Tensor& self, const Tensor& indices, int64_t spatial) {
  Tensor where = pool_layout(indices);
  bool last = is_channels_last(where);
  Tensor x = in_layout(self, last);
  Tensor out = new_layout(indices.sizes(), x.dtype(), x.device(), last);
  if (out.is_meta() || out.numel() == 0) return out;
  PoolShape s = index_shape(where, self.sizes(), spatial);
  s.last = last;
  kernels::pools->max_pool_gather(x.dtype(), out.data(), x.data(), where.data_as<int64_t>(), s);
  return out;
}

Tensor max_unpool(const Tensor& input, const Tensor& indices, IntList output_size) {
  int64_t n = output_size.ssize();
  check_pool_type("max_unpool", input, true);
  if (indices.dtype() != kInt64) {
    raise_error(ErrorKind::kRuntime,
                "max_unpool: elements in indices should be type int64 but got: ",
                dtype_title(indices.dtype()));
  }
  if (!(input.sizes() == indices.sizes())) {
    raise_error(ErrorKind::kRuntime, "max_unpool: Expected shape of indices to be same as that of ",
                "the input tensor (", list_text(input.sizes()),
                ") but got indices tensor with shape: ", list_text(indices.sizes()));
  }
  check_pool_input("max_unpool", input, n);
  Tensor x = to_contiguous(input), where = to_contiguous(indices);
  Sizes sizes = input.sizes().to_sizes();
  for (int64_t d = 0; d < n; ++d) sizes[sizes.size() - n + d] = output_size[d];
  Tensor out = new_empty(sizes, x.dtype(), x.device());
  if (out.is_meta()) return out;
  kernels::Fault fault;
  kernels::pools->max_unpool(x.dtype(), out.data(), x.data(), where.data_as<int64_t>(),
                             index_shape(where, sizes, n), &fault);
  if (fault) {
    raise_error(ErrorKind::kRuntime, "max_unpool: Found an invalid max index: ", fault.value,
                " (output volumes are of size ", list_text(output_size), ')');
  }
  return out;
}

Tensor avg_pool(const Tensor& input, IntList kernel_size, IntList stride, IntList padding,
                bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
  check_pool_type("avg_pool", input, false);
  int64_t n = kernel_size.ssize();
  Sizes ones(static_cast<size_t>(n), int64_t{1});
  if (divisor_override && *divisor_override == 0) {
    raise_error(ErrorKind::kRuntime, "avg_pool: divisor must be not zero");
  }
  PoolShape s = window_shape("avg_pool", input.sizes(), kernel_size, stride, padding, ones,
                             ceil_mode, planes_around(input, n));
  s.count_padding = count_include_pad;
  s.divisor = divisor_override.value_or(0);
  Tensor x = pool_layout(input);
  s.last = is_channels_last(x);
  Tensor out = new_layout(pooled_sizes(input.sizes(), s, n), x.dtype(), x.device(), s.last);
  if (!out.is_meta() && out.numel()) kernels::pools->avg_pool(x.dtype(), out.data(), x.data(), s);
  return out;
}

Tensor avg_pool_backward(const Tensor& grad_output, IntList size, IntList kernel_size,
                         IntList stride, IntList padding, bool ceil_mode, bool count_include_pad,
                         std::optional<int64_t> divisor_override) {
  int64_t n = kernel_size.ssize();
  Sizes ones(static_cast<size_t>(n), int64_t{1});
  PoolShape s = window_shape("avg_pool", size, kernel_size, stride, padding, ones, ceil_mode,
                             planes_around(grad_output, n));
  s.count_padding = count_include_pad;
  s.divisor = divisor_override.value_or(0);
  Tensor g = pool_layout(grad_output);
  s.last = is_channels_last(g);
  Tensor dx = new_layout(size, g.dtype(), g.device(), s.last);
  if (!dx.is_meta() && dx.numel()) {
    kernels::pools->avg_pool_backward(g.dtype(), dx.data(), g.data(), s);
  }
  return dx;
}

Tensor adaptive_avg_pool(const Tensor& input, IntList output_size) {
  check_pool_type("adaptive_avg_pool", input, false);
  PoolShape s = adaptive_shape("adaptive_avg_pool", input, output_size);
  Tensor x = pool_layout(input);
  s.last = is_channels_last(x);
  Tensor out = new_layout(pooled_sizes(input.sizes(), s, output_size.ssize()), x.dtype(),
                          x.device(), s.last);
  if (!out.is_meta() && out.numel()) kernels::pools->avg_pool(x.dtype(), out.data(), x.data(), s);
  return out;
}

Tensor adaptive_avg_pool_backward(const Tensor& grad_output, IntList size, IntList output_size) {
  int64_t n = output_size.ssize();
  Tensor g = pool_layout(grad_output);
  PoolShape s = planes_around(g, n);
  s.adaptive = true;
  set_spatial(s.input, size, n);
  set_spatial(s.output, output_size, n);
  s.last = is_channels_last(g);
  Tensor dx = new_layout(size, g.dtype(), g.device(), s.last);
  if (!dx.is_meta() && dx.numel()) {
    kernels::pools->avg_pool_backward(g.dtype(), dx.data(), g.data(), s);
  }
  return dx;
}

}  // namespace forward

namespace {

// The lists of a pooling over n dimensions; without a stride it is the kernel size.
struct Windows {
  Sizes kernel, stride, padding, dilation;
  Windows(const char* op, int64_t n, IntList k, OptIntList s, IntList p, IntList d)
      : kernel(window_list(op, "kernel_size", k, n)),
        stride(s && !s->empty() ? window_list(op, "stride", *s, n) : kernel),
        padding(window_list(op, "padding", p, n)),
        dilation(window_list(op, "dilation", d, n)) {}
};

std::string pool_name(const char* kind, int64_t n) { return str(kind, n, 'd'); }

}  // namespace

std::tuple<Tensor, Tensor> max_pool_nd(const Tensor& input, IntList kernel_size, OptIntList stride,
                                       IntList padding, IntList dilation, bool ceil_mode,
                                       bool with_indices, int64_t spatial) {
  std::string op = pool_name("max_pool", spatial);
  Windows w(op.c_str(), spatial, kernel_size, stride, padding, dilation);
  check_pool_input(op.c_str(), input, spatial);
  bool indices = with_indices || (grad_enabled() && requires_grad(input));
  return facula::max_pool(input, w.kernel, w.stride, w.padding, w.dilation, ceil_mode, indices);
}

Tensor avg_pool_nd(const Tensor& input, IntList kernel_size, OptIntList stride, IntList padding,
                   bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override,
                   int64_t spatial) {
  std::string op = pool_name("avg_pool", spatial);
  Windows w(op.c_str(), spatial, kernel_size, stride, padding, 1);
  bool flat = spatial == 2 && input.dim() < 3;
  check_pool_input(op.c_str(), input, spatial, flat ? ErrorKind::kIndex : ErrorKind::kRuntime);
  return facula::avg_pool(input, w.kernel, w.stride, w.padding, ceil_mode, count_include_pad,
                          divisor_override);
}

std::tuple<Tensor, Tensor> adaptive_max_pool_nd(const Tensor& input, IntList output_size,
                                                int64_t spatial) {
  std::string op = pool_name("adaptive_max_pool", spatial);
  return facula::adaptive_max_pool(input,
                                   window_list(op.c_str(), "output_size", output_size, spatial));
}

Tensor adaptive_avg_pool_nd(const Tensor& input, IntList output_size, int64_t spatial) {
  std::string op = pool_name("adaptive_avg_pool", spatial);
  return facula::adaptive_avg_pool(input,
                                   window_list(op.c_str(), "output_size", output_size, spatial));
}

Tensor max_unpool2d(const Tensor& input, const Tensor& indices, IntList output_size) {
  return facula::max_unpool(input, indices,
                            window_list("max_unpool2d", "output_size", output_size, 2));
}

Tensor max_unpool3d(const Tensor& input, const Tensor& indices, IntList output_size, IntList stride,
                    IntList padding) {
  Sizes steps = window_list("max_unpool3d", "stride", stride, 3);
  window_list("max_unpool3d", "padding", padding, 3);
  for (int64_t s : steps) {
    if (s < 1) {
      raise_error(ErrorKind::kRuntime,
                  "max_unpool3d: strides should be greater than zero, but got ",
                  "stride: ", list_text(stride));
    }
  }
  return facula::max_unpool(input, indices,
                            window_list("max_unpool3d", "output_size", output_size, 3));
}

}  // namespace facula
