// The process's one team of worker threads. Our own loops (parallel.h) and oneDNN (openmp.cpp) run
// on it. A region runs a body on all threads of a team at once; workers spin for some microseconds
// between regions and sleep on a futex after that. A region begun inside another one, or while
// another thread has the team, runs on its caller alone. A forked child starts with no workers and
// makes its own when it needs them.
#pragma once

#include "facula/base/export.h"

namespace facula::pool {

// What a region runs: `thread` counts from 0 (the caller) to `team` - 1.
using Body = void (*)(void* context, int thread, int team);

// The largest team; more are neither made nor reported.
inline constexpr int kMaxThreads = 256;

// The team size that regions get from now on, at least 1. From default_threads() at first.
FACULA_API int size();
FACULA_API void set_size(int threads);

// Whether the calling thread is inside a region.
FACULA_API bool in_region();

// The calling thread's number and the team's size; 0 and 1 outside regions.
FACULA_API int thread_number();
FACULA_API int team_size();

// Starts `body` on the workers of a team of at most `threads` and returns the team's size; the
// caller is thread 0, runs its own part itself, and then calls end(). The body must not throw.
FACULA_API int begin(int threads, Body body, void* context);

// Whom the end of a region waits for. kAll: every thread runs the body, so bodies may wait for one
// another. kBegun: a worker that has not begun by now, since it has no processor, is called off;
// for bodies that share work dynamically.
enum class Join { kAll, kBegun };
FACULA_API void end(Join join);

// Waits until all threads of the caller's team are here; only in regions that end with kAll.
FACULA_API void barrier();

// begin(), the caller's part, end().
FACULA_API void run(int threads, Join join, Body body, void* context);

}  // namespace facula::pool
