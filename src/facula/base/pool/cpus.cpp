// Reads affinity, cgroup files and environment variables; see cpus.h.
#include "facula/base/pool/cpus.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

namespace facula::pool {

namespace {

// The whole of a small text file; empty when it cannot be read.
std::string read_file(const std::string& path) {
  std::string text;
  if (FILE* file = std::fopen(path.c_str(), "re")) {
    char buffer[4096];
    while (size_t n = std::fread(buffer, 1, sizeof(buffer), file)) text.append(buffer, n);
    std::fclose(file);
  }
  return text;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc()) return std::nullopt;
  return value;
}

// quota / period in processors, or 0 if there is no limit.
double ratio(std::string_view quota, std::string_view period) {
  auto q = parse_number(quota), p = parse_number(period);
  return q && p && *q > 0 && *p > 0 ? *q / *p : 0;
}

// The limit in one folder: cpu.max of version 2, or the two files of version 1.
double limit_in(const std::string& folder) {
  std::string max = read_file(folder + "/cpu.max");
  if (size_t space = max.find(' '); space != std::string::npos) {
    return ratio(std::string_view(max).substr(0, space), std::string_view(max).substr(space + 1));
  }
  return ratio(read_file(folder + "/cpu.cfs_quota_us"), read_file(folder + "/cpu.cfs_period_us"));
}

// The tightest limit of `mount`/`path` and its parents up to `mount`; 0 without one.
double limit_along(const std::string& mount, std::string path) {
  double best = 0;
  for (;;) {
    double limit = limit_in(mount + path);
    if (limit > 0 && (best == 0 || limit < best)) best = limit;
    if (path.empty()) return best;
    path.resize(std::min(path.rfind('/'), path.size() - 1));
  }
}

}  // namespace

int affinity_cpus() {
  // The mask may be longer than cpu_set_t on very large machines.
  for (size_t count = 1024; count <= 1 << 20; count *= 4) {
    cpu_set_t* set = CPU_ALLOC(count);
    if (!set) break;
    size_t size = CPU_ALLOC_SIZE(count);
    int found = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (found > 0) return found;
  }
  return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
}

double cgroup_cpus(const std::string& proc, const std::string& cgroup) {
  double best = 0;
  auto consider = [&](double limit) {
    if (limit > 0 && (best == 0 || limit < best)) best = limit;
  };
  // Lines are "hierarchy:controllers:path"; version 2 is "0::path".
  std::string text = read_file(proc + "/self/cgroup");
  for (size_t start = 0; start < text.size();) {
    size_t end = std::min(text.find('\n', start), text.size());
    std::string_view line(text.data() + start, end - start);
    start = end + 1;
    size_t first = line.find(':');
    size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::string path(line.substr(second + 1));
    if (path == "/") path.clear();
    if (controllers.empty()) {
      consider(limit_along(cgroup, path));
      consider(limit_along(cgroup + "/unified", path));
    } else if ((',' + std::string(controllers) + ',').find(",cpu,") != std::string::npos) {
      consider(limit_along(cgroup + "/cpu", path));
      consider(limit_along(cgroup + "/" + std::string(controllers), path));
    }
  }
  return best;
}

int requested_threads() {
  for (const char* name : {"FACULA_NUM_THREADS", "OMP_NUM_THREADS"}) {
    const char* text = std::getenv(name);
    if (!text) continue;
    char* end = nullptr;
    long value = std::strtol(text, &end, 10);
    if (end != text && value > 0) return static_cast<int>(std::min(value, 1024L));
  }
  return 0;
}

int default_threads() {
  if (int requested = requested_threads()) return requested;
  int count = affinity_cpus();
  double limit = cgroup_cpus("/proc", "/sys/fs/cgroup");
  if (limit > 0) count = std::min(count, std::max(1, static_cast<int>(std::ceil(limit))));
  return count;
}

}  // namespace facula::pool
