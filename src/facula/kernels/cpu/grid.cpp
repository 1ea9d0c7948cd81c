// grid_sample: every position of the grid becomes a few weighted taps along each dimension, with
// the derivative of each weight by the grid's coordinate; values are sums of products of the taps.
#include "facula/kernels/cpu/grid.h"

namespace facula::kernels::FACULA_ISA {
namespace {

constexpr int kMostTaps = 4;

// GridTaps are the taps along one dimension; an index of -1 is outside and counts as zero.
template <class T>
struct GridTaps {
  int count = 1;
  int64_t index[kMostTaps] = {0};
  T weight[kMostTaps] = {1};
  T slope[kMostTaps] = {0};  // d weight / d coordinate of the grid
};

// A coordinate in pixels and its derivative by the coordinate of the grid.
template <class T>
struct PixelPlace {
  T at, slope;
};

template <class T>
FACULA_INLINE PixelPlace<T> unnormalise(T x, int64_t size, bool align_corners, bool pixels) {
  if (pixels) return {x, static_cast<T>(align_corners ? size - 1 : size) / 2};
  if (align_corners) return {(x + 1) / 2 * static_cast<T>(size - 1), static_cast<T>(size - 1) / 2};
  return {((x + 1) * static_cast<T>(size) - 1) / 2, static_cast<T>(size) / 2};
}

// Border padding: outside positions move to the border, where they do not react.
template <class T>
FACULA_INLINE PixelPlace<T> clip_place(PixelPlace<T> p, int64_t size) {
  T top = static_cast<T>(size - 1);
  if (!(p.at > 0)) return {0, 0};
  if (p.at >= top) return {top, 0};
  return p;
}

// Reflection at the borders `low / 2` and `high / 2`.
template <class T>
FACULA_INLINE PixelPlace<T> reflect_place(PixelPlace<T> p, int64_t low, int64_t high) {
  if (low == high) return {0, 0};
  T least = static_cast<T>(low) / 2, span = static_cast<T>(high - low) / 2;
  T x = p.at - least, sign = 1;
  if (x < 0) x = -x, sign = -1;
  T flips = __builtin_floor(x / span), extra = x - flips * span;
  bool even = static_cast<int64_t>(flips) % 2 == 0;
  return {even ? extra + least : span - extra + least, even ? p.slope * sign : -p.slope * sign};
}

template <class T>
FACULA_INLINE PixelPlace<T> pad_place(PixelPlace<T> p, int64_t size, const GridShape& s) {
  if (s.padding == 1) return clip_place(p, size);
  if (s.padding == 2) {
    p = s.align_corners ? reflect_place(p, 0, 2 * (size - 1)) : reflect_place(p, -1, 2 * size - 1);
    return clip_place(p, size);
  }
  return p;
}

// A pixel index as an integer; positions far outside (or NaN) become -100.
template <class T>
FACULA_INLINE int64_t pixel_index(T x) {
  return x > -1e9 && x < 1e9 ? static_cast<int64_t>(x) : -100;
}

FACULA_INLINE int64_t inside_or(int64_t i, int64_t size) { return i >= 0 && i < size ? i : -1; }

// The four weights of cubic convolution with a = -0.75, and their derivatives, at fraction t.
template <class T>
FACULA_INLINE void cubic_weights(T t, T* w, T* d) {
  const T a = static_cast<T>(-0.75);
  T x = t + 1, y = 2 - t, u = 1 - t;
  w[0] = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
  w[2] = ((a + 2) * u - (a + 3)) * u * u + 1;
  w[3] = ((a * y - 5 * a) * y + 8 * a) * y - 4 * a;
  d[0] = (3 * a * x - 10 * a) * x + 8 * a;
  d[1] = (3 * (a + 2) * t - 2 * (a + 3)) * t;
  d[2] = -(3 * (a + 2) * u - 2 * (a + 3)) * u;
  d[3] = -((3 * a * y - 10 * a) * y + 8 * a);
}

template <class T>
FACULA_INLINE GridTaps<T> grid_taps(T x, int64_t size, const GridShape& s) {
  GridTaps<T> t;
  PixelPlace<T> p = unnormalise(x, size, s.align_corners, s.pixels);
  if (s.mode == 2) {
    // The neighbours of a cubic are padded one by one.
    T base = __builtin_floor(p.at);
    T w[4], d[4];
    cubic_weights(p.at - base, w, d);
    t.count = 4;
    for (int i = 0; i < 4; ++i) {
      T at = pad_place<T>({base - 1 + static_cast<T>(i), 0}, size, s).at;
      t.index[i] = inside_or(pixel_index(at), size);
      t.weight[i] = w[i];
      t.slope[i] = d[i] * p.slope;
    }
    return t;
  }
  p = pad_place(p, size, s);
  if (s.mode == 1) {
    t.index[0] = inside_or(pixel_index(__builtin_nearbyint(p.at)), size);
    return t;
  }
  T base = __builtin_floor(p.at), f = p.at - base;
  int64_t i = pixel_index(base);
  t.count = 2;
  t.index[0] = inside_or(i, size), t.weight[0] = 1 - f, t.slope[0] = -p.slope;
  t.index[1] = inside_or(i + 1, size), t.weight[1] = f, t.slope[1] = p.slope;
  return t;
}

// The taps of one position of the grid, outermost dimension first.
template <class T>
struct GridPlace {
  GridTaps<T> tap[3];

  GridPlace(const T* at, const GridShape& s) {
    for (int d = 0; d < 3; ++d) {
      int coordinate = 2 - d;  // x comes first in the grid
      if (coordinate < s.spatial) tap[d] = grid_taps(at[coordinate], s.in[d], s);
    }
  }
  // Coordinates that are not finite have weights of NaN, which come out whatever lies there: taps
  // outside then count too, as those of the first element.
  FACULA_INLINE void keep_nan() {
    T sum = tap[0].weight[0] + tap[1].weight[0] + tap[2].weight[0];
    if (sum == sum) return;
    for (GridTaps<T>& t : tap) {
      for (int i = 0; i < t.count; ++i) t.index[i] = max_of<int64_t>(t.index[i], 0);
    }
  }
  // Calls f(offset in the plane, i, j, k) for each combination of taps inside the image.
  template <class F>
  FACULA_INLINE void each(const GridShape& s, F&& f) const {
    for (int i = 0; i < tap[0].count; ++i) {
      if (tap[0].index[i] < 0) continue;
      for (int j = 0; j < tap[1].count; ++j) {
        if (tap[1].index[j] < 0) continue;
        int64_t row = (tap[0].index[i] * s.in[1] + tap[1].index[j]) * s.in[2];
        for (int k = 0; k < tap[2].count; ++k) {
          if (tap[2].index[k] >= 0) f(row + tap[2].index[k], i, j, k);
        }
      }
    }
  }
};

template <class T>
void grid_sample_typed(T* out, const T* in, const T* grid, const GridShape& s) {
  int64_t plane = s.in[0] * s.in[1] * s.in[2];
  int64_t grain = max_of<int64_t>(1, 4096 / max_of<int64_t>(1, s.channels));
  parallel_for(0, s.batch * s.out, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t n = i / s.out, o = i % s.out;
      GridPlace<T> place(grid + i * s.spatial, s);
      place.keep_nan();
      for (int64_t c = 0; c < s.channels; ++c) {
        const T* x = in + (n * s.channels + c) * plane;
        T sum = 0;
        place.each(s, [&](int64_t at, int a, int b, int d) {
          sum += place.tap[0].weight[a] * place.tap[1].weight[b] * place.tap[2].weight[d] * x[at];
        });
        out[(n * s.channels + c) * s.out + o] = sum;
      }
    }
  });
}

template <class T>
void grid_backward_typed(T* dx, T* dgrid, const T* grad, const T* in, const T* grid,
                         const GridShape& s) {
  int64_t plane = s.in[0] * s.in[1] * s.in[2];
  if (dx) std::memset(static_cast<void*>(dx), 0, s.batch * s.channels * plane * sizeof(T));
  // A sample is one thread's, so that sums into the image have one order.
  parallel_for(0, s.batch, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * s.out; i < end * s.out; ++i) {
      int64_t n = i / s.out, o = i % s.out;
      GridPlace<T> place(grid + i * s.spatial, s);
      T slopes[3] = {0, 0, 0};
      for (int64_t c = 0; c < s.channels; ++c) {
        const T* x = in + (n * s.channels + c) * plane;
        T g = grad[(n * s.channels + c) * s.out + o];
        place.each(s, [&](int64_t at, int a, int b, int d) {
          T u = place.tap[0].weight[a], v = place.tap[1].weight[b], w = place.tap[2].weight[d];
          if (dx) dx[(n * s.channels + c) * plane + at] += g * u * v * w;
          slopes[0] += g * x[at] * place.tap[0].slope[a] * v * w;
          slopes[1] += g * x[at] * u * place.tap[1].slope[b] * w;
          slopes[2] += g * x[at] * u * v * place.tap[2].slope[d];
        });
      }
      for (int64_t k = 0; dgrid && k < s.spatial; ++k) dgrid[i * s.spatial + k] = slopes[2 - k];
    }
  });
}

}  // namespace

void grid_sample(DType dtype, void* out, const void* in, const void* grid, const GridShape& s) {
  if (dtype == kFloat32) {
    return grid_sample_typed(static_cast<float*>(out), static_cast<const float*>(in),
                             static_cast<const float*>(grid), s);
  }
  grid_sample_typed(static_cast<double*>(out), static_cast<const double*>(in),
                    static_cast<const double*>(grid), s);
}

void grid_sample_backward(DType dtype, void* dx, void* dgrid, const void* grad, const void* in,
                          const void* grid, const GridShape& s) {
  if (dtype == kFloat32) {
    return grid_backward_typed(static_cast<float*>(dx), static_cast<float*>(dgrid),
                               static_cast<const float*>(grad), static_cast<const float*>(in),
                               static_cast<const float*>(grid), s);
  }
  grid_backward_typed(static_cast<double*>(dx), static_cast<double*>(dgrid),
                      static_cast<const double*>(grad), static_cast<const double*>(in),
                      static_cast<const double*>(grid), s);
}

}  // namespace facula::kernels::FACULA_ISA
