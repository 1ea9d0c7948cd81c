// The backward pass of attention in tiles. A task owns a range of keys of one head and walks over
// the queries that see them: with p the weights (computed again), o the result and g its gradient,
// dv = p' g, ds = p * (g v' - sum(g * o)), dk = ds' q, dq = ds k. Gradients of queries are summed
// apart by each range of keys and then added in order.
#include "facula/kernels/cpu/tiled_attention.h"

namespace facula::kernels::FACULA_ISA {
namespace tile_gradients {
namespace {

template <class C>
struct BackwardSpace {
  TileScratch memory;
  C *keys, *keys_turned, *values_turned, *query, *query_panels, *grad, *grad_panels;
  C *weights, *grads, *dkey, *dvalue;

  FACULA_INLINE BackwardSpace(const TiledAttention& a)
      : memory(
            (kTileKeys * (a.size + a.value_size) +
             (2 * kTileKeys + a.query_block) * (tile_padded(a.size) + tile_padded(a.value_size)) +
             a.query_block * (a.size + a.value_size + 2 * kTileKeys)) *
                static_cast<int64_t>(sizeof(C)),
            11) {
    if (!memory.ok()) return;
    int64_t size = tile_padded(a.size), value_size = tile_padded(a.value_size);
    keys = memory.take<C>(kTileKeys * size);
    keys_turned = memory.take<C>(kTileKeys * a.size);
    values_turned = memory.take<C>(kTileKeys * a.value_size);
    query = memory.take<C>(a.query_block * a.size);
    query_panels = memory.take<C>(a.query_block * size);
    grad = memory.take<C>(a.query_block * a.value_size);
    grad_panels = memory.take<C>(a.query_block * value_size);
    weights = memory.take<C>(a.query_block * kTileKeys);
    grads = memory.take<C>(a.query_block * kTileKeys);
    dkey = memory.take<C>(kTileKeys * size);
    dvalue = memory.take<C>(kTileKeys * value_size);
  }
};

// Where a tile is: `rows` queries from q0 of a head, n keys from k0.
struct Place {
  int64_t batch, head, q0, rows, k0, n;
};

// weights = exp(scores - logsumexp), grads = weights * (grads - sums), row by row.
template <class E, class C>
FACULA_INLINE void weigh_tile(const TiledAttention& a, const TiledGradients& g,
                              const TileSequence& s, const Place& at, C* weights, C* grads) {
  int64_t stat = at.head * a.stat_rows + s.stat_row + at.q0;
  const C* logsumexp = static_cast<const C*>(a.logsumexp) + stat;
  const C* sums = static_cast<const C*>(g.sums) + stat;
  for (int64_t i = 0; i < at.rows; ++i) {
    C *p = weights + i * kTileKeys, *d = grads + i * kTileKeys;
    int64_t seen = tile_seen(a.score, at.q0 + i, at.k0, at.n);
    if (a.score.mask) {
      tile_mask<E>(p, seen, a.score, tile_mask_at(a.score, at.batch, at.head, at.q0 + i, at.k0));
    }
    C shift = logsumexp[i], sum = sums[i];
    if (shift == static_cast<C>(kInf)) seen = 0;
    for (int64_t j = 0; j < seen; ++j) p[j] = m_exp(p[j] - shift);
    for (int64_t j = 0; j < seen; ++j) d[j] = p[j] * (d[j] - sum);
    for (int64_t j = seen; j < at.n; ++j) p[j] = d[j] = 0;
  }
}

// One tile: adds to the gradients of its keys, values and queries.
template <class E, class C>
void backward_tile(const TiledAttention& a, const TiledGradients& g, const BackwardSpace<C>& w,
                   const TileSequence& s, const Place& at, C* dquery) {
  int64_t first = s.query_begin + at.q0, n = tile_padded(at.n);
  int64_t size = tile_padded(a.size), value_size = tile_padded(a.value_size);
  const E* query = tile_row<const E>(a.query, at.batch, at.head, first);
  const E* grad = tile_row<const E>(g.grad, at.batch, at.head, first);
  C scale = static_cast<C>(a.score.scale);
  tile_copy(query, a.query.row, at.rows, a.size, scale, w.query);
  tile_pack(query, a.query.row, at.rows, a.size, scale, w.query_panels);
  tile_copy(grad, g.grad.row, at.rows, a.value_size, C(1), w.grad);
  tile_pack(grad, g.grad.row, at.rows, a.value_size, C(1), w.grad_panels);
  tile_product<false>(at.rows, n, a.size, w.query, a.size, w.keys_turned, a.size * kTileWidth,
                      w.weights, kTileKeys, false);
  tile_product<false>(at.rows, n, a.value_size, w.grad, a.value_size, w.values_turned,
                      a.value_size * kTileWidth, w.grads, kTileKeys, false);
  weigh_tile<E>(a, g, s, at, w.weights, w.grads);
  tile_product<true>(at.n, value_size, at.rows, w.weights, kTileKeys, w.grad_panels,
                     at.rows * kTileWidth, w.dvalue, value_size, true);
  tile_product<true>(at.n, size, at.rows, w.grads, kTileKeys, w.query_panels, at.rows * kTileWidth,
                     w.dkey, size, true);
  tile_product<false>(at.rows, size, at.n, w.grads, kTileKeys, w.keys, at.n * kTileWidth,
                      dquery + at.q0 * size, size, true);
}

// The address of the first row of a sequence in one part of the gradients of queries.
template <class C>
FACULA_INLINE C* partial_row(const TiledAttention& a, const TiledGradients& g, int64_t chunk,
                             int64_t head, int64_t row) {
  return static_cast<C*>(g.partial) +
         ((chunk * a.heads + head) * a.stat_rows + row) * tile_padded(a.size);
}

// All tiles of one block of keys, of all the heads of queries that share them.
template <class E, class C>
void backward_keys(const TiledAttention& a, const TiledGradients& g, const BackwardSpace<C>& w,
                   int64_t batch, int64_t kv, int64_t chunk, int64_t k0) {
  const TileSequence& s = a.sequences[batch];
  int64_t n = min_of(kTileKeys, s.keys - k0), group = a.heads / a.kv_heads;
  int64_t size = tile_padded(a.size), value_size = tile_padded(a.value_size);
  const E* key = tile_row<const E>(a.key, batch, kv, s.key_begin + k0);
  const E* value = tile_row<const E>(a.value, batch, kv, s.key_begin + k0);
  tile_pack(key, a.key.row, n, a.size, C(1), w.keys);
  tile_pack_turned(key, a.key.row, n, a.size, w.keys_turned);
  tile_pack_turned(value, a.value.row, n, a.value_size, w.values_turned);
  __builtin_memset(w.dkey, 0, static_cast<size_t>(n * size) * sizeof(C));
  __builtin_memset(w.dvalue, 0, static_cast<size_t>(n * value_size) * sizeof(C));
  for (int64_t head = kv * group; head < (kv + 1) * group; ++head) {
    C* dquery = partial_row<C>(a, g, chunk, head, s.stat_row);
    int64_t q0 = a.score.causal ? k0 / a.query_block * a.query_block : 0;
    for (; q0 < s.queries; q0 += a.query_block) {
      Place at{batch, head, q0, min_of(a.query_block, s.queries - q0), k0, n};
      backward_tile<E>(a, g, w, s, at, dquery);
    }
  }
  tile_put(w.dkey, size, n, a.size, C(1), tile_row<E>(g.key, batch, kv, s.key_begin + k0),
           g.key.row);
  tile_put(w.dvalue, value_size, n, a.value_size, C(1),
           tile_row<E>(g.value, batch, kv, s.key_begin + k0), g.value.row);
}

template <class E, class C>
void backward_task(const TiledAttention& a, const TiledGradients& g, const BackwardSpace<C>& w,
                   int64_t batch, int64_t kv, int64_t chunk) {
  const TileSequence& s = a.sequences[batch];
  int64_t group = a.heads / a.kv_heads;
  for (int64_t head = kv * group; head < (kv + 1) * group; ++head) {
    __builtin_memset(partial_row<C>(a, g, chunk, head, s.stat_row), 0,
                     static_cast<size_t>(s.queries * tile_padded(a.size)) * sizeof(C));
  }
  int64_t blocks = (s.keys + kTileKeys - 1) / kTileKeys;
  int64_t each = (blocks + g.chunks - 1) / g.chunks;
  for (int64_t b = chunk * each; b < min_of(blocks, (chunk + 1) * each); ++b) {
    backward_keys<E, C>(a, g, w, batch, kv, chunk, b * kTileKeys);
  }
}

// sums = sum(grad * result) of each row of a head of a sequence.
template <class E, class C>
void row_sums(const TiledAttention& a, const TiledGradients& g, int64_t batch, int64_t head) {
  const TileSequence& s = a.sequences[batch];
  C* sums = static_cast<C*>(g.sums) + head * a.stat_rows + s.stat_row;
  for (int64_t i = 0; i < s.queries; ++i) {
    const E* x = tile_row<const E>(a.result, batch, head, s.query_begin + i);
    const E* y = tile_row<const E>(g.grad, batch, head, s.query_begin + i);
    sums[i] = sum_of<C>(a.value_size,
                        [&](int64_t c) { return static_cast<C>(x[c]) * static_cast<C>(y[c]); });
  }
}

// Adds the parts of the gradients of a head's queries and stores them.
template <class E, class C>
void add_parts(const TiledAttention& a, const TiledGradients& g, int64_t batch, int64_t head) {
  const TileSequence& s = a.sequences[batch];
  int64_t size = tile_padded(a.size);
  C* first = partial_row<C>(a, g, 0, head, s.stat_row);
  for (int64_t chunk = 1; chunk < g.chunks; ++chunk) {
    const C* more = partial_row<C>(a, g, chunk, head, s.stat_row);
    for (int64_t i = 0; i < s.queries * size; ++i) first[i] += more[i];
  }
  tile_put(first, size, s.queries, a.size, static_cast<C>(a.score.scale),
           tile_row<E>(g.query, batch, head, s.query_begin), g.query.row);
}

template <class E>
void backward(const TiledAttention& a, const TiledGradients& g, Fault* fault) {
  using C = Compute<E>;
  int64_t heads = a.batch * a.heads;
  parallel_for(0, heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) row_sums<E, C>(a, g, t / a.heads, t % a.heads);
  });
  parallel_for(0, a.batch * a.kv_heads * g.chunks, 1, [&](int64_t begin, int64_t end) {
    BackwardSpace<C> space(a);
    if (!space.memory.ok()) return fault->set(Fault::kNoMemory, 0, space.memory.bytes(), 0);
    for (int64_t t = begin; t < end; ++t) {
      int64_t item = t / g.chunks;
      backward_task<E, C>(a, g, space, item / a.kv_heads, item % a.kv_heads, t % g.chunks);
    }
  });
  if (*fault) return;
  parallel_for(0, heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) add_parts<E, C>(a, g, t / a.heads, t % a.heads);
  });
}

}  // namespace
}  // namespace tile_gradients

void tiled_backward(DType dtype, const TiledAttention& a, const TiledGradients& g, Fault* fault) {
  visit_floating(dtype, [&](auto tag) {
    tile_gradients::backward<typename decltype(tag)::type>(a, g, fault);
  });
}

}  // namespace facula::kernels::FACULA_ISA
