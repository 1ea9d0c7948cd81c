// The Fourier family: discrete Fourier transforms of the lines along one dimension. A transform has
// a length of its own: shorter lines are read as if zeros followed, longer ones are cut, and an
// output keeps as many elements as it has room for (further ones are zero). So each kernel's
// transpose is a kernel again. Sums are multiplied by `scale`; scratch memory that cannot be had is
// reported as Fault::kNoMemory.
#pragma once
#include "facula/base/export.h"
#include "facula/kernels/view.h"

namespace facula::kernels {

// FftJob says what is computed along a dimension: with w = exp(-2 pi i / length), or its conjugate
// when not `forward`.
struct FftJob {
  int64_t dim;
  int64_t length;
  bool forward;
  double scale;
  // Of real transforms: whether the elements that stand for two (neither 0 nor length / 2) count
  // twice when read, or are doubled when written.
  bool doubled;
};

struct FftKernels {
  // out[k] = sum_j in[j] w^(jk). The output is complex, the input complex or real, of one
  // precision.
  void (*complex)(const View& out, const View& in, const FftJob& job, Fault* fault);
  // The first half, k <= length / 2, of the transform of a real line.
  void (*real)(const View& out, const View& in, const FftJob& job, Fault* fault);
  // out[j] = real part of sum_k c[k] in[k] w^(jk) over k <= length / 2, with c = 2 (doubled) or 1
  // where k stands for two. The output is real.
  void (*hermitian)(const View& out, const View& in, const FftJob& job, Fault* fault);
};
extern FACULA_API const FftKernels* transforms;

}  // namespace facula::kernels
