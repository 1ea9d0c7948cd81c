// The three products of a convolution on plain tensors: oneDNN where it is faster, unfolding and
// matrix products elsewhere.
#pragma once
#include "facula/core/tensor.h"
#include "facula/kernels/conv.h"

namespace facula {

// conv_output computes y = conv(x, w) + bias; bias may be undefined. All three functions take
// tensors [batch, channels, spatial...] of one type, contiguous or channels last.
FACULA_API void conv_output(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& bias,
                            const kernels::ConvShape& shape);
// conv_input computes the gradient x of the input from the gradient y of the output.
FACULA_API void conv_input(const Tensor& x, const Tensor& w, const Tensor& y,
                           const kernels::ConvShape& shape);
// conv_weight computes the gradient w of the weight, added over the batch in a fixed order.
FACULA_API void conv_weight(const Tensor& w, const Tensor& x, const Tensor& y,
                            const kernels::ConvShape& shape);

// is_channels_last says whether a 4-d or 5-d tensor is dense with its channels innermost, and not
// row-major as well.
FACULA_API bool is_channels_last(const Tensor& t);
// channels_last_format is the format of a rank; kContiguous for ranks that have none.
FACULA_API MemoryFormat channels_last_format(int64_t rank);

}  // namespace facula
