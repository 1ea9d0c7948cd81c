// The entry points of GNU OpenMP that oneDNN calls, on our pool. Their names carry the prefix
// facula_ (tools/wheels.py renames oneDNN's references), so no other OpenMP runtime in the process
// is affected. Their meaning is that of libgomp's interface.
#include "facula/base/export.h"
#include "facula/base/pool/pool.h"

namespace {

namespace pool = facula::pool;

// A thread's position in the statically scheduled loop that it is in.
struct StaticLoop {
  long next = 0;
  long end = 0;
  long step = 1;
  long chunk = 1;
};

thread_local StaticLoop loop __attribute__((tls_model("initial-exec")));

struct Task {
  void (*function)(void*);
  void* data;
};
// The outlined function of the outermost region that this thread began. Inner regions run on their
// caller alone and need no copy.
thread_local Task task __attribute__((tls_model("initial-exec")));

void run_task(void* context, int, int) {
  const Task& shared = *static_cast<const Task*>(context);
  shared.function(shared.data);
}

}  // namespace

extern "C" {

FACULA_API int facula_omp_get_max_threads() { return pool::in_region() ? 1 : pool::size(); }
FACULA_API int facula_omp_get_num_threads() { return pool::team_size(); }
FACULA_API int facula_omp_get_thread_num() { return pool::thread_number(); }
FACULA_API int facula_omp_in_parallel() { return pool::in_region() ? 1 : 0; }

FACULA_API void facula_GOMP_parallel_start(void (*function)(void*), void* data, unsigned threads) {
  int wanted = threads == 0 ? facula_omp_get_max_threads() : static_cast<int>(threads);
  if (!pool::in_region()) task = {function, data};
  pool::begin(wanted, run_task, &task);
}
FACULA_API void facula_GOMP_parallel_end() { pool::end(pool::Join::kAll); }
FACULA_API void facula_GOMP_barrier() { pool::barrier(); }

// The next chunk [*first, *last) of the calling thread; false when it has none left.
FACULA_API bool facula_GOMP_loop_static_next(long* first, long* last) {
  bool up = loop.step > 0;
  if (up ? loop.next >= loop.end : loop.next <= loop.end) return false;
  long stop = loop.next + loop.chunk * loop.step;
  *first = loop.next;
  *last = (up ? stop < loop.end : stop > loop.end) ? stop : loop.end;
  loop.next += loop.chunk * loop.step * pool::team_size();
  return true;
}

FACULA_API bool facula_GOMP_loop_static_start(long start, long end, long step, long chunk,
                                              long* first, long* last) {
  long count = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
  if (chunk <= 0) chunk = (count + pool::team_size() - 1) / pool::team_size();
  loop = {start + pool::thread_number() * chunk * step, end, step, chunk > 0 ? chunk : 1};
  return facula_GOMP_loop_static_next(first, last);
}

FACULA_API void facula_GOMP_loop_end_nowait() {}

}  // extern "C"
