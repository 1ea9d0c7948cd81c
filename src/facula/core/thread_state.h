// ThreadState: everything thread-local, in one plain struct that is reached by a single load.
#pragma once
#include <cstdint>

#include "facula/base/export.h"

namespace facula {

class InterpreterStack;
struct Pruning;
struct SavedHookStack;

// ThreadState holds the modes of a thread. It has no constructor and no destructor, so the
// initial-exec access costs one instruction.
struct ThreadState {
  uint32_t above;         // non-zero when an interpreter above autograd (or the profiler) is on
  uint32_t below;         // non-zero when an interpreter below autograd is on
  bool no_grad;           // gradients are not recorded
  bool inference;         // inference_mode is on
  bool no_version_check;  // reserved for modes that may overwrite saved tensors
  uint8_t drain;          // depth of the graph destructor's loop
  void* pending;          // head of the graph nodes that wait for destruction
  InterpreterStack* stack;
  const Pruning* pruning;       // of the node that a backward pass runs for some of its inputs only
  SavedHookStack* saved_hooks;  // null unless hooks of saved tensors are on
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

// InferenceMode makes tensors without version counters and gradients for its scope, or ends that.
class InferenceMode {
 public:
  explicit InferenceMode(bool on = true) : before_(tls.inference), no_grad_before_(tls.no_grad) {
    tls.inference = on;
    tls.no_grad = on;
  }
  ~InferenceMode() {
    tls.inference = before_;
    tls.no_grad = no_grad_before_;
  }
  InferenceMode(const InferenceMode&) = delete;

 private:
  bool before_, no_grad_before_;
};

// NoGrad switches the recording of gradients off for its scope.
struct NoGrad : GradMode {
  NoGrad() : GradMode(false) {}
};

}  // namespace facula
