// Gathers by index maps and weighted resampling of one dimension.
#include "facula/kernels/image.h"

#include "facula/kernels/cpu/dispatch.h"
#include "facula/kernels/cpu/grid.h"

namespace facula::kernels::FACULA_ISA {
namespace images {
namespace {

FACULA_INLINE int64_t grain_for(int64_t work) {
  return max_of<int64_t>(1, 16384 / max_of<int64_t>(1, work));
}

FACULA_INLINE int64_t volume(const int64_t (&sizes)[3]) { return sizes[0] * sizes[1] * sizes[2]; }

// Calls f(output row offset, input row offset) for each row of a plane.
template <class F>
FACULA_INLINE void each_row_of(const IndexMap& m, int64_t plane, F&& f) {
  int64_t out = plane * volume(m.output), in = plane * volume(m.input);
  for (int64_t i = 0; i < m.output[0]; ++i) {
    for (int64_t j = 0; j < m.output[1]; ++j) {
      f(out + (i * m.output[1] + j) * m.output[2],
        in + (m.map[0][i] * m.input[1] + m.map[1][j]) * m.input[2]);
    }
  }
}

void gather(int64_t item, void* out_, const void* in_, const IndexMap& m) {
  visit_size(item, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = static_cast<T*>(out_);
    const T* in = static_cast<const T*>(in_);
    const int64_t* last = m.map[2];
    parallel_for(0, m.planes, grain_for(volume(m.output)), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        each_row_of(m, p, [&](int64_t o, int64_t i) {
          for (int64_t k = 0; k < m.output[2]; ++k) out[o + k] = in[i + last[k]];
        });
      }
    });
  });
}

void scatter(DType dtype, void* in_, const void* out_, const IndexMap& m) {
  visit_inexact(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    T* in = static_cast<T*>(in_);
    const T* out = static_cast<const T*>(out_);
    const int64_t* last = m.map[2];
    std::memset(in_, 0, m.planes * volume(m.input) * sizeof(T));
    parallel_for(0, m.planes, grain_for(volume(m.output)), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        each_row_of(m, p, [&](int64_t o, int64_t i) {
          for (int64_t k = 0; k < m.output[2]; ++k) {
            T& to = in[i + last[k]];
            to = static_cast<T>(static_cast<C>(to) + static_cast<C>(out[o + k]));
          }
        });
      }
    });
  });
}

template <class T>
void resample_typed(T* out, const T* in, int64_t outer, int64_t inner, const Taps& t) {
  parallel_for(0, outer, grain_for(t.outputs * t.count * inner), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* x = in + r * t.inputs * inner;
      T* y = out + r * t.outputs * inner;
      for (int64_t o = 0; o < t.outputs; ++o) {
        const int64_t* index = t.index + o * t.count;
        const double* weight = t.weight + o * t.count;
        if (inner == 1) {
          T sum = 0;
          for (int64_t k = 0; k < t.count; ++k) sum += static_cast<T>(weight[k]) * x[index[k]];
          y[o] = sum;
          continue;
        }
        T* row = y + o * inner;
        for (int64_t k = 0; k < t.count; ++k) {
          const T* from = x + index[k] * inner;
          T w = static_cast<T>(weight[k]);
          if (k == 0) {
            for (int64_t j = 0; j < inner; ++j) row[j] = w * from[j];
          } else {
            for (int64_t j = 0; j < inner; ++j) row[j] += w * from[j];
          }
        }
      }
    }
  });
}

template <class T>
void adjoint_typed(T* in, const T* out, int64_t outer, int64_t inner, const Taps& t) {
  parallel_for(0, outer, grain_for(t.outputs * t.count * inner), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* x = in + r * t.inputs * inner;
      const T* y = out + r * t.outputs * inner;
      std::memset(static_cast<void*>(x), 0, t.inputs * inner * sizeof(T));
      for (int64_t o = 0; o < t.outputs; ++o) {
        const T* row = y + o * inner;
        for (int64_t k = 0; k < t.count; ++k) {
          T* to = x + t.index[o * t.count + k] * inner;
          T w = static_cast<T>(t.weight[o * t.count + k]);
          for (int64_t j = 0; j < inner; ++j) to[j] += w * row[j];
        }
      }
    }
  });
}

void resample(DType dtype, void* out, const void* in, int64_t outer, int64_t inner, const Taps& t) {
  if (dtype == kFloat32) {
    return resample_typed(static_cast<float*>(out), static_cast<const float*>(in), outer, inner, t);
  }
  resample_typed(static_cast<double*>(out), static_cast<const double*>(in), outer, inner, t);
}

void resample_adjoint(DType dtype, void* in, const void* out, int64_t outer, int64_t inner,
                      const Taps& t) {
  if (dtype == kFloat32) {
    return adjoint_typed(static_cast<float*>(in), static_cast<const float*>(out), outer, inner, t);
  }
  adjoint_typed(static_cast<double*>(in), static_cast<const double*>(out), outer, inner, t);
}

}  // namespace
}  // namespace images

extern const ImageKernels pictures_table;
const ImageKernels pictures_table = {images::gather,   images::scatter,
                                     images::resample, images::resample_adjoint,
                                     grid_sample,      grid_sample_backward};

}  // namespace facula::kernels::FACULA_ISA
