// Sparse-dense products: rows of the result are dealt to threads, or, where the result is scattered
// to, its columns, so that every sum has one order.
#include "facula/kernels/sparse.h"

#include "facula/kernels/cpu/dispatch.h"

namespace facula::kernels::FACULA_ISA {
namespace sparse_products {
namespace {

constexpr int64_t kWork = 16384;  // multiplications below which a thread does not pay
constexpr int64_t kBlock = 64;    // columns that are summed in registers

// Integers are summed without a sign, so that they wrap around.
template <class F>
void visit_wide(DType dtype, F&& f) {
  if (dtype == kInt64) return f(Tag<uint64_t>{});
  if (is_complex(dtype)) return visit_complex(dtype, f);
  if (dtype == kFloat32) return f(Tag<float>{});
  f(Tag<double>{});
}
template <class F>
void visit_values(DType dtype, F&& f) {
  if (dtype == kFloat16) return f(Tag<Half>{});
  if (dtype == kBFloat16) return f(Tag<BFloat16>{});
  visit_wide(dtype, f);
}

void check(const RowMatrix& m, Fault* fault) {
  int64_t before = 0;
  for (int64_t r = 0; r <= m.rows; ++r) {
    int64_t at = m.start[r];
    bool fits = r == 0 ? at == 0 : at >= before && at <= m.count;
    if (r == m.rows) fits &= at == m.count;
    if (!fits) return fault->set(Fault::kBad, r, at, m.count);
    before = at;
  }
  for (int64_t i = 0; i < m.count; ++i) {
    if (m.col[i] < 0 || m.col[i] >= m.cols) {
      return fault->set(Fault::kIndexOutOfRange, i, m.col[i], m.cols);
    }
  }
}

// Sums `width` columns of one row of the result.
template <class T>
FACULA_INLINE void one_row(T* out, const RowMatrix& m, const T* values, const T* dense, int64_t r,
                           int64_t stride, int64_t width) {
  using C = Compute<T>;
  C sum[kBlock] = {};
  for (int64_t i = m.start[r]; i < m.start[r + 1]; ++i) {
    C v = static_cast<C>(values[i]);
    const T* row = dense + m.col[i] * stride;
    if (width == kBlock) {
      for (int64_t j = 0; j < kBlock; ++j) sum[j] += v * static_cast<C>(row[j]);
    } else {
      for (int64_t j = 0; j < width; ++j) sum[j] += v * static_cast<C>(row[j]);
    }
  }
  for (int64_t j = 0; j < width; ++j) out[j] = static_cast<T>(sum[j]);
}

void product(DType dtype, void* out, const RowMatrix& m, const void* values, const void* dense,
             int64_t width) {
  if (m.rows == 0 || width == 0) return;
  int64_t per_row = max_of<int64_t>(1, m.count / m.rows * width);
  visit_values(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    parallel_for(0, m.rows, max_of<int64_t>(1, kWork / per_row), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        for (int64_t j = 0; j < width; j += kBlock) {
          one_row(static_cast<T*>(out) + r * width + j, m, static_cast<const T*>(values),
                  static_cast<const T*>(dense) + j, r, width, min_of(kBlock, width - j));
        }
      }
    });
  });
}

// Adds the columns [begin, end) of all rows to where they belong.
template <class T>
void scatter_columns(T* out, const RowMatrix& m, const T* values, const T* dense, int64_t width,
                     int64_t begin, int64_t end) {
  for (int64_t r = 0; r < m.rows; ++r) {
    const T* row = dense + r * width;
    for (int64_t i = m.start[r]; i < m.start[r + 1]; ++i) {
      T v = values[i];
      T* to = out + m.col[i] * width;
      for (int64_t j = begin; j < end; ++j) to[j] += v * row[j];
    }
  }
}

void transposed_product(DType dtype, void* out, const RowMatrix& m, const void* values,
                        const void* dense, int64_t width) {
  if (m.cols == 0 || width == 0) return;
  visit_wide(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::memset(out, 0, static_cast<size_t>(m.cols * width) * sizeof(T));
    int64_t grain = max_of<int64_t>(16, kWork / max_of<int64_t>(1, m.count));
    parallel_for(0, width, grain, [&](int64_t begin, int64_t end) {
      scatter_columns(static_cast<T*>(out), m, static_cast<const T*>(values),
                      static_cast<const T*>(dense), width, begin, end);
    });
  });
}

void sample(DType dtype, void* out, const RowMatrix& m, const void* a, const void* b,
            int64_t width) {
  if (m.rows == 0) return;
  int64_t per_row = max_of<int64_t>(1, m.count / m.rows * width);
  visit_values(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    parallel_for(0, m.rows, max_of<int64_t>(1, kWork / per_row), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* left = static_cast<const T*>(a) + r * width;
        for (int64_t i = m.start[r]; i < m.start[r + 1]; ++i) {
          const T* right = static_cast<const T*>(b) + m.col[i] * width;
          C lane[8] = {};
          int64_t k = 0;
          for (; k + 8 <= width; k += 8) {
            for (int64_t j = 0; j < 8; ++j) {
              lane[j] += static_cast<C>(left[k + j]) * static_cast<C>(right[k + j]);
            }
          }
          for (; k < width; ++k) lane[0] += static_cast<C>(left[k]) * static_cast<C>(right[k]);
          C sum = lane[0];
          for (int64_t j = 1; j < 8; ++j) sum += lane[j];
          static_cast<T*>(out)[i] = static_cast<T>(sum);
        }
      }
    });
  });
}

}  // namespace
}  // namespace sparse_products

extern const SparseKernels sparse_table;
const SparseKernels sparse_table = {sparse_products::check, sparse_products::product,
                                    sparse_products::transposed_product, sparse_products::sample};

}  // namespace facula::kernels::FACULA_ISA
