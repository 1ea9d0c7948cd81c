// Which kernel computes a convolution, and the unfolding that any type can use.
#include "facula/ops/conv_products.h"

#include <algorithm>

#include "facula/base/parallel.h"
#include "facula/kernels/copy.h"
#include "facula/kernels/gemm.h"
#include "facula/ops/rules.h"

namespace facula {

using kernels::ConvKind;
using kernels::ConvLayout;
using kernels::ConvShape;

MemoryFormat channels_last_format(int64_t rank) {
  return rank == 4   ? MemoryFormat::kChannelsLast
         : rank == 5 ? MemoryFormat::kChannelsLast3d
                     : MemoryFormat::kContiguous;
}

bool is_channels_last(const Tensor& t) {
  if (t.is_contiguous() || (t.dim() != 4 && t.dim() != 5)) return false;
  return is_contiguous_as(t, channels_last_format(t.dim()));
}

namespace {

ConvLayout layout_of(const Tensor& t) {
  return is_channels_last(t) ? ConvLayout::kChannelsLast : ConvLayout::kChannelsFirst;
}

double multiply_adds(const ConvShape& s) {
  return static_cast<double>(s.batch) * s.out_channels * (s.in_channels / s.groups) *
         s.kernel_size() * s.output_size();
}

// Runs a oneDNN plan; false where there is none or where the work is too small for it.
bool run_planned(ConvKind kind, const Tensor& x, const Tensor& w, const Tensor& bias,
                 const Tensor& y, const ConvShape& s) {
  if (x.dtype() != kFloat32 || multiply_adds(s) <= 20000) return false;
  kernels::ConvPlan* plan =
      kernels::plan_conv(kind, s, layout_of(x), layout_of(y), is_channels_last(w), bias.defined());
  if (!plan) return false;
  Tensor work = new_empty({kernels::conv_workspace(plan)}, kUInt8);
  // The allocator of a thread may have run other work meanwhile, but not other convolutions.
  kernels::run_conv(plan, x.data(), w.data(), bias.defined() ? bias.data() : nullptr, y.data(),
                    work.data());
  return true;
}

// One sample's images and columns on the unfolding path.
struct Unfolder {
  const ConvShape& s;
  DType dtype;
  int64_t item;
  bool direct;  // the image is its own columns
  Tensor columns;

  Unfolder(const ConvShape& shape, DType t)
      : s(shape), dtype(t), item(item_size(t)), direct(shape.is_pointwise()) {
    if (!direct) columns = new_empty({s.in_channels * s.kernel_size(), s.output_size()}, t);
  }
  const void* unfold(const char* image) {
    if (direct) return image;
    kernels::unfold(dtype, image, columns.data(), s, s.in_channels);
    return columns.data();
  }
  int64_t rows() const { return s.in_channels / s.groups * s.kernel_size(); }  // of a group
  int64_t outs() const { return s.out_channels / s.groups; }
  int64_t length() const { return s.output_size(); }
};

// Fills the planes of one sample with the bias.
void place_bias(char* y, const Tensor& bias, const ConvShape& s) {
  Tensor wide = alias_storage(bias, {s.out_channels, s.output_size()}, {bias->strides[0], 0},
                              bias.storage_offset());
  kernels::View from = kernels::view(wide), to = from;
  Sizes dense = {s.output_size(), 1};
  to.data = y;
  to.strides = dense.data();
  to.contiguous = true;
  kernels::copy->copy_strided(to, from);
}

// Calls f(unfolder, sample) for all samples, on several threads where there are several samples.
template <class F>
void each_sample(const ConvShape& s, DType dtype, F&& f) {
  parallel_for(0, s.batch, 1, [&](int64_t begin, int64_t end) {
    Unfolder u(s, dtype);
    for (int64_t n = begin; n < end; ++n) f(u, n);
  });
}

void output_by_unfolding(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& bias,
                         const ConvShape& s) {
  int64_t item = item_size(x.dtype());
  const char* xs = x.data_as<char>();
  char* ys = y.data_as<char>();
  each_sample(s, x.dtype(), [&](Unfolder& u, int64_t n) {
    const char* columns =
        static_cast<const char*>(u.unfold(xs + n * s.in_channels * s.input_size() * item));
    char* out = ys + n * s.out_channels * s.output_size() * item;
    if (bias.defined()) place_bias(out, bias, s);
    kernels::Gemm g;
    g.dtype = x.dtype();
    g.m = u.outs(), g.k = u.rows(), g.n = u.length();
    g.a_row = g.k, g.b_row = g.n, g.c_row = g.n;
    g.beta = bias.defined() ? 1 : 0;
    for (int64_t i = 0; i < s.groups; ++i) {
      g.a = w.data_as<char>() + i * g.m * g.k * item;
      g.b = columns + i * g.k * g.n * item;
      g.c = out + i * g.m * g.n * item;
      kernels::gemm(g);
    }
  });
}

void input_by_folding(const Tensor& x, const Tensor& w, const Tensor& y, const ConvShape& s) {
  int64_t item = item_size(x.dtype());
  each_sample(s, x.dtype(), [&](Unfolder& u, int64_t n) {
    char* image = x.data_as<char>() + n * s.in_channels * s.input_size() * item;
    const char* grads = y.data_as<char>() + n * s.out_channels * s.output_size() * item;
    char* columns = u.direct ? image : u.columns.data_as<char>();
    kernels::Gemm g;
    g.dtype = x.dtype();
    g.m = u.rows(), g.k = u.outs(), g.n = u.length();
    g.a_row = 1, g.a_col = g.m, g.b_row = g.n, g.c_row = g.n;
    for (int64_t i = 0; i < s.groups; ++i) {
      g.a = w.data_as<char>() + i * g.m * g.k * item;
      g.b = grads + i * g.k * g.n * item;
      g.c = columns + i * g.m * g.n * item;
      kernels::gemm(g);
    }
    if (!u.direct) kernels::fold(x.dtype(), columns, image, s, s.in_channels);
  });
}

void weight_by_unfolding(const Tensor& w, const Tensor& x, const Tensor& y, const ConvShape& s) {
  int64_t item = item_size(x.dtype());
  Unfolder u(s, x.dtype());
  kernels::Gemm g;
  g.dtype = x.dtype();
  g.m = u.outs(), g.n = u.rows(), g.k = u.length();
  g.a_row = g.k, g.b_row = 1, g.b_col = g.k, g.c_row = g.n;
  for (int64_t n = 0; n < s.batch; ++n) {
    const char* columns = static_cast<const char*>(
        u.unfold(x.data_as<char>() + n * s.in_channels * s.input_size() * item));
    const char* grads = y.data_as<char>() + n * s.out_channels * s.output_size() * item;
    g.beta = n ? 1 : 0;
    for (int64_t i = 0; i < s.groups; ++i) {
      g.a = grads + i * g.m * g.k * item;
      g.b = columns + i * g.n * g.k * item;
      g.c = w.data_as<char>() + i * g.m * g.n * item;
      kernels::gemm(g);
    }
  }
}

// A row-major tensor to compute into: `t` itself or a twin that finish() copies back.
struct Dense {
  Tensor target, work;
  explicit Dense(const Tensor& t) : target(t), work(t) {
    if (!t.is_contiguous()) work = new_empty(t.sizes(), t.dtype(), t.device());
  }
  void finish() {
    if (!work.is_same(target)) copy_raw(target, work);
  }
};

}  // namespace

void conv_output(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& bias,
                 const ConvShape& shape) {
  if (run_planned(ConvKind::kForward, x, w, bias, y, shape)) return;
  Dense out(y);
  output_by_unfolding(out.work, to_contiguous(x), to_contiguous(w), bias, shape);
  out.finish();
}

void conv_input(const Tensor& x, const Tensor& w, const Tensor& y, const ConvShape& shape) {
  if (run_planned(ConvKind::kInput, x, w, Tensor(), y, shape)) return;
  Dense out(x);
  input_by_folding(out.work, to_contiguous(w), to_contiguous(y), shape);
  out.finish();
}

void conv_weight(const Tensor& w, const Tensor& x, const Tensor& y, const ConvShape& shape) {
  if (run_planned(ConvKind::kWeight, x, w, Tensor(), y, shape)) return;
  Dense out(w);
  weight_by_unfolding(out.work, to_contiguous(x), to_contiguous(y), shape);
  out.finish();
}

}  // namespace facula
