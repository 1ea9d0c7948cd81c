// Memory of storages that others hold: while arrays, buffers or capsules outside the library view
// the bytes, they keep their place, and the storage refuses to be resized.
#pragma once

#include "facula/base/export.h"
#include "facula/core/storage.h"

namespace facula {

// lend notes one more holder of the bytes, give_back that one has let go. A storage whose array
// cannot tell when it is gone stays lent.
FACULA_API void lend(Storage* storage);
FACULA_API void give_back(Storage* storage);
FACULA_API bool is_lent(const Storage* storage);

}  // namespace facula
