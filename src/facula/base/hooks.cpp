// The hooks in force; see hooks.h.
#include "facula/base/hooks.h"

namespace facula {

std::atomic<const ProfilerHooks*> profiler_hooks{nullptr};

}  // namespace facula
