// Attention: the softmax in the middle of it, on scores that are at hand, and the whole of it in
// tiles, which never holds all the scores.
#pragma once
#include <cstdint>

#include "facula/base/export.h"
#include "facula/core/dtype.h"
#include "facula/kernels/view.h"

namespace facula::kernels {

// ScoreShape says how scores [outer, inner, queries, keys], dense, are masked. A mask is of bool
// (true: may attend) or of the scores' type (added), with strides in elements, 0 where it
// broadcasts.
struct ScoreShape {
  int64_t outer, inner, queries, keys;
  double scale;
  bool causal;  // query i sees keys up to i
  const void* mask;
  bool mask_is_bool;
  int64_t mask_strides[4];
};

// TileSequence is one batch item of attention in tiles: the rows of its queries and keys behind the
// item's address, the number of its first row in the statistics, and of its first task.
struct TileSequence {
  int64_t query_begin, queries, key_begin, keys;
  int64_t stat_row;
  int64_t first_task;
};

// TileHeads is a tensor [batch, heads, rows, size] with dense rows; strides count elements.
struct TileHeads {
  void* data = nullptr;
  int64_t batch = 0, head = 0, row = 0;
};

// TiledAttention is attention of `batch` sequences: `heads` heads of queries, each group of
// heads / kv_heads of them sharing keys and values. The statistics are [heads, stat_rows] of the
// type of the sums (float, or double for double): `logsumexp` of each row's scores, +inf where a
// row may see nothing.
struct TiledAttention {
  int64_t batch, heads, kv_heads, size, value_size;
  const TileSequence* sequences;
  int64_t stat_rows, tasks;
  int64_t query_block;  // queries a task
  TileHeads query, key, value, result;
  void* logsumexp;
  ScoreShape score;  // only scale, causal and mask count
};

// TiledGradients is what the backward pass has beside: `sums` [heads, stat_rows] and `partial`
// [chunks, heads, stat_rows, padded(size)] are work memory of the type of the sums.
struct TiledGradients {
  TileHeads grad, query, key, value;
  void* sums;
  void* partial;
  int64_t chunks;  // in how many parts the keys of a sequence are worked on
};

struct AttentionKernels {
  // scores = softmax(scale * scores + mask) along the keys; a row that may see nothing becomes 0.
  void (*weights)(DType dtype, void* scores, const ScoreShape& s);
  // grads by the weights become grads by the scaled scores: p * (g - sum(g * p)).
  void (*weights_backward)(DType dtype, void* grads, const void* weights, int64_t rows,
                           int64_t keys);
  // Attention by tiles with a running softmax (Dao et al., 2022, algorithm 1; Dao, 2023, section
  // 3.1, for the order of the loops): float types. Memory is linear in the lengths.
  void (*tiled)(DType dtype, const TiledAttention& a, Fault* fault);
  // Its gradients; scores are computed again from the logsumexp (Dao, 2023, algorithm 2).
  void (*tiled_backward)(DType dtype, const TiledAttention& a, const TiledGradients& g,
                         Fault* fault);
  int64_t tile_width;  // padded(n) is n rounded up to a multiple of this
};
extern FACULA_API const AttentionKernels* attention;

}  // namespace facula::kernels
