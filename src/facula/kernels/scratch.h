// Memory that a kernel needs while it runs and whose size is no part of its result. It comes from
// the allocator of tensors and is counted there.
#pragma once
#include <cstdint>

#include "facula/base/export.h"

namespace facula::kernels {

// scratch_memory gives memory aligned to 64 bytes, or null; free_scratch takes it back.
FACULA_API void* scratch_memory(int64_t bytes);
FACULA_API void free_scratch(void* memory, int64_t bytes);

}  // namespace facula::kernels
