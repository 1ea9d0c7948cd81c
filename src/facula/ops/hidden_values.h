// What stands behind tensors of interpreters, for checks that read values of all samples at once.
#pragma once
#include "facula/core/tensor.h"

namespace facula {

// all_samples gives the values of all samples behind a tensor from inside vmap; others as they are.
FACULA_API Tensor all_samples(const Tensor& t);

// any_true reads whether a condition holds somewhere, in any sample; false for tensors whose values
// cannot be read. Composites that check values ask it: inside vmap they get tensors without data.
FACULA_API bool any_true(const Tensor& condition);

// with_samples_of gives self, which will be written to: with samples of its own where `other` has.
FACULA_API Tensor with_samples_of(const Tensor& self, const Tensor& other);

// samples_behind is all_samples for tensors with kInterceptBatched; modes set it.
extern FACULA_API Tensor (*samples_behind)(const Tensor& t);

}  // namespace facula
