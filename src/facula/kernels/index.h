// The index family: kernels that pick elements by position. Index tensors are int64. Every position
// is checked before anything is written; a bad one is reported through the Fault (kIndexOutOfRange:
// number of the index in its tensor, value, bound).
#pragma once
#include "facula/kernels/view.h"

namespace facula::kernels {

struct IndexKernels {
  // out[.., i, ..] = in[.., index[i], ..]; index is one-dimensional.
  void (*index_select)(const View& out, const View& in, int64_t dim, const View& index,
                       Fault* fault);
  // out[p] = in[p with p[dim] replaced by index[p]]; out and index have one shape.
  void (*gather)(const View& out, const View& in, int64_t dim, const View& index, Fault* fault);
  // out[p] = the element number index[p] of `in` in row-major order; negative ones count from the
  // end.
  void (*take)(const View& out, const View& in, const View& index, Fault* fault);
  // The first `count` dimensions of `in` are indexed by the views indices[0..count), which have one
  // shape I (strides may be 0); out has the shape I + the rest of in's. Negative positions count
  // from the end.
  void (*index)(const View& out, const View& in, const View* indices, int count, Fault* fault);
  // masked_select writes the elements where mask holds, in row-major order; out is dense.
  void (*masked_select)(const View& out, const View& in, const View& mask);
  // nonzero writes the positions of non-zero elements as rows of out (n, ndim), row-major order.
  void (*nonzero)(const View& out, const View& in);
  // repeat_index writes i repeats[i] times, one after the other; out is dense.
  void (*repeat_index)(const View& out, const View& repeats);
  // tril and triu keep the elements on and below (above) diagonal k of the last two dimensions and
  // set the others to 0.
  void (*tril)(const View& out, const View& in, int64_t k);
  void (*triu)(const View& out, const View& in, int64_t k);
};
extern FACULA_API const IndexKernels* index;

}  // namespace facula::kernels
