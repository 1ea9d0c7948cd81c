// Writes of whole slices at positions along one dimension: index_add and its kin, index_fill.
#include "facula/kernels/cpu/convert.h"
#include "facula/kernels/cpu/scatter_apply.h"

namespace facula::kernels::FACULA_ISA {

// Elements of a slice that a thread takes at least, so that it reads whole stretches of memory.
inline constexpr int64_t kIndexColumns = 256;

// add_scaled adds alpha * src.
static void add_scaled(const Walk<2>& w, int64_t length, const char* positions, int64_t step,
                       int64_t d0, int64_t d1, DType type, const Scalar& alpha) {
  int64_t s0 = inner_stride(w, 0), s1 = inner_stride(w, 1);
  visit_all(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = std::conditional_t<std::is_integral_v<T>, uint64_t, Compute<T>>;
    C factor = scalar_as<C>(alpha);
    parallel_for(0, w.numel(), max_of<int64_t>(kIndexColumns, kIndexGrain / length),
                 [&](int64_t b, int64_t e) {
                   w.run(b, e, [&](char** p, int64_t n) {
                     for (int64_t j = 0; j < length; ++j) {
                       char* to = p[1] + position_at(positions + j * step) * d1;
                       for (int64_t k = 0; k < n; ++k) {
                         Stored<T>* t = reinterpret_cast<Stored<T>*>(to + k * s1);
                         const char* from = p[0] + j * d0 + k * s0;
                         C v = static_cast<C>(*reinterpret_cast<const Stored<T>*>(from));
                         *t = static_cast<T>(static_cast<C>(*t) + factor * v);
                       }
                     }
                   });
                 });
  });
}

void scatter_index_combine(const View& self, int64_t dim, const View& index, const View& src,
                           const Scalar& alpha, Combine how, Fault* fault) {
  if (!positions_fit(index, 0, length_of(self, dim), fault) || src.numel == 0) return;
  Walk<2> w = walk_along(dim, src, self);
  int64_t s0 = inner_stride(w, 0), s1 = inner_stride(w, 1), step = byte_stride(index, 0);
  int64_t d0 = byte_stride(src, dim), d1 = byte_stride(self, dim);
  int64_t length = index.numel, rest = src.numel / length;
  const char* positions = static_cast<const char*>(index.data);
  if (how == Combine::kAdd && !(alpha.re == 1 && alpha.im == 0)) {
    return add_scaled(w, length, positions, step, d0, d1, self.dtype, alpha);
  }
  visit_write(self.dtype, how, [&](auto write) {
    using T = typename decltype(write)::T;
    bool dense = how <= Combine::kAdd && s0 == sizeof(T) && s1 == sizeof(T);
    parallel_for(0, rest, max_of<int64_t>(kIndexColumns, kIndexGrain / length),
                 [&](int64_t b, int64_t e) {
                   w.run(b, e, [&](char** p, int64_t n) {
                     for (int64_t j = 0; j < length; ++j) {
                       const char* from = p[0] + j * d0;
                       char* to = p[1] + position_at(positions + j * step) * d1;
                       if (dense) {
                         constexpr int64_t kSize = sizeof(T);
                         for (int64_t k = 0; k < n; ++k) write(to + k * kSize, from + k * kSize);
                       } else {
                         for (int64_t k = 0; k < n; ++k) write(to + k * s1, from + k * s0);
                       }
                     }
                   });
                 });
  });
}

void scatter_index_fill(const View& self, int64_t dim, const View& index, const Scalar& value,
                        Fault* fault) {
  int64_t length = length_of(self, dim);
  if (!positions_fit(index, -length, length, fault) || index.numel == 0 || self.numel == 0) return;
  Walk<1> w = walk_along(dim, self);
  int64_t s0 = inner_stride(w, 0), d0 = byte_stride(self, dim), step = byte_stride(index, 0);
  const char* positions = static_cast<const char*>(index.data);
  alignas(16) char item[16];
  scalar_item(item, self.dtype, value);
  int64_t size = item_size(self.dtype);
  for (int64_t j = 0; j < index.numel; ++j) {
    int64_t at = position_at(positions + j * step);
    int64_t offset = (at < 0 ? at + length : at) * d0;
    w.run(0, self.numel / length,
          [&](char** p, int64_t n) { move_strided(p[0] + offset, s0, item, 0, size, n); });
  }
}

}  // namespace facula::kernels::FACULA_ISA
