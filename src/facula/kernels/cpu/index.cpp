// Picking elements by position: index_select, gather, take and advanced indexing. Elements are
// moved unread, so there is one loop an item size.
#include "facula/kernels/index.h"

#include "facula/kernels/cpu/convert.h"
#include "facula/kernels/cpu/index_tables.h"
#include "facula/kernels/cpu/index_walk.h"

namespace facula::kernels::FACULA_ISA {

FACULA_INLINE int64_t index_at(const char* p) { return *reinterpret_cast<const int64_t*>(p); }

static void index_select(const View& out, const View& in, int64_t dim, const View& index,
                         Fault* fault) {
  int64_t length = length_of(in, dim);
  if (!positions_fit(index, 0, length, fault) || out.numel == 0) return;
  Walk<2> w = walk_along(dim, out, in);
  int64_t item = item_size(out.dtype), os = byte_stride(out, dim), is = byte_stride(in, dim);
  const char* base = static_cast<const char*>(index.data);
  int64_t step = byte_stride(index, 0), count = index.numel, rest = out.numel / count;
  int64_t so = inner_stride(w, 0), si = inner_stride(w, 1);
  if (w.ndim && so < os) {  // rows of several elements
    int64_t row = w.size[0], rows = rest / row;
    parallel_for(0, rows * count, max_of<int64_t>(1, kIndexGrain / row), [&](int64_t b, int64_t e) {
      for (int64_t t = b; t < e; ++t) {
        int64_t r = t / count, i = t % count;
        int64_t o = w.offset(0, r * row), f = w.offset(1, r * row);
        move_strided(w.base[0] + o + i * os, so, w.base[1] + f + index_at(base + i * step) * is, si,
                     item, row);
      }
    });
    return;
  }
  visit_size(item, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(0, rest, max_of<int64_t>(1, kIndexGrain / count), [&](int64_t b, int64_t e) {
      w.run(b, e, [&](char** p, int64_t n) {
        for (int64_t k = 0; k < n; ++k) {
          for (int64_t i = 0; i < count; ++i) {
            *reinterpret_cast<T*>(p[0] + k * so + i * os) =
                *reinterpret_cast<const T*>(p[1] + k * si + index_at(base + i * step) * is);
          }
        }
      });
    });
  });
}

static void gather(const View& out, const View& in, int64_t dim, const View& index, Fault* fault) {
  if (!positions_fit(index, 0, length_of(in, dim), fault) || out.numel == 0) return;
  Walk<3> w = walk_along(dim, out, index, in);
  int64_t s0 = inner_stride(w, 0), s1 = inner_stride(w, 1), s2 = inner_stride(w, 2);
  int64_t d0 = byte_stride(out, dim), d1 = byte_stride(index, dim), d2 = byte_stride(in, dim);
  int64_t length = length_of(out, dim), rest = out.numel / length;
  visit_size(item_size(out.dtype), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(0, rest, max_of<int64_t>(1, kIndexGrain / length), [&](int64_t b, int64_t e) {
      w.run(b, e, [&](char** p, int64_t n) {
        auto move = [&](int64_t k, int64_t j) {
          int64_t at = index_at(p[1] + k * s1 + j * d1);
          *reinterpret_cast<T*>(p[0] + k * s0 + j * d0) =
              *reinterpret_cast<const T*>(p[2] + k * s2 + at * d2);
        };
        if (d0 < s0) {  // the dimension is the inner one in memory
          for (int64_t k = 0; k < n; ++k) {
            for (int64_t j = 0; j < length; ++j) move(k, j);
          }
        } else {
          for (int64_t j = 0; j < length; ++j) {
            for (int64_t k = 0; k < n; ++k) move(k, j);
          }
        }
      });
    });
  });
}

static void take(const View& out, const View& in, const View& index, Fault* fault) {
  if (!positions_fit(index, -in.numel, in.numel, fault)) return;
  Walk<2> w = walk_of(out, index);
  Walk<1> source = logical_walk(in);
  int64_t so = inner_stride(w, 0), si = inner_stride(w, 1);
  visit_size(item_size(out.dtype), [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(0, out.numel, kIndexGrain, [&](int64_t b, int64_t e) {
      w.run(b, e, [&](char** p, int64_t n) {
        for (int64_t k = 0; k < n; ++k) {
          int64_t at = index_at(p[1] + k * si);
          at += at < 0 ? in.numel : 0;
          *reinterpret_cast<T*>(p[0] + k * so) =
              *reinterpret_cast<const T*>(source.base[0] + source.offset(0, at));
        }
      });
    });
  });
}

static void advanced_index(const View& out, const View& in, const View* indices, int count,
                           Fault* fault) {
  if (!all_fit(in, indices, count, fault) || out.numel == 0) return;
  Positions places(in, indices, count, out);
  Walk<2> rest = rest_walk(out, indices[0].ndim, in, count);
  int64_t item = item_size(out.dtype), so = inner_stride(rest, 0), si = inner_stride(rest, 1);
  int64_t total = places.numel(), row = rest.numel();
  parallel_for(0, total, max_of<int64_t>(1, kIndexGrain / row), [&](int64_t b, int64_t e) {
    if (row == 1) {
      visit_size(item, [&](auto tag) {
        using T = typename decltype(tag)::type;
        places.run(b, e, [&](int64_t from, int64_t to) {
          *reinterpret_cast<T*>(rest.base[0] + to) =
              *reinterpret_cast<const T*>(rest.base[1] + from);
        });
      });
      return;
    }
    places.run(b, e, [&](int64_t from, int64_t to) {
      rest.run(0, row,
               [&](char** p, int64_t n) { move_strided(p[0] + to, so, p[1] + from, si, item, n); });
    });
  });
}

extern const IndexKernels index_table;
const IndexKernels index_table{
    .index_select = index_select,
    .gather = gather,
    .take = take,
    .index = advanced_index,
    .masked_select = index_masked_select,
    .nonzero = index_nonzero,
    .repeat_index = index_repeat,
    .tril = index_tril,
    .triu = index_triu,
};

}  // namespace facula::kernels::FACULA_ISA
