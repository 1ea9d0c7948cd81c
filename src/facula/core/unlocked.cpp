// The hooks of Unlocked.
#include "facula/core/unlocked.h"

namespace facula {

void* (*Unlocked::unlock)() = nullptr;
void (*Unlocked::relock)(void* token) = nullptr;

}  // namespace facula
