// Passes of the mixed-radix Fourier transform (Stockham's autosort form) over several lines side by
// side: element j of lane l of a block stands at j * lanes + l, real and imaginary parts apart.
#pragma once
#include "facula/kernels/cpu/isa.h"
#include "facula/kernels/fft_plan.h"

namespace facula::kernels::FACULA_ISA {

// Lines that are transformed side by side: a cache line of numbers, whatever the instruction set.
template <class T>
inline constexpr int64_t kLanes = 64 / static_cast<int64_t>(sizeof(T));

// Parts is a block: the real and the imaginary parts.
template <class T>
struct Parts {
  T* re;
  T* im;
  FACULA_INLINE Parts at(int64_t offset) const { return {re + offset, im + offset}; }
  FACULA_INLINE Parts swapped() const { return {im, re}; }
};

// Pack is a vector of complex numbers.
template <class T>
struct Pack {
  Vec<T> re, im;
  friend FACULA_INLINE Pack operator+(Pack a, Pack b) { return {a.re + b.re, a.im + b.im}; }
  friend FACULA_INLINE Pack operator-(Pack a, Pack b) { return {a.re - b.re, a.im - b.im}; }
  // times multiplies by the number c + i s.
  FACULA_INLINE Pack times(T c, T s) const { return {re * c - im * s, re * s + im * c}; }
  // turned is the product with -i.
  FACULA_INLINE Pack turned() const { return {im, -re}; }
};

template <class T>
FACULA_INLINE Pack<T> load_pack(Parts<T> p) {
  return {load_vec(p.re), load_vec(p.im)};
}
template <class T>
FACULA_INLINE void store_pack(Parts<T> p, Pack<T> v) {
  __builtin_memcpy(p.re, &v.re, sizeof v.re);
  __builtin_memcpy(p.im, &v.im, sizeof v.im);
}

// pass2 and pass4 do one pass of radix 2 and 4; `stride` is the distance of neighbours.
template <class T>
static void pass2(const FftPass& pass, int64_t stride, Parts<T> from, Parts<T> to) {
  const T* w = static_cast<const T*>(pass.twiddles);
  for (int64_t p = 0; p < pass.span; ++p, w += 2) {
    Parts<T> x = from.at(stride * p), y = to.at(stride * 2 * p);
    for (int64_t q = 0; q < stride; q += kVectorBytes / static_cast<int64_t>(sizeof(T))) {
      Pack<T> a = load_pack(x.at(q)), b = load_pack(x.at(q + stride * pass.span));
      store_pack(y.at(q), a + b);
      store_pack(y.at(q + stride), (a - b).times(w[0], w[1]));
    }
  }
}

template <class T>
static void pass4(const FftPass& pass, int64_t stride, Parts<T> from, Parts<T> to) {
  const T* w = static_cast<const T*>(pass.twiddles);
  int64_t jump = stride * pass.span;
  for (int64_t p = 0; p < pass.span; ++p, w += 6) {
    Parts<T> x = from.at(stride * p), y = to.at(stride * 4 * p);
    for (int64_t q = 0; q < stride; q += kVectorBytes / static_cast<int64_t>(sizeof(T))) {
      Pack<T> a = load_pack(x.at(q)), b = load_pack(x.at(q + jump));
      Pack<T> c = load_pack(x.at(q + 2 * jump)), d = load_pack(x.at(q + 3 * jump));
      Pack<T> even = a + c, odd = b + d, half = a - c, turn = (b - d).turned();
      store_pack(y.at(q), even + odd);
      store_pack(y.at(q + stride), (half + turn).times(w[0], w[1]));
      store_pack(y.at(q + 2 * stride), (even - odd).times(w[2], w[3]));
      store_pack(y.at(q + 3 * stride), (half - turn).times(w[4], w[5]));
    }
  }
}

// pass_odd does one pass of an odd radix: R, or the plan's when R is 0. Elements that mirror each
// other are summed first, which halves the multiplications.
template <int R, class T>
static void pass_odd(const FftPass& pass, int64_t stride, Parts<T> from, Parts<T> to) {
  const int64_t radix = R ? R : pass.radix, half = radix / 2;
  constexpr int64_t kMost = (R ? R : kLargestFactor) / 2;
  const T* w = static_cast<const T*>(pass.twiddles);
  const T* roots = static_cast<const T*>(pass.roots);
  int64_t jump = stride * pass.span;
  for (int64_t p = 0; p < pass.span; ++p, w += 2 * (radix - 1)) {
    Parts<T> x = from.at(stride * p), y = to.at(stride * radix * p);
    for (int64_t q = 0; q < stride; q += kVectorBytes / static_cast<int64_t>(sizeof(T))) {
      Pack<T> first = load_pack(x.at(q)), total = first, sum[kMost], difference[kMost];
      for (int64_t j = 0; j < half; ++j) {
        Pack<T> a = load_pack(x.at(q + (j + 1) * jump));
        Pack<T> b = load_pack(x.at(q + (radix - 1 - j) * jump));
        sum[j] = a + b;
        difference[j] = (a - b).turned();
        total = total + sum[j];
      }
      store_pack(y.at(q), total);
      for (int64_t k = 1; k <= half; ++k) {
        Pack<T> c = first, s = {};
        for (int64_t j = 1, at = k; j <= half; ++j) {
          c = {c.re + sum[j - 1].re * roots[2 * at], c.im + sum[j - 1].im * roots[2 * at]};
          s = {s.re + difference[j - 1].re * roots[2 * at + 1],
               s.im + difference[j - 1].im * roots[2 * at + 1]};
          at = at + k < radix ? at + k : at + k - radix;
        }
        const T* wk = w + 2 * (k - 1);
        const T* wm = w + 2 * (radix - 1 - k);
        store_pack(y.at(q + k * stride), (c + s).times(wk[0], wk[1]));
        store_pack(y.at(q + (radix - k) * stride), (c - s).times(wm[0], wm[1]));
      }
    }
  }
}

// run_passes transforms `kLanes` lines of a plan with passes; the result is in one of the two
// blocks, which is returned.
template <class T>
static Parts<T> run_passes(const FftPlan& plan, Parts<T> x, Parts<T> y) {
  int64_t stride = kLanes<T>;
  for (int i = 0; i < plan.passes; ++i) {
    const FftPass& pass = plan.pass[i];
    switch (pass.radix) {
      case 2: pass2(pass, stride, x, y); break;
      case 3: pass_odd<3>(pass, stride, x, y); break;
      case 4: pass4(pass, stride, x, y); break;
      case 5: pass_odd<5>(pass, stride, x, y); break;
      case 7: pass_odd<7>(pass, stride, x, y); break;
      case 11: pass_odd<11>(pass, stride, x, y); break;
      case 13: pass_odd<13>(pass, stride, x, y); break;
      default: pass_odd<0>(pass, stride, x, y);
    }
    stride *= pass.radix;
    Parts<T> next = x;
    x = y;
    y = next;
  }
  return x;
}

}  // namespace facula::kernels::FACULA_ISA
