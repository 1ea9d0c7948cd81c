// Unfolding of images into columns and its adjoint, folding, for all element types.
#include <cstring>

#include "facula/base/half.h"
#include "facula/kernels/conv.h"
#include "facula/kernels/cpu/truth.h"

namespace facula::kernels::FACULA_ISA {
namespace unfolding {
namespace {

// The output positions [first, last) whose input position is inside, along dimension d.
struct Range {
  int64_t first, last;
};

inline Range inside(const ConvShape& s, int d, int64_t k) {
  int64_t offset = k * s.dilation[d] - s.padding[d];  // input = out * stride + offset
  int64_t first = offset >= 0 ? 0 : (-offset + s.stride[d] - 1) / s.stride[d];
  int64_t room = s.input[d] - offset;
  int64_t last = room <= 0 ? 0 : (room - 1) / s.stride[d] + 1;
  if (last > s.output[d]) last = s.output[d];
  if (first > last) first = last;
  return {first, last};
}

struct Item16 {
  uint64_t value[2];
};

// One row of columns: a kernel position (k0, k1, k2) of one plane.
template <class T>
void unfold_row(const T* plane, T* row, const ConvShape& s, const int64_t* k) {
  Range r0 = inside(s, 0, k[0]), r1 = inside(s, 1, k[1]), r2 = inside(s, 2, k[2]);
  int64_t width = s.output[2];
  int64_t start = r2.first * s.stride[2] + k[2] * s.dilation[2] - s.padding[2];
  for (int64_t o0 = 0; o0 < s.output[0]; ++o0) {
    bool in0 = o0 >= r0.first && o0 < r0.last;
    int64_t i0 = o0 * s.stride[0] + k[0] * s.dilation[0] - s.padding[0];
    for (int64_t o1 = 0; o1 < s.output[1]; ++o1, row += width) {
      if (!in0 || o1 < r1.first || o1 >= r1.last) {
        std::memset(static_cast<void*>(row), 0, width * sizeof(T));
        continue;
      }
      int64_t i1 = o1 * s.stride[1] + k[1] * s.dilation[1] - s.padding[1];
      const T* line = plane + (i0 * s.input[1] + i1) * s.input[2] + start;
      if (r2.first > 0) std::memset(static_cast<void*>(row), 0, r2.first * sizeof(T));
      int64_t n = r2.last - r2.first;
      T* out = row + r2.first;
      if (s.stride[2] == 1) {
        if (n > 0) std::memcpy(static_cast<void*>(out), line, n * sizeof(T));
      } else {
        for (int64_t i = 0; i < n; ++i) out[i] = line[i * s.stride[2]];
      }
      if (r2.last < width) {
        std::memset(static_cast<void*>(row + r2.last), 0, (width - r2.last) * sizeof(T));
      }
    }
  }
}

template <class T>
void unfold_typed(const void* image, void* columns, const ConvShape& s, int64_t begin,
                  int64_t end) {
  int64_t positions = s.kernel_size(), length = s.output_size();
  for (int64_t r = begin; r < end; ++r) {
    int64_t c = r / positions, k = r % positions;
    int64_t at[3] = {k / (s.kernel[1] * s.kernel[2]), k / s.kernel[2] % s.kernel[1],
                     k % s.kernel[2]};
    unfold_row(static_cast<const T*>(image) + c * s.input_size(),
               static_cast<T*>(columns) + r * length, s, at);
  }
}

// Rows [begin, end) of the columns.
void unfold(int64_t item, const void* image, void* columns, const ConvShape& s, int64_t begin,
            int64_t end) {
  switch (item) {
    case 1: return unfold_typed<uint8_t>(image, columns, s, begin, end);
    case 2: return unfold_typed<uint16_t>(image, columns, s, begin, end);
    case 4: return unfold_typed<uint32_t>(image, columns, s, begin, end);
    case 8: return unfold_typed<uint64_t>(image, columns, s, begin, end);
    default: return unfold_typed<Item16>(image, columns, s, begin, end);
  }
}

// Adds `n` items of column into a line of the image.
template <class T>
inline void add_line(T* line, const T* column, int64_t n, int64_t stride) {
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) line[i] = static_cast<T>(line[i] + column[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      line[i * stride] = static_cast<T>(line[i * stride] + column[i]);
    }
  }
}

template <class T>
void fold_row(T* plane, const T* row, const ConvShape& s, const int64_t* k) {
  Range r0 = inside(s, 0, k[0]), r1 = inside(s, 1, k[1]), r2 = inside(s, 2, k[2]);
  int64_t start = r2.first * s.stride[2] + k[2] * s.dilation[2] - s.padding[2];
  for (int64_t o0 = r0.first; o0 < r0.last; ++o0) {
    int64_t i0 = o0 * s.stride[0] + k[0] * s.dilation[0] - s.padding[0];
    for (int64_t o1 = r1.first; o1 < r1.last; ++o1) {
      int64_t i1 = o1 * s.stride[1] + k[1] * s.dilation[1] - s.padding[1];
      const T* column = row + (o0 * s.output[1] + o1) * s.output[2] + r2.first;
      add_line(plane + (i0 * s.input[1] + i1) * s.input[2] + start, column, r2.last - r2.first,
               s.stride[2]);
    }
  }
}

// A complex number, without the templates of <complex>.
template <class R>
struct Pair {
  R re, im;
  friend Pair operator+(Pair a, Pair b) { return {a.re + b.re, a.im + b.im}; }
};

template <class T>
void fold_typed(const void* columns, void* image, const ConvShape& s, int64_t begin, int64_t end) {
  int64_t positions = s.kernel_size(), length = s.output_size(), size = s.input_size();
  for (int64_t c = begin; c < end; ++c) {
    T* plane = static_cast<T*>(image) + c * size;
    std::memset(static_cast<void*>(plane), 0, size * sizeof(T));
    for (int64_t k = 0; k < positions; ++k) {
      int64_t at[3] = {k / (s.kernel[1] * s.kernel[2]), k / s.kernel[2] % s.kernel[1],
                       k % s.kernel[2]};
      fold_row(plane, static_cast<const T*>(columns) + (c * positions + k) * length, s, at);
    }
  }
}

void fold(DType dtype, const void* columns, void* image, const ConvShape& s, int64_t begin,
          int64_t end) {
  switch (dtype) {
    case kFloat32: return fold_typed<float>(columns, image, s, begin, end);
    case kFloat64: return fold_typed<double>(columns, image, s, begin, end);
    case kFloat16: return fold_typed<Half>(columns, image, s, begin, end);
    case kBFloat16: return fold_typed<BFloat16>(columns, image, s, begin, end);
    case kComplex64: return fold_typed<Pair<float>>(columns, image, s, begin, end);
    case kComplex128: return fold_typed<Pair<double>>(columns, image, s, begin, end);
    case kBool: return fold_typed<Truth>(columns, image, s, begin, end);
    case kUInt8:
    case kInt8: return fold_typed<uint8_t>(columns, image, s, begin, end);
    case kInt16:
    case kUInt16: return fold_typed<uint16_t>(columns, image, s, begin, end);
    case kInt32:
    case kUInt32: return fold_typed<uint32_t>(columns, image, s, begin, end);
    case kInt64:
    case kUInt64: return fold_typed<uint64_t>(columns, image, s, begin, end);
  }
}

}  // namespace
}  // namespace unfolding

extern const UnfoldKernels unfolds_table;
const UnfoldKernels unfolds_table = {unfolding::unfold, unfolding::fold};

}  // namespace facula::kernels::FACULA_ISA
