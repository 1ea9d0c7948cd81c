// What detach does with tensors that an interpreter stands behind, whose memory, if they have any,
// only the interpreter knows.
#pragma once
#include "facula/core/intercept.h"

namespace facula {

// Tensors with one of these bits may have no memory: none but operators may read or write them.
inline constexpr uint8_t kInterceptHidden = kInterceptDispatch | kInterceptBatched;

// detach_batched and detach_dispatched take a tensor from its history, the first one inside vmap,
// the second one of a class with a __torch_dispatch__. The layers that have them set them.
extern FACULA_API Tensor (*detach_batched)(const Tensor& t);
extern FACULA_API Tensor (*detach_dispatched)(const Tensor& t);

}  // namespace facula
