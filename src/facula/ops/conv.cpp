// The operators of ops/conv.py: checks, shapes, and double backward from the same operators.
#include <algorithm>

#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/conv_functions.h"
#include "facula/ops/conv_products.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/pad_functions.h"
#include "facula/ops/reduce_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/warn.h"
#include "facula/ops/window_checks.h"

namespace facula {
namespace {

using kernels::ConvShape;

// The arguments of a convolution, lists expanded to the number of spatial dimensions.
struct Geometry3 {
  int64_t spatial;
  Sizes stride, padding, dilation, output_padding;
  bool transposed;
  int64_t groups;
};

Sizes expand_list(IntList list, int64_t n, const char* name) {
  if (list.ssize() == n) return list.to_sizes();
  if (list.ssize() != 1) {
    raise_error(ErrorKind::kRuntime, "convolution: expected ", name,
                " to be a single integer value or a list of ", n,
                " values to match the convolution dimensions, but got ", name, '=',
                list_text(list));
  }
  return Sizes(static_cast<size_t>(n), list[0]);
}

void check_numbers(const Geometry3& g) {
  auto any = [](const Sizes& list, int64_t least) {
    return std::any_of(list.begin(), list.end(), [&](int64_t v) { return v < least; });
  };
  auto refuse = [](const char* what, const Sizes& list) {
    raise_error(ErrorKind::kRuntime, "convolution: ", what, ", got ", list_text(list));
  };
  check_within("convolution", "padding", g.padding, kMostWindow);
  check_within("convolution", "output_padding", g.output_padding, kMostWindow);
  check_within("convolution", "stride", g.stride, kMostWindow);
  check_within("convolution", "dilation", g.dilation, kMostWindow);
  if (any(g.padding, 0)) refuse("negative padding is not supported", g.padding);
  if (any(g.output_padding, 0)) {
    refuse("negative output_padding is not supported", g.output_padding);
  }
  if (any(g.stride, 1)) refuse("non-positive stride is not supported", g.stride);
  if (any(g.dilation, 1)) refuse("dilation should be greater than zero", g.dilation);
  if (g.groups < 1) {
    raise_error(ErrorKind::kRuntime, "convolution: non-positive groups is not supported, got ",
                g.groups);
  }
}

Geometry3 geometry_from(const Tensor& input, IntList stride, IntList padding, IntList dilation,
                        bool transposed, IntList output_padding, int64_t groups) {
  int64_t n = input.dim() - 2;
  if (n < 1 || n > 3) {
    raise_error(ErrorKind::kRuntime, "convolution: expected an input of 3 to 5 dimensions, got ",
                list_text(input.sizes()));
  }
  Geometry3 g{n,
              expand_list(stride, n, "stride"),
              expand_list(padding, n, "padding"),
              expand_list(dilation, n, "dilation"),
              expand_list(output_padding, n, "output_padding"),
              transposed,
              groups};
  check_numbers(g);
  return g;
}

void check_types(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (input.dtype() != weight.dtype()) {
    raise_error(ErrorKind::kRuntime, "convolution: expected scalar type ",
                dtype_title(input.dtype()), " but found ", dtype_title(weight.dtype()));
  }
  if (bias.defined() && bias.dtype() != input.dtype()) {
    raise_error(ErrorKind::kRuntime, "convolution: Input type (", dtype_title(input.dtype()),
                ") and bias type (", dtype_title(bias.dtype()), ") should be the same");
  }
  if (!(input.device() == weight.device())) {
    raise_error(ErrorKind::kRuntime,
                "convolution: expected all tensors to be on the same device, got ",
                device_text(input.device()), " and ", device_text(weight.device()));
  }
  DType t = input.dtype();
  if (t == kBool || (t >= kUInt16 && t <= kUInt64)) {
    raise_error(ErrorKind::kNotImplemented, "\"convolution\" not implemented for '", dtype_title(t),
                "'");
  }
}

void check_shapes(const Geometry3& g, const Tensor& input, const Tensor& weight,
                  const Tensor& bias) {
  if (weight.dim() != input.dim()) {
    raise_error(ErrorKind::kRuntime, "Expected ", input.dim(), "-dimensional input for ",
                weight.dim(), "-dimensional weight ", list_text(weight.sizes()),
                ", but got input of size ", list_text(input.sizes()), " instead");
  }
  int64_t outs = weight->sizes[g.transposed ? 1 : 0] * (g.transposed ? g.groups : 1);
  int64_t ins = g.transposed ? weight->sizes[0] : weight->sizes[1] * g.groups;
  if (weight->sizes[0] < g.groups || weight->sizes[0] % g.groups != 0) {
    if (weight.numel() != 0 || g.groups > 1) {
      raise_error(ErrorKind::kRuntime, "Given groups=", g.groups,
                  ", expected weight to be divisible by ", g.groups,
                  " at dimension 0, but got weight of size ", list_text(weight.sizes()),
                  " instead");
    }
  }
  if (input->sizes[1] != ins) {
    raise_error(ErrorKind::kRuntime, "Given ", g.transposed ? "transposed=1" : "groups=",
                g.transposed ? "" : std::to_string(g.groups), ", weight of size ",
                list_text(weight.sizes()), ", expected input", list_text(input.sizes()),
                " to have ", ins, " channels, but got ", input->sizes[1], " channels instead");
  }
  if (bias.defined() && (bias.dim() != 1 || bias->sizes[0] != outs)) {
    raise_error(ErrorKind::kRuntime, "Given weight of size ", list_text(weight.sizes()),
                ", expected bias to be 1-dimensional with ", outs,
                " elements, but got bias of size ", list_text(bias.sizes()), " instead");
  }
}

// The size of a dimension of the result.
int64_t result_size(const Geometry3& g, int64_t in, int64_t kernel, int64_t d) {
  int64_t reach = g.dilation[d] * (kernel - 1) + 1;
  if (g.transposed) {
    return (in - 1) * g.stride[d] - 2 * g.padding[d] + reach + g.output_padding[d];
  }
  return (in + 2 * g.padding[d] - reach) / g.stride[d] + 1;
}

Sizes result_shape(const Geometry3& g, const Tensor& input, const Tensor& weight) {
  Sizes shape = {input->sizes[0], g.transposed ? weight->sizes[1] * g.groups : weight->sizes[0]};
  Sizes padded, kernel;
  bool small = false;
  for (int64_t d = 0; d < g.spatial; ++d) {
    int64_t in = input->sizes[d + 2], k = weight->sizes[d + 2];
    padded.push_back(in + 2 * g.padding[d]);
    kernel.push_back(g.dilation[d] * (k - 1) + 1);
    if (!g.transposed && padded[d] < kernel[d]) small = true;
    if (k == 0) {
      raise_error(ErrorKind::kRuntime, "convolution: the kernel ", list_text(weight.sizes()),
                  " has a dimension of size 0");
    }
    if (g.transposed && g.output_padding[d] >= std::max(g.stride[d], g.dilation[d])) {
      raise_error(ErrorKind::kRuntime, "convolution: output padding must be smaller than either ",
                  "stride or dilation, but got output_padding ", list_text(g.output_padding),
                  ", stride ", list_text(g.stride), ", dilation ", list_text(g.dilation));
    }
    int64_t size = result_size(g, in, k, d);
    if (g.transposed && size <= 0) {
      raise_error(ErrorKind::kRuntime, "convolution: the output would be too small: size ", size,
                  " in spatial dimension ", d, " for an input of ", list_text(input.sizes()));
    }
    shape.push_back(size);
  }
  if (small) {
    raise_error(ErrorKind::kRuntime,
                "Calculated padded input size per channel: ", list_text(padded),
                ". Kernel size: ", list_text(kernel),
                ". Kernel size can't be greater than actual input size");
  }
  count_elements(shape, "convolution");
  return shape;
}

// The convolution whose forward (or, transposed, backward) product this is.
ConvShape conv_shape(const Geometry3& g, const Tensor& input, const Tensor& weight,
                     IntList result) {
  ConvShape s;
  s.spatial = g.spatial;
  s.batch = input->sizes[0];
  s.groups = g.groups;
  s.in_channels = g.transposed ? result[1] : input->sizes[1];
  s.out_channels = g.transposed ? input->sizes[1] : result[1];
  for (int64_t d = 0; d < g.spatial; ++d) {
    int64_t at = 3 - g.spatial + d;
    s.input[at] = g.transposed ? result[d + 2] : input->sizes[d + 2];
    s.output[at] = g.transposed ? input->sizes[d + 2] : result[d + 2];
    s.kernel[at] = weight->sizes[d + 2];
    s.stride[at] = g.stride[d];
    s.padding[at] = g.padding[d];
    s.dilation[at] = g.dilation[d];
  }
  return s;
}

// A tensor as the products take it: contiguous or channels last.
Tensor laid_out(const Tensor& t) { return is_channels_last(t) ? t : to_contiguous(t); }

Tensor new_image(IntList shape, const Tensor& like, DType dtype) {
  bool last = is_channels_last(like);
  return new_formatted(shape, dtype, like.device(),
                       last ? channels_last_format(like.dim()) : MemoryFormat::kContiguous);
}

void add_bias(const Tensor& image, const Tensor& bias) {
  Sizes shape(static_cast<size_t>(image.dim()), int64_t{1});
  shape[1] = bias->sizes[0];
  NoGrad no_grad;
  copy_raw(image, add(image, reshape(bias, shape)));
}

}  // namespace

namespace forward {

Tensor convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride,
                   IntList padding, IntList dilation, bool transposed, IntList output_padding,
                   int64_t groups) {
  Geometry3 g = geometry_from(input, stride, padding, dilation, transposed, output_padding, groups);
  check_types(input, weight, bias);
  check_shapes(g, input, weight, bias);
  Sizes shape = result_shape(g, input, weight);
  DType type = input.dtype(), work = is_reduced(type) ? kFloat32 : type;
  Tensor out = new_image(shape, input, work);
  if (out.is_meta() || out.numel() == 0) return to_dtype(out, type);
  Tensor b = bias.defined() ? to_contiguous(to_dtype(bias, work)) : bias;
  Tensor x = laid_out(to_dtype(input, work)), w = laid_out(to_dtype(weight, work));
  if (x.numel() == 0 || w.numel() == 0) {
    fill_raw(out, 0);
    if (b.defined()) add_bias(out, b);
    return to_dtype(out, type);
  }
  ConvShape s = conv_shape(g, input, weight, shape);
  if (transposed) {
    conv_input(out, w, x, s);
    if (b.defined()) add_bias(out, b);
  } else {
    conv_output(out, x, w, b, s);
  }
  return to_dtype(out, type);
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& grad_output,
                                                        const Tensor& input, const Tensor& weight,
                                                        IntList stride, IntList padding,
                                                        IntList dilation, bool transposed,
                                                        IntList output_padding, int64_t groups,
                                                        uint64_t output_mask) {
  Geometry3 g = geometry_from(input, stride, padding, dilation, transposed, output_padding, groups);
  DType type = input.dtype(), work = is_reduced(type) ? kFloat32 : type;
  Tensor dx, dw, db;
  if (output_mask & 1) dx = new_image(input.sizes(), input, work);
  if (output_mask & 2) {
    dw = new_formatted(
        weight.sizes(), work, weight.device(),
        is_channels_last(weight) ? channels_last_format(weight.dim()) : MemoryFormat::kContiguous);
  }
  if (output_mask & 4) {
    NoGrad no_grad;
    Sizes dims;
    for (int64_t d = 0; d < input.dim(); ++d) {
      if (d != 1) dims.push_back(d);
    }
    db = sum(alias(grad_output), dims);
  }
  bool empty = input.numel() == 0 || weight.numel() == 0 || grad_output.numel() == 0;
  if (!input.is_meta() && empty) {
    if (dx.defined()) fill_raw(dx, 0);
    if (dw.defined()) fill_raw(dw, 0);
  } else if (!input.is_meta()) {
    Tensor x = laid_out(to_dtype(input, work)), w = laid_out(to_dtype(weight, work));
    Tensor y = laid_out(to_dtype(grad_output, work));
    ConvShape s = conv_shape(g, input, weight, grad_output.sizes());
    NoGrad no_grad;
    if (dx.defined()) {
      Tensor c = w.is_complex() ? laid_out(facula::conj(w)) : w;
      if (transposed)
        conv_output(dx, y, c, Tensor(), s);
      else
        conv_input(dx, c, y, s);
    }
    if (dw.defined()) {
      Tensor c = x.is_complex() ? laid_out(facula::conj(x)) : x;
      // Of a transposed convolution the gradient plays the part of the input.
      if (transposed && x.is_complex())
        conv_weight(dw, laid_out(y), c, s);
      else if (transposed)
        conv_weight(dw, y, x, s);
      else
        conv_weight(dw, c, y, s);
    }
  }
  if (dx.defined()) dx = to_dtype(dx, type);
  if (dw.defined()) dw = to_dtype(dw, type);
  return {dx, dw, db};
}

}  // namespace forward

std::tuple<Tensor, Tensor, Tensor> convolution_double_backward(
    const Tensor& grad_dx, const Tensor& grad_dw, const Tensor& grad_db, const Tensor& grad_output,
    const Tensor& input, const Tensor& weight, IntList stride, IntList padding, IntList dilation,
    bool transposed, IntList output_padding, int64_t groups, uint64_t output_mask) {
  auto forward = [&](const Tensor& x, const Tensor& w) {
    return convolution(x, w, Tensor(), stride, padding, dilation, transposed, output_padding,
                       groups);
  };
  auto backward = [&](const Tensor& x, const Tensor& w, uint64_t mask) {
    return convolution_backward(grad_output, x, w, stride, padding, dilation, transposed,
                                output_padding, groups, mask);
  };
  Tensor dg, dx, dw;
  auto accumulate = [&](Tensor t) { dg = dg.defined() ? add(dg, t) : t; };
  if (output_mask & 1) {
    if (grad_dx.defined()) accumulate(forward(grad_dx, weight));
    if (grad_dw.defined()) accumulate(forward(input, grad_dw));
    if (grad_db.defined()) {
      Sizes shape(static_cast<size_t>(grad_output.dim()), int64_t{1});
      shape[1] = grad_db->sizes[0];
      accumulate(expand(reshape(grad_db, shape), grad_output.sizes()));
    }
  }
  if ((output_mask & 2) && grad_dw.defined()) dx = std::get<0>(backward(input, grad_dw, 1));
  if ((output_mask & 4) && grad_dx.defined()) dw = std::get<1>(backward(grad_dx, weight, 2));
  return {dg, dx, dw};
}

namespace {

// Adds the batch dimension of a single sample, calls f, and takes it away again.
template <class F>
Tensor batched(const char* op, const Tensor& input, int64_t spatial, F&& f) {
  if (input.dim() == spatial + 2) return f(input);
  if (input.dim() != spatial + 1) {
    raise_error(ErrorKind::kRuntime, "Expected ", spatial + 1, "D (unbatched) or ", spatial + 2,
                "D (batched) input to ", op, spatial,
                "d, but got input of size: ", list_text(input.sizes()));
  }
  return select(f(unsqueeze(input, 0)), 0, 0);
}

std::string conv_name(int64_t spatial) { return str("conv", spatial, 'd'); }

}  // namespace

Tensor conv_nd(const Tensor& input, const Tensor& weight, const Tensor& bias, IntList stride,
               IntList padding, IntList dilation, int64_t groups, int64_t spatial) {
  Sizes s = expand_list(stride, spatial, "stride"), p = expand_list(padding, spatial, "padding");
  Sizes d = expand_list(dilation, spatial, "dilation"), none(static_cast<size_t>(spatial), 0);
  return batched("conv", input, spatial, [&](const Tensor& x) {
    return convolution(x, weight, bias, s, p, d, false, none, groups);
  });
}

Tensor conv_nd_named_padding(const Tensor& input, const Tensor& weight, const Tensor& bias,
                             IntList stride, std::string_view padding, IntList dilation,
                             int64_t groups, int64_t spatial) {
  if (padding == "valid") {
    return conv_nd(input, weight, bias, stride, 0, dilation, groups, spatial);
  }
  if (padding != "same") {
    raise_error(ErrorKind::kRuntime, conv_name(spatial), ": Invalid padding string: '", padding,
                "', expected 'valid' or 'same'");
  }
  for (int64_t s : stride) {
    if (s != 1) {
      raise_error(ErrorKind::kRuntime, conv_name(spatial),
                  ": padding='same' is not supported for strided convolutions, got stride=",
                  list_text(stride));
    }
  }
  if (weight.dim() != spatial + 2) {
    raise_error(ErrorKind::kRuntime, conv_name(spatial), ": expected a weight of ", spatial + 2,
                " dimensions, got shape ", list_text(weight.sizes()));
  }
  Sizes d = expand_list(dilation, spatial, "dilation"), front, extra;
  bool uneven = false;
  for (int64_t i = spatial - 1; i >= 0; --i) {
    int64_t total = d[i] * (weight->sizes[i + 2] - 1);
    extra.push_back(0);
    extra.push_back(total % 2);
    uneven = uneven || total % 2;
  }
  for (int64_t i = 0; i < spatial; ++i) front.push_back(d[i] * (weight->sizes[i + 2] - 1) / 2);
  if (uneven) {
    static std::atomic<bool> said{false};
    warn_once(said,
              "Using padding='same' with even kernel lengths and odd dilation may require a "
              "zero-padded copy of the input: one side gets a row more than the other.");
  }
  Tensor x = uneven ? constant_pad_nd(input, extra, 0) : input;
  return conv_nd(x, weight, bias, stride, front, dilation, groups, spatial);
}

Tensor conv_transpose_nd(const Tensor& input, const Tensor& weight, const Tensor& bias,
                         IntList stride, IntList padding, IntList output_padding, int64_t groups,
                         IntList dilation, int64_t spatial) {
  Sizes s = expand_list(stride, spatial, "stride"), p = expand_list(padding, spatial, "padding");
  Sizes d = expand_list(dilation, spatial, "dilation");
  Sizes o = expand_list(output_padding, spatial, "output_padding");
  return batched("conv_transpose", input, spatial, [&](const Tensor& x) {
    return convolution(x, weight, bias, s, p, d, true, o, groups);
  });
}

Tensor conv_tbc(const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t pad) {
  if (input.dim() != 3 || weight.dim() != 3 || bias.dim() != 1) {
    raise_error(
        ErrorKind::kRuntime, "conv_tbc: expected a 3-D input and weight and a 1-D bias, got ",
        list_text(input.sizes()), ", ", list_text(weight.sizes()), ", ", list_text(bias.sizes()));
  }
  Tensor x = permute(input, IntList({1, 2, 0})), w = permute(weight, IntList({2, 1, 0}));
  return permute(conv1d(x, w, bias, 1, pad), IntList({2, 0, 1}));
}

}  // namespace facula
