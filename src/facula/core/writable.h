// Whether the bytes of a storage may be written.
#pragma once
#include "facula/core/storage.h"

namespace facula {

// check_writable raises RuntimeError where the memory must not be written. Whoever writes into the
// bytes of a tensor or storage that was given asks here, or through check_inplace.
FACULA_API void check_writable(const Storage& storage, const char* writer);

}  // namespace facula
