// Pooling: windows are visited position by position; channels-last tensors compute all channels of
// a position at once, others walk one plane after the other.
#include "facula/kernels/pool.h"

#include "facula/kernels/cpu/dispatch.h"

namespace facula::kernels::FACULA_ISA {
namespace pooling {
namespace {

// The part of a window that lies inside the input along one dimension: first, first + step, ...
struct Window {
  int64_t first, end, step;
  int64_t padded;  // length of the window with padding, as averages count it
};

FACULA_INLINE Window window_of(const PoolShape& s, int d, int64_t o) {
  if (s.adaptive) {
    int64_t first = o * s.input[d] / s.output[d];
    int64_t end = ((o + 1) * s.input[d] + s.output[d] - 1) / s.output[d];
    return {first, end, 1, end - first};
  }
  int64_t start = o * s.stride[d] - s.padding[d];
  int64_t end = start + (s.kernel[d] - 1) * s.dilation[d] + 1;
  int64_t padded = min_of(end, s.input[d] + s.padding[d]) - start;
  int64_t first =
      start < 0 ? start + (-start + s.dilation[d] - 1) / s.dilation[d] * s.dilation[d] : start;
  return {first, min_of(end, s.input[d]), s.dilation[d], padded};
}

// A position of the output and its windows.
struct Place {
  Window w[3];
  // The number that an average over this window is divided by.
  int64_t divisor(const PoolShape& s) const {
    if (s.divisor) return s.divisor;
    if (s.count_padding && !s.adaptive) return w[0].padded * w[1].padded * w[2].padded;
    return (w[0].end - w[0].first) * (w[1].end - w[1].first) * (w[2].end - w[2].first);
  }
  // Calls f(position in the plane) for each input position of the window.
  template <class F>
  FACULA_INLINE void each(const PoolShape& s, F&& f) const {
    for (int64_t a = w[0].first; a < w[0].end; a += w[0].step) {
      for (int64_t b = w[1].first; b < w[1].end; b += w[1].step) {
        int64_t row = (a * s.input[1] + b) * s.input[2];
        for (int64_t c = w[2].first; c < w[2].end; c += w[2].step) f(row + c);
      }
    }
  }
};

FACULA_INLINE Place place_of(const PoolShape& s, int64_t o) {
  int64_t z = o % s.output[2], y = o / s.output[2] % s.output[1], x = o / s.output[2] / s.output[1];
  return {{window_of(s, 0, x), window_of(s, 1, y), window_of(s, 2, z)}};
}

// Calls f(output position, place) for all positions of a plane, in order.
template <class F>
FACULA_INLINE void each_place(const PoolShape& s, F&& f) {
  int64_t o = 0;
  for (int64_t x = 0; x < s.output[0]; ++x) {
    Place place;
    place.w[0] = window_of(s, 0, x);
    for (int64_t y = 0; y < s.output[1]; ++y) {
      place.w[1] = window_of(s, 1, y);
      for (int64_t z = 0; z < s.output[2]; ++z) {
        place.w[2] = window_of(s, 2, z);
        f(o++, place);
      }
    }
  }
}

FACULA_INLINE int64_t window_work(const PoolShape& s) {
  int64_t n = 1;
  for (int d = 0; d < 3; ++d) {
    n *= s.adaptive ? s.input[d] / max_of<int64_t>(1, s.output[d]) + 1 : s.kernel[d];
  }
  return n;
}

// Calls f(plane) for each plane of a channels-first tensor.
template <class F>
FACULA_INLINE void each_plane(const PoolShape& s, F&& f) {
  int64_t work = max_of<int64_t>(1, s.output_size() * window_work(s));
  int64_t grain = max_of<int64_t>(1, 16384 / work);
  parallel_for(0, s.batch * s.channels, grain, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) f(p);
  });
}

// Calls f(batch, output position) for each position of a channels-last tensor.
template <class F>
FACULA_INLINE void each_position(const PoolShape& s, F&& f) {
  int64_t out = s.output_size(), work = max_of<int64_t>(1, s.channels * window_work(s));
  int64_t grain = max_of<int64_t>(1, 16384 / work);
  parallel_for(0, s.batch * out, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i / out, i % out);
  });
}

// Types that pooling computes in: float for half types, the type itself otherwise.
template <class T>
void max_planes(T* out, int64_t* indices, const T* in, const PoolShape& s) {
  using C = Compute<T>;
  int64_t size = s.input_size(), count = s.output_size();
  each_plane(s, [&](int64_t p) {
    const T* x = in + p * size;
    each_place(s, [&](int64_t o, const Place& place) {
      int64_t best = -1;
      C top = 0;
      place.each(s, [&](int64_t at) {
        C v = static_cast<C>(x[at]);
        if (best < 0 || v > top || v != v) best = at, top = v;
      });
      out[p * count + o] = best < 0 ? T() : x[best];
      if (indices) indices[p * count + o] = best;
    });
  });
}

template <class T>
void max_last(T* out, int64_t* indices, const T* in, const PoolShape& s) {
  using C = Compute<T>;
  int64_t size = s.input_size(), count = s.output_size(), channels = s.channels;
  each_position(s, [&](int64_t b, int64_t o) {
    const T* x = in + b * size * channels;
    T* y = out + (b * count + o) * channels;
    int64_t* where = indices ? indices + (b * count + o) * channels : nullptr;
    bool first = true;
    place_of(s, o).each(s, [&](int64_t at) {
      const T* row = x + at * channels;
      if (first) {
        for (int64_t c = 0; c < channels; ++c) y[c] = row[c];
        for (int64_t c = 0; where && c < channels; ++c) where[c] = at;
      } else if (where) {
        for (int64_t c = 0; c < channels; ++c) {
          C v = static_cast<C>(row[c]), top = static_cast<C>(y[c]);
          bool more = v > top || v != v;
          y[c] = more ? row[c] : y[c];
          where[c] = more ? at : where[c];
        }
      } else {
        for (int64_t c = 0; c < channels; ++c) {
          C v = static_cast<C>(row[c]), top = static_cast<C>(y[c]);
          y[c] = v > top || v != v ? row[c] : y[c];
        }
      }
      first = false;
    });
  });
}

void max_pool(DType dtype, void* out, int64_t* indices, const void* in, const PoolShape& s) {
  visit_real(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto f = s.last ? max_last<T> : max_planes<T>;
    f(static_cast<T*>(out), indices, static_cast<const T*>(in), s);
  });
}

// Offset of channel c at position `at` of sample b.
FACULA_INLINE int64_t offset(const PoolShape& s, int64_t b, int64_t c, int64_t at, int64_t size) {
  return s.last ? (b * size + at) * s.channels + c : (b * s.channels + c) * size + at;
}

// Calls f(output offset, input offset) for each recorded index, one plane after the other.
template <class F>
FACULA_INLINE void each_index(const int64_t* indices, const PoolShape& s, F&& f) {
  int64_t size = s.input_size(), count = s.output_size();
  each_plane(s, [&](int64_t p) {
    int64_t b = p / s.channels, c = p % s.channels;
    for (int64_t o = 0; o < count; ++o) {
      int64_t from = offset(s, b, c, o, count), at = indices[from];
      if (at >= 0 && at < size) f(from, offset(s, b, c, at, size));
    }
  });
}

void max_pool_backward(DType dtype, void* dx_, const void* grad_, const int64_t* indices,
                       const PoolShape& s) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    T* dx = static_cast<T*>(dx_);
    const T* grad = static_cast<const T*>(grad_);
    std::memset(dx_, 0, s.batch * s.channels * s.input_size() * sizeof(T));
    each_index(indices, s, [&](int64_t from, int64_t to) {
      dx[to] = static_cast<T>(static_cast<C>(dx[to]) + static_cast<C>(grad[from]));
    });
  });
}

void max_pool_gather(DType dtype, void* out_, const void* in_, const int64_t* indices,
                     const PoolShape& s) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = static_cast<T*>(out_);
    const T* in = static_cast<const T*>(in_);
    std::memset(out_, 0, s.batch * s.channels * s.output_size() * sizeof(T));
    each_index(indices, s, [&](int64_t to, int64_t from) { out[to] = in[from]; });
  });
}

// Sums are of C; integers divide towards zero.
template <class T, class C>
void avg_typed(T* out, const T* in, const PoolShape& s) {
  int64_t size = s.input_size(), count = s.output_size(), channels = s.channels;
  if (!s.last) {
    each_plane(s, [&](int64_t p) {
      const T* x = in + p * size;
      each_place(s, [&](int64_t o, const Place& place) {
        C sum = 0;
        place.each(s, [&](int64_t at) { sum += static_cast<C>(x[at]); });
        out[p * count + o] = static_cast<T>(sum / static_cast<C>(place.divisor(s)));
      });
    });
    return;
  }
  each_position(s, [&](int64_t b, int64_t o) {
    constexpr int64_t kBlock = 64;
    Place place = place_of(s, o);
    C divisor = static_cast<C>(place.divisor(s));
    for (int64_t c0 = 0; c0 < channels; c0 += kBlock) {
      int64_t width = min_of(kBlock, channels - c0);
      C sum[kBlock] = {};
      place.each(s, [&](int64_t at) {
        const T* row = in + (b * size + at) * channels + c0;
        for (int64_t c = 0; c < width; ++c) sum[c] += static_cast<C>(row[c]);
      });
      T* y = out + (b * count + o) * channels + c0;
      for (int64_t c = 0; c < width; ++c) y[c] = static_cast<T>(sum[c] / divisor);
    }
  });
}

void avg_pool(DType dtype, void* out, const void* in, const PoolShape& s) {
  if (dtype == kInt64) {
    return avg_typed<int64_t, int64_t>(static_cast<int64_t*>(out), static_cast<const int64_t*>(in),
                                       s);
  }
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    avg_typed<T, Compute<T>>(static_cast<T*>(out), static_cast<const T*>(in), s);
  });
}

void avg_pool_backward(DType dtype, void* dx_, const void* grad_, const PoolShape& s) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    int64_t size = s.input_size(), count = s.output_size(), channels = s.channels;
    T* dx = static_cast<T*>(dx_);
    const T* grad = static_cast<const T*>(grad_);
    std::memset(dx_, 0, s.batch * channels * size * sizeof(T));
    if (!s.last) {
      each_plane(s, [&](int64_t p) {
        T* x = dx + p * size;
        each_place(s, [&](int64_t o, const Place& place) {
          C g = static_cast<C>(grad[p * count + o]) / static_cast<C>(place.divisor(s));
          place.each(s, [&](int64_t at) { x[at] = static_cast<T>(static_cast<C>(x[at]) + g); });
        });
      });
      return;
    }
    // Windows overlap, so a sample is one thread's; its positions are added in order.
    parallel_for(0, s.batch, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * count; i < end * count; ++i) {
        int64_t b = i / count;
        Place place = place_of(s, i % count);
        C divisor = static_cast<C>(place.divisor(s));
        const T* g = grad + i * channels;
        place.each(s, [&](int64_t at) {
          T* row = dx + (b * size + at) * channels;
          for (int64_t c = 0; c < channels; ++c) {
            row[c] = static_cast<T>(static_cast<C>(row[c]) + static_cast<C>(g[c]) / divisor);
          }
        });
      }
    });
  });
}

void max_unpool(DType dtype, void* out_, const void* in_, const int64_t* indices,
                const PoolShape& s, Fault* fault) {
  visit_real(dtype, [&](auto tag) {
    using T = Stored<typename decltype(tag)::type>;
    T* out = static_cast<T*>(out_);
    const T* in = static_cast<const T*>(in_);
    int64_t size = s.input_size(), count = s.output_size();
    for (int64_t i = 0; i < s.batch * s.channels * count; ++i) {
      if (indices[i] < 0 || indices[i] >= size) {
        return fault->set(Fault::kIndexOutOfRange, i, indices[i], size);
      }
    }
    std::memset(out_, 0, s.batch * s.channels * size * sizeof(T));
    each_index(indices, s, [&](int64_t from, int64_t to) { out[to] = in[from]; });
  });
}

}  // namespace
}  // namespace pooling

extern const PoolKernels pools_table;
const PoolKernels pools_table = {pooling::max_pool,          pooling::max_pool_backward,
                                 pooling::max_pool_gather,   pooling::avg_pool,
                                 pooling::avg_pool_backward, pooling::max_unpool};

}  // namespace facula::kernels::FACULA_ISA
