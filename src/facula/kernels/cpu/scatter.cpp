// scatter: writes at positions along one dimension. Duplicates are applied in the order of the
// index tensor, since threads share out the other dimensions only.
#include "facula/kernels/cpu/scatter_apply.h"

namespace facula::kernels::FACULA_ISA {

// scatter_from is scatter with a source whose strides are given, 0 for a single value.
static void scatter_from(const View& self, int64_t dim, const View& index, const View& src,
                         Combine how, Fault* fault) {
  if (!positions_fit(index, 0, length_of(self, dim), fault) || index.numel == 0) return;
  Walk<3> w = walk_along(dim, index, src, self);
  int64_t s0 = inner_stride(w, 0), s1 = inner_stride(w, 1), s2 = inner_stride(w, 2);
  int64_t d0 = byte_stride(index, dim), d1 = byte_stride(src, dim), d2 = byte_stride(self, dim);
  int64_t length = length_of(index, dim), rest = index.numel / length;
  visit_write(self.dtype, how, [&](auto write) {
    parallel_for(0, rest, max_of<int64_t>(1, kIndexGrain / length), [&](int64_t b, int64_t e) {
      w.run(b, e, [&](char** p, int64_t n) {
        auto put = [&](int64_t k, int64_t j) {
          int64_t at = position_at(p[0] + k * s0 + j * d0);
          write(p[2] + k * s2 + at * d2, p[1] + k * s1 + j * d1);
        };
        if (d0 < s0) {  // the dimension is the inner one in memory
          for (int64_t k = 0; k < n; ++k) {
            for (int64_t j = 0; j < length; ++j) put(k, j);
          }
        } else {
          for (int64_t j = 0; j < length; ++j) {
            for (int64_t k = 0; k < n; ++k) put(k, j);
          }
        }
      });
    });
  });
}

static void scatter_value(const View& self, int64_t dim, const View& index, const Scalar& value,
                          Combine how, Fault* fault) {
  alignas(16) char item[16];
  scalar_item(item, self.dtype, value);
  static constexpr int64_t kZeros[kMaxDims] = {};
  View src{item, self.dtype, index.ndim, false, index.numel, index.sizes, kZeros};
  scatter_from(self, dim, index, src, how, fault);
}

extern const ScatterKernels scatter_table;
const ScatterKernels scatter_table{
    .scatter = scatter_from,
    .scatter_value = scatter_value,
    .index_combine = scatter_index_combine,
    .index_fill = scatter_index_fill,
    .index_put = scatter_index_put,
    .put = scatter_put,
    .masked_scatter = scatter_masked,
    .embedding_backward = scatter_embedding_backward,
};

}  // namespace facula::kernels::FACULA_ISA
