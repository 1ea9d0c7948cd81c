// The place where the profiler plugs in without being known here: begin and end of an operator.
// Plain function pointers, null until set; a call through a null hook costs one load and one
// branch. (The hook of source locations is in core/location.h.)
#pragma once

#include <atomic>
#include <cstdint>

#include "facula/base/export.h"

namespace facula {

// What a running profiler provides. begin returns a token that end receives.
struct ProfilerHooks {
  uint64_t (*begin)(const char* operator_name) noexcept = nullptr;
  void (*end)(uint64_t token) noexcept = nullptr;
};

// The hooks in force; null where nobody listens. What they point to must stay alive for ever.
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
