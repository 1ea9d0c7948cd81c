// Lexicographic order of rows and runs of equal ones (unique), binary searches, histograms.
#include <cstdlib>

#include "facula/kernels/cpu/index_walk.h"
#include "facula/kernels/cpu/order.h"
#include "facula/kernels/cpu/sort_tables.h"

namespace facula::kernels::FACULA_ISA {

// Rows are ordered by their last column first; stable orders by the columns before it follow.
template <class K>
static void order_rows_by(const View& order, const View& rows, Fault* fault) {
  using E = Entry<K>;
  int64_t n = rows.sizes[0], width = rows.sizes[1], item = item_size(rows.dtype);
  int64_t* to = order.as<int64_t>();
  for (int64_t i = 0; i < n; ++i) to[i] = i;
  size_t bytes = 2 * static_cast<size_t>(n) * sizeof(E);
  E* space = static_cast<E*>(std::malloc(bytes ? bytes : 1));
  if (!space) return fault->set(Fault::kNoMemory, 0, static_cast<int64_t>(bytes), 0);
  KeyOrder keys{.reverse = false, .equal_zeros = true};
  for (int64_t c = width - 1; c >= 0; --c) {
    const char* column = rows.as<char>() + c * item;
    for (int64_t i = 0; i < n; ++i) {
      K k;
      load_keys(&k, column + to[i] * width * item, rows.dtype, item, 1, keys);
      space[i] = E::make(k, to[i]);
    }
    E* sorted = n ? order_line(space, space + n, n) : space;
    for (int64_t i = 0; i < n; ++i) to[i] = sorted[i].at();
  }
  std::free(space);
}

void sort_order_rows(const View& order, const View& rows, Fault* fault) {
  if (wide_keys(rows.dtype))
    order_rows_by<int64_t>(order, rows, fault);
  else
    order_rows_by<int32_t>(order, rows, fault);
}

int64_t sort_runs(const View& rows, const View& order, const View& first, const View& inverse,
                  const View& counts) {
  int64_t n = rows.sizes[0], width = rows.sizes[1], run = -1;
  const int64_t* at = order.as<int64_t>();
  int64_t *head = first.as<int64_t>(), *back = inverse.as<int64_t>(), *count = counts.as<int64_t>();
  visit_real(rows.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Stored<T>* base = rows.as<Stored<T>>();
    const Stored<T>* before = nullptr;
    for (int64_t i = 0; i < n; ++i) {
      int64_t row = at ? at[i] : i;
      const Stored<T>* now = base + row * width;
      bool same = before != nullptr;
      for (int64_t c = 0; same && c < width; ++c) {
        same = static_cast<Compute<T>>(before[c]) == static_cast<Compute<T>>(now[c]);
      }
      if (!same) {
        ++run;
        if (head) head[run] = row;
        if (count) count[run] = 0;
      }
      if (back) back[row] = run;
      if (count) ++count[run];
      before = now;
    }
  });
  return run + 1;
}

template <class K>
static void search(const View& out, const View& sequence, const View& values, const View& sorter,
                   bool right) {
  int64_t n = length_of(sequence, sequence.ndim - 1), item = item_size(values.dtype);
  int64_t line = sequence.ndim == 1 ? values.numel : length_of(values, values.ndim - 1);
  if (values.numel == 0) return;
  bool shared = sequence.ndim == 1;
  const int64_t* order = sorter.as<int64_t>();
  auto write = [&](int64_t i, int64_t v) {
    if (out.dtype == kInt32)
      out.as<int32_t>()[i] = static_cast<int32_t>(v);
    else
      out.as<int64_t>()[i] = v;
  };
  KeyOrder keys{.reverse = false, .equal_zeros = true};
  parallel_for(0, values.numel, kIndexGrain / 16, [&](int64_t b, int64_t e) {
    for (int64_t i = b; i < e; ++i) {
      int64_t start = shared ? 0 : i / line * n, low = 0, high = n;
      K wanted;
      load_keys(&wanted, values.as<char>() + i * item, values.dtype, item, 1, keys);
      while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int64_t at = start + (order ? order[start + middle] : middle);
        K k;
        load_keys(&k, sequence.as<char>() + at * item, values.dtype, item, 1, keys);
        bool go = right ? k <= wanted : k < wanted;
        if (go)
          low = middle + 1;
        else
          high = middle;
      }
      write(i, low);
    }
  });
}

void sort_searchsorted(const View& out, const View& sequence, const View& values,
                       const View& sorter, bool right) {
  if (wide_keys(values.dtype))
    search<int64_t>(out, sequence, values, sorter, right);
  else
    search<int32_t>(out, sequence, values, sorter, right);
}

void sort_histc(const View& out, const View& in, double low, double high) {
  int64_t bins = out.numel, item = item_size(in.dtype);
  alignas(64) double block[kConvertBlock];
  Walk<1> w = walk_of(in);
  int64_t step = inner_stride(w, 0);
  char* base = out.as<char>();
  int64_t so = out.ndim ? out.strides[0] * item_size(out.dtype) : 0;
  visit_real(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    w.run(0, in.numel, [&](char** p, int64_t n) {
      for (int64_t at = 0; at < n; at += kConvertBlock) {
        int64_t m = min_of(kConvertBlock, n - at);
        convert_strided(block, kFloat64, 8, p[0] + at * step, in.dtype, n == 1 ? item : step, m);
        for (int64_t i = 0; i < m; ++i) {
          double x = block[i];
          if (!(x >= low && x <= high)) continue;
          int64_t bin = static_cast<int64_t>((x - low) / (high - low) * static_cast<double>(bins));
          bin = min_of(bin, bins - 1);
          T* t = reinterpret_cast<T*>(base + bin * so);
          *t = static_cast<T>(static_cast<Compute<T>>(*t) + Compute<T>(1));
        }
      }
    });
  });
}

}  // namespace facula::kernels::FACULA_ISA
