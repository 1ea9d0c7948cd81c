// The worker team; see pool.h. Each worker has a mailbox on its own cache line with a ticket: odd
// while a body waits there to be begun, even otherwise; whoever turns it even, the worker or a
// caller that no longer waits, decides whether the body runs. All state is trivially destructible,
// since workers outlive static destruction.
#include "facula/base/pool/pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>

#include "facula/base/pool/cpus.h"

namespace facula::pool {

namespace {

// How long a thread spins before it sleeps, in time stamp ticks: 30 to 60 us on present machines.
constexpr uint64_t kSpinTicks = 120'000;

void futex_wait(std::atomic<uint32_t>& word, uint32_t seen) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}
void futex_wake(std::atomic<uint32_t>& word, int count) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

// Spins, then sleeps on `word`, until it differs from `seen`; `asleep` counts sleepers for the
// waker. Returns the new value.
uint32_t await_change(std::atomic<uint32_t>& word, uint32_t seen, std::atomic<uint32_t>& asleep) {
  uint64_t start = __builtin_ia32_rdtsc();
  for (;;) {
    uint32_t now = word.load(std::memory_order_acquire);
    if (now != seen) return now;
    if (__builtin_ia32_rdtsc() - start < kSpinTicks) {
      __builtin_ia32_pause();
      continue;
    }
    asleep.fetch_add(1, std::memory_order_seq_cst);
    if (word.load(std::memory_order_seq_cst) == seen) futex_wait(word, seen);
    asleep.fetch_sub(1, std::memory_order_seq_cst);
  }
}

// Wakes whoever sleeps on `word`, which has just been changed with sequential consistency.
void wake_if_asleep(std::atomic<uint32_t>& word, std::atomic<uint32_t>& asleep) {
  if (asleep.load(std::memory_order_seq_cst) != 0) futex_wake(word, INT_MAX);
}

struct alignas(64) Mailbox {
  std::atomic<uint32_t> ticket{0};
  std::atomic<uint32_t> asleep{0};
  Body body = nullptr;
  void* context = nullptr;
  int team = 1;
};

struct Team {
  Mailbox mailboxes[kMaxThreads];
  alignas(64) std::atomic<uint32_t> busy{0};  // one caller at a time
  alignas(64) std::atomic<uint32_t> running{0};
  std::atomic<uint32_t> joiner_asleep{0};
  alignas(64) std::atomic<uint32_t> arrived{0};
  std::atomic<uint32_t> barrier_epoch{0};
  std::atomic<uint32_t> barrier_asleep{0};
  std::atomic<int> size{0};
  int started = 0;     // workers 1..started exist; guarded by busy
  int generation = 0;  // raised in forked children
};

Team team;

// Where a thread is. A region inside a region runs alone, as thread 0 of 1; `outer` remembers the
// numbers of the outermost one meanwhile.
struct ThreadState {
  int thread = 0;
  int team = 1;
  int depth = 0;
  int outer_thread = 0;
  int outer_team = 1;
  bool owner = false;  // the outermost region has the team
};

thread_local ThreadState state __attribute__((tls_model("initial-exec")));

// Takes the body out of a mailbox if it is still there.
bool claim(Mailbox& box) {
  uint32_t ticket = box.ticket.load(std::memory_order_acquire);
  return (ticket & 1) != 0 &&
         box.ticket.compare_exchange_strong(ticket, ticket + 1, std::memory_order_acq_rel);
}

void* work(void* argument) {
  int thread = static_cast<int>(reinterpret_cast<intptr_t>(argument));
  int generation = team.generation;
  Mailbox& box = team.mailboxes[thread];
  state.depth = 1;
  uint32_t seen = 0;
  for (;;) {
    if (!claim(box)) {
      seen = await_change(box.ticket, seen, box.asleep);
      continue;
    }
    state.thread = thread;
    state.team = box.team;
    box.body(box.context, thread, box.team);
    if (team.generation != generation) return nullptr;  // forked in the body, and nobody waits
    seen = box.ticket.load(std::memory_order_relaxed);
    if (team.running.fetch_sub(1, std::memory_order_seq_cst) == 1) {
      wake_if_asleep(team.running, team.joiner_asleep);
    }
  }
}

// Starts workers until there are `count`; returns how many there are. Workers take no signals.
int start_workers(int count) {
  if (team.started >= count) return team.started;
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  while (team.started < count) {
    int thread = team.started + 1;
    team.mailboxes[thread].ticket.store(0, std::memory_order_relaxed);
    pthread_t handle;
    if (pthread_create(&handle, nullptr, work, reinterpret_cast<void*>(intptr_t{thread})) != 0) {
      break;
    }
    pthread_detach(handle);
    team.started = thread;
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return team.started;
}

// In a forked child only the forking thread lives on. If it forked inside a region, that region
// goes on alone.
void reset_in_child() {
  for (Mailbox& box : team.mailboxes) {
    box.ticket.store(0, std::memory_order_relaxed);
    box.asleep.store(0, std::memory_order_relaxed);
  }
  ++team.generation;
  team.started = 0;
  team.running.store(0, std::memory_order_relaxed);
  team.joiner_asleep.store(0, std::memory_order_relaxed);
  team.arrived.store(0, std::memory_order_relaxed);
  team.barrier_asleep.store(0, std::memory_order_relaxed);
  team.busy.store(state.owner ? 1 : 0, std::memory_order_relaxed);
  state.team = 1;
  if (!state.owner) state.thread = 0;
}

__attribute__((constructor)) void set_up() {
  team.size.store(std::min(default_threads(), kMaxThreads), std::memory_order_relaxed);
  pthread_atfork(nullptr, nullptr, reset_in_child);
}

}  // namespace

int size() { return team.size.load(std::memory_order_relaxed); }

void set_size(int threads) {
  team.size.store(std::clamp(threads, 1, kMaxThreads), std::memory_order_relaxed);
}

bool in_region() { return state.depth > 0; }
int thread_number() { return state.thread; }
int team_size() { return state.team; }

int begin(int threads, Body body, void* context) {
  if (state.depth++ > 0) {
    if (state.depth == 2) {
      state.outer_thread = state.thread;
      state.outer_team = state.team;
      state.thread = 0;
      state.team = 1;
    }
    return 1;
  }
  threads = std::min(threads, kMaxThreads);
  if (threads < 2 || team.busy.exchange(1, std::memory_order_acquire) != 0) return 1;
  threads = std::min(threads, start_workers(threads - 1) + 1);
  if (threads < 2) {
    team.busy.store(0, std::memory_order_release);
    return 1;
  }
  team.running.store(static_cast<uint32_t>(threads - 1), std::memory_order_relaxed);
  for (int thread = 1; thread < threads; ++thread) {
    Mailbox& box = team.mailboxes[thread];
    box.body = body;
    box.context = context;
    box.team = threads;
    box.ticket.fetch_add(1, std::memory_order_seq_cst);
    wake_if_asleep(box.ticket, box.asleep);
  }
  state.owner = true;
  state.team = threads;
  return threads;
}

void end(Join join) {
  if (--state.depth > 0) {
    if (state.depth == 1) {
      state.thread = state.outer_thread;
      state.team = state.outer_team;
    }
    return;
  }
  if (!state.owner) return;
  if (join == Join::kBegun) {
    for (int thread = 1; thread < state.team; ++thread) {
      if (claim(team.mailboxes[thread])) team.running.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  while (uint32_t left = team.running.load(std::memory_order_acquire)) {
    await_change(team.running, left, team.joiner_asleep);
  }
  state.owner = false;
  state.team = 1;
  team.busy.store(0, std::memory_order_release);
}

void barrier() {
  if (state.team < 2) return;
  uint32_t epoch = team.barrier_epoch.load(std::memory_order_acquire);
  uint32_t arrived = team.arrived.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (arrived == static_cast<uint32_t>(state.team)) {
    team.arrived.store(0, std::memory_order_relaxed);
    team.barrier_epoch.fetch_add(1, std::memory_order_seq_cst);
    wake_if_asleep(team.barrier_epoch, team.barrier_asleep);
  } else {
    await_change(team.barrier_epoch, epoch, team.barrier_asleep);
  }
}

void run(int threads, Join join, Body body, void* context) {
  int team_size = begin(threads, body, context);
  body(context, 0, team_size);
  end(join);
}

}  // namespace facula::pool
