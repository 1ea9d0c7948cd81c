// Convolutions by oneDNN: plans with their primitives and memory objects, kept by each thread, and
// the weight gradients as a fixed number of slices over the batch.
#include "facula/kernels/conv.h"

#include <oneapi/dnnl/dnnl.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "facula/base/parallel.h"
#include "facula/base/pool/pool.h"
#include "facula/kernels/families.h"

namespace facula::kernels {
namespace conv_plans {

static dnnl_engine_t engine() {
  static dnnl_engine_t e = [] {
    dnnl_engine_t made = nullptr;
    dnnl_engine_create(&made, dnnl_cpu, 0);
    return made;
  }();
  return e;
}

static dnnl_stream_t stream() {
  struct Owner {
    dnnl_stream_t stream = nullptr;
    Owner() { dnnl_stream_create(&stream, engine(), dnnl_stream_default_flags); }
    ~Owner() { dnnl_stream_destroy(stream); }
  };
  thread_local Owner owner;
  return owner.stream;
}

// Handle owns one oneDNN object.
template <class T, dnnl_status_t (*kDestroy)(T)>
struct Handle {
  T object = nullptr;
  Handle() = default;
  Handle(Handle&& o) noexcept : object(std::exchange(o.object, nullptr)) {}
  Handle& operator=(Handle&& o) noexcept {
    std::swap(object, o.object);
    return *this;
  }
  ~Handle() {
    if (object) kDestroy(object);
  }
  T* fill() { return &object; }
  operator T() const { return object; }
};
using Desc = Handle<dnnl_memory_desc_t, dnnl_memory_desc_destroy>;
using Memory = Handle<dnnl_memory_t, dnnl_memory_destroy>;
using Primitive = Handle<dnnl_primitive_t, dnnl_primitive_destroy>;
using PrimitiveDesc = Handle<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;

struct Dims {
  int count = 0;
  dnnl_dims_t at;
  void push(int64_t v) { at[count++] = v; }
};

// The tensors of one convolution with `batch` samples.
struct Problem {
  ConvShape s;
  int64_t batch;
  Dims x, w, y, stride, dilation, front, back;

  Problem(const ConvShape& shape, int64_t batch) : s(shape), batch(batch) {
    x.push(batch), x.push(s.in_channels);
    y.push(batch), y.push(s.out_channels);
    if (s.groups > 1) w.push(s.groups);
    w.push(s.out_channels / s.groups), w.push(s.in_channels / s.groups);
    for (int d = 3 - s.spatial; d < 3; ++d) {
      x.push(s.input[d]), w.push(s.kernel[d]), y.push(s.output[d]);
      stride.push(s.stride[d]), dilation.push(s.dilation[d] - 1), front.push(s.padding[d]);
      back.push((s.output[d] - 1) * s.stride[d] + s.dilation[d] * (s.kernel[d] - 1) + 1 -
                s.input[d] - s.padding[d]);
    }
  }

  // The library's gradient of the weights writes outside of its memory where an image of few
  // channels ends in rows or columns that no window reaches, as with a 1x1 window and stride 2.
  bool corrupts_weights() const {
    bool unreached = false;
    for (int d = 0; d < back.count; ++d) unreached |= back.at[d] < 0;
    return unreached && s.in_channels / s.groups < 16;
  }

  Desc image(const Dims& dims, ConvLayout layout) const {
    dnnl_dims_t strides;
    int64_t step = layout == ConvLayout::kChannelsLast ? dims.at[1] : 1;
    for (int d = dims.count - 1; d >= 2; --d) strides[d] = step, step *= dims.at[d];
    if (layout == ConvLayout::kChannelsLast)
      strides[1] = 1;
    else
      strides[1] = step, step *= dims.at[1];
    strides[0] = step;
    Desc md;
    dnnl_memory_desc_create_with_strides(md.fill(), dims.count, dims.at, dnnl_f32, strides);
    return md;
  }
  Desc weights_any() const {
    Desc md;
    dnnl_memory_desc_create_with_tag(md.fill(), w.count, w.at, dnnl_f32, dnnl_format_tag_any);
    return md;
  }
  Desc weights(bool last) const {
    dnnl_dims_t strides;
    int lead = s.groups > 1 ? 1 : 0;
    int64_t step = last ? w.at[lead + 1] : 1;
    for (int d = w.count - 1; d >= lead + 2; --d) strides[d] = step, step *= w.at[d];
    if (last)
      strides[lead + 1] = 1;
    else
      strides[lead + 1] = step, step *= w.at[lead + 1];
    strides[lead] = step, step *= w.at[lead];
    if (lead) strides[0] = step;
    Desc md;
    dnnl_memory_desc_create_with_strides(md.fill(), w.count, w.at, dnnl_f32, strides);
    return md;
  }
  Desc bias() const {
    Desc md;
    dnnl_dims_t n = {s.out_channels};
    dnnl_memory_desc_create_with_tag(md.fill(), 1, n, dnnl_f32, dnnl_a);
    return md;
  }
};

static Memory make_memory(const_dnnl_memory_desc_t md) {
  Memory m;
  dnnl_memory_create(m.fill(), md, engine(), DNNL_MEMORY_NONE);
  return m;
}

static int64_t padded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Reorder copies between the layout of a tensor and the one that the primitive wants.
struct Reorder {
  Memory from, to;
  Primitive primitive;
  bool needed() const { return primitive.object != nullptr; }
  bool prepare(const_dnnl_memory_desc_t a, const_dnnl_memory_desc_t b) {
    if (dnnl_memory_desc_equal(a, b)) return true;
    PrimitiveDesc pd;
    if (dnnl_reorder_primitive_desc_create(pd.fill(), a, engine(), b, engine(), nullptr) !=
            dnnl_success ||
        dnnl_primitive_create(primitive.fill(), pd) != dnnl_success) {
      return false;
    }
    from = make_memory(a);
    to = make_memory(b);
    return true;
  }
  void run(const void* source, void* target) {
    dnnl_memory_set_data_handle(from, const_cast<void*>(source));
    dnnl_memory_set_data_handle(to, target);
    dnnl_exec_arg_t args[2] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    dnnl_primitive_execute(primitive, stream(), 2, args);
  }
};

// One primitive with its memory objects, for the whole batch or for one slice of it.
struct Engine {
  Primitive primitive;
  Memory x, w, y, bias;
  Desc weights;  // the layout that the primitive chose

  bool prepare(ConvKind kind, const Problem& p, bool with_bias) {
    if (kind == ConvKind::kWeight && p.corrupts_weights()) return false;
    Desc x_md = p.image(p.x, ConvLayout::kChannelsLast),
         y_md = p.image(p.y, ConvLayout::kChannelsLast);
    Desc w_md = p.weights_any(), b_md;
    if (with_bias) b_md = p.bias();
    auto algorithm = dnnl_convolution_direct;
    PrimitiveDesc forward, pd;
    auto status = dnnl_convolution_forward_primitive_desc_create(
        forward.fill(), engine(), dnnl_forward_training, algorithm, x_md, w_md, b_md, y_md,
        p.stride.at, p.dilation.at, p.front.at, p.back.at, nullptr);
    if (status != dnnl_success) return false;
    auto query = dnnl_query_weights_md;
    if (kind == ConvKind::kForward) {
      pd = std::move(forward);
    } else if (kind == ConvKind::kInput) {
      status = dnnl_convolution_backward_data_primitive_desc_create(
          pd.fill(), engine(), algorithm, x_md, w_md, y_md, p.stride.at, p.dilation.at, p.front.at,
          p.back.at, forward, nullptr);
    } else {
      query = dnnl_query_diff_weights_md;
      status = dnnl_convolution_backward_weights_primitive_desc_create(
          pd.fill(), engine(), algorithm, x_md, w_md, nullptr, y_md, p.stride.at, p.dilation.at,
          p.front.at, p.back.at, forward, nullptr);
    }
    if (status != dnnl_success) return false;
    if (dnnl_primitive_create(primitive.fill(), pd) != dnnl_success) return false;
    const_dnnl_memory_desc_t chosen = dnnl_primitive_desc_query_md(pd, query, 0);
    dnnl_memory_desc_clone(weights.fill(), chosen);
    x = make_memory(x_md), w = make_memory(weights), y = make_memory(y_md);
    if (with_bias) bias = make_memory(b_md);
    return true;
  }

  void run(ConvKind kind, void* x_data, void* w_data, const void* bias_data, void* y_data) {
    dnnl_memory_set_data_handle(x, x_data);
    dnnl_memory_set_data_handle(w, w_data);
    dnnl_memory_set_data_handle(y, y_data);
    bool forward = kind == ConvKind::kForward, input = kind == ConvKind::kInput;
    dnnl_exec_arg_t args[4] = {{input ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, x},
                               {forward || input ? DNNL_ARG_WEIGHTS : DNNL_ARG_DIFF_WEIGHTS, w},
                               {forward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, y},
                               {}};
    int count = 3;
    if (bias) {
      dnnl_memory_set_data_handle(bias, const_cast<void*>(bias_data));
      args[count++] = {DNNL_ARG_BIAS, bias};
    }
    dnnl_primitive_execute(primitive, stream(), count, args);
  }
};

// Key is what a plan depends on; it has no padding bytes, so that it can be compared as memory.
struct Key {
  ConvShape shape;
  ConvKind kind;
  ConvLayout x, y;
  bool weight_last, bias;
  uint8_t unused[3];
  int64_t threads;  // kSlice: of one slice of a weight gradient
  bool operator==(const Key& o) const { return std::memcmp(this, &o, sizeof(Key)) == 0; }
};

struct KeyHash {
  size_t operator()(const Key& k) const {
    const unsigned char* p = reinterpret_cast<const unsigned char*>(&k);
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i + 8 <= sizeof(Key); i += 8) {
      uint64_t word;
      std::memcpy(&word, p + i, 8);
      h = (h ^ word) * 0xff51afd7ed558ccdu;
      h ^= h >> 32;
    }
    return h;
  }
};
static_assert(sizeof(Key) == sizeof(ConvShape) + 16 && sizeof(ConvShape) == 23 * 8);
constexpr int64_t kSlice = -1;

// A slice is the part of a weight gradient that one single-threaded primitive computes.
struct Slices {
  int64_t count = 1, size = 1;
};

// As many slices as the batch, the work and the size of the weights allow; never the thread count.
static Slices slices_of(const ConvShape& s) {
  double work = 2.0 * s.batch * s.out_channels * (s.in_channels / s.groups) * s.kernel_size() *
                s.output_size();
  int64_t weights = s.out_channels * (s.in_channels / s.groups) * s.kernel_size();
  int64_t images = s.batch * (s.in_channels * s.input_size() + s.out_channels * s.output_size());
  int64_t most = std::max<int64_t>(2, 2 * images / std::max<int64_t>(weights, 1));
  int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(work / 4e6), 1, 16);
  int64_t count = std::min({wanted, most, s.batch});
  while (s.batch % count) --count;  // equal slices share one primitive
  return {count, s.batch / count};
}

}  // namespace conv_plans

using namespace conv_plans;

class ConvPlan {
 public:
  bool prepare(const Key& key) {
    key_ = key;
    const ConvShape& s = key.shape;
    slices_ = {1, s.batch};
    if (key.kind == ConvKind::kWeight && key.threads != kSlice) slices_ = slices_of(s);
    Problem whole(s, s.batch);
    if (key.kind == ConvKind::kWeight) {
      // Prepared and run inside a region of the pool, where oneDNN uses one thread.
      bool good = false;
      Problem slice(s, slices_.size);
      alone([&] { good = main_.prepare(ConvKind::kWeight, slice, false); });
      if (!good) return false;
    } else if (!main_.prepare(key.kind, whole, key.bias)) {
      return false;
    }
    bool x_out = key.kind == ConvKind::kInput, y_out = key.kind == ConvKind::kForward;
    if (!reorder_image(x_, whole, whole.x, key.x, x_out)) return false;
    if (!reorder_image(y_, whole, whole.y, key.y, y_out)) return false;
    Desc plain = whole.weights(key.weight_last);
    bool w_out = key.kind == ConvKind::kWeight;
    if (!(w_out ? w_.prepare(main_.weights, plain) : w_.prepare(plain, main_.weights)))
      return false;
    x_bytes_ = x_.needed() ? image_bytes(whole.x) : 0;
    y_bytes_ = y_.needed() ? image_bytes(whole.y) : 0;
    slice_bytes_ = padded(static_cast<int64_t>(dnnl_memory_desc_get_size(main_.weights)));
    int64_t copies = w_out ? slices_.count - (w_.needed() ? 0 : 1) : (w_.needed() ? 1 : 0);
    w_bytes_ = copies * slice_bytes_;
    return true;
  }

  int64_t workspace() const { return x_bytes_ + y_bytes_ + w_bytes_; }

  void run(void* x, void* w, const void* bias, void* y, char* work) {
    void* x_in = x_bytes_ ? work : x;
    void* y_in = y_bytes_ ? work + x_bytes_ : y;
    char* w_work = work + x_bytes_ + y_bytes_;
    ConvKind kind = key_.kind;
    if (x_.needed() && kind != ConvKind::kInput) x_.run(x, x_in);
    if (y_.needed() && kind != ConvKind::kForward) y_.run(y, y_in);
    if (kind == ConvKind::kWeight) {
      run_slices(x_in, w, y_in, w_work);
    } else {
      void* w_in = w_.needed() ? w_work : w;
      if (w_.needed()) w_.run(w, w_in);
      main_.run(kind, x_in, w_in, bias, y_in);
    }
    if (x_.needed() && kind == ConvKind::kInput) x_.run(x_in, x);
    if (y_.needed() && kind == ConvKind::kForward) y_.run(y_in, y);
  }

 private:
  template <class F>
  static void alone(F&& f) {
    pool::run(
        1, pool::Join::kAll, [](void* context, int, int) { (*static_cast<F*>(context))(); }, &f);
  }

  static int64_t image_bytes(const Dims& dims) {
    int64_t n = 4;
    for (int d = 0; d < dims.count; ++d) n *= dims.at[d];
    return padded(n);
  }

  // Plans the copy between an image tensor and its channels-last twin, if they differ.
  static bool reorder_image(Reorder& r, const Problem& p, const Dims& dims, ConvLayout layout,
                            bool out) {
    int64_t positions = 1;
    for (int d = 2; d < dims.count; ++d) positions *= dims.at[d];
    if (layout == ConvLayout::kChannelsLast || positions == 1 || dims.at[1] == 1) return true;
    Desc user = p.image(dims, layout), inner = p.image(dims, ConvLayout::kChannelsLast);
    return out ? r.prepare(inner, user) : r.prepare(user, inner);
  }

  void run_slices(void* x, void* w, void* y, char* work);

  Key key_;
  Slices slices_;
  Engine main_;
  Reorder x_, y_, w_;
  int64_t x_bytes_ = 0, y_bytes_ = 0, w_bytes_ = 0, slice_bytes_ = 0;
};

namespace {

// The plans of a thread. They are few in practice; a program with ever new shapes starts afresh.
struct Plans {
  static constexpr size_t kMost = 1024;
  std::unordered_map<Key, std::unique_ptr<ConvPlan>, KeyHash> map;
  Key last_key{};
  ConvPlan* last = nullptr;
};
thread_local Plans plans;

ConvPlan* find_plan(const Key& key) {
  if (plans.last && plans.last_key == key) return plans.last;
  auto found = plans.map.find(key);
  if (found == plans.map.end()) {
    if (plans.map.size() >= Plans::kMost) {
      plans.map.clear();
      plans.last = nullptr;
    }
    auto made = std::make_unique<ConvPlan>();
    if (!made->prepare(key)) made.reset();
    found = plans.map.emplace(key, std::move(made)).first;
  }
  plans.last_key = key;
  plans.last = found->second.get();
  return plans.last;
}

// A primitive of one slice for the thread that happens to run it.
ConvPlan* slice_plan(const Key& key, int64_t batch) {
  Key k = key;
  k.shape.batch = batch;
  k.threads = kSlice;
  return find_plan(k);
}

}  // namespace

void ConvPlan::run_slices(void* x, void* w, void* y, char* work) {
  const ConvShape& s = key_.shape;
  if (slices_.count == 1) {
    void* target = w_.needed() ? work : w;
    alone([&] { main_.run(ConvKind::kWeight, x, target, nullptr, y); });
    if (w_.needed()) w_.run(target, w);
    return;
  }
  // The first slice is written where the sum is wanted.
  auto target = [&](int64_t i) -> char* {
    if (w_.needed()) return work + i * slice_bytes_;
    return i == 0 ? static_cast<char*>(w) : work + (i - 1) * slice_bytes_;
  };
  int64_t x_step = slices_.size * s.in_channels * s.input_size() * 4;
  int64_t y_step = slices_.size * s.out_channels * s.output_size() * 4;
  Key key = key_;
  key.x = key.y = ConvLayout::kChannelsLast;
  parallel_for(0, slices_.count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      ConvPlan* plan = slice_plan(key, slices_.size);
      plan->main_.run(ConvKind::kWeight, static_cast<char*>(x) + i * x_step, target(i), nullptr,
                      static_cast<char*>(y) + i * y_step);
    }
  });
  int64_t floats = static_cast<int64_t>(dnnl_memory_desc_get_size(main_.weights)) / 4;
  parallel_for(0, floats, 32768, [&](int64_t begin, int64_t end) {
    float* sum = reinterpret_cast<float*>(target(0));
    for (int64_t i = 1; i < slices_.count; ++i) {
      const float* part = reinterpret_cast<const float*>(target(i));
      for (int64_t j = begin; j < end; ++j) sum[j] += part[j];
    }
  });
  if (w_.needed()) w_.run(target(0), w);
}

ConvPlan* plan_conv(ConvKind kind, const ConvShape& shape, ConvLayout x, ConvLayout y,
                    bool weight_last, bool bias) {
  Key key;
  std::memset(static_cast<void*>(&key), 0, sizeof(key));
  key.shape = shape;
  key.kind = kind;
  key.x = x;
  key.y = y;
  key.weight_last = weight_last;
  key.bias = bias;
  key.threads = in_parallel() ? 1 : num_threads();
  return find_plan(key);
}

int64_t conv_workspace(const ConvPlan* plan) { return plan->workspace(); }

void run_conv(ConvPlan* plan, void* x, void* w, const void* bias, void* y, void* workspace) {
  plan->run(x, w, bias, y, static_cast<char*>(workspace));
}

void unfold(DType dtype, const void* image, void* columns, const ConvShape& shape,
            int64_t channels) {
  int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, shape.output_size()));
  parallel_for(0, channels * shape.kernel_size(), grain, [&](int64_t begin, int64_t end) {
    unfolds->unfold(item_size(dtype), image, columns, shape, begin, end);
  });
}

void fold(DType dtype, const void* columns, void* image, const ConvShape& shape, int64_t channels) {
  int64_t work = shape.output_size() * shape.kernel_size();
  int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, work));
  parallel_for(0, channels, grain, [&](int64_t begin, int64_t end) {
    unfolds->fold(dtype, columns, image, shape, begin, end);
  });
}

}  // namespace facula::kernels
