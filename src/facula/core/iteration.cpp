// Planning of loops: which dimension is innermost, and which are walked as one.
#include "facula/core/iteration.h"

#include <algorithm>
#include <cstdlib>

#include "facula/base/error.h"

namespace facula {
namespace {

// Says whether dimension a belongs inside b (negative), outside (positive), or may stay (0). The
// operands decide in their order; one that is broadcast along either dimension has no say, and
// equal strides leave it to the sizes.
int order(const Loop& loop, int a, int b) {
  for (int k = 0; k < loop.num_operands; ++k) {
    int64_t sa = std::abs(loop.strides[k][a]), sb = std::abs(loop.strides[k][b]);
    if (sa == 0 || sb == 0) continue;
    if (sa != sb) return sa < sb ? -1 : 1;
    if (loop.sizes[a] > loop.sizes[b]) return 1;
  }
  return 0;
}

// Sorts dimension numbers, innermost first. An insertion sort, because the order is partial: a
// dimension moves past those that have no say and stops at the first that belongs inside it.
void sort_dims(const Loop& loop, int* dims, int n) {
  for (int i = 1; i < n; ++i) {
    int at = i;
    for (int j = i - 1; j >= 0; --j) {
      int c = order(loop, dims[j], dims[at]);
      if (c < 0) break;
      if (c > 0) {
        std::swap(dims[j], dims[at]);
        at = j;
      }
    }
  }
}

}  // namespace

void Loop::add(void* address, IntList shape, IntList operand_strides, int64_t item) {
  FACULA_CHECK(num_operands < kMaxOperands, kRuntime, "loop: expected at most ", kMaxOperands,
               " operands");
  data[num_operands] = static_cast<char*>(address);
  Sizes& out = strides[num_operands++];
  size_t lead = sizes.size() - shape.size();
  out.resize(sizes.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    bool broadcast = shape[d] == 1 && sizes[lead + d] != 1;
    out[lead + d] = broadcast ? 0 : operand_strides[d] * item;
  }
}

void Loop::plan() {
  int dims[kMaxDims], n = 0;
  for (int d = static_cast<int>(sizes.size()) - 1; d >= 0; --d) {
    if (sizes[d] != 1) dims[n++] = d;
  }
  sort_dims(*this, dims, n);
  Sizes merged_sizes;
  Sizes merged[kMaxOperands];
  for (int i = 0; i < n; ++i) {  // innermost first
    int d = dims[i];
    size_t last = merged_sizes.size();
    bool fits = last > 0;
    for (int k = 0; fits && k < num_operands; ++k) {
      fits = strides[k][d] == merged[k][last - 1] * merged_sizes[last - 1];
    }
    if (fits) {
      merged_sizes[last - 1] *= sizes[d];
      continue;
    }
    merged_sizes.push_back(sizes[d]);
    for (int k = 0; k < num_operands; ++k) merged[k].push_back(strides[k][d]);
  }
  std::reverse(merged_sizes.begin(), merged_sizes.end());
  sizes = std::move(merged_sizes);
  for (int k = 0; k < num_operands; ++k) {
    std::reverse(merged[k].begin(), merged[k].end());
    strides[k] = std::move(merged[k]);
  }
}

}  // namespace facula
