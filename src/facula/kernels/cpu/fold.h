// fold: the frame of every reduction. It walks kept and folded dimensions of any layout, reads the
// input in dense blocks of the type that the operation computes in, cuts long reductions into
// chunks that depend on the shape alone, and combines their results in order.
//
// An operation Op provides
//   Element                     type of the blocks; Partial: the running result of one output
//   Partial start()             the identity
//   Partial row(p, n, at)       of n <= kFoldBlock neighbouring elements, the first at position
//   `at` void columns(acc, p, stride, rows, n, at)   folds rows[0..rows) of n columns into
//   acc[0..n) Partial join(a, b)          of two results, `a` from the earlier positions const
//   Element* load(buffer, from, stride, n)   the elements, in `buffer` or where they are void
//   store(to, stride, acc, n)   the finished outputs, `stride` bytes apart
#pragma once
#include "facula/kernels/cpu/convert.h"
#include "facula/kernels/cpu/walk.h"

namespace facula::kernels::FACULA_ISA {

inline constexpr int64_t kFoldBlock = 2048;   // elements of a block of one row
inline constexpr int64_t kFoldColumns = 512;  // columns folded together
inline constexpr int64_t kFoldRows = 32;      // rows folded before partial results are widened
inline constexpr int64_t kFoldGrain = 65536;  // elements worth a thread
inline constexpr int64_t kFoldSplit = 16;     // most chunks of one reduction

// FoldPlan splits the dimensions: kept (operands: output, input) and folded (input).
struct FoldPlan {
  Walk<2> kept;
  Walk<1> folded;
};

FACULA_INLINE FoldPlan plan_fold(const View& out, const View& in, uint64_t mask) {
  FoldPlan plan;
  int64_t to_size = item_size(out.dtype), from_size = item_size(in.dtype);
  plan.kept.base[0] = static_cast<char*>(out.data);
  plan.kept.base[1] = plan.folded.base[0] = static_cast<char*>(in.data);
  int at = out.ndim;  // the output dimension right of the current one
  for (int d = in.ndim - 1; d >= 0; --d) {
    bool fold = mask >> d & 1;
    bool present = !fold || out.ndim == in.ndim;
    if (present) --at;
    if (in.sizes[d] == 1) continue;
    int64_t s = in.strides[d] * from_size;
    if (fold) {
      plan.folded.push(in.sizes[d], &s);
    } else {
      int64_t both[2] = {out.strides[at] * to_size, s};
      plan.kept.push(in.sizes[d], both);
    }
  }
  plan.kept.sort(1);
  plan.kept.merge();
  return plan;
}

// by_columns decides whether neighbouring outputs are computed together.
FACULA_INLINE bool by_columns(const FoldPlan& plan) {
  if (plan.kept.ndim == 0 || plan.kept.size[0] < 8) return false;
  if (plan.folded.ndim == 0) return true;
  int64_t kept = plan.kept.stride[1][0], folded = plan.folded.stride[0][0];
  return kept < folded || plan.folded.numel() < 16;
}

// fold_range folds positions [begin, end) of one output.
template <class Op>
static typename Op::Partial fold_range(const Op& op, const Walk<1>& folded, int64_t shift,
                                       int64_t begin, int64_t end) {
  alignas(64) typename Op::Element buffer[kFoldBlock];
  typename Op::Partial acc = op.start();
  int64_t stride = folded.ndim ? folded.stride[0][0] : 0, at = begin;
  bool first = true;
  folded.run(begin, end, [&](char** p, int64_t n) {
    for (int64_t i = 0; i < n; i += kFoldBlock) {
      int64_t m = min_of(kFoldBlock, n - i);
      const char* from = p[0] + shift + i * stride;
      typename Op::Partial r = op.row(op.load(buffer, from, stride, m), m, at);
      acc = first ? r : op.join(acc, r);
      first = false;
      at += m;
    }
  });
  return acc;
}

// fold_columns folds positions [begin, end) of n outputs whose inputs are `step` bytes apart.
template <class Op>
static void fold_columns(const Op& op, const Walk<1>& folded, int64_t shift, int64_t step,
                         int64_t n, int64_t begin, int64_t end, typename Op::Partial* acc) {
  using Element = typename Op::Element;
  alignas(64) Element buffer[kFoldRows / 2 * kFoldColumns];
  for (int64_t c = 0; c < n; ++c) acc[c] = op.start();
  int64_t stride = folded.ndim ? folded.stride[0][0] : 0, at = begin;
  folded.run(begin, end, [&](char** p, int64_t rows) {
    for (int64_t i = 0; i < rows;) {
      const char* from = p[0] + shift + i * stride;
      if (op.direct(step) && stride % static_cast<int64_t>(sizeof(Element)) == 0) {
        int64_t m = min_of(kFoldRows, rows - i);
        const Element* e = reinterpret_cast<const Element*>(from);
        op.columns(acc, e, stride / static_cast<int64_t>(sizeof(Element)), m, n, at);
        i += m;
        at += m;
        continue;
      }
      int64_t m = min_of(kFoldRows / 2, rows - i);
      for (int64_t r = 0; r < m; ++r) {
        Element* to = buffer + r * kFoldColumns;
        const Element* e = op.load(to, from + r * stride, step, n);
        if (e != to) __builtin_memcpy(to, e, static_cast<size_t>(n) * sizeof(Element));
      }
      op.columns(acc, buffer, kFoldColumns, m, n, at);
      i += m;
      at += m;
    }
  });
}

// fold_split cuts the reduction of n outputs (one when step is 0) into chunks and joins them.
template <class Op>
static void fold_split(const Op& op, const FoldPlan& plan, int64_t shift, int64_t n, int64_t step,
                       bool columns, typename Op::Partial* acc) {
  using Partial = typename Op::Partial;
  int64_t count = plan.folded.numel();
  int64_t chunks = min_of(kFoldSplit, count * n / kFoldGrain);
  if (chunks < 2) {
    if (columns) return fold_columns(op, plan.folded, shift, step, n, 0, count, acc);
    acc[0] = fold_range(op, plan.folded, shift, 0, count);
    return;
  }
  int64_t size = (count / chunks + kFoldBlock - 1) / kFoldBlock * kFoldBlock;
  if (columns) size = count / chunks + 1;
  chunks = (count + size - 1) / size;
  alignas(64) char space[kFoldSplit * kFoldColumns * sizeof(Partial)];
  Partial* parts = reinterpret_cast<Partial*>(space);
  parallel_for(0, chunks, 1, [&](int64_t b, int64_t e) {
    for (int64_t k = b; k < e; ++k) {
      int64_t begin = k * size, end = min_of(count, begin + size);
      if (columns) {
        fold_columns(op, plan.folded, shift, step, n, begin, end, parts + k * kFoldColumns);
      } else {
        parts[k] = fold_range(op, plan.folded, shift, begin, end);
      }
    }
  });
  int64_t row = columns ? kFoldColumns : 1;
  for (int64_t c = 0; c < n; ++c) {
    acc[c] = parts[c];
    for (int64_t k = 1; k < chunks; ++k) acc[c] = op.join(acc[c], parts[k * row + c]);
  }
}

// fold_by_columns computes stretches of neighbouring outputs together.
template <class Op>
static void fold_by_columns(const Op& op, const FoldPlan& plan) {
  using Partial = typename Op::Partial;
  const Walk<2>& kept = plan.kept;
  int64_t width = kept.size[0], outer = kept.numel() / width, count = plan.folded.numel();
  int64_t tiles = (width + kFoldColumns - 1) / kFoldColumns;
  int64_t tile = (width + tiles - 1) / tiles, step = kept.stride[1][0];
  auto one = [&](int64_t t, bool split) {
    alignas(64) char space[kFoldColumns * sizeof(Partial)];
    Partial* acc = reinterpret_cast<Partial*>(space);
    int64_t o = t / tiles, c = t % tiles * tile, n = min_of(tile, width - c);
    int64_t to = kept.offset(0, o * width + c), shift = kept.offset(1, o * width + c);
    if (split)
      fold_split(op, plan, shift, n, step, true, acc);
    else
      fold_columns(op, plan.folded, shift, step, n, 0, count, acc);
    op.store(kept.base[0] + to, kept.stride[0][0], acc, n);
  };
  int64_t tasks = outer * tiles;
  if (tasks < 8 && count * tile >= 2 * kFoldGrain) {
    for (int64_t t = 0; t < tasks; ++t) one(t, true);
    return;
  }
  int64_t grain = max_of<int64_t>(1, kFoldGrain / max_of<int64_t>(1, count * tile));
  parallel_for(0, tasks, grain, [&](int64_t b, int64_t e) {
    for (int64_t t = b; t < e; ++t) one(t, false);
  });
}

// fold_by_rows computes one output after the other.
template <class Op>
static void fold_by_rows(const Op& op, const FoldPlan& plan) {
  using Partial = typename Op::Partial;
  const Walk<2>& kept = plan.kept;
  int64_t outputs = kept.numel(), count = plan.folded.numel();
  if (outputs < 16 && count >= 2 * kFoldGrain) {
    for (int64_t o = 0; o < outputs; ++o) {
      Partial acc;
      fold_split(op, plan, kept.offset(1, o), 1, 0, false, &acc);
      op.store(kept.base[0] + kept.offset(0, o), 0, &acc, 1);
    }
    return;
  }
  int64_t grain = max_of<int64_t>(1, kFoldGrain / max_of<int64_t>(1, count));
  parallel_for(0, outputs, grain, [&](int64_t b, int64_t e) {
    int64_t from = kept.ndim ? kept.stride[1][0] : 0, to = kept.ndim ? kept.stride[0][0] : 0;
    kept.run(b, e, [&](char** p, int64_t n) {
      for (int64_t i = 0; i < n; ++i) {
        int64_t shift = p[1] - kept.base[1] + i * from;
        Partial acc = fold_range(op, plan.folded, shift, 0, count);
        op.store(p[0] + i * to, 0, &acc, 1);
      }
    });
  });
}

// fold runs the operation. Kept dimensions are not empty; with empty folded ones the identity is
// stored.
template <class Op>
static void fold(const Op& op, const View& out, const View& in, uint64_t mask,
                 bool ordered = false) {
  if (out.numel == 0) return;
  FoldPlan plan = plan_fold(out, in, mask);
  if (!ordered) plan.folded.sort();
  plan.folded.merge();
  if (by_columns(plan))
    fold_by_columns(op, plan);
  else
    fold_by_rows(op, plan);
}

// ConvertingLoad reads elements of any type as `as`, in place when nothing has to change.
template <class E>
struct ConvertingLoad {
  DType from, as;
  bool direct(int64_t stride) const { return from == as && stride == sizeof(E); }
  FACULA_INLINE const E* load(E* buffer, const char* p, int64_t stride, int64_t n) const {
    if (direct(stride)) return reinterpret_cast<const E*>(p);
    convert_strided(buffer, as, sizeof(E), p, from, stride, n);
    return buffer;
  }
};

// columns_by_join folds rows element by element, for operations with a cheap `one` and `join`.
template <class Op>
FACULA_INLINE void columns_by_join(const Op& op, typename Op::Partial* acc,
                                   const typename Op::Element* p, int64_t stride, int64_t rows,
                                   int64_t n, int64_t at) {
  for (int64_t r = 0; r < rows; ++r) {
    const typename Op::Element* e = p + r * stride;
    for (int64_t c = 0; c < n; ++c) acc[c] = op.join(acc[c], op.one(e[c], at + r));
  }
}

}  // namespace facula::kernels::FACULA_ISA
