// sort, topk (the first elements of the order) and picks (k-th value, median, mode).
#include "facula/kernels/sort.h"

#include <cstdlib>

#include "facula/kernels/cpu/index_walk.h"
#include "facula/kernels/cpu/order.h"
#include "facula/kernels/cpu/sort_tables.h"

namespace facula::kernels::FACULA_ISA {

inline constexpr int64_t kSortGrain = 4096;  // elements worth a thread

// LineSorter visits the lines of `in` along dim: it fills entries and calls f(entries, n, targets).
struct LineSorter {
  const View &values, &indices, &in;
  int64_t length, step;
  Walk<3> w;  // in, values, indices

  LineSorter(const View& v, const View& x, const View& source, int64_t dim)
      : values(v), indices(x), in(source) {
    length = length_of(in, dim);
    step = byte_stride(in, dim);
    w.base[0] = static_cast<char*>(in.data);
    w.base[1] = static_cast<char*>(values.data);
    w.base[2] = static_cast<char*>(indices.data);
    for (int d = in.ndim - 1; d >= 0; --d) {
      if (d == dim || in.sizes[d] == 1) continue;
      int64_t s[3] = {in.strides[d] * item_size(in.dtype), stride_of(values, d, dim),
                      stride_of(indices, d, dim)};
      w.push(in.sizes[d], s);
    }
    w.merge();
  }

  template <class K, class F>
  void run(bool descending, Fault* fault, F&& f) const {
    if (in.numel == 0) return;
    KeyOrder order{.reverse = false, .equal_zeros = true};
    parallel_for(0, w.numel(), max_of<int64_t>(1, kSortGrain / length), [&](int64_t b, int64_t e) {
      using E = Entry<K>;
      size_t bytes = static_cast<size_t>(length) * (2 * sizeof(E) + sizeof(K));
      char* space = static_cast<char*>(std::malloc(bytes));
      if (!space) return fault->set(Fault::kNoMemory, 0, static_cast<int64_t>(bytes), 0);
      E* entries = reinterpret_cast<E*>(space);
      K* keys = reinterpret_cast<K*>(space + 2 * static_cast<size_t>(length) * sizeof(E));
      for (int64_t t = b; t < e; ++t) {
        const char* from = w.base[0] + w.offset(0, t);
        load_keys(keys, from, in.dtype, length == 1 ? item_size(in.dtype) : step, length, order);
        for (int64_t i = 0; i < length; ++i) {
          entries[i] = E::make(descending ? static_cast<K>(~keys[i]) : keys[i], i);
        }
        f(entries, entries + length, from, w.base[1] + w.offset(1, t), w.base[2] + w.offset(2, t));
      }
      std::free(space);
    });
  }

  // put writes the element at position `at` of the line, and the position.
  FACULA_INLINE void put(char* value, char* index, const char* from, int64_t at) const {
    if (indices.data) *reinterpret_cast<int64_t*>(index) = at;
    if (!values.data) return;
    visit_size(item_size(in.dtype), [&](auto tag) {
      using T = typename decltype(tag)::type;
      *reinterpret_cast<T*>(value) = *reinterpret_cast<const T*>(from + at * step);
    });
  }

 private:
  int64_t stride_of(const View& v, int d, int64_t dim) const {
    if (!v.data) return 0;
    int at = v.ndim == in.ndim || d < dim ? d : d - 1;
    return v.strides[at] * item_size(v.dtype);
  }
};

template <class K>
static void sort_lines(const View& values, const View& indices, const View& in, int64_t dim,
                       bool descending, Fault* fault) {
  LineSorter lines(values, indices, in, dim);
  const View& sample = values.data ? values : indices;
  int64_t n = lines.length, count = length_of(sample, dim);
  int64_t sv = values.data ? byte_stride(values, dim) : 0;
  int64_t si = indices.data ? byte_stride(indices, dim) : 0;
  lines.run<K>(descending, fault,
               [&](Entry<K>* e, Entry<K>* scratch, const char* from, char* value, char* index) {
                 if (count <= n / 16)
                   smallest_entries(e, n, count);
                 else
                   e = order_line(e, scratch, n);
                 for (int64_t i = 0; i < count; ++i)
                   lines.put(value + i * sv, index + i * si, from, e[i].at());
               });
}

static void sort_any(const View& values, const View& indices, const View& in, int64_t dim,
                     bool descending, Fault* fault) {
  if (wide_keys(in.dtype))
    sort_lines<int64_t>(values, indices, in, dim, descending, fault);
  else
    sort_lines<int32_t>(values, indices, in, dim, descending, fault);
}

// mode_of finds the last entry of the longest run of equal keys; the first of equally long ones.
template <class K>
static int64_t mode_of(const Entry<K>* e, int64_t n) {
  int64_t best = 0, found = 0;
  for (int64_t i = 0; i < n;) {
    int64_t j = i + 1;
    while (j < n && e[j].key == e[i].key) ++j;
    if (j - i > best) {
      best = j - i;
      found = j - 1;
    }
    i = j;
  }
  return found;
}

template <class K>
static void pick_lines(const View& values, const View& indices, const View& in, int64_t dim,
                       Pick what, int64_t k, Fault* fault) {
  LineSorter lines(values, indices, in, dim);
  int64_t n = lines.length;
  bool floats = is_floating(in.dtype);
  lines.run<K>(false, fault,
               [&](Entry<K>* e, Entry<K>* scratch, const char* from, char* value, char* index) {
                 e = order_line(e, scratch, n);
                 int64_t numbers = n, at = k;
                 while (floats && numbers > 0 && e[numbers - 1].key == kTopKey<K>) --numbers;
                 if (what == Pick::kMedian) at = numbers < n ? numbers : (n - 1) / 2;
                 if (what == Pick::kNanMedian) at = numbers ? (numbers - 1) / 2 : 0;
                 if (what == Pick::kMode) at = mode_of(e, n);
                 lines.put(value, index, from, e[at].at());
               });
}

static void pick(const View& values, const View& indices, const View& in, int64_t dim, Pick what,
                 int64_t k, Fault* fault) {
  if (wide_keys(in.dtype))
    pick_lines<int64_t>(values, indices, in, dim, what, k, fault);
  else
    pick_lines<int32_t>(values, indices, in, dim, what, k, fault);
}

extern const SortKernels sort_table;
const SortKernels sort_table{
    .sort = sort_any,
    .pick = pick,
    .order_rows = sort_order_rows,
    .runs = sort_runs,
    .searchsorted = sort_searchsorted,
    .histc = sort_histc,
};

}  // namespace facula::kernels::FACULA_ISA
