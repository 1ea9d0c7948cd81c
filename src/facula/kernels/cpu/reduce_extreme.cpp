// amax, amin, argmax, argmin: comparisons of keys, so that one code serves all real types. The
// smallest is the largest of reversed keys.
#include "facula/kernels/cpu/fold.h"
#include "facula/kernels/cpu/keys.h"
#include "facula/kernels/cpu/reduce_tables.h"

namespace facula::kernels::FACULA_ISA {

// KeyLoad reads keys of type K.
template <class K>
struct KeyLoad {
  DType from;
  KeyOrder order;
  bool direct(int64_t stride) const {
    constexpr DType kSame = sizeof(K) == 4 ? kInt32 : kInt64;
    return from == kSame && !order.reverse && stride == sizeof(K);
  }
  FACULA_INLINE const K* load(K* buffer, const char* p, int64_t stride, int64_t n) const {
    if (direct(stride)) return reinterpret_cast<const K*>(p);
    load_keys(buffer, p, from, stride, n, order);
    return buffer;
  }
};

template <class K>
struct MaxOp : KeyLoad<K> {
  using Element = K;
  using Partial = K;
  MaxOp(DType t, KeyOrder o) : KeyLoad<K>{t, o} {}
  Partial start() const { return static_cast<K>(~kTopKey<K>); }
  Partial join(Partial a, Partial b) const { return a > b ? a : b; }
  Partial one(K x, int64_t) const { return x; }
  Partial row(const K* p, int64_t n, int64_t) const {
    K r = p[0];
    for (int64_t i = 1; i < n; ++i) r = r > p[i] ? r : p[i];
    return r;
  }
  void columns(Partial* acc, const K* p, int64_t stride, int64_t rows, int64_t n,
               int64_t at) const {
    columns_by_join(*this, acc, p, stride, rows, n, at);
  }
  void store(char* to, int64_t stride, const Partial* acc, int64_t n) const {
    store_keys(to, this->from, stride, acc, n, this->order.reverse);
  }
};

static void extreme(const View& out, const View& in, uint64_t mask, bool smallest) {
  KeyOrder order{.reverse = smallest, .equal_zeros = false};
  if (wide_keys(in.dtype))
    fold(MaxOp<int64_t>(in.dtype, order), out, in, mask);
  else
    fold(MaxOp<int32_t>(in.dtype, order), out, in, mask);
}

void reduce_amax(const View& out, const View& in, uint64_t mask) { extreme(out, in, mask, false); }
void reduce_amin(const View& out, const View& in, uint64_t mask) { extreme(out, in, mask, true); }

// A key with its position along the dimension.
template <class K>
struct Placed {
  K key;
  int64_t at;
};

template <class K>
struct ArgOp : KeyLoad<K> {
  using Element = K;
  using Partial = Placed<K>;
  ArgOp(DType t, KeyOrder o) : KeyLoad<K>{t, o} {}
  Partial start() const { return {static_cast<K>(~kTopKey<K>), -1}; }
  // The earlier position (a) wins ties.
  FACULA_INLINE Partial join(Partial a, Partial b) const {
    return b.key > a.key || a.at < 0 ? b : a;
  }
  FACULA_INLINE Partial one(K x, int64_t at) const { return {x, at}; }
  Partial row(const K* p, int64_t n, int64_t at) const {
    K r = p[0];
    for (int64_t i = 1; i < n; ++i) r = r > p[i] ? r : p[i];
    int64_t i = 0;
    while (p[i] != r) ++i;
    return {r, at + i};
  }
  void columns(Partial* acc, const K* p, int64_t stride, int64_t rows, int64_t n,
               int64_t at) const {
    columns_by_join(*this, acc, p, stride, rows, n, at);
  }
  void store(char* to, int64_t stride, const Partial* acc, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) *reinterpret_cast<int64_t*>(to + i * stride) = acc[i].at;
  }
};

// gather_found copies the elements at `indices` along dim into `values`.
static void gather_found(const View& values, const View& indices, const View& in, int64_t dim) {
  int64_t item = item_size(in.dtype), step = in.strides[dim] * item;
  bool keep = values.ndim == in.ndim;
  Walk<3> w;
  w.base[0] = static_cast<char*>(values.data);
  w.base[1] = static_cast<char*>(indices.data);
  w.base[2] = static_cast<char*>(in.data);
  for (int d = in.ndim - 1; d >= 0; --d) {
    if (d == dim) continue;
    int o = keep || d < dim ? d : d - 1;
    int64_t s[3] = {values.strides[o] * item, indices.strides[o] * 8, in.strides[d] * item};
    if (in.sizes[d] != 1) w.push(in.sizes[d], s);
  }
  w.merge();
  int64_t s0 = w.ndim ? w.stride[0][0] : 0, s1 = w.ndim ? w.stride[1][0] : 0;
  int64_t s2 = w.ndim ? w.stride[2][0] : 0;
  visit_size(item, [&](auto tag) {
    using T = typename decltype(tag)::type;
    w.run(0, values.numel, [&](char** p, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        int64_t at = *reinterpret_cast<const int64_t*>(p[1] + i * s1);
        *reinterpret_cast<T*>(p[0] + i * s0) =
            *reinterpret_cast<const T*>(p[2] + i * s2 + at * step);
      }
    });
  });
}

static void find_extreme(const View& values, const View& indices, const View& in, int64_t dim,
                         bool smallest) {
  KeyOrder order{.reverse = smallest, .equal_zeros = true};
  uint64_t mask = in.ndim ? uint64_t{1} << dim : 0;
  if (wide_keys(in.dtype))
    fold(ArgOp<int64_t>(in.dtype, order), indices, in, mask, true);
  else
    fold(ArgOp<int32_t>(in.dtype, order), indices, in, mask, true);
  if (!values.data || values.numel == 0) return;
  if (in.ndim == 0) {
    __builtin_memcpy(values.data, in.data, static_cast<size_t>(item_size(in.dtype)));
    return;
  }
  gather_found(values, indices, in, dim);
}

void reduce_argmax(const View& values, const View& indices, const View& in, int64_t dim) {
  find_extreme(values, indices, in, dim, false);
}
void reduce_argmin(const View& values, const View& indices, const View& in, int64_t dim) {
  find_extreme(values, indices, in, dim, true);
}

}  // namespace facula::kernels::FACULA_ISA
