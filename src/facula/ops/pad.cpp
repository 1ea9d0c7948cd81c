// The operators of ops/pad.py: padding with constants, borders and reflections, and the blocks of
// unfold and fold.
#include <algorithm>

#include "facula/base/error.h"
#include "facula/kernels/conv.h"
#include "facula/kernels/image.h"
#include "facula/ops/fits.h"
#include "facula/ops/pad_functions.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/window_checks.h"

namespace facula {
namespace {

// The part of a tensor that remains when `pad` (front, back, from the last dimension on) is
// negative or, with sign -1, positive.
Tensor cropped(const Tensor& t, IntList pad, int64_t sign) {
  Sizes sizes = t.sizes().to_sizes();
  int64_t offset = t.storage_offset();
  for (int64_t i = 0; 2 * i < pad.ssize(); ++i) {
    int64_t d = t.dim() - 1 - i;
    int64_t front = std::max<int64_t>(0, sign * pad[2 * i]);
    int64_t back = std::max<int64_t>(0, sign * pad[2 * i + 1]);
    sizes[d] = std::max<int64_t>(0, sizes[d] - front - back);
    offset += sizes[d] ? front * t->strides[d] : 0;
  }
  return alias_storage(t, sizes, t.strides(), offset);
}

// The source of each position along a padded dimension of size n.
std::vector<int64_t> pad_map(int64_t n, int64_t front, int64_t back, bool reflect) {
  std::vector<int64_t> map;
  for (int64_t i = -front; i < n + back; ++i) {
    if (reflect) {
      int64_t at = i < 0 ? -i : i;
      map.push_back(at >= n ? 2 * (n - 1) - at : at);
    } else {
      map.push_back(std::clamp<int64_t>(i, 0, n - 1));
    }
  }
  return map;
}

// The maps of all padded dimensions around an input of the given sizes.
struct PadPlan {
  kernels::IndexMap m{};
  std::vector<int64_t> maps[3];
  Sizes output;

  PadPlan(IntList input, IntList pad, bool reflect) : output(input.begin(), input.end()) {
    int64_t n = pad.ssize() / 2, rank = input.ssize();
    m.planes = 1;
    for (int64_t d = 0; d < rank - n; ++d) m.planes *= input[d];
    for (int64_t d = 0; d < 3; ++d) {
      int64_t i = 2 - d;  // from the last dimension on
      if (i < n) {
        m.input[d] = input[rank - 1 - i];
        maps[d] = pad_map(m.input[d], pad[2 * i], pad[2 * i + 1], reflect);
        output[rank - 1 - i] = static_cast<int64_t>(maps[d].size());
      } else {
        m.input[d] = 1;
        maps[d] = {0};
      }
      m.output[d] = static_cast<int64_t>(maps[d].size());
      m.map[d] = maps[d].data();
    }
  }
};

void check_pad(const char* op, int64_t n, const Tensor& input, IntList pad, bool reflect) {
  if (pad.ssize() != 2 * n) {
    raise_error(ErrorKind::kRuntime, op, ": expected padding of ", 2 * n, " numbers, got ",
                list_text(pad));
  }
  check_within(op, "padding", pad, kMostPadding);
  bool shaped = input.dim() == n + 1 || input.dim() == n + 2;
  for (int64_t d = input.dim() == n + 2 ? 1 : 0; shaped && d < input.dim(); ++d) {
    shaped = input->sizes[d] > 0;
  }
  if (!shaped) {
    raise_error(
        ErrorKind::kRuntime, op, ": Expected ", n + 1, "D or ", n + 2,
        "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for ",
        "input, but got: ", list_text(input.sizes()));
  }
  for (int64_t i = 0; i < n; ++i) {
    int64_t size = input.size(-1 - i), front = pad[2 * i], back = pad[2 * i + 1];
    if (reflect && (front >= size || back >= size)) {
      raise_error(ErrorKind::kRuntime, op, ": Padding size should be less than the corresponding ",
                  "input dimension, but got: padding (", front, ", ", back, ") at dimension ",
                  input.dim() - 1 - i, " of input ", list_text(input.sizes()));
    }
    if (size + front + back < 1) {
      raise_error(ErrorKind::kRuntime, op, ": input of size ", list_text(input.sizes()),
                  " is too small for padding ", list_text(pad));
    }
  }
}

kernels::ConvShape block_shape(IntList image, IntList kernel, IntList dilation, IntList padding,
                               IntList stride) {
  kernels::ConvShape s;
  check_within("unfold", "kernel_size", kernel, kMostWindow);
  check_within("unfold", "dilation", dilation, kMostWindow);
  check_within("unfold", "padding", padding, kMostWindow);
  check_within("unfold", "stride", stride, kMostWindow);
  for (int64_t d = 0; d < 2; ++d) {
    if (kernel[d] < 1 || dilation[d] < 1 || stride[d] < 1 || padding[d] < 0) {
      raise_error(ErrorKind::kRuntime,
                  "unfold: kernel size, dilation and stride should be greater ",
                  "than zero and padding not negative, but got kernel_size=", list_text(kernel),
                  ", dilation=", list_text(dilation), ", padding=", list_text(padding),
                  ", stride=", list_text(stride));
    }
    int64_t room = image[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1;
    s.input[d + 1] = image[d], s.kernel[d + 1] = kernel[d], s.dilation[d + 1] = dilation[d];
    s.padding[d + 1] = padding[d], s.stride[d + 1] = stride[d];
    s.output[d + 1] = room < 0 ? 0 : room / stride[d] + 1;
    if (room < 0) {
      raise_error(ErrorKind::kRuntime, "unfold: Given input with spatial size ", list_text(image),
                  ", kernel_size=", list_text(kernel), ", dilation=", list_text(dilation),
                  ", padding=", list_text(padding), ", calculated shape of the array of sliding ",
                  "blocks is too small, but its components must be at least one");
    }
  }
  return s;
}

Sizes pair_of(const char* name, IntList list) {
  if (list.ssize() == 1) return {list[0], list[0]};
  if (list.ssize() == 2) return list.to_sizes();
  raise_error(ErrorKind::kRuntime, "unfold: ", name, " must be one or two numbers, got ",
              list_text(list));
}

}  // namespace

namespace forward {

Tensor constant_pad_nd(const Tensor& self, IntList pad, const Scalar& value) {
  if (pad.size() % 2 || pad.ssize() > 2 * self.dim()) {
    raise_error(ErrorKind::kRuntime,
                "constant_pad_nd: Length of pad must be even and no more than ",
                "twice the number of dimensions of the input, got pad=", list_text(pad),
                " for input ", list_text(self.sizes()));
  }
  check_within("constant_pad_nd", "padding", pad, kMostPadding);
  check_fits(self.dtype(), value);
  Sizes sizes = self.sizes().to_sizes();
  for (int64_t i = 0; 2 * i < pad.ssize(); ++i) {
    int64_t& n = sizes[self.dim() - 1 - i];
    int64_t wanted = n + pad[2 * i] + pad[2 * i + 1];
    if (wanted < 0) {
      raise_error(ErrorKind::kRuntime, "constant_pad_nd: The input size ", n, ", plus negative ",
                  "padding ", pad[2 * i], " and ", pad[2 * i + 1],
                  " resulted in a negative output ", "size, which is invalid. Check dimension ",
                  self.dim() - 1 - i, " of your input.");
    }
    n = wanted;
  }
  Tensor out = new_empty(sizes, self.dtype(), self.device());
  fill_raw(out, value);
  copy_raw(cropped(out, pad, 1), cropped(self, pad, -1));
  return out;
}

Tensor pad_by_map(const Tensor& input, IntList pad, std::string_view mode) {
  Sizes sizes = input.sizes().to_sizes();
  for (int64_t i = 0; 2 * i < pad.ssize(); ++i) {
    sizes[input.dim() - 1 - i] += pad[2 * i] + pad[2 * i + 1];
  }
  // The result comes first: sizes that memory does not hold are refused before maps are made.
  Tensor out = new_empty(sizes, input.dtype(), input.device());
  if (out.is_meta() || out.numel() == 0) return out;
  Tensor x = to_contiguous(input);
  PadPlan plan(x.sizes(), pad, mode == "reflect");
  kernels::pictures->gather(item_size(x.dtype()), out.data(), x.data(), plan.m);
  return out;
}

Tensor pad_by_map_backward(const Tensor& grad_output, IntList size, IntList pad,
                           std::string_view mode) {
  Tensor g = to_contiguous(grad_output);
  PadPlan plan(size, pad, mode == "reflect");
  Tensor out = new_empty(size, g.dtype(), g.device());
  if (out.is_meta() || out.numel() == 0) return out;
  kernels::pictures->scatter(g.dtype(), out.data(), g.data(), plan.m);
  return out;
}

Tensor unfold_image(const Tensor& input, IntList kernel_size, IntList dilation, IntList padding,
                    IntList stride) {
  Tensor x = to_contiguous(input);
  int64_t batch = x->sizes[0], channels = x->sizes[1];
  kernels::ConvShape s = block_shape({x->sizes + 2, 2}, kernel_size, dilation, padding, stride);
  Tensor out =
      new_empty({batch, channels * s.kernel_size(), s.output_size()}, x.dtype(), x.device());
  if (out.is_meta() || out.numel() == 0) return out;
  int64_t item = item_size(x.dtype()), from = channels * s.input_size() * item;
  int64_t to = channels * s.kernel_size() * s.output_size() * item;
  for (int64_t n = 0; n < batch; ++n) {
    kernels::unfold(x.dtype(), x.data_as<char>() + n * from, out.data_as<char>() + n * to, s,
                    channels);
  }
  return out;
}

Tensor fold_image(const Tensor& input, IntList output_size, IntList kernel_size, IntList dilation,
                  IntList padding, IntList stride) {
  Tensor x = to_contiguous(input);
  kernels::ConvShape s = block_shape(output_size, kernel_size, dilation, padding, stride);
  if (x->sizes[1] % s.kernel_size() != 0 || x->sizes[2] != s.output_size()) {
    raise_error(ErrorKind::kRuntime, "fold: Given output_size=", list_text(output_size),
                ", kernel_size=", list_text(kernel_size), ", dilation=", list_text(dilation),
                ", padding=", list_text(padding), ", stride=", list_text(stride),
                ", expected input's size(1) to be a multiple of ", s.kernel_size(),
                " and its size(2) to be ", s.output_size(), ", got input ", list_text(x.sizes()));
  }
  int64_t batch = x->sizes[0], channels = x->sizes[1] / s.kernel_size();
  Tensor out = new_empty({batch, channels, output_size[0], output_size[1]}, x.dtype(), x.device());
  if (out.is_meta() || out.numel() == 0) return out;
  int64_t item = item_size(x.dtype()), to = channels * s.input_size() * item;
  int64_t from = channels * s.kernel_size() * s.output_size() * item;
  for (int64_t n = 0; n < batch; ++n) {
    kernels::fold(x.dtype(), x.data_as<char>() + n * from, out.data_as<char>() + n * to, s,
                  channels);
  }
  return out;
}

}  // namespace forward

Tensor unpad(const Tensor& self, IntList pad) {
  Sizes negated;
  for (int64_t p : pad) negated.push_back(-p);
  return constant_pad_nd(self, negated, 0);
}

Tensor pad_nd(const Tensor& input, IntList pad, std::string_view mode, int64_t spatial) {
  bool reflect = mode == "reflect";
  std::string op = str(reflect ? "reflection_pad" : "replication_pad", spatial, 'd');
  check_pad(op.c_str(), spatial, input, pad, reflect);
  return pad_by_map(input, pad, mode);  // negative numbers crop: their map starts inside
}

Tensor im2col(const Tensor& input, IntList kernel_size, IntList dilation, IntList padding,
              IntList stride) {
  bool batch = input.dim() == 4;
  if ((!batch && input.dim() != 3) || input.size(batch ? 1 : 0) == 0) {
    raise_error(
        input.dim() < 3 ? ErrorKind::kIndex : ErrorKind::kRuntime,
        "unfold: Expected 3D or 4D (batch mode) tensor with possibly 0 ",
        "batch size and other non-zero dimensions for input, but got: ", list_text(input.sizes()));
  }
  Tensor x = input.dim() == 3 ? unsqueeze(input, 0) : input;
  Tensor out = unfold_image(x, pair_of("kernel_size", kernel_size), pair_of("dilation", dilation),
                            pair_of("padding", padding), pair_of("stride", stride));
  return input.dim() == 3 ? select(out, 0, 0) : out;
}

Tensor col2im(const Tensor& input, IntList output_size, IntList kernel_size, IntList dilation,
              IntList padding, IntList stride) {
  if (input.dim() != 2 && input.dim() != 3) {
    raise_error(ErrorKind::kRuntime, "fold: Expected 2D or 3D (batch mode) tensor for input with ",
                "possibly 0 batch size and non-zero dimensions for input, but got: ",
                list_text(input.sizes()));
  }
  Tensor x = input.dim() == 2 ? unsqueeze(input, 0) : input;
  Tensor out = fold_image(x, pair_of("output_size", output_size),
                          pair_of("kernel_size", kernel_size), pair_of("dilation", dilation),
                          pair_of("padding", padding), pair_of("stride", stride));
  return input.dim() == 2 ? select(out, 0, 0) : out;
}

}  // namespace facula
