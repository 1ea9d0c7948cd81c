// Scratch memory of kernels.
#include "facula/kernels/scratch.h"

#include "facula/core/allocator.h"

namespace facula::kernels {

void* scratch_memory(int64_t bytes) { return try_allocate_cpu(static_cast<size_t>(bytes)); }

void free_scratch(void* memory, int64_t bytes) {
  if (memory) deallocate_cpu(memory, static_cast<size_t>(bytes));
}

}  // namespace facula::kernels
