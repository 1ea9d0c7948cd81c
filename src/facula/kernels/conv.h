// Convolutions of 1 to 3 spatial dimensions: the shape, the oneDNN plans for float32, and the
// unfolding into columns that turns every other type into matrix products.
#pragma once
#include <cstdint>

#include "facula/base/export.h"
#include "facula/core/dtype.h"

namespace facula::kernels {

// ConvShape is the geometry of a convolution, always with three spatial dimensions (outer ones 1).
// `padding` is the padding in front; what is behind follows from `output`.
struct ConvShape {
  int64_t spatial = 2, batch = 1, groups = 1, in_channels = 1, out_channels = 1;
  int64_t input[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, output[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1}, padding[3] = {0, 0, 0}, dilation[3] = {1, 1, 1};

  int64_t input_size() const { return input[0] * input[1] * input[2]; }
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t output_size() const { return output[0] * output[1] * output[2]; }
  bool is_pointwise() const {
    for (int d = 0; d < 3; ++d) {
      if (kernel[d] != 1 || stride[d] != 1 || padding[d] != 0) return false;
    }
    return true;
  }
};

// ConvLayout says how an image tensor lies in memory: channels before or after the positions.
enum class ConvLayout : uint8_t { kChannelsFirst, kChannelsLast };

// ConvKind is which of the three products of a convolution is wanted.
enum class ConvKind : uint8_t { kForward, kInput, kWeight };

// ConvPlan is a prepared float32 convolution of the calling thread; it stays valid until the thread
// ends or prepares many others, so it is run at once.
class ConvPlan;

// plan_conv finds or prepares a convolution; null when oneDNN has none for the shape. `x` and `y`
// are the layouts of input and output (or of their gradients); weights are
// [out_channels, in_channels / groups, kernel...], row-major or (weight_last) channels last.
FACULA_API ConvPlan* plan_conv(ConvKind kind, const ConvShape& shape, ConvLayout x, ConvLayout y,
                               bool weight_last, bool bias);
// conv_workspace gives the bytes of scratch memory, 64-byte aligned, that run_conv wants.
FACULA_API int64_t conv_workspace(const ConvPlan* plan);
// run_conv computes y from x, w and bias (kForward), x from y and w (kInput), or w from x and y
// (kWeight). The result does not depend on the number of threads.
FACULA_API void run_conv(ConvPlan* plan, void* x, void* w, const void* bias, void* y,
                         void* workspace);

// UnfoldKernels move between images and columns; `image` has `channels` planes of one sample.
struct UnfoldKernels {
  // columns[(channel, kernel position), output position] = image, 0 outside; item is 1 to 16 bytes.
  void (*unfold)(int64_t item, const void* image, void* columns, const ConvShape& shape,
                 int64_t begin, int64_t end);
  // image = sum of the columns that unfold takes from each place; for channels [begin, end).
  void (*fold)(DType dtype, const void* columns, void* image, const ConvShape& shape, int64_t begin,
               int64_t end);
};
extern FACULA_API const UnfoldKernels* unfolds;

// unfold and fold work on one sample, on the pool.
FACULA_API void unfold(DType dtype, const void* image, void* columns, const ConvShape& shape,
                       int64_t channels);
FACULA_API void fold(DType dtype, const void* columns, void* image, const ConvShape& shape,
                     int64_t channels);

}  // namespace facula::kernels
