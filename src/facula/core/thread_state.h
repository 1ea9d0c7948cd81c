// ThreadState: everything thread-local, in one plain struct that is reached by a single load.
#pragma once
#include <cstdint>

#include "facula/base/export.h"

namespace facula {

class InterpreterStack;

// ThreadState holds the modes of a thread. It has no constructor and no destructor, so the
// initial-exec access costs one instruction.
struct ThreadState {
  uint32_t above;        // non-zero when an interpreter above autograd (or the profiler) is on
  uint32_t below;        // non-zero when an interpreter below autograd is on
  bool no_grad;          // gradients are not recorded
  bool inference;        // inference_mode is on
  bool no_version_check; // reserved for modes that may overwrite saved tensors
  uint8_t drain;         // depth of the graph destructor's loop
  void* pending;         // head of the graph nodes that wait for destruction
  InterpreterStack* stack;
};

extern FACULA_API __thread ThreadState tls __attribute__((tls_model("initial-exec")));

// grad_enabled says whether operators record their gradients in this thread.
inline bool grad_enabled() { return !tls.no_grad; }

// GradMode sets the recording of gradients for its scope.
class GradMode {
 public:
  explicit GradMode(bool enabled) : before_(tls.no_grad) { tls.no_grad = !enabled; }
  ~GradMode() { tls.no_grad = before_; }
  GradMode(const GradMode&) = delete;

 private:
  bool before_;
};

// NoGrad switches the recording of gradients off for its scope.
struct NoGrad : GradMode {
  NoGrad() : GradMode(false) {}
};

}  // namespace facula
