// Fourier transforms of blocks in memory: several lines side by side, or one long line that is
// split into rows and columns; lengths with a large prime factor by convolution with a chirp.
#pragma once
#include "facula/kernels/cpu/fft_passes.h"
#include "facula/kernels/scratch.h"

namespace facula::kernels::FACULA_ISA {

// Scratch holds blocks of numbers for as long as it lives; `ok` says whether there was memory.
template <class T>
class Scratch {
 public:
  FACULA_INLINE Scratch(int64_t blocks, int64_t numbers)
      : step_((numbers + kLanes<T> - 1) / kLanes<T> * kLanes<T>),
        bytes_(2 * blocks * step_ * static_cast<int64_t>(sizeof(T))),
        memory_(static_cast<T*>(scratch_memory(bytes_))) {}
  FACULA_INLINE ~Scratch() { free_scratch(memory_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  FACULA_INLINE bool ok() const { return memory_ != nullptr; }
  FACULA_INLINE Parts<T> block(int64_t i) const {
    return {memory_ + 2 * i * step_, memory_ + (2 * i + 1) * step_};
  }

 private:
  int64_t step_, bytes_;
  T* memory_;
};

// The elements of a line that a block needs room for.
static FACULA_INLINE int64_t room(const FftPlan& plan) {
  return plan.convolution ? plan.convolution->length : plan.length;
}
// Whether lines can be transformed side by side, and whether a single one can be split.
static FACULA_INLINE bool runs_in_lanes(const FftPlan& plan) {
  return plan.convolution ? plan.convolution->direct : plan.direct;
}
static FACULA_INLINE bool runs_split(const FftPlan& plan) {
  return plan.convolution ? plan.convolution->rows != nullptr : plan.rows != nullptr;
}

// multiply_by multiplies element j of each lane by pair j of a table.
template <class T>
static void multiply_by(Parts<T> x, const void* table, int64_t count, int64_t lanes) {
  const T* w = static_cast<const T*>(table);
  for (int64_t j = 0; j < count; ++j) {
    T c = w[2 * j], s = w[2 * j + 1];
    for (int64_t i = j * lanes; i < (j + 1) * lanes; ++i) {
      T re = x.re[i] * c - x.im[i] * s;
      x.im[i] = x.re[i] * s + x.im[i] * c;
      x.re[i] = re;
    }
  }
}

template <class T>
static void clear(Parts<T> x, int64_t from, int64_t to) {
  for (int64_t i = from; i < to; ++i) x.re[i] = x.im[i] = 0;
}

// convolve does Bluestein's method; `transform` transforms a block of the smooth length and returns
// where the result is.
template <class T, class F>
static Parts<T> convolve(const FftPlan& plan, Parts<T> x, int64_t lanes, F&& transform) {
  const FftPlan& smooth = *plan.convolution;
  multiply_by(x, plan.chirp, plan.length, lanes);
  clear(x, plan.length * lanes, smooth.length * lanes);
  Parts<T> r = transform(smooth, x);
  multiply_by(r, plan.filter, smooth.length, lanes);
  // The inverse transform is the transform with the parts swapped.
  r = transform(smooth, r.swapped()).swapped();
  multiply_by(r, plan.chirp, plan.length, lanes);
  return r;
}

// transform_lanes transforms kLanes lines in x, with y as scratch (both of room(plan) elements);
// the result is where it says. For plans that run in lanes.
template <class T>
static Parts<T> transform_lanes(const FftPlan& plan, Parts<T> x, Parts<T> y) {
  if (!plan.convolution) return run_passes(plan, x, y);
  return convolve(plan, x, kLanes<T>, [&](const FftPlan& smooth, Parts<T> from) {
    bool first = from.re == x.re || from.re == x.im;
    return run_passes(smooth, from, first ? y : x);
  });
}

struct Root {
  double re, im;
};

// root_at gives root k out of a plan's two tables.
static FACULA_INLINE Root root_at(const double* coarse, const double* fine, int64_t k) {
  const double* a = coarse + 2 * (k / FftPlan::kFine);
  const double* b = fine + 2 * (k % FftPlan::kFine);
  return {a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]};
}

template <class T>
static bool transform_line(const FftPlan& plan, Parts<T> x, Parts<T> y);

// transform_group transforms kLanes lines by a part of a split plan, which may itself be split.
template <class T>
static Parts<T> transform_group(const FftPlan& plan, Parts<T> x, Parts<T> y, bool* good) {
  if (plan.direct) return run_passes(plan, x, y);
  int64_t n = plan.length, lanes = kLanes<T>;
  Scratch<T> lines(2, n);
  if (!lines.ok()) {
    *good = false;
    return x;
  }
  Parts<T> line = lines.block(0);
  for (int64_t l = 0; l < lanes; ++l) {
    for (int64_t j = 0; j < n; ++j) {
      line.re[j] = x.re[j * lanes + l];
      line.im[j] = x.im[j * lanes + l];
    }
    *good &= transform_line(plan, line, lines.block(1));
    for (int64_t j = 0; j < n; ++j) {
      x.re[j * lanes + l] = line.re[j];
      x.im[j * lanes + l] = line.im[j];
    }
  }
  return x;
}

// for_groups calls f(first, count, x, y) with room for `length` elements a lane, for the lanes
// [0, total) in groups.
template <class T, class F>
static bool for_groups(int64_t total, int64_t length, F&& f) {
  constexpr int64_t kWork = 1 << 15;
  int64_t lanes = kLanes<T>, groups = (total + lanes - 1) / lanes;
  bool good = true;
  parallel_for(0, groups, max_of<int64_t>(1, kWork / (length * lanes)), [&](int64_t b, int64_t e) {
    Scratch<T> space(2, length * lanes);
    bool done = space.ok();
    for (int64_t g = b; g < e && done; ++g) {
      int64_t first = g * lanes;
      done = f(first, min_of(lanes, total - first), space.block(0), space.block(1));
    }
    if (!done) __atomic_store_n(&good, false, __ATOMIC_RELAXED);
  });
  return good;
}

// lane_roots fills w^(lane k) for k < rows and the lanes of a group.
template <class T>
static void lane_roots(const FftPlan& plan, Parts<T> to) {
  for (int64_t k = 0; k < plan.rows->length; ++k) {
    for (int64_t l = 0; l < kLanes<T>; ++l) {
      Root w = root_at(plan.coarse, plan.fine, k * l % plan.length);
      to.re[k * kLanes<T> + l] = static_cast<T>(w.re);
      to.im[k * kLanes<T> + l] = static_cast<T>(w.im);
    }
  }
}

// A long line is split with j = j1 n2 + j2 and k = k1 + n1 k2: X[k] is the sum over j2 of
// w^(j2 k1) w2^(j2 k2) times the sum over j1 of x[j] w1^(j1 k1).

// split_rows does the inner sums for a group of j2, from x into y[k1 n2 + j2].
template <class T>
static bool split_rows(const FftPlan& plan, Parts<T> x, Parts<T> y, Parts<T> roots) {
  constexpr int64_t lanes = kLanes<T>;
  int64_t n1 = plan.rows->length, n2 = plan.columns->length;
  return for_groups<T>(n2, n1, [&](int64_t first, int64_t count, Parts<T> a, Parts<T> b) {
    for (int64_t j = 0; j < n1; ++j) {
      for (int64_t l = 0; l < lanes; ++l) {
        a.re[j * lanes + l] = l < count ? x.re[j * n2 + first + l] : T(0);
        a.im[j * lanes + l] = l < count ? x.im[j * n2 + first + l] : T(0);
      }
    }
    bool good = true;
    Parts<T> r = transform_group(*plan.rows, a, b, &good);
    for (int64_t k = 0, at = 0; k < n1; ++k) {
      Root base = root_at(plan.coarse, plan.fine, at);
      at += first;
      if (at >= plan.length) at -= plan.length;
      T c = static_cast<T>(base.re), s = static_cast<T>(base.im);
      Parts<T> w = roots.at(k * lanes), v = r.at(k * lanes), to = y.at(k * n2 + first);
      for (int64_t l = 0; l < count; ++l) {
        T p = w.re[l] * c - w.im[l] * s, q = w.re[l] * s + w.im[l] * c;
        T re = v.re[l] * p - v.im[l] * q, im = v.re[l] * q + v.im[l] * p;
        to.re[l] = re;
        to.im[l] = im;
      }
    }
    return good;
  });
}

// split_columns does the outer sums for a group of k1, from y into x[k1 + n1 k2].
template <class T>
static bool split_columns(const FftPlan& plan, Parts<T> y, Parts<T> x) {
  constexpr int64_t lanes = kLanes<T>;
  int64_t n1 = plan.rows->length, n2 = plan.columns->length;
  return for_groups<T>(n1, n2, [&](int64_t first, int64_t count, Parts<T> a, Parts<T> b) {
    if (count < lanes) clear(a, 0, n2 * lanes);
    for (int64_t j = 0; j < n2; ++j) {
      for (int64_t l = 0; l < count; ++l) {
        a.re[j * lanes + l] = y.re[(first + l) * n2 + j];
        a.im[j * lanes + l] = y.im[(first + l) * n2 + j];
      }
    }
    bool good = true;
    Parts<T> r = transform_group(*plan.columns, a, b, &good);
    for (int64_t k = 0; k < n2; ++k) {
      Parts<T> v = r.at(k * lanes), to = x.at(k * n1 + first);
      for (int64_t l = 0; l < count; ++l) {
        to.re[l] = v.re[l];
        to.im[l] = v.im[l];
      }
    }
    return good;
  });
}

template <class T>
static bool transform_split(const FftPlan& plan, Parts<T> x, Parts<T> y) {
  Scratch<T> table(1, plan.rows->length * kLanes<T>);
  if (!table.ok()) return false;
  lane_roots(plan, table.block(0));
  return split_rows(plan, x, y, table.block(0)) && split_columns(plan, y, x);
}

// transform_line transforms one line in place, with y as scratch (both of room(plan) elements);
// false when there is no memory. For plans that run split.
template <class T>
static bool transform_line(const FftPlan& plan, Parts<T> x, Parts<T> y) {
  if (!plan.convolution) return transform_split(plan, x, y);
  bool good = true;
  convolve(plan, x, 1, [&](const FftPlan& smooth, Parts<T> from) {
    good = good && transform_split(smooth, from, y);
    return from;
  });
  return good;
}

// transform_any transforms one line of doubles in place by whatever the plan has: what the tables
// of other plans are computed with.
static bool transform_any(const FftPlan& plan, double* re, double* im) {
  constexpr int64_t lanes = kLanes<double>;
  int64_t n = plan.length;
  bool split = runs_split(plan);
  Scratch<double> space(2, split ? n : n * lanes);
  if (!space.ok()) return false;
  if (split) return transform_line(plan, Parts<double>{re, im}, space.block(0));
  Parts<double> x = space.block(0);
  clear(x, 0, n * lanes);
  for (int64_t j = 0; j < n; ++j) {
    x.re[j * lanes] = re[j];
    x.im[j * lanes] = im[j];
  }
  Parts<double> r = transform_lanes(plan, x, space.block(1));
  for (int64_t j = 0; j < n; ++j) {
    re[j] = r.re[j * lanes];
    im[j] = r.im[j * lanes];
  }
  return true;
}

}  // namespace facula::kernels::FACULA_ISA
