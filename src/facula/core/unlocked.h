// Unlocked: lets other threads of the embedding language run during long work, by releasing the
// lock (Python's GIL) that the calling thread may hold.
#pragma once

#include "facula/base/export.h"

namespace facula {

// Unlocked gives the lock back for its scope. Only for work that touches neither Python objects
// nor tensors that a Python object might be the last owner of. Costs a branch in C++ programs.
class Unlocked {
 public:
  Unlocked() : token_(unlock ? unlock() : nullptr) {}
  ~Unlocked() {
    if (token_) relock(token_);
  }
  Unlocked(const Unlocked&) = delete;

  // Filled by the Python layer: unlock returns null when the thread holds no lock.
  static FACULA_API void* (*unlock)();
  static FACULA_API void (*relock)(void* token);

 private:
  void* token_;
};

}  // namespace facula
