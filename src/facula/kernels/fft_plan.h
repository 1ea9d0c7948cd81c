// FftPlan: what a transform of one length needs and does not depend on the data: its factors, roots
// of unity, the split of long transforms, and the chirp of lengths with a large prime factor.
// Plans are made once and kept for a while; they are shared by threads and never change.
#pragma once
#include <cstdint>

#include "facula/base/export.h"

namespace facula::kernels {

// The largest prime factor that passes compute directly; lengths with larger ones go by
// convolution with a chirp (L. I. Bluestein, 1970).
inline constexpr int64_t kLargestFactor = 61;
// The longest transform that is computed for several lines side by side; longer ones are split.
inline constexpr int64_t kLongestDirect = 4096;

// FftPass is one pass of Stockham's autosort method: radix-point transforms of elements `span`
// apart, `span` times, times roots of unity.
struct FftPass {
  int64_t radix;
  int64_t span;  // length of the transform at this pass divided by the radix
  const void*
      twiddles;       // [span][radix - 1] pairs (re, im): w^(p k), w the root of order radix * span
  const void* roots;  // [radix] pairs (cos, sin) of 2 pi j / radix, for odd radices
};

// FftPlan is a plan of one length for float or double; pairs are (re, im) of that type.
struct FftPlan {
  int64_t length = 0;
  bool single = false;
  bool direct = false;  // whether the passes are there
  int passes = 0;
  FftPass pass[48];

  // Of lengths with a large prime factor: a convolution of a smooth length.
  const FftPlan* convolution = nullptr;
  const void* chirp = nullptr;  // [length] pairs exp(-pi i j^2 / length)
  const void* filter =
      nullptr;  // [convolution->length] pairs: the transformed conjugate chirp / length

  // Of long lengths: rows x columns, transformed apart, and roots w^j of order length.
  const FftPlan* rows = nullptr;
  const FftPlan* columns = nullptr;
  const double* coarse = nullptr;  // pairs w^(j * kFine)
  const double* fine = nullptr;    // pairs w^j, j < kFine
  static constexpr int64_t kFine = 256;

  // The same of the roots exp(-2 pi i k / (2 length)), k <= length: for real lines of twice the
  // length.
  const double* half_coarse = nullptr;
  const double* half_fine = nullptr;
};

// Transforms one line of split parts in place, in double precision.
using FftLineFn = bool (*)(const FftPlan& plan, double* re, double* im);

// fft_plan gives the plan of a length, which stays valid until release_fft_plan; null when there is
// no memory. `line` computes what a plan of Bluestein's method needs.
FACULA_API const FftPlan* fft_plan(int64_t length, bool single, FftLineFn line);
FACULA_API void release_fft_plan(const FftPlan* plan);

}  // namespace facula::kernels
