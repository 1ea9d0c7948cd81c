// The elementwise halves of recurrent steps: gates to states, and their gradients. All matrices are
// dense, of `rows` rows; H is the hidden size. Types are float32 and float64.
#pragma once
#include <cstdint>

#include "facula/base/export.h"
#include "facula/core/dtype.h"

namespace facula::kernels {

struct RecurrentKernels {
  // gates [rows, 4H] (i, f, g, o before their functions) become their values; state holds the cells
  // before and after; the new cells and hidden values are stored too.
  void (*lstm)(DType dtype, void* gates, void* state, void* cells, void* hidden, int64_t rows,
               int64_t h);
  // grads [rows, 4H] by the gates before their functions; dc holds the gradient of the new cells
  // and becomes that of the old ones.
  void (*lstm_backward)(DType dtype, void* grads, const void* gates, const void* before,
                        const void* cells, const void* dh, void* dc, int64_t rows, int64_t h);
  // from_input and from_hidden are [rows, 3H] (r, z, n); saved gets r, z, n and the hidden part of
  // n [rows, 4H]; state holds the hidden values before and after.
  void (*gru)(DType dtype, const void* from_input, const void* from_hidden, void* saved,
              void* state, void* hidden, int64_t rows, int64_t h);
  // dh holds the gradient of the new state and becomes its direct part by the old one.
  void (*gru_backward)(DType dtype, void* by_input, void* by_hidden, const void* saved,
                       const void* before, void* dh, int64_t rows, int64_t h);
  // sums [n] become tanh or relu of themselves; state and hidden are copies.
  void (*plain)(DType dtype, const void* sums, void* state, void* hidden, int64_t n, bool relu);
  void (*plain_backward)(DType dtype, void* grads, const void* hidden, const void* dh, int64_t n,
                         bool relu);
};
extern FACULA_API const RecurrentKernels* recurrent;

}  // namespace facula::kernels
