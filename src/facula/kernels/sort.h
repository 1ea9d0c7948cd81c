// The sort family: orders along one dimension, searches in sorted sequences, histograms. NaN is
// larger than every number; -0.0 and 0.0 are equal. All orders are stable. Scratch memory that
// cannot be had is reported as Fault::kNoMemory.
#pragma once
#include "facula/kernels/view.h"

namespace facula::kernels {

// Pick names one element of a sorted line.
enum class Pick : uint8_t {
  kKth,        // number k, from 0
  kMedian,     // the lower median; NaN if there is one
  kNanMedian,  // the lower median of the numbers
  kMode,       // the most frequent, the smallest of these; position of its last occurrence
};

struct SortKernels {
  // The first `count` elements of each line in order; count is the size of the outputs along dim.
  // Either output may be a view without data.
  void (*sort)(const View& values, const View& indices, const View& in, int64_t dim,
               bool descending, Fault* fault);
  // One element of each line; the outputs have dim dropped or of size 1.
  void (*pick)(const View& values, const View& indices, const View& in, int64_t dim, Pick what,
               int64_t k, Fault* fault);
  // order_rows writes into `order` (int64, dense) the stable lexicographic order of the rows of a
  // dense two-dimensional tensor.
  void (*order_rows)(const View& order, const View& rows, Fault* fault);
  // runs finds stretches of equal rows of a dense two-dimensional tensor, taken in the order given
  // by `order` (dense, or no data for row-major), and returns their number. With data, `first` gets
  // the row number of the first row of each, `inverse` the number of the stretch of each row,
  // `counts` the lengths.
  int64_t (*runs)(const View& rows, const View& order, const View& first, const View& inverse,
                  const View& counts);
  // out[p] = where values[p] belongs in its sorted line (the last dimension; the sequence is
  // one-dimensional, or has the leading sizes of values): before equal elements, or behind them.
  // `sorter` (no data: none) gives the order of an unsorted sequence. All of one dtype, dense.
  void (*searchsorted)(const View& out, const View& sequence, const View& values,
                       const View& sorter, bool right);
  // histc adds the elements in [low, high] to equal bins.
  void (*histc)(const View& out, const View& in, double low, double high);
};
extern FACULA_API const SortKernels* sort;

}  // namespace facula::kernels
