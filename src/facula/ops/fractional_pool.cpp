// Fractional max pooling: windows of one size whose starts follow a random sequence.
#include "facula/base/error.h"
#include "facula/base/parallel.h"
#include "facula/ops/pool_functions.h"
#include "facula/ops/rules.h"

namespace facula {
namespace {

// The starts of the windows along one dimension.
std::vector<int64_t> window_starts(double sample, int64_t in, int64_t out, int64_t kernel) {
  std::vector<int64_t> starts(static_cast<size_t>(out));
  if (out > 1) {
    double alpha = static_cast<double>(in - kernel) / static_cast<double>(out - 1);
    for (int64_t i = 0; i + 1 < out; ++i) {
      starts[i] = static_cast<int64_t>((static_cast<double>(i) + sample) * alpha) -
                  static_cast<int64_t>(sample * alpha);
    }
  }
  if (out > 0) starts[out - 1] = in - kernel;
  return starts;
}

struct FractionalShape {
  int64_t planes, in[3], out[3], kernel[3], spatial;
};

template <class T>
void fractional_planes(T* out, int64_t* indices, const T* in, const double* samples,
                       const FractionalShape& s) {
  int64_t volume = s.in[0] * s.in[1] * s.in[2], count = s.out[0] * s.out[1] * s.out[2];
  parallel_for(0, s.planes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      std::vector<int64_t> starts[3];
      for (int64_t d = 0; d < 3; ++d) {
        // Two dimensions take their samples from the last one on, three from the first one on.
        int64_t k = s.spatial == 3 ? d : 2 - d;
        bool outer = d < 3 - s.spatial;
        starts[d] =
            window_starts(outer ? 0 : samples[p * s.spatial + k], s.in[d], s.out[d], s.kernel[d]);
      }
      for (int64_t o = 0; o < count; ++o) {
        int64_t a = starts[0][o / (s.out[1] * s.out[2])], b = starts[1][o / s.out[2] % s.out[1]];
        int64_t c = starts[2][o % s.out[2]], best = -1;
        for (int64_t k = 0; k < s.kernel[0] * s.kernel[1] * s.kernel[2]; ++k) {
          int64_t x = a + k / (s.kernel[1] * s.kernel[2]), y = b + k / s.kernel[2] % s.kernel[1];
          int64_t at = (x * s.in[1] + y) * s.in[2] + c + k % s.kernel[2];
          T v = in[p * volume + at];
          if (best < 0 || v > in[p * volume + best] || v != v) best = at;
        }
        indices[p * count + o] = best;
        out[p * count + o] = in[p * volume + best];
      }
    }
  });
}

Sizes window_sizes(const char* op, const char* name, IntList list, int64_t n) {
  if (list.ssize() == n) return list.to_sizes();
  if (list.ssize() == 1) return Sizes(static_cast<size_t>(n), list[0]);
  raise_error(ErrorKind::kRuntime, op, ": ", name, " must either be a single int or a list of ", n,
              " ints, got ", list_text(list));
}

std::tuple<Tensor, Tensor> fractional_of(const char* op, int64_t n, const Tensor& input,
                                         IntList kernel_size, IntList output_size,
                                         const Tensor& samples) {
  if (input.dim() != n + 1 && input.dim() != n + 2) {
    raise_error(ErrorKind::kRuntime, op, ": Expected ", n + 1, "D or ", n + 2,
                "D (batch mode) tensor for input, but got: ", list_text(input.sizes()));
  }
  return fractional_max_pool(input, window_sizes(op, "kernel_size", kernel_size, n),
                             window_sizes(op, "output_size", output_size, n), samples);
}

// Samples are [batch, channels, dimensions]; those of a larger batch serve a smaller one too.
void check_samples(const Tensor& input, const Tensor& samples, int64_t n) {
  auto fail = [&](auto... text) {
    raise_error(ErrorKind::kRuntime, "fractional_max_pool", n, "d: ", text...);
  };
  int64_t channels = input->sizes[input.dim() - n - 1];
  int64_t batch = input.dim() == n + 2 ? input->sizes[0] : 1;
  if (samples.dtype() != input.dtype()) {
    fail("expected _random_samples of the input's dtype ", dtype_name(input.dtype()), ", got ",
         dtype_name(samples.dtype()));
  }
  if (samples.dim() != 3 || samples->sizes[0] < batch || samples->sizes[1] != channels ||
      samples->sizes[2] != n) {
    fail("expected _random_samples of shape ", list_text(IntList({batch, channels, n})), ", got ",
         list_text(samples.sizes()));
  }
}

}  // namespace

namespace forward {

std::tuple<Tensor, Tensor> fractional_max_pool(const Tensor& input, IntList kernel_size,
                                               IntList output_size, const Tensor& random_samples) {
  refuse_complex(input, "fractional_max_pool");
  int64_t n = output_size.ssize(), lead = input.dim() - n;
  FractionalShape s{1, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, n};
  Sizes sizes = input.sizes().to_sizes();
  for (int64_t d = 0; d < lead; ++d) s.planes *= sizes[d];
  for (int64_t d = 0; d < n; ++d) {
    int64_t at = 3 - n + d;
    s.in[at] = sizes[lead + d], s.out[at] = output_size[d], s.kernel[at] = kernel_size[d];
    int64_t most = n == 3 ? s.in[at] - 1 : s.in[at];
    if (kernel_size[d] < 1 || output_size[d] < 1 || output_size[d] + kernel_size[d] - 1 > most) {
      raise_error(ErrorKind::kRuntime, "fractional_max_pool: pool size ", kernel_size[d],
                  " too large relative to input size ", s.in[at], " and output size ",
                  output_size[d]);
    }
    sizes[lead + d] = output_size[d];
  }
  check_samples(input, random_samples, n);
  Tensor out = new_empty(sizes, input.dtype(), input.device());
  Tensor indices = new_empty(sizes, kInt64, input.device());
  if (out.is_meta()) return {out, indices};
  DType type = input.dtype() == kFloat64 ? kFloat64 : kFloat32;
  Tensor x = to_contiguous(to_dtype(input, type)),
         r = to_contiguous(to_dtype(random_samples, kFloat64));
  Tensor result = new_empty(sizes, type);
  if (type == kFloat64) {
    fractional_planes(result.data_as<double>(), indices.data_as<int64_t>(), x.data_as<double>(),
                      r.data_as<double>(), s);
  } else {
    fractional_planes(result.data_as<float>(), indices.data_as<int64_t>(), x.data_as<float>(),
                      r.data_as<double>(), s);
  }
  copy_raw(out, result);
  return {out, indices};
}

}  // namespace forward

std::tuple<Tensor, Tensor> fractional_max_pool2d(const Tensor& input, IntList kernel_size,
                                                 IntList output_size,
                                                 const Tensor& random_samples) {
  return fractional_of("fractional_max_pool2d", 2, input, kernel_size, output_size, random_samples);
}

std::tuple<Tensor, Tensor> fractional_max_pool3d(const Tensor& input, IntList kernel_size,
                                                 IntList output_size,
                                                 const Tensor& random_samples) {
  return fractional_of("fractional_max_pool3d", 3, input, kernel_size, output_size, random_samples);
}

}  // namespace facula
