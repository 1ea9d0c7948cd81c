// embedding_bag: bags are dealt to threads; gradients of the weight are added in the order of bags.
#include "facula/kernels/bag.h"

#include "facula/kernels/cpu/dispatch.h"

namespace facula::kernels::FACULA_ISA {
namespace bagging {
namespace {

FACULA_INLINE int64_t bag_size(const Bags& b, int64_t bag) {
  int64_t n = 0;
  for (int64_t i = b.offsets[bag]; i < b.offsets[bag + 1]; ++i) n += b.indices[i] != b.padding;
  return n;
}

template <class T>
void forward_typed(T* out, int64_t* chosen, const T* weight, const T* samples, const Bags& b) {
  using C = Compute<T>;
  int64_t grain = max_of<int64_t>(1, 4096 / max_of<int64_t>(1, b.dim));
  parallel_for(0, b.bags, grain, [&](int64_t begin, int64_t end) {
    for (int64_t bag = begin; bag < end; ++bag) {
      T* y = out + bag * b.dim;
      int64_t size = bag_size(b, bag);
      for (int64_t j0 = 0; j0 < b.dim; j0 += 64) {
        int64_t width = min_of<int64_t>(64, b.dim - j0);
        C sum[64] = {};
        bool first = true;
        for (int64_t j = 0; chosen && j < width; ++j) chosen[bag * b.dim + j0 + j] = -1;
        for (int64_t i = b.offsets[bag]; i < b.offsets[bag + 1]; ++i) {
          if (b.indices[i] == b.padding) continue;
          const T* row = weight + b.indices[i] * b.dim + j0;
          C s = samples ? static_cast<C>(samples[i]) : C(1);
          for (int64_t j = 0; j < width; ++j) {
            C v = static_cast<C>(row[j]);
            if (b.mode != 2) {
              sum[j] += v * s;
            } else if (first || v > sum[j]) {
              sum[j] = v;
              chosen[bag * b.dim + j0 + j] = b.indices[i];
            }
          }
          first = false;
        }
        C scale = b.mode == 1 && size ? 1 / static_cast<C>(size) : C(1);
        for (int64_t j = 0; j < width; ++j) y[j0 + j] = static_cast<T>(sum[j] * scale);
      }
    }
  });
}

void forward(DType dtype, void* out, int64_t* chosen, const void* weight, const void* samples,
             const Bags& b, Fault* fault) {
  for (int64_t i = b.offsets[0]; i < b.offsets[b.bags]; ++i) {
    int64_t at = b.indices[i];
    if (at < 0 || at >= b.rows) return fault->set(Fault::kIndexOutOfRange, i, at, b.rows);
  }
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    forward_typed(static_cast<T*>(out), chosen, static_cast<const T*>(weight),
                  static_cast<const T*>(samples), b);
  });
}

void weight_grad(DType dtype, void* dweight, const void* grad, const void* samples,
                 const int64_t* chosen, const int64_t* counts, const Bags& b) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    T* d = static_cast<T*>(dweight);
    const T* g = static_cast<const T*>(grad);
    const T* s = static_cast<const T*>(samples);
    std::memset(dweight, 0, b.rows * b.dim * sizeof(T));
    for (int64_t bag = 0; bag < b.bags; ++bag) {
      const T* y = g + bag * b.dim;
      if (b.mode == 2) {
        for (int64_t j = 0; j < b.dim; ++j) {
          int64_t row = chosen[bag * b.dim + j];
          if (row < 0) continue;
          T& to = d[row * b.dim + j];
          to = static_cast<T>(static_cast<C>(to) + static_cast<C>(y[j]));
        }
        continue;
      }
      int64_t size = bag_size(b, bag);
      for (int64_t i = b.offsets[bag]; i < b.offsets[bag + 1]; ++i) {
        int64_t row = b.indices[i];
        if (row == b.padding) continue;
        C scale = s ? static_cast<C>(s[i]) : C(1);
        if (b.mode == 1) scale /= static_cast<C>(size);
        if (counts) scale /= static_cast<C>(counts[row]);
        T* to = d + row * b.dim;
        for (int64_t j = 0; j < b.dim; ++j) {
          to[j] = static_cast<T>(static_cast<C>(to[j]) + static_cast<C>(y[j]) * scale);
        }
      }
    }
  });
}

void sample_grad(DType dtype, void* dsamples, const void* grad, const void* weight, const Bags& b) {
  visit_floating(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    T* d = static_cast<T*>(dsamples);
    const T* g = static_cast<const T*>(grad);
    const T* w = static_cast<const T*>(weight);
    for (int64_t bag = 0; bag < b.bags; ++bag) {
      for (int64_t i = b.offsets[bag]; i < b.offsets[bag + 1]; ++i) {
        C sum = 0;
        if (b.indices[i] != b.padding) {
          const T* row = w + b.indices[i] * b.dim;
          for (int64_t j = 0; j < b.dim; ++j) {
            sum += static_cast<C>(row[j]) * static_cast<C>(g[bag * b.dim + j]);
          }
        }
        d[i] = static_cast<T>(sum);
      }
    }
  });
}

}  // namespace
}  // namespace bagging

extern const BagKernels bags_table;
const BagKernels bags_table = {bagging::forward, bagging::weight_grad, bagging::sample_grad};

}  // namespace facula::kernels::FACULA_ISA
