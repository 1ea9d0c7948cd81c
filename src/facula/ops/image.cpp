// grid_sample, affine_grid, and rearrangements between channels and space.
#include "facula/autograd/meta.h"
#include "facula/base/error.h"
#include "facula/kernels/image.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/grid_parts.h"
#include "facula/ops/image_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/recompute.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

kernels::GridShape grid_shape(const Tensor& input, const Tensor& grid, std::string_view mode,
                              std::string_view padding, bool align_corners) {
  kernels::GridShape s{};
  s.batch = input->sizes[0];
  s.channels = input->sizes[1];
  s.spatial = input.dim() - 2;
  s.in[0] = s.spatial == 3 ? input->sizes[2] : 1;
  s.in[1] = input.size(-2);
  s.in[2] = input.size(-1);
  s.out = 1;
  for (int64_t d = 1; d + 1 < grid.dim(); ++d) s.out *= grid->sizes[d];
  s.mode = mode == "bilinear" ? 0 : mode == "nearest" ? 1 : 2;
  s.padding = padding == "zeros" ? 0 : padding == "border" ? 1 : 2;
  s.align_corners = align_corners;
  return s;
}

// grid_positions gives the grid as the kernels take it. In half precision each step of the way to
// pixels is rounded, as PyTorch does, and the kernel gets pixels.
Tensor grid_positions(const Tensor& grid, const Tensor& input, DType type, kernels::GridShape& s) {
  if (is_reduced(grid.dtype())) {
    int64_t n = input.dim() - 2;
    Tensor size = new_empty({n}, kFloat64);
    for (int64_t k = 0; k < n; ++k) {
      size.data_as<double>()[k] = static_cast<double>(input.size(-1 - k) - s.align_corners);
    }
    NoGrad no_grad;
    Tensor sizes = to_dtype(size, grid.dtype()), x = add(detach(grid), 1);
    s.pixels = true;
    x = s.align_corners ? mul(div(x, 2), sizes) : div(sub(mul(x, sizes), 1), 2);
    return to_contiguous(to_dtype(x, type));
  }
  return to_contiguous(to_dtype(grid, type));
}

void check_grid(const Tensor& input, const Tensor& grid, std::string_view mode,
                std::string_view padding) {
  if (mode != "bilinear" && mode != "nearest" && mode != "bicubic") {
    raise_error(ErrorKind::kValue, "grid_sample: expected mode to be 'bilinear', 'nearest' or ",
                "'bicubic', but got: '", mode, "'");
  }
  if (padding != "zeros" && padding != "border" && padding != "reflection") {
    raise_error(ErrorKind::kValue,
                "grid_sample: expected padding_mode to be 'zeros', 'border', or ",
                "'reflection', but got: '", padding, "'");
  }
  if (input.dtype() != grid.dtype()) {
    raise_error(ErrorKind::kRuntime,
                "grid_sample: expected input and grid to have same dtype, but ", "input has ",
                dtype_name(input.dtype()), " and grid has ", dtype_name(grid.dtype()));
  }
  if (!input.is_floating_point()) {
    raise_error(ErrorKind::kNotImplemented, "\"grid_sample\" not implemented for '",
                dtype_title(input.dtype()), "'");
  }
  if ((input.dim() != 4 && input.dim() != 5) || input.dim() != grid.dim()) {
    raise_error(ErrorKind::kRuntime,
                "grid_sample: expected 4D or 5D input and grid with same number ",
                "of dimensions, but got input with sizes ", list_text(input.sizes()),
                " and grid with sizes ", list_text(grid.sizes()));
  }
  if (input->sizes[0] != grid->sizes[0] || grid.size(-1) != input.dim() - 2) {
    raise_error(ErrorKind::kRuntime,
                "grid_sample: expected grid to have the batch of the input and ", "size ",
                input.dim() - 2, " in last dimension, but got grid with sizes ",
                list_text(grid.sizes()), " for input ", list_text(input.sizes()));
  }
  for (int64_t d = 2; d < input.dim(); ++d) {
    if (input->sizes[d] == 0) {
      raise_error(ErrorKind::kRuntime, "grid_sample: expected input to have non-empty spatial ",
                  "dimensions, but input has sizes ", list_text(input.sizes()));
    }
  }
}

}  // namespace

namespace forward {

Tensor grid_sample_at(const Tensor& input, const Tensor& grid, std::string_view mode,
                      std::string_view padding_mode, bool align_corners) {
  Sizes sizes = {input->sizes[0], input->sizes[1]};
  for (int64_t d = 1; d + 1 < grid.dim(); ++d) sizes.push_back(grid->sizes[d]);
  DType type = input.dtype() == kFloat64 ? kFloat64 : kFloat32;
  Tensor out = new_empty(sizes, type, input.device());
  if (!out.is_meta() && out.numel()) {
    kernels::GridShape s = grid_shape(input, grid, mode, padding_mode, align_corners);
    Tensor x = to_contiguous(to_dtype(input, type)), at = grid_positions(grid, input, type, s);
    kernels::pictures->grid_sample(type, out.data(), x.data(), at.data(), s);
  }
  return to_dtype(out, input.dtype());
}

std::tuple<Tensor, Tensor> grid_sample_backward_fused(const Tensor& grad_output,
                                                      const Tensor& input, const Tensor& grid,
                                                      std::string_view mode,
                                                      std::string_view padding_mode,
                                                      bool align_corners, uint64_t output_mask) {
  DType type = input.dtype() == kFloat64 ? kFloat64 : kFloat32;
  Tensor dx, dgrid;
  if (output_mask & 1) dx = new_empty(input.sizes(), type, input.device());
  if (output_mask & 2) dgrid = new_empty(grid.sizes(), type, input.device());
  if (input.is_meta()) return {dx, dgrid};
  kernels::GridShape s = grid_shape(input, grid, mode, padding_mode, align_corners);
  Tensor x = to_contiguous(to_dtype(input, type)), at = grid_positions(grid, input, type, s);
  Tensor g = to_contiguous(to_dtype(grad_output, type));
  kernels::pictures->grid_sample_backward(type, dx.defined() ? dx.data() : nullptr,
                                          dgrid.defined() ? dgrid.data() : nullptr, g.data(),
                                          x.data(), at.data(), s);
  return {dx, dgrid};
}

}  // namespace forward

std::tuple<Tensor, Tensor> grid_sample_backward(const Tensor& grad_output, const Tensor& input,
                                                const Tensor& grid, std::string_view mode,
                                                std::string_view padding_mode, bool align_corners,
                                                uint64_t output_mask) {
  if (!recording_any({&grad_output, &input, &grid})) {
    return grid_sample_backward_fused(grad_output, input, grid, mode, padding_mode, align_corners,
                                      output_mask);
  }
  kernels::GridShape s = grid_shape(input, grid, mode, padding_mode, align_corners);
  Tensor inputs[2] = {input, grid};
  std::vector<Tensor> found = gradients_by_recomputing(
      inputs, {&grad_output, 1}, output_mask, [&](const std::vector<Tensor>& x) {
        return std::vector<Tensor>{
            grid_sample_from_parts(x[0], x[1], s.mode, s.padding, align_corners)};
      });
  return {found[0], found[1]};
}

Tensor grid_sample(const Tensor& input, const Tensor& grid, std::string_view mode,
                   std::string_view padding_mode, bool align_corners) {
  check_grid(input, grid, mode, padding_mode);
  return grid_sample_at(input, grid, mode, padding_mode, align_corners);
}

Tensor grid_sampler(const Tensor& input, const Tensor& grid, int64_t interpolation_mode,
                    int64_t padding_mode, bool align_corners) {
  static constexpr const char* kModes[] = {"bilinear", "nearest", "bicubic"};
  static constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};
  if (interpolation_mode < 0 || interpolation_mode > 2 || padding_mode < 0 || padding_mode > 2) {
    raise_error(ErrorKind::kRuntime, "grid_sampler: expected modes from 0 to 2, got ",
                interpolation_mode, " and ", padding_mode);
  }
  return grid_sample(input, grid, kModes[interpolation_mode], kPaddings[padding_mode],
                     align_corners);
}

namespace {

// Coordinates in [-1, 1] along a dimension of the given size.
Tensor grid_line(int64_t size, bool align_corners, DType dtype, Device device) {
  Tensor line = new_empty({size}, kFloat64);
  for (int64_t i = 0; i < size; ++i) {
    double x = size <= 1 ? 0 : -1 + 2 * static_cast<double>(i) / static_cast<double>(size - 1);
    if (!align_corners) x *= static_cast<double>(size - 1) / static_cast<double>(size);
    line.data_as<double>()[i] = x;
  }
  Tensor out = new_empty({size}, dtype, device);
  copy_raw(out, line);
  return out;
}

}  // namespace

Tensor affine_grid(const Tensor& theta, IntList size, bool align_corners) {
  int64_t n = size.ssize() - 2;
  if (n != 2 && n != 3) {
    raise_error(ErrorKind::kNotImplemented,
                "affine_grid: only supports 4D and 5D sizes, for 2D and 3D affine transforms, ",
                "respectively. Got size ", list_text(size));
  }
  if (theta.dim() != 3 || theta->sizes[0] != size[0] || theta->sizes[1] != n ||
      theta->sizes[2] != n + 1) {
    raise_error(ErrorKind::kValue, "affine_grid: Expected a batch of ", n, 'x', n + 1,
                " affine matrices of shape ", list_text({size[0], n, n + 1}), " for size ",
                list_text(size), ". Got ", list_text(theta.sizes()), '.');
  }
  if (!theta.is_floating_point()) {
    raise_error(ErrorKind::kValue,
                "affine_grid: Expected theta to have floating point type, but got ",
                dtype_name(theta.dtype()));
  }
  // The homogeneous coordinates of all positions, x first.
  Sizes base = IntList(size.data() + 2, static_cast<size_t>(n)).to_sizes();
  int64_t count = 1;
  for (int64_t s : base) count *= s;
  base.push_back(n + 1);
  Tensor points = new_empty(base, theta.dtype(), theta.device());
  fill_raw(points, 1);
  for (int64_t d = 0; d < n && !points.is_meta(); ++d) {
    Tensor line = grid_line(size[d + 2], align_corners, theta.dtype(), theta.device());
    Sizes strides(static_cast<size_t>(n), int64_t{0});
    strides[d] = 1;
    Tensor wide = alias_storage(line, {base.data(), static_cast<size_t>(n)}, strides, 0);
    Tensor slot = alias_storage(points, {base.data(), static_cast<size_t>(n)},
                                {points->strides, static_cast<size_t>(n)}, n - 1 - d);
    copy_raw(slot, wide);
  }
  Tensor grid =
      matmul(expand(reshape(points, IntList({1, count, n + 1})), IntList({size[0], count, n + 1})),
             transpose(theta, 1, 2));
  Sizes shape = {size[0]};
  for (int64_t d = 0; d < n; ++d) shape.push_back(size[d + 2]);
  shape.push_back(n);
  return reshape(grid, shape);
}

Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  int64_t r = upscale_factor, n = self.dim() - 3;
  if (self.dim() < 3) {
    raise_error(ErrorKind::kRuntime,
                "pixel_shuffle expects input to have at least 3 dimensions, but ",
                "got input with ", self.dim(), " dimension(s)");
  }
  if (r <= 0) {
    raise_error(ErrorKind::kRuntime, "pixel_shuffle expects a positive upscale_factor, but got ",
                r);
  }
  int64_t c = self.size(-3), h = self.size(-2), w = self.size(-1);
  if (r > 1 << 30 || c % (r * r) != 0) {  // larger squares wrap
    raise_error(ErrorKind::kRuntime, "pixel_shuffle expects its input's 'channel' dimension to be ",
                "divisible by the square of upscale_factor, but input.size(-3)=", c,
                " is not divisible by the square of ", r);
  }
  Sizes split = IntList(self->sizes, static_cast<size_t>(n)).to_sizes(), order, shape = split;
  for (int64_t d = 0; d < n; ++d) order.push_back(d);
  for (int64_t s : {c / (r * r), r, r, h, w}) split.push_back(s);
  for (int64_t d : {0, 3, 1, 4, 2}) order.push_back(n + d);
  for (int64_t s : {c / (r * r), h * r, w * r}) shape.push_back(s);
  return reshape(permute(reshape(self, split), order), shape);
}

Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  int64_t r = downscale_factor, n = self.dim() - 3;
  if (self.dim() < 3) {
    raise_error(ErrorKind::kRuntime,
                "pixel_unshuffle expects input to have at least 3 dimensions, ",
                "but got input with ", self.dim(), " dimension(s)");
  }
  if (r <= 0) {
    raise_error(ErrorKind::kRuntime,
                "pixel_unshuffle expects a positive downscale_factor, but got ", r);
  }
  int64_t c = self.size(-3), h = self.size(-2), w = self.size(-1);
  if (h % r != 0 || w % r != 0) {
    raise_error(ErrorKind::kRuntime, "pixel_unshuffle expects height and width to be divisible by ",
                "downscale_factor, but got ", h, " and ", w, " for factor ", r);
  }
  Sizes split = IntList(self->sizes, static_cast<size_t>(n)).to_sizes(), order, shape = split;
  for (int64_t d = 0; d < n; ++d) order.push_back(d);
  for (int64_t s : {c, h / r, r, w / r, r}) split.push_back(s);
  for (int64_t d : {0, 2, 4, 1, 3}) order.push_back(n + d);
  for (int64_t s : {c * r * r, h / r, w / r}) shape.push_back(s);
  return reshape(permute(reshape(self, split), order), shape);
}

Tensor channel_shuffle(const Tensor& self, int64_t groups) {
  if (self.dim() < 3) {
    raise_error(ErrorKind::kRuntime,
                "channel_shuffle expects input with > 2 dims, but got input with ", "sizes ",
                list_text(self.sizes()));
  }
  int64_t c = self->sizes[1];
  if (groups <= 0 || c % groups != 0) {
    raise_error(ErrorKind::kRuntime,
                "channel_shuffle: number of channels must be divisible by groups, ", "got ", c,
                " channels and ", groups, " groups.");
  }
  Tensor split = reshape(self, IntList({self->sizes[0], groups, c / groups, -1}));
  return reshape(transpose(split, 1, 2), self.sizes());
}

}  // namespace facula
