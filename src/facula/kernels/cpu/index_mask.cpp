// Elements chosen by masks and diagonals: masked_select, nonzero, repeat_index, tril, triu.
#include "facula/kernels/cpu/convert.h"
#include "facula/kernels/cpu/index_tables.h"
#include "facula/kernels/cpu/index_walk.h"

namespace facula::kernels::FACULA_ISA {

void index_masked_select(const View& out, const View& in, const View& mask) {
  Walk<2> w = logical_walk(in, mask);
  int64_t si = inner_stride(w, 0), sm = inner_stride(w, 1);
  visit_size(item_size(in.dtype), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = out.as<T>();
    T* end = to + out.numel;
    w.run(0, in.numel, [&](char** p, int64_t n) {
      for (int64_t i = 0; i < n && to < end; ++i) {
        *to = *reinterpret_cast<const T*>(p[0] + i * si);  // without a branch on the mask
        to += p[1][i * sm] != 0;
      }
    });
  });
}

void index_nonzero(const View& out, const View& in) {
  alignas(64) uint8_t flags[kConvertBlock];
  int64_t position[kMaxDims] = {};
  int64_t row = 0, item = item_size(in.dtype);
  int64_t rs = out.strides[0] * 8, cs = out.strides[1] * 8;
  char* to = static_cast<char*>(out.data);
  Walk<1> w;  // unmerged, so that positions are those of the view
  w.base[0] = static_cast<char*>(in.data);
  for (int d = in.ndim - 1; d >= 0; --d) {
    int64_t s = in.strides[d] * item;
    w.push(in.sizes[d], &s);
  }
  int64_t step = inner_stride(w, 0);
  w.run(0, in.numel, [&](char** p, int64_t n) {
    for (int64_t at = 0; at < n; at += kConvertBlock) {
      int64_t m = min_of(kConvertBlock, n - at);
      convert_strided(flags, kBool, 1, p[0] + at * step, in.dtype, n == 1 ? item : step, m);
      for (int64_t i = 0; i < m; ++i) {
        if (!flags[i] || row >= out.sizes[0]) continue;
        if (in.ndim) position[in.ndim - 1] = at + i;
        for (int d = 0; d < in.ndim; ++d) {
          *reinterpret_cast<int64_t*>(to + row * rs + d * cs) = position[d];
        }
        ++row;
      }
    }
    for (int d = in.ndim - 2; d >= 0; --d) {
      if (++position[d] < in.sizes[d]) break;
      position[d] = 0;
    }
  });
}

void index_repeat(const View& out, const View& repeats) {
  int64_t* to = out.as<int64_t>();
  const char* base = static_cast<const char*>(repeats.data);
  int64_t step = byte_stride(repeats, 0);
  for (int64_t i = 0; i < repeats.numel; ++i) {
    int64_t n = *reinterpret_cast<const int64_t*>(base + i * step);
    for (int64_t k = 0; k < n; ++k) *to++ = i;
  }
}

// keep_triangle copies columns [first, last) of each row and clears the others.
static void keep_triangle(const View& out, const View& in, int64_t k, bool upper) {
  if (out.numel == 0) return;
  int nd = in.ndim;
  int64_t rows = in.sizes[nd - 2], columns = in.sizes[nd - 1], item = item_size(in.dtype);
  Walk<2> w;
  w.base[0] = static_cast<char*>(out.data);
  w.base[1] = static_cast<char*>(in.data);
  for (int d = nd - 2; d >= 0; --d) {
    int64_t s[2] = {out.strides[d] * item, in.strides[d] * item};
    w.push(in.sizes[d], s);
  }
  int64_t so = out.strides[nd - 1] * item, si = in.strides[nd - 1] * item;
  alignas(16) static constexpr char kZero[16] = {};
  auto clear = [&](char* to, int64_t n) {
    if (n > 0) move_strided(to, so, kZero, 0, item, n);
  };
  int64_t grain = max_of<int64_t>(1, kIndexGrain / columns);
  parallel_for(0, out.numel / columns, grain, [&](int64_t b, int64_t e) {
    for (int64_t t = b; t < e; ++t) {
      char* to = w.base[0] + w.offset(0, t);
      const char* from = w.base[1] + w.offset(1, t);
      int64_t cut = t % rows + k + (upper ? 0 : 1);
      cut = cut < 0 ? 0 : min_of(cut, columns);
      int64_t first = upper ? cut : 0, last = upper ? columns : cut;
      clear(to, first);
      if (last > first)
        move_strided(to + first * so, so, from + first * si, si, item, last - first);
      clear(to + last * so, columns - last);
    }
  });
}

void index_tril(const View& out, const View& in, int64_t k) { keep_triangle(out, in, k, false); }
void index_triu(const View& out, const View& in, int64_t k) { keep_triangle(out, in, k, true); }

}  // namespace facula::kernels::FACULA_ISA
