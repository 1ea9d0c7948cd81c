// Makes and keeps the plans of Fourier transforms: factors, roots of unity, chirps.
#include "facula/kernels/fft_plan.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace facula::kernels {
namespace {

// So many plans are kept, of so many elements together.
constexpr size_t kKeptPlans = 64;
constexpr int64_t kKeptElements = int64_t{1} << 22;
constexpr int64_t kShortestSplit = 64;

struct Pair {
  double re, im;
};

// root gives exp(-2 pi i j / n), 0 <= j < n, from an angle of at most an eighth of a turn, so that
// roots which mirror each other are equal to the last bit.
Pair root(int64_t j, int64_t n) {
  bool below = 2 * j <= n;
  if (!below) j = n - j;
  int64_t eighths = 8 * j;  // of 1 / n
  bool left = eighths > 2 * n;
  if (left) eighths = 4 * n - eighths;
  bool steep = eighths > n;
  if (steep) eighths = 2 * n - eighths;
  double angle = M_PI / 4 * (static_cast<double>(eighths) / static_cast<double>(n));
  double c = std::cos(angle), s = std::sin(angle);
  if (steep) std::swap(c, s);
  return {left ? -c : c, below ? -s : s};
}

// OwnedPlan is a plan with its tables and the count of those who use it.
struct OwnedPlan : FftPlan {
  std::atomic<int> users{1};
  std::vector<std::unique_ptr<char[]>> tables;

  ~OwnedPlan() {
    for (const FftPlan* part : {convolution, rows, columns}) {
      if (part) release_fft_plan(part);
    }
  }

  // table stores `count` pairs f(i) in the plan's type.
  template <class F>
  const void* table(int64_t count, F&& f) {
    size_t bytes = static_cast<size_t>(2 * count) * (single ? sizeof(float) : sizeof(double));
    tables.push_back(std::make_unique<char[]>(bytes));
    char* to = tables.back().get();
    for (int64_t i = 0; i < count; ++i) {
      Pair v = f(i);
      if (single) {
        reinterpret_cast<float*>(to)[2 * i] = static_cast<float>(v.re);
        reinterpret_cast<float*>(to)[2 * i + 1] = static_cast<float>(v.im);
      } else {
        reinterpret_cast<Pair*>(to)[i] = v;
      }
    }
    return to;
  }

  // roots stores every `step`-th root of an order, in double.
  const double* roots(int64_t count, int64_t step, int64_t order) {
    tables.push_back(std::make_unique<char[]>(static_cast<size_t>(count) * sizeof(Pair)));
    Pair* to = reinterpret_cast<Pair*>(tables.back().get());
    for (int64_t i = 0; i < count; ++i) to[i] = root(i * step % order, order);
    return &to->re;
  }
};

std::vector<int64_t> prime_factors(int64_t n) {
  std::vector<int64_t> found;
  for (int64_t p = 2; p * p <= n; p += p == 2 ? 1 : 2) {
    for (; n % p == 0; n /= p) found.push_back(p);
  }
  if (n > 1) found.push_back(n);
  return found;
}

// smooth_length gives the smallest product of 2, 3 and 5 that is at least n.
int64_t smooth_length(int64_t n) {
  int64_t best = INT64_MAX;
  for (int64_t fives = 1;; fives *= 5) {
    for (int64_t odd = fives;; odd *= 3) {
      int64_t even = odd;
      while (even < n) even *= 2;
      best = std::min(best, even);
      if (odd >= n) break;
    }
    if (fives >= n) break;
  }
  return best;
}

// balanced_factor gives the largest divisor up to the square root.
int64_t balanced_factor(int64_t n) {
  auto part = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  while (n % part != 0) --part;
  return part;
}

void make_passes(OwnedPlan& plan, const std::vector<int64_t>& factors) {
  int64_t twos = std::count(factors.begin(), factors.end(), 2);
  std::vector<int64_t> radices(static_cast<size_t>(twos / 2), 4);
  if (twos % 2) radices.push_back(2);
  radices.insert(radices.end(), factors.begin() + twos, factors.end());
  int64_t left = plan.length;
  for (int64_t r : radices) {
    int64_t order = left;
    FftPass& pass = plan.pass[plan.passes++];
    pass.radix = r;
    pass.span = left /= r;
    pass.twiddles = plan.table(pass.span * (r - 1), [&](int64_t i) {
      return root((i / (r - 1)) * (i % (r - 1) + 1), order);
    });
    pass.roots = r % 2 == 0 ? nullptr : plan.table(r, [&](int64_t j) {
      Pair w = root(j, r);
      return Pair{w.re, -w.im};
    });
  }
  plan.direct = true;
}

// make_chirp prepares the convolution sum_j x[j] a[j] conj(a[k - j]) a[k], a[j] = exp(-pi i j^2 /
// n).
bool make_chirp(OwnedPlan& plan, FftLineFn line) {
  int64_t n = plan.length;
  const int64_t m = smooth_length(2 * n - 1);
  plan.convolution = fft_plan(m, plan.single, line);
  const FftPlan* exact = fft_plan(m, false, line);
  if (!plan.convolution || !exact) {
    if (exact) release_fft_plan(exact);
    return false;
  }
  std::vector<double> re(static_cast<size_t>(m)), im(static_cast<size_t>(m));
  std::vector<Pair> chirp(static_cast<size_t>(n));
  int64_t square = 0;  // j^2 modulo 2 n
  for (int64_t j = 0; j < n; ++j) {
    chirp[j] = root(square, 2 * n);
    square = (square + 2 * j + 1) % (2 * n);
    for (int64_t at : {j, (m - j) % m}) {
      re[at] = chirp[j].re / static_cast<double>(m);
      im[at] = -chirp[j].im / static_cast<double>(m);
    }
  }
  bool done = line(*exact, re.data(), im.data());
  release_fft_plan(exact);
  plan.chirp = plan.table(n, [&](int64_t j) { return chirp[j]; });
  plan.filter = plan.table(m, [&](int64_t j) { return Pair{re[j], im[j]}; });
  return done;
}

bool make_split(OwnedPlan& plan, int64_t part, FftLineFn line) {
  plan.rows = fft_plan(part, plan.single, line);
  plan.columns = fft_plan(plan.length / part, plan.single, line);
  plan.fine = plan.roots(FftPlan::kFine, 1, plan.length);
  plan.coarse = plan.roots(plan.length / FftPlan::kFine + 1, FftPlan::kFine, plan.length);
  return plan.rows && plan.columns;
}

std::unique_ptr<OwnedPlan> make_plan(int64_t length, bool single, FftLineFn line) {
  auto plan = std::make_unique<OwnedPlan>();
  plan->length = length;
  plan->single = single;
  std::vector<int64_t> factors = prime_factors(length);
  bool made = true;
  if (!factors.empty() && factors.back() > kLargestFactor) {
    made = make_chirp(*plan, line);
  } else {
    int64_t part = balanced_factor(length);
    bool split = length >= kShortestSplit && part >= 8;
    if (split) made = make_split(*plan, part, line);
    if (!split || length <= kLongestDirect) make_passes(*plan, factors);
  }
  plan->half_fine = plan->roots(FftPlan::kFine, 1, 2 * length);
  plan->half_coarse = plan->roots(length / FftPlan::kFine + 1, FftPlan::kFine, 2 * length);
  return made ? std::move(plan) : nullptr;
}

struct Cache {
  std::mutex mutex;
  std::vector<OwnedPlan*> plans;  // the last used one is the last
  int64_t elements = 0;
};

Cache& cache() {
  static Cache* kept = new Cache;  // outlives the threads that may still use it
  return *kept;
}

const FftPlan* kept_plan(int64_t length, bool single) {
  Cache& c = cache();
  std::lock_guard lock(c.mutex);
  for (size_t i = 0; i < c.plans.size(); ++i) {
    OwnedPlan* plan = c.plans[i];
    if (plan->length != length || plan->single != single) continue;
    std::rotate(c.plans.begin() + static_cast<std::ptrdiff_t>(i),
                c.plans.begin() + static_cast<std::ptrdiff_t>(i) + 1, c.plans.end());
    plan->users.fetch_add(1);
    return plan;
  }
  return nullptr;
}

}  // namespace

const FftPlan* fft_plan(int64_t length, bool single, FftLineFn line) {
  if (const FftPlan* plan = kept_plan(length, single)) return plan;
  try {
    std::unique_ptr<OwnedPlan> made = make_plan(length, single, line);
    if (!made) return nullptr;
    std::vector<OwnedPlan*> dropped;
    {
      Cache& c = cache();
      std::lock_guard lock(c.mutex);
      c.plans.push_back(made.get());
      c.elements += length;
      made->users.fetch_add(1);
      while (c.plans.size() > 1 && (c.plans.size() > kKeptPlans || c.elements > kKeptElements)) {
        dropped.push_back(c.plans.front());
        c.elements -= c.plans.front()->length;
        c.plans.erase(c.plans.begin());
      }
    }
    for (OwnedPlan* plan : dropped) release_fft_plan(plan);
    return made.release();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void release_fft_plan(const FftPlan* plan) {
  auto* owned = const_cast<OwnedPlan*>(static_cast<const OwnedPlan*>(plan));
  if (owned->users.fetch_sub(1) == 1) delete owned;
}

}  // namespace facula::kernels
