// The one thread-local struct.
#include "facula/core/thread_state.h"

namespace facula {

__thread ThreadState tls __attribute__((tls_model("initial-exec")));

}  // namespace facula
