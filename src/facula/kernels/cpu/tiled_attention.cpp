// The forward pass of attention in tiles. A task owns a block of queries and walks over the keys of
// its sequence; it keeps, of each query, the largest score so far, the sum of exponentials below it
// and the weighted sum of values, and scales the latter two when a larger score turns up.
#include "facula/kernels/cpu/tiled_attention.h"

namespace facula::kernels::FACULA_ISA {
namespace tiles {
namespace {

// The scratch memory of a task.
template <class C>
struct ForwardSpace {
  TileScratch memory;
  C *query, *keys, *values, *scores, *sums, *top, *total;

  FACULA_INLINE ForwardSpace(const TiledAttention& a)
      : memory((a.query_block * (a.size + kTileKeys + tile_padded(a.value_size) + 2) +
                kTileKeys * (a.size + tile_padded(a.value_size))) *
                   static_cast<int64_t>(sizeof(C)),
               7) {
    if (!memory.ok()) return;
    query = memory.take<C>(a.query_block * a.size);
    keys = memory.take<C>(kTileKeys * a.size);
    values = memory.take<C>(kTileKeys * tile_padded(a.value_size));
    scores = memory.take<C>(a.query_block * kTileKeys);
    sums = memory.take<C>(a.query_block * tile_padded(a.value_size));
    top = memory.take<C>(a.query_block);
    total = memory.take<C>(a.query_block);
  }
};

// Turns a row of n scores into exponentials below the new largest score; scales what was summed.
template <class C>
FACULA_INLINE void running_softmax(C* row, int64_t seen, int64_t n, C* top, C* total, C* sums,
                                   int64_t width) {
  C lowest = -static_cast<C>(kInf);
  C most = max_lanes<C>(seen, [&](int64_t i) { return row[i]; });
  most = larger<C>(most, *top);
  if (seen == 0 || most == lowest) {
    for (int64_t i = 0; i < n; ++i) row[i] = 0;
    return;
  }
  for (int64_t i = 0; i < seen; ++i) row[i] = m_exp(row[i] - most);
  for (int64_t i = seen; i < n; ++i) row[i] = 0;
  C sum = sum_of<C>(seen, [&](int64_t i) { return row[i]; });
  if (*top != most) {
    C factor = m_exp(*top - most);
    *total *= factor;
    for (int64_t i = 0; i < width; ++i) sums[i] *= factor;
    *top = most;
  }
  *total += sum;
}

// One tile of keys: scores, their exponentials, and the values that they weigh.
template <class E, class C>
void forward_tile(const TiledAttention& a, const ForwardSpace<C>& w, const TileSequence& s,
                  int64_t batch, int64_t head, int64_t q0, int64_t rows, int64_t k0, int64_t n) {
  int64_t kv = head / (a.heads / a.kv_heads), width = tile_padded(a.value_size);
  tile_pack_turned(tile_row<const E>(a.key, batch, kv, s.key_begin + k0), a.key.row, n, a.size,
                   w.keys);
  tile_pack(tile_row<const E>(a.value, batch, kv, s.key_begin + k0), a.value.row, n, a.value_size,
            C(1), w.values);
  tile_product<false>(rows, tile_padded(n), a.size, w.query, a.size, w.keys, a.size * kTileWidth,
                      w.scores, kTileKeys, false);
  for (int64_t i = 0; i < rows; ++i) {
    C* row = w.scores + i * kTileKeys;
    int64_t seen = tile_seen(a.score, q0 + i, k0, n);
    if (a.score.mask) {
      tile_mask<E>(row, seen, a.score, tile_mask_at(a.score, batch, head, q0 + i, k0));
    }
    running_softmax(row, seen, n, w.top + i, w.total + i, w.sums + i * width, width);
  }
  tile_product<false>(rows, width, n, w.scores, kTileKeys, w.values, n * kTileWidth, w.sums, width,
                      true);
}

template <class E, class C>
void forward_task(const TiledAttention& a, const ForwardSpace<C>& w, const TileSequence& s,
                  int64_t batch, int64_t head, int64_t q0) {
  int64_t rows = min_of(a.query_block, s.queries - q0), width = tile_padded(a.value_size);
  tile_copy(tile_row<const E>(a.query, batch, head, s.query_begin + q0), a.query.row, rows, a.size,
            static_cast<C>(a.score.scale), w.query);
  __builtin_memset(w.sums, 0, static_cast<size_t>(rows * width) * sizeof(C));
  for (int64_t i = 0; i < rows; ++i) {
    w.top[i] = -static_cast<C>(kInf);
    w.total[i] = 0;
  }
  int64_t keys = a.score.causal ? min_of(s.keys, q0 + rows) : s.keys;
  for (int64_t k0 = 0; k0 < keys; k0 += kTileKeys) {
    forward_tile<E, C>(a, w, s, batch, head, q0, rows, k0, min_of(kTileKeys, keys - k0));
  }
  C* statistics = static_cast<C*>(a.logsumexp) + head * a.stat_rows + s.stat_row + q0;
  E* out = tile_row<E>(a.result, batch, head, s.query_begin + q0);
  for (int64_t i = 0; i < rows; ++i) {
    bool blind = w.top[i] == -static_cast<C>(kInf);
    statistics[i] = blind ? static_cast<C>(kInf) : w.top[i] + m_log(w.total[i]);
    C factor = blind ? C(0) : C(1) / w.total[i];
    tile_put(w.sums + i * width, width, 1, a.value_size, factor, out + i * a.result.row,
             a.result.row);
  }
}

// The batch item of a task: the last one whose first task is not behind it.
FACULA_INLINE int64_t sequence_of(const TiledAttention& a, int64_t task) {
  int64_t low = 0, high = a.batch - 1;
  while (low < high) {
    int64_t middle = (low + high + 1) / 2;
    if (a.sequences[middle].first_task <= task) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

template <class E>
void forward(const TiledAttention& a, Fault* fault) {
  using C = Compute<E>;
  parallel_for(0, a.tasks * a.heads, 1, [&](int64_t begin, int64_t end) {
    ForwardSpace<C> space(a);
    if (!space.memory.ok()) return fault->set(Fault::kNoMemory, 0, space.memory.bytes(), 0);
    for (int64_t t = begin; t < end; ++t) {
      int64_t task = t / a.heads, head = t % a.heads, batch = sequence_of(a, task);
      const TileSequence& s = a.sequences[batch];
      forward_task<E, C>(a, space, s, batch, head, (task - s.first_task) * a.query_block);
    }
  });
}

}  // namespace
}  // namespace tiles

void tiled(DType dtype, const TiledAttention& a, Fault* fault) {
  visit_floating(dtype, [&](auto tag) { tiles::forward<typename decltype(tag)::type>(a, fault); });
}

}  // namespace facula::kernels::FACULA_ISA
