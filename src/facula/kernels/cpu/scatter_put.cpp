// index_put, put, masked_scatter and the gradient of embedding.
#include "facula/kernels/cpu/scatter_apply.h"

namespace facula::kernels::FACULA_ISA {

void scatter_index_put(const View& self, const View* indices, int count, const View& values,
                       bool accumulate, Fault* fault) {
  if (!all_fit(self, indices, count, fault) || values.numel == 0) return;
  Positions places(self, indices, count, values);
  Walk<2> rest = rest_walk(values, indices[0].ndim, self, count);
  int64_t s0 = inner_stride(rest, 0), s1 = inner_stride(rest, 1);
  int64_t total = places.numel(), row = rest.numel();
  Combine how = accumulate ? Combine::kAdd : Combine::kAssign;
  visit_write(self.dtype, how, [&](auto write) {
    parallel_for(0, row, max_of<int64_t>(16, kIndexGrain / total), [&](int64_t b, int64_t e) {
      places.run(0, total, [&](int64_t to, int64_t from) {
        rest.run(b, e, [&](char** p, int64_t n) {
          for (int64_t k = 0; k < n; ++k) write(p[1] + to + k * s1, p[0] + from + k * s0);
        });
      });
    });
  });
}

void scatter_put(const View& self, const View& index, const View& src, bool accumulate,
                 Fault* fault) {
  if (!positions_fit(index, -self.numel, self.numel, fault)) return;
  Walk<2> w = logical_walk(index, src);
  Walk<1> target = logical_walk(self);
  int64_t s0 = inner_stride(w, 0), s1 = inner_stride(w, 1);
  visit_write(self.dtype, accumulate ? Combine::kAdd : Combine::kAssign, [&](auto write) {
    w.run(0, index.numel, [&](char** p, int64_t n) {
      for (int64_t k = 0; k < n; ++k) {
        int64_t at = position_at(p[0] + k * s0);
        at += at < 0 ? self.numel : 0;
        write(target.base[0] + target.offset(0, at), p[1] + k * s1);
      }
    });
  });
}

void scatter_masked(const View& self, const View& mask, const View& source, Fault* fault) {
  Walk<2> w = logical_walk(self, mask);
  int64_t s0 = inner_stride(w, 0), s1 = inner_stride(w, 1), needed = 0;
  w.run(0, self.numel, [&](char** p, int64_t n) {
    for (int64_t k = 0; k < n; ++k) needed += p[1][k * s1] != 0;
  });
  if (needed > source.numel) return fault->set(Fault::kBad, 0, source.numel, needed);
  visit_size(item_size(self.dtype), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = source.as<T>();
    w.run(0, self.numel, [&](char** p, int64_t n) {
      for (int64_t k = 0; k < n; ++k) {
        if (p[1][k * s1]) *reinterpret_cast<T*>(p[0] + k * s0) = *from++;
      }
    });
  });
}

void scatter_embedding_backward(const View& grad_weight, const View& grad, const View& index,
                                int64_t padding, const View& counts) {
  int64_t rows = index.numel, width = grad_weight.sizes[1];
  const int64_t* positions = index.as<int64_t>();
  int64_t* often = counts.as<int64_t>();
  if (often) {
    for (int64_t i = 0; i < counts.numel; ++i) often[i] = 0;
    for (int64_t i = 0; i < rows; ++i) ++often[positions[i]];
  }
  int64_t item = item_size(grad.dtype), gs = grad.strides[0] * item, gc = grad.strides[1] * item;
  int64_t ws = grad_weight.strides[0] * item, wc = grad_weight.strides[1] * item;
  visit_inexact(grad.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    parallel_for(0, width, max_of<int64_t>(16, kIndexGrain / max_of<int64_t>(1, rows)),
                 [&](int64_t b, int64_t e) {
                   for (int64_t i = 0; i < rows; ++i) {
                     int64_t at = positions[i];
                     if (at == padding) continue;
                     const char* from = grad.as<char>() + i * gs;
                     char* to = grad_weight.as<char>() + at * ws;
                     C scale = C(1);
                     if (often) scale = scale / C(static_cast<double>(often[at]));
                     for (int64_t k = b; k < e; ++k) {
                       T* t = reinterpret_cast<T*>(to + k * wc);
                       C g = static_cast<C>(*reinterpret_cast<const T*>(from + k * gc));
                       *t = T(static_cast<C>(*t) + scale * g);
                     }
                   }
                 });
  });
}

}  // namespace facula::kernels::FACULA_ISA
