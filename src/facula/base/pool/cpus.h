// How many processors this process may use: the affinity mask, cut by the cgroup CPU limit, and
// what the environment asks for.
#pragma once

#include <string>

#include "facula/base/export.h"

namespace facula::pool {

// The processors in the calling thread's affinity mask.
FACULA_API int affinity_cpus();

// The CPU limit of the cgroups that this process is in, in processors; 0 without a limit. `proc`
// and `cgroup` are the roots of the two file systems ("/proc", "/sys/fs/cgroup"); both versions of
// cgroups are read, and the tightest limit on the way to the root counts.
FACULA_API double cgroup_cpus(const std::string& proc, const std::string& cgroup);

// The first number of FACULA_NUM_THREADS or else OMP_NUM_THREADS; 0 where neither is a positive
// one.
FACULA_API int requested_threads();

// The number of threads a new process starts with: requested_threads(), or else affinity_cpus() but
// not above the cgroup limit rounded up.
FACULA_API int default_threads();

}  // namespace facula::pool
