// Copies between tensors of one shape, with conversion, and fills.
#include "facula/kernels/copy.h"

#include "facula/kernels/cpu/convert.h"
#include "facula/kernels/cpu/walk.h"

namespace facula::kernels::FACULA_ISA {

inline constexpr int64_t kCopyGrain = 65536;  // elements worth a thread
inline constexpr int64_t kTile = 32;          // of a blocked transpose, in elements

// transpose_tile stores to[i][j] = from[j][i]: `to` is dense in j, `from` is dense in i.
template <class T>
static void transpose_tile(char* to, int64_t to_row, const char* from, int64_t from_row,
                           int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i) {
    T* o = reinterpret_cast<T*>(to + i * to_row);
    const char* f = from + i * static_cast<int64_t>(sizeof(T));
    for (int64_t j = 0; j < columns; ++j) o[j] = *reinterpret_cast<const T*>(f + j * from_row);
  }
}

// is_transposed finds a dimension in which the input is dense while the output's dense dimension
// is another one.
static int find_transposed(const Walk<2>& w, int64_t item) {
  if (w.ndim < 2 || w.stride[0][0] != item || w.stride[1][0] == item || w.size[0] < 8) return 0;
  for (int d = 1; d < w.ndim; ++d) {
    if (w.stride[1][d] == item && w.size[d] >= 8) return d;
  }
  return 0;
}

// copy_transposed walks tiles of the two dense dimensions, and the other dimensions around them.
static void copy_transposed(const Walk<2>& w, int dense, int64_t item) {
  Walk<2> outer;
  outer.base[0] = w.base[0];
  outer.base[1] = w.base[1];
  int64_t columns = w.size[0], rows = w.size[dense];
  int64_t bands = (rows + kTile - 1) / kTile;
  int64_t steps[2] = {w.stride[0][dense] * kTile, w.stride[1][dense] * kTile};
  outer.push(bands, steps);
  for (int d = 1; d < w.ndim; ++d) {
    int64_t s[2] = {w.stride[0][d], w.stride[1][d]};
    if (d != dense) outer.push(w.size[d], s);
  }
  int64_t grain = max_of<int64_t>(1, kCopyGrain / (kTile * columns));
  parallel_for(0, outer.numel(), grain, [&](int64_t b, int64_t e) {
    for (int64_t at = b; at < e; ++at) {
      char* to = w.base[0] + outer.offset(0, at);
      const char* from = w.base[1] + outer.offset(1, at);
      int64_t r = min_of(kTile, rows - at % bands * kTile);
      visit_size(item, [&](auto tag) {
        using T = typename decltype(tag)::type;
        for (int64_t j = 0; j < columns; j += kTile) {
          transpose_tile<T>(to + j * item, w.stride[0][dense], from + j * w.stride[1][0],
                            w.stride[1][0], r, min_of(kTile, columns - j));
        }
      });
    }
  });
}

static void copy_strided(const View& out, const View& in) {
  if (out.numel == 0) return;
  int64_t to_size = item_size(out.dtype), from_size = item_size(in.dtype);
  if (out.contiguous && in.contiguous) {
    parallel_for(0, out.numel, kCopyGrain, [&](int64_t b, int64_t e) {
      convert_dense(out.as<char>() + b * to_size, out.dtype, in.as<char>() + b * from_size,
                    in.dtype, e - b);
    });
    return;
  }
  Walk<2> w = walk_of(out, in);
  if (out.dtype == in.dtype) {
    if (int d = find_transposed(w, to_size)) return copy_transposed(w, d, to_size);
  }
  int64_t ts = w.ndim ? w.stride[0][0] : to_size, fs = w.ndim ? w.stride[1][0] : from_size;
  parallel_for(0, out.numel, kCopyGrain / 2, [&](int64_t b, int64_t e) {
    w.run(b, e, [&](char** p, int64_t n) {
      convert_strided(p[0], out.dtype, ts, p[1], in.dtype, fs, n);
    });
  });
}

static void fill(const View& out, const Scalar& value) {
  if (out.numel == 0) return;
  alignas(16) char item[16];
  visit_all(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T v = scalar_as<T>(value);
    __builtin_memcpy(item, &v, sizeof(T));
  });
  int64_t size = item_size(out.dtype);
  Walk<1> w = walk_of(out);
  int64_t stride = w.ndim ? w.stride[0][0] : size;
  parallel_for(0, out.numel, kCopyGrain, [&](int64_t b, int64_t e) {
    w.run(b, e, [&](char** p, int64_t n) { move_strided(p[0], stride, item, 0, size, n); });
  });
}

extern const CopyKernels copy_table;
const CopyKernels copy_table{
    .copy_strided = copy_strided, .fill = fill, .convert = convert_strided};

}  // namespace facula::kernels::FACULA_ISA
