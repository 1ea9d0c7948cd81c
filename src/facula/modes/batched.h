// Batched tensors: what vmap hands to the function it maps. A batched tensor looks like one sample;
// the samples are slices of dimension 0 of its value, a tensor that may be batched by an outer
// vmap.
#pragma once
#include "facula/core/interpreter.h"
#include "facula/core/tensor.h"

namespace facula {

// Levels number the vmaps of the process in order of their start; an inner one has a higher level.
// make_batched hides dimension 0 of `value`, whose own level must be lower. The result has no data;
// it wants a gradient if the value does.
FACULA_API Tensor make_batched(const Tensor& value, int64_t level);

inline bool is_batched(const Tensor& t) {
  return t.defined() && (t->intercept & kInterceptBatched) != 0;
}
// batch_level gives the level of a batched tensor, 0 for others; RuntimeError for an alias that was
// taken past the operators.
FACULA_API int64_t batch_level(const Tensor& t);
// batch_value gives what a batched tensor hides: samples along dimension 0.
FACULA_API const Tensor& batch_value(const Tensor& t);

// hide_batch makes dimension 0 of `t` the samples of `level`, and show_batch brings the samples of
// `level` back as dimension 0, both also beneath higher levels. show_batch expands a tensor that is
// not batched at the level to `size` samples.
FACULA_API Tensor hide_batch(const Tensor& t, int64_t level);
FACULA_API Tensor show_batch(const Tensor& t, int64_t level, int64_t size);
// is_batched_at says whether a tensor has samples of a level.
FACULA_API bool is_batched_at(const Tensor& t, int64_t level);

}  // namespace facula
