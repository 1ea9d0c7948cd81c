// Loop: walks several strided operands of one broadcast shape, the pattern under every pointwise
// operator, copy and cast. It drops, orders and merges dimensions so that the inner loop is long.
#pragma once
#include <cstdint>

#include "facula/base/parallel.h"
#include "facula/core/tensor.h"

namespace facula {

inline constexpr int kMaxOperands = 8;

// Loop is a plan over up to kMaxOperands operands; strides are in bytes.
struct Loop {
  int num_operands = 0;
  Sizes sizes;  // outermost first after plan()
  Sizes strides[kMaxOperands];
  char* data[kMaxOperands] = {};

  explicit Loop(IntList shape) { sizes.assign(shape.begin(), shape.end()); }
  // add appends an operand whose shape broadcasts to the loop's; outputs come first.
  void add(const Tensor& t) { add(t->data(), t.sizes(), t.strides(), item_size(t.dtype())); }
  FACULA_API void add(void* data, IntList shape, IntList strides, int64_t item);
  // plan orders dimensions by the strides of the first operand, drops size 1, merges neighbours.
  FACULA_API void plan();
  int64_t numel() const {
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    return n;
  }

  // run calls f(pointers, strides of the inner dimension, inner length) for each inner row,
  // serially, over the elements [begin, end) in the order of the plan.
  template <class F>
  void run(int64_t begin, int64_t end, F&& f) const;
  // run_parallel does the same on the pool; f must be safe to call from several threads.
  template <class F>
  void run_parallel(int64_t grain, F&& f) const {
    int64_t n = numel();
    if (n == 0) return;
    if (n <= grain) return run(0, n, f);
    parallel_for(0, n, grain, [&](int64_t b, int64_t e) { run(b, e, f); });
  }
};

template <class F>
void Loop::run(int64_t begin, int64_t end, F&& f) const {
  if (begin >= end) return;
  int nd = static_cast<int>(sizes.size());
  char* p[kMaxOperands];
  int64_t inner[kMaxOperands];
  for (int k = 0; k < num_operands; ++k) {
    p[k] = data[k];
    inner[k] = nd ? strides[k][nd - 1] : 0;
  }
  if (nd == 0) return f(p, inner, int64_t{1});
  if (nd == 1) {
    for (int k = 0; k < num_operands; ++k) p[k] += begin * inner[k];
    return f(p, inner, end - begin);
  }
  int64_t row = sizes[nd - 1], index[64], left = end - begin, at = begin;
  for (int d = nd - 1; d >= 0; --d) {
    index[d] = at % sizes[d];
    at /= sizes[d];
    for (int k = 0; k < num_operands; ++k) p[k] += index[d] * strides[k][d];
  }
  while (true) {
    int64_t n = row - index[nd - 1];
    if (n > left) n = left;
    f(p, inner, n);
    left -= n;
    if (left == 0) return;
    for (int k = 0; k < num_operands; ++k) p[k] -= index[nd - 1] * inner[k];
    index[nd - 1] = 0;
    for (int d = nd - 2; d >= 0; --d) {
      for (int k = 0; k < num_operands; ++k) p[k] += strides[k][d];
      if (++index[d] < sizes[d]) break;
      for (int k = 0; k < num_operands; ++k) p[k] -= sizes[d] * strides[k][d];
      index[d] = 0;
    }
  }
}

}  // namespace facula
