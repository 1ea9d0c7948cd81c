// Places where upper layers plug in without being known here: the profiler's begin and end of an
// operator, and the capture of the user's source line. Plain function pointers, null until set; a
// call through a null hook costs one load and one branch.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "facula/base/export.h"

namespace facula {

// A place in the user's program, as cheap as possible: an opaque owner (for Python the code object)
// and an instruction offset in it. Turned into text only when a message is made.
struct Location {
  const void* code = nullptr;
  int64_t offset = 0;
};

// What the front end provides to capture locations. capture() returns a location that holds one
// share of its code object, or a null one; retain and release manage further shares; describe gives
// "file.py:12 in f".
struct LocationHooks {
  Location (*capture)() noexcept = nullptr;
  void (*retain)(Location) noexcept = nullptr;
  void (*release)(Location) noexcept = nullptr;
  std::string (*describe)(Location) = nullptr;
};

// What a running profiler provides. begin returns a token that end receives.
struct ProfilerHooks {
  uint64_t (*begin)(const char* operator_name) noexcept = nullptr;
  void (*end)(uint64_t token) noexcept = nullptr;
};

// The hooks in force; null where nobody listens. What they point to must stay alive for ever.
extern FACULA_API std::atomic<const LocationHooks*> location_hooks;
extern FACULA_API std::atomic<const ProfilerHooks*> profiler_hooks;

// Marks the extent of one operator call for the profiler.
class ProfilerScope {
 public:
  explicit ProfilerScope(const char* operator_name) noexcept
      : hooks_(profiler_hooks.load(std::memory_order_acquire)) {
    if (hooks_) [[unlikely]]
      token_ = hooks_->begin(operator_name);
  }
  ~ProfilerScope() {
    if (hooks_) [[unlikely]]
      hooks_->end(token_);
  }
  ProfilerScope(const ProfilerScope&) = delete;
  ProfilerScope& operator=(const ProfilerScope&) = delete;

 private:
  const ProfilerHooks* hooks_;
  uint64_t token_ = 0;
};

}  // namespace facula
