// Kernels of the Fourier family: brings lines into blocks, transforms these, and writes the results
// back; real lines of even length go as complex ones of half the length.
#include "facula/kernels/fft.h"

#include "facula/kernels/cpu/complex.h"
#include "facula/kernels/cpu/fft_transform.h"
#include "facula/kernels/cpu/walk.h"

namespace facula::kernels::FACULA_ISA {

// Lines pairs the lines of an input and an output along a dimension; steps are in bytes.
struct Lines {
  Walk<2> walk;
  int64_t count, in_size, out_size, in_step, out_step;

  Lines(const View& out, const View& in, int64_t dim) {
    walk.base[0] = static_cast<char*>(out.data);
    walk.base[1] = static_cast<char*>(in.data);
    int64_t wide = item_size(out.dtype), narrow = item_size(in.dtype);
    for (int d = out.ndim - 1; d >= 0; --d) {
      if (d == dim || out.sizes[d] == 1) continue;
      int64_t s[2] = {out.strides[d] * wide, in.strides[d] * narrow};
      walk.push(out.sizes[d], s);
    }
    walk.sort();
    walk.merge();
    count = walk.numel();
    in_size = in.sizes[dim];
    out_size = out.sizes[dim];
    in_step = in.strides[dim] * narrow;
    out_step = out.strides[dim] * wide;
  }
};

// Group is some of the lines, which stand in the lanes of a block.
struct Group {
  int64_t lanes, count;
  const char* in[16];
  char* out[16];
};

// Transformer runs a plan over lines. Load fills a block from a group of lines; Store writes a
// result. Both see a block whose parts are swapped when the transform is the conjugate one.
template <class T>
struct Transformer {
  const Lines& lines;
  const FftPlan& plan;
  bool forward;
  Fault* fault;

  template <class Load, class Store>
  void run(Load&& load, Store&& store) const {
    if (lines.count == 0) return;
    bool side_by_side = runs_in_lanes(plan) && (2 * lines.count > kLanes<T> || !runs_split(plan));
    int64_t width = side_by_side ? kLanes<T> : 1, block = width * room(plan);
    int64_t groups = (lines.count + width - 1) / width;
    constexpr int64_t kWork = 1 << 14;
    parallel_for(0, groups, max_of<int64_t>(1, kWork / block), [&](int64_t b, int64_t e) {
      Scratch<T> space(2, block);
      bool good = space.ok();
      for (int64_t g = b; g < e && good; ++g) {
        Group group = group_at(g * width, width);
        Parts<T> x = space.block(0), y = space.block(1);
        load(group, forward ? x : x.swapped());
        if (group.count < width) clear_lanes(group, x);
        Parts<T> r = x;
        if (side_by_side) {
          r = transform_lanes(plan, x, y);
        } else {
          good = transform_line(plan, x, y);
        }
        store(group, forward ? r : r.swapped());
      }
      if (!good) fault->set(Fault::kNoMemory, 0, 2 * block * static_cast<int64_t>(sizeof(T)), 0);
    });
  }

 private:
  Group group_at(int64_t first, int64_t width) const {
    Group g;
    g.lanes = width;
    g.count = min_of(width, lines.count - first);
    for (int64_t l = 0; l < g.count; ++l) {
      g.out[l] = lines.walk.base[0] + lines.walk.offset(0, first + l);
      g.in[l] = lines.walk.base[1] + lines.walk.offset(1, first + l);
    }
    return g;
  }
  void clear_lanes(const Group& g, Parts<T> x) const {
    for (int64_t j = 0; j < plan.length; ++j) clear(x, j * g.lanes + g.count, (j + 1) * g.lanes);
  }
};

template <class V>
FACULA_INLINE V read(const char* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V>
FACULA_INLINE void write(char* p, V v) {
  __builtin_memcpy(p, &v, sizeof v);
}

// load_plain reads complex or real lines of type V; missing elements are zero.
template <class V, class T>
static void load_plain(const Lines& lines, const Group& g, int64_t length, Parts<T> x) {
  int64_t there = min_of(length, lines.in_size);
  for (int64_t j = 0; j < there; ++j) {
    for (int64_t l = 0; l < g.count; ++l) {
      Complex<T> v(read<V>(g.in[l] + j * lines.in_step));
      x.re[j * g.lanes + l] = v.re;
      x.im[j * g.lanes + l] = v.im;
    }
  }
  clear(x, there * g.lanes, length * g.lanes);
}

// load_pairs reads neighbours of real lines as real and imaginary parts.
template <class T>
static void load_pairs(const Lines& lines, const Group& g, int64_t half, Parts<T> x) {
  for (int64_t j = 0; j < half; ++j) {
    for (int64_t l = 0; l < g.count; ++l) {
      const char* p = g.in[l] + 2 * j * lines.in_step;
      x.re[j * g.lanes + l] = 2 * j < lines.in_size ? read<T>(p) : T(0);
      x.im[j * g.lanes + l] = 2 * j + 1 < lines.in_size ? read<T>(p + lines.in_step) : T(0);
    }
  }
}

// clear_rest sets the elements of the output from `from` on to zero.
template <class V>
static void clear_rest(const Lines& lines, const Group& g, int64_t from) {
  for (int64_t k = from; k < lines.out_size; ++k) {
    for (int64_t l = 0; l < g.count; ++l) write(g.out[l] + k * lines.out_step, V(0));
  }
}

// HalfStore writes the half spectrum of real lines; `twice` doubles what stands for two.
template <class T>
struct HalfStore {
  const Lines& lines;
  const FftJob& job;
  bool mirrored;  // whether the rest of the spectrum is written, too

  FACULA_INLINE void put(const Group& g, int64_t l, int64_t k, T re, T im) const {
    if (!job.forward) im = -im;
    bool single = k == 0 || 2 * k == job.length;
    T s = static_cast<T>(job.doubled && !single ? 2 * job.scale : job.scale);
    if (k < lines.out_size) write(g.out[l] + k * lines.out_step, Complex<T>(re * s, im * s));
    int64_t other = job.length - k;
    if (mirrored && !single && other < lines.out_size) {
      write(g.out[l] + other * lines.out_step, Complex<T>(re * s, -im * s));
    }
  }
};

// split_spectrum makes of the transform of pairs (half the length) the spectrum of the real lines.
template <class T>
static void split_spectrum(const FftPlan& half, const Group& g, Parts<T> z,
                           const HalfStore<T>& store) {
  int64_t h = half.length;
  for (int64_t k = 0; 2 * k <= h; ++k) {
    Root w = root_at(half.half_coarse, half.half_fine, k);
    T c = static_cast<T>(w.re), s = static_cast<T>(w.im);
    int64_t here = k * g.lanes, there = (k ? h - k : 0) * g.lanes;
    for (int64_t l = 0; l < g.count; ++l) {
      T ar = z.re[here + l], ai = z.im[here + l], br = z.re[there + l], bi = z.im[there + l];
      if (k == 0) {
        store.put(g, l, 0, ar + ai, 0);
        store.put(g, l, h, ar - ai, 0);
        continue;
      }
      // even and odd elements: (a + conj b) / 2 and (a - conj b) / 2i
      T er = (ar + br) / 2, ei = (ai - bi) / 2, qr = (ai + bi) / 2, qi = (br - ar) / 2;
      T tr = qr * c - qi * s, ti = qr * s + qi * c;
      store.put(g, l, k, er + tr, ei + ti);
      if (2 * k != h) store.put(g, l, h - k, er - tr, ti - ei);
    }
  }
}

// HalfLoad reads element k of the half spectrum of real lines; what stands for two counts once or
// twice, and the imaginary parts of the others are not read.
template <class T>
struct HalfLoad {
  const Lines& lines;
  const FftJob& job;

  FACULA_INLINE Complex<T> get(const Group& g, int64_t l, int64_t k) const {
    if (k >= lines.in_size) return {0, 0};
    Complex<T> v = read<Complex<T>>(g.in[l] + k * lines.in_step);
    if (k == 0 || 2 * k == job.length) return {v.re, 0};
    if (!job.doubled) v = {v.re / 2, v.im / 2};
    return job.forward ? Complex<T>(v.re, -v.im) : v;
  }
};

// join_spectrum is the inverse of split_spectrum: the block whose conjugate transform are the
// pairs.
template <class T>
static void join_spectrum(const FftPlan& half, const Group& g, const HalfLoad<T>& load,
                          Parts<T> z) {
  int64_t h = half.length;
  for (int64_t k = 0; 2 * k <= h; ++k) {
    Root w = root_at(half.half_coarse, half.half_fine, k);
    T c = static_cast<T>(w.re), s = static_cast<T>(-w.im);
    int64_t here = k * g.lanes, there = (h - k) * g.lanes;
    for (int64_t l = 0; l < g.count; ++l) {
      Complex<T> a = load.get(g, l, k), b = load.get(g, l, h - k);
      T er = a.re + b.re, ei = a.im - b.im, dr = a.re - b.re, di = a.im + b.im;
      T tr = dr * c - di * s, ti = dr * s + di * c;
      z.re[here + l] = er - ti;
      z.im[here + l] = ei + tr;
      if (k == 0 || 2 * k == h) continue;
      z.re[there + l] = er + ti;
      z.im[there + l] = tr - ei;
    }
  }
}

// HeldPlan is a plan for a scope; null when there is no memory, which is noted.
class HeldPlan {
 public:
  HeldPlan(int64_t length, bool single, Fault* fault)
      : plan_(fft_plan(length, single, &transform_any)) {
    if (!plan_) fault->set(Fault::kNoMemory, 0, length * 16, 0);
  }
  ~HeldPlan() {
    if (plan_) release_fft_plan(plan_);
  }
  HeldPlan(const HeldPlan&) = delete;
  HeldPlan& operator=(const HeldPlan&) = delete;
  explicit operator bool() const { return plan_ != nullptr; }
  const FftPlan& operator*() const { return *plan_; }

 private:
  const FftPlan* plan_;
};

template <class T>
static void real_lines(const View& out, const View& in, const FftJob& job, bool mirrored,
                       Fault* fault) {
  Lines lines(out, in, job.dim);
  HalfStore<T> halves{lines, job, mirrored};
  bool even = job.length % 2 == 0;
  HeldPlan plan(even ? job.length / 2 : job.length, sizeof(T) == 4, fault);
  if (!plan) return;
  Transformer<T> transformer{lines, *plan, true, fault};
  if (even) {
    transformer.run([&](const Group& g, Parts<T> x) { load_pairs(lines, g, job.length / 2, x); },
                    [&](const Group& g, Parts<T> r) {
                      split_spectrum(*plan, g, r, halves);
                      clear_rest<Complex<T>>(lines, g, mirrored ? job.length : job.length / 2 + 1);
                    });
    return;
  }
  transformer.run([&](const Group& g, Parts<T> x) { load_plain<T>(lines, g, job.length, x); },
                  [&](const Group& g, Parts<T> r) {
                    for (int64_t k = 0; 2 * k < job.length; ++k) {
                      for (int64_t l = 0; l < g.count; ++l) {
                        int64_t at = k * g.lanes + l;
                        halves.put(g, l, k, r.re[at], k ? r.im[at] : T(0));
                      }
                    }
                    clear_rest<Complex<T>>(lines, g, mirrored ? job.length : job.length / 2 + 1);
                  });
}

template <class T>
static void complex_lines(const View& out, const View& in, const FftJob& job, Fault* fault) {
  Lines lines(out, in, job.dim);
  HeldPlan plan(job.length, sizeof(T) == 4, fault);
  if (!plan) return;
  int64_t kept = min_of(job.length, lines.out_size);
  T scale = static_cast<T>(job.scale);
  Transformer<T>{lines, *plan, job.forward, fault}.run(
      [&](const Group& g, Parts<T> x) { load_plain<Complex<T>>(lines, g, job.length, x); },
      [&](const Group& g, Parts<T> r) {
        for (int64_t k = 0; k < kept; ++k) {
          for (int64_t l = 0; l < g.count; ++l) {
            int64_t at = k * g.lanes + l;
            write(g.out[l] + k * lines.out_step, Complex<T>(r.re[at] * scale, r.im[at] * scale));
          }
        }
        clear_rest<Complex<T>>(lines, g, job.length);
      });
}

template <class T>
static void hermitian_lines(const View& out, const View& in, const FftJob& job, Fault* fault) {
  Lines lines(out, in, job.dim);
  HalfLoad<T> halves{lines, job};
  bool even = job.length % 2 == 0;
  int64_t n = even ? job.length / 2 : job.length, kept = min_of(job.length, lines.out_size);
  HeldPlan plan(n, sizeof(T) == 4, fault);
  if (!plan) return;
  T scale = static_cast<T>(job.scale);
  Transformer<T>{lines, *plan, false, fault}.run(
      [&](const Group& g, Parts<T> x) {
        if (even) return join_spectrum(*plan, g, halves, x);
        for (int64_t k = 0; 2 * k < n; ++k) {
          for (int64_t l = 0; l < g.count; ++l) {
            Complex<T> v = halves.get(g, l, k);
            int64_t here = k * g.lanes + l, there = (n - k) * g.lanes + l;
            x.re[here] = v.re;
            x.im[here] = v.im;
            if (k == 0) continue;
            x.re[there] = v.re;
            x.im[there] = -v.im;
          }
        }
      },
      [&](const Group& g, Parts<T> r) {
        for (int64_t j = 0; j < kept; ++j) {
          const T* from = !even || j % 2 == 0 ? r.re : r.im;
          int64_t at = (even ? j / 2 : j) * g.lanes;
          for (int64_t l = 0; l < g.count; ++l) {
            write<T>(g.out[l] + j * lines.out_step, from[at + l] * scale);
          }
        }
        clear_rest<T>(lines, g, job.length);
      });
}

static void complex(const View& out, const View& in, const FftJob& job, Fault* fault) {
  if (in.dtype == kFloat32) return real_lines<float>(out, in, job, true, fault);
  if (in.dtype == kFloat64) return real_lines<double>(out, in, job, true, fault);
  if (in.dtype == kComplex64) return complex_lines<float>(out, in, job, fault);
  complex_lines<double>(out, in, job, fault);
}

static void real(const View& out, const View& in, const FftJob& job, Fault* fault) {
  if (in.dtype == kFloat32) return real_lines<float>(out, in, job, false, fault);
  real_lines<double>(out, in, job, false, fault);
}

static void hermitian(const View& out, const View& in, const FftJob& job, Fault* fault) {
  if (in.dtype == kComplex64) return hermitian_lines<float>(out, in, job, fault);
  hermitian_lines<double>(out, in, job, fault);
}

extern const FftKernels transforms_table;
const FftKernels transforms_table{.complex = complex, .real = real, .hermitian = hermitian};

}  // namespace facula::kernels::FACULA_ISA
