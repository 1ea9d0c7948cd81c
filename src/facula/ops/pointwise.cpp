// Promotion, broadcasting and loop calls of pointwise rows. The fast path serves dense operands of
// one dtype and shape; everything else goes through a Loop, in blocks where dtypes differ.
#include "facula/ops/pointwise.h"

#include <algorithm>

#include "facula/base/error.h"
#include "facula/core/unlocked.h"
#include "facula/base/parallel.h"
#include "facula/core/iteration.h"
#include "facula/kernels/copy.h"
#include "facula/ops/data_checks.h"

namespace facula {
namespace {

using kernels::LoopFn;
using kernels::Pointwise;
using kernels::ResultRule;

constexpr int64_t kGrain = 32768;  // elements of unit cost worth a thread
constexpr int64_t kBlock = 512;    // elements converted at a time
constexpr int kMaxInputs = kMaxOperands - 1;

// Categories of operands, kept apart because numbers and 0-d tensors promote only by category.
struct Promotion {
  int dim = -1, zero = -1, number = -1;  // DType or -1
  void add(int& slot, DType t) {
    slot = slot < 0 ? static_cast<int>(t) : static_cast<int>(promote(DType(slot), t));
  }
  void add(const TensorOrScalar& v) {
    if (v.tensor) {
      add(v.tensor->ndim ? dim : zero, v.tensor->dtype);
    } else {
      DType t = v.scalar.kind;
      add(number, t == kFloat64      ? default_dtype()
                  : t == kComplex128 ? complex_type(default_dtype())
                  : t == kUInt64     ? kInt64
                                     : t);
    }
  }
  DType result() const {
    int r = dim;
    for (int next : {zero, number}) {
      if (next < 0) continue;
      if (r < 0) {
        r = next;
      } else if (category(DType(next)) > category(DType(r))) {
        // a real tensor with a complex number keeps the tensor's precision
        r = is_complex(DType(next)) && is_floating(DType(r))
                ? static_cast<int>(DType(r) == kFloat64 ||
                                           (DType(next) == kComplex128 && next == zero)
                                       ? kComplex128
                                       : kComplex64)
                : next;
      }
    }
    return DType(r);
  }
};

DType compute_type(const Pointwise& row, DType promoted) {
  bool wants_float = row.rule == ResultRule::kFloat || row.rule == ResultRule::kRealFloat;
  if (wants_float && !is_inexact(promoted)) return default_dtype();
  return promoted;
}

DType result_dtype(const Pointwise& row, DType compute) {
  if (row.rule == ResultRule::kBool) return kBool;
  bool real = row.rule == ResultRule::kReal || row.rule == ResultRule::kRealFloat;
  return real ? real_type(compute) : compute;
}

LoopFn find_loop(const Pointwise& row, DType t) {
  return row.loops[kernels::isa_level_in_use][static_cast<int>(t)];
}

// loop_type is the type in which a row computes: half types without loops go through float.
DType loop_type(const Pointwise& row, DType compute) {
  if (find_loop(row, compute)) return compute;
  if (is_reduced(compute) && find_loop(row, kFloat32)) return kFloat32;
  fail(ErrorKind::kNotImplemented,
       str("\"", row.name, "\" not implemented for '", dtype_title(compute), "'"));
}

void put_scalar(void* to, const Scalar& s, DType t) {
  switch (t) {
    case kBool: *static_cast<bool*>(to) = s.to_bool(); break;
    case kUInt8:
    case kInt8: *static_cast<int8_t*>(to) = static_cast<int8_t>(s.to_int()); break;
    case kInt16:
    case kUInt16: *static_cast<int16_t*>(to) = static_cast<int16_t>(s.to_int()); break;
    case kInt32:
    case kUInt32: *static_cast<int32_t*>(to) = static_cast<int32_t>(s.to_int()); break;
    case kInt64:
    case kUInt64: *static_cast<int64_t*>(to) = s.to_int(); break;
    case kFloat32: *static_cast<float*>(to) = static_cast<float>(s.re); break;
    case kFloat64: *static_cast<double*>(to) = s.re; break;
    case kComplex64: {
      float* z = static_cast<float*>(to);
      z[0] = static_cast<float>(s.re);
      z[1] = static_cast<float>(s.im);
      break;
    }
    case kComplex128: {
      double* z = static_cast<double*>(to);
      z[0] = s.re;
      z[1] = s.im;
      break;
    }
    default: fail(ErrorKind::kRuntime, "a number cannot be stored in a half type here");
  }
}

// Call is one evaluation: operands with the dtypes they have and the dtype of the loop.
struct Call {
  LoopFn loop;
  const Scalar* scalars;
  int num = 0;
  DType from[kMaxOperands];  // dtype of each operand in memory; [0] is the output
  DType want[kMaxOperands];  // dtype that the loop expects
  DType via[kMaxOperands];   // dtype that rounds an operand on its way, or the one it has

  Call(LoopFn f, const Scalar* s) : loop(f), scalars(s) {}

  void operand(DType have, DType loop_wants) { operand(have, loop_wants, have); }

  void operand(DType have, DType loop_wants, DType rounded_to) {
    from[num] = have;
    want[num] = loop_wants;
    via[num] = rounded_to;
    ++num;
  }

  // run computes one inner row; operands that are not dense go through blocks of a buffer.
  void run(char* const* p, const int64_t* strides, int64_t n) const {
    bool direct[kMaxOperands], all = true;
    for (int k = 0; k < num; ++k) {
      direct[k] =
          from[k] == want[k] && via[k] == from[k] && (strides[k] == item_size(want[k]) || n == 1);
      all &= direct[k];
    }
    if (all) return loop(p, n, scalars);
    run_blocks(p, strides, n, direct);
  }

 private:
  void run_blocks(char* const* p, const int64_t* strides, int64_t n, const bool* direct) const {
    alignas(64) char buffer[kMaxOperands][kBlock * 16];
    char* q[kMaxOperands];
    for (int64_t at = 0; at < n; at += kBlock) {
      int64_t m = std::min(kBlock, n - at);
      for (int k = 0; k < num; ++k) {
        char* here = p[k] + at * strides[k];
        q[k] = direct[k] ? here : buffer[k];
        if (direct[k] || k == 0 || (strides[k] == 0 && at > 0)) continue;
        read(k, buffer[k], here, strides[k], m);
      }
      loop(q, m, scalars);
      if (!direct[0]) {
        kernels::copy->convert(p[0] + at * strides[0], from[0], strides[0], buffer[0], want[0],
                               item_size(want[0]), m);
      }
    }
  }

  // read brings m elements of an operand into a buffer of the dtype that the loop expects.
  void read(int k, char* to, const char* here, int64_t stride, int64_t m) const {
    if (via[k] == from[k]) {
      kernels::copy->convert(to, want[k], item_size(want[k]), here, from[k], stride, m);
      return;
    }
    alignas(64) char rounded[kBlock * 16];
    int64_t size = item_size(via[k]);
    kernels::copy->convert(rounded, via[k], size, here, from[k], stride, m);
    kernels::copy->convert(to, want[k], item_size(want[k]), rounded, via[k], size, m);
  }
};

// run_dense calls a loop over operands that are all dense or fixed, without a Loop.
void run_dense(const Pointwise& row, const Call& call, char* const* p, const int64_t* s,
               int64_t n) {
  int64_t grain = kGrain / row.cost;
  if (n <= grain) return call.run(p, s, n);
  Unlocked unlocked;
  parallel_for(0, n, grain, [&](int64_t b, int64_t e) {
    char* q[kMaxOperands];
    for (int k = 0; k < call.num; ++k) q[k] = p[k] + b * s[k];
    call.run(q, s, e - b);
  });
}

bool same_shape(const TensorImpl* a, const TensorImpl* b) {
  if (a->ndim != b->ndim) return false;
  for (int d = 0; d < a->ndim; ++d) {
    if (a->sizes[d] != b->sizes[d]) return false;
  }
  return true;
}

// fast_path serves dense CPU operands of one dtype and shape with numbers of no higher category.
// Returns an undefined tensor when it does not apply.
Tensor fast_path(const Pointwise& row, std::initializer_list<TensorOrScalar> inputs,
                 const Scalar* scalars, const Tensor* out) {
  const TensorImpl* first = nullptr;
  for (const TensorOrScalar& v : inputs) {
    const TensorImpl* t = v.tensor;
    if (!t) continue;
    if (!(t->flags & kContiguousFlag) || !t->device.is_cpu()) return {};
    if (!first) {
      first = t;
    } else if (t != first && (t->dtype != first->dtype || !same_shape(t, first))) {
      return {};
    }
  }
  if (!first || row.bool_inputs) return {};
  DType t = first->dtype;
  LoopFn loop = find_loop(row, t);
  if (!loop || compute_type(row, t) != t) return {};
  DType result = result_dtype(row, t);
  if (out && (!(*out)->device.is_cpu() || (*out)->dtype != result || !out->is_contiguous() ||
              !same_shape(out->impl(), first))) {
    return {};
  }
  alignas(16) char numbers[kMaxInputs][16];
  char* p[kMaxOperands];
  int64_t s[kMaxOperands];
  Call call(loop, scalars);
  call.operand(result, result);
  int k = 1;
  for (const TensorOrScalar& v : inputs) {
    if (v.tensor) {
      p[k] = static_cast<char*>(v.tensor->data());
      s[k] = item_size(t);
    } else {
      if (category(v.scalar.kind) > category(t)) return {};
      put_scalar(numbers[k - 1], v.scalar, t);
      p[k] = numbers[k - 1];
      s[k] = 0;
    }
    call.operand(t, t);
    ++k;
  }
  Tensor r = out ? *out : new_empty({first->sizes, first->ndim}, result);
  p[0] = static_cast<char*>(r->data());
  s[0] = item_size(result);
  run_dense(row, call, p, s, first->numel);
  return r;
}

struct Plan {
  Sizes shape;
  DType compute;  // promoted type with the row's rule applied
  Device device;
  bool has_device = false;
  const TensorImpl* like = nullptr;  // first input with the full shape
};

// merge_device puts the call where its operands lie; 0-d operands of the CPU go with any device.
void merge_device(Plan& plan, const TensorImpl* t, const char* op) {
  bool roams = t->ndim == 0 && t->device.is_cpu();
  if (roams || (plan.has_device && t->device.type == plan.device.type)) return;
  if (plan.has_device) fail_devices(op);
  plan.device = t->device;
  plan.has_device = true;
}

Plan make_plan(const Pointwise& row, std::initializer_list<TensorOrScalar> inputs) {
  Plan plan;
  Promotion types;
  bool any = false;
  int k = 0;
  for (const TensorOrScalar& v : inputs) {
    if (v.tensor) {
      IntList sizes{v.tensor->sizes, v.tensor->ndim};
      plan.shape = any ? broadcast_sizes(plan.shape, sizes, row.name) : sizes.to_sizes();
      any = true;
      merge_device(plan, v.tensor, row.name);
    }
    if (!(row.bool_inputs >> k & 1)) types.add(v);
    ++k;
  }
  if (!any) fail(ErrorKind::kType, str(row.name, ": expected at least one Tensor operand"));
  for (const TensorOrScalar& v : inputs) {
    if (v.tensor && v.tensor->ndim &&
        IntList(v.tensor->sizes, v.tensor->ndim) == IntList(plan.shape)) {
      plan.like = v.tensor;
      break;
    }
  }
  plan.compute = compute_type(row, types.result());
  return plan;
}

void run_plan(const Pointwise& row, const Plan& plan, const Tensor& out,
              std::initializer_list<TensorOrScalar> inputs, const Scalar* scalars) {
  DType type = loop_type(row, plan.compute);
  if (out.numel() == 0 || out.is_meta()) return;
  Call call(find_loop(row, type), scalars);
  call.operand(out.dtype(), result_dtype(row, type));
  Loop loop(plan.shape);
  loop.add(out);
  alignas(16) char numbers[kMaxInputs][16];
  int k = 0;
  // Comparisons ask about values of the promoted dtype: the number 0.1 equals the half 0.1,
  // although the loop compares floats. Arithmetic keeps a number's precision.
  bool rounds = type != plan.compute && row.rule == ResultRule::kBool;
  for (const TensorOrScalar& v : inputs) {
    DType want = row.bool_inputs >> k & 1 ? kBool : type;
    bool asks = rounds && want != kBool;
    if (v.tensor) {
      call.operand(v.tensor->dtype, want, asks ? plan.compute : v.tensor->dtype);
      loop.add(v.tensor->data(), {v.tensor->sizes, v.tensor->ndim},
               {v.tensor->strides, v.tensor->ndim}, item_size(v.tensor->dtype));
    } else {
      put_scalar(numbers[k], v.scalar, want);
      call.operand(want, want, asks ? plan.compute : want);
      loop.add(numbers[k], {}, {}, 0);
    }
    ++k;
  }
  loop.plan();
  int64_t grain = kGrain / row.cost;
  auto body = [&](char* const* p, const int64_t* s, int64_t n) { call.run(p, s, n); };
  if (out.numel() <= grain) return loop.run(0, out.numel(), body);
  Unlocked unlocked;
  loop.run_parallel(grain, body);
}

}  // namespace

DType result_type(std::initializer_list<TensorOrScalar> operands) {
  Promotion types;
  for (const TensorOrScalar& v : operands) types.add(v);
  return types.result();
}

void fail_devices(const char* op) {
  fail(ErrorKind::kRuntime, str(op,
                                ": Expected all tensors to be on the same device, but found at "
                                "least two devices, cpu and meta!"));
}

void check_no_internal_overlap(const Tensor& out, const char* op) {
  if (overlaps_itself(out)) {
    fail(ErrorKind::kRuntime,
         str(op,
             ": unsupported operation: more than one element of the written-to tensor refers to "
             "a single memory location. Please clone() the tensor before performing the "
             "operation."));
  }
}

void check_no_overlap(const Tensor& out, const Tensor& in, const char* op) {
  if (out.is_same(in) || out->storage != in->storage) return;
  Overlap o = memory_overlap(out, in);
  if (o == Overlap::kPartial) {
    fail(ErrorKind::kRuntime,
         str(op,
             ": unsupported operation: some elements of the input tensor and the written-to "
             "tensor refer to a single memory location. Please clone() the tensor before "
             "performing the operation."));
  }
}

Tensor pointwise(const Pointwise& row, std::initializer_list<TensorOrScalar> inputs,
                 const Scalar* scalars) {
  Tensor r = fast_path(row, inputs, scalars, nullptr);
  if (r.defined()) return r;
  Plan plan = make_plan(row, inputs);
  DType type = result_dtype(row, plan.compute);
  if (plan.like && plan.like->device == plan.device) {
    r = new_empty_as(Tensor::borrow(const_cast<TensorImpl*>(plan.like)), type);
  } else {
    r = new_empty(plan.shape, type, plan.device);
  }
  run_plan(row, plan, r, inputs, scalars);
  return r;
}

void pointwise_into(const Pointwise& row, const Tensor& out,
                    std::initializer_list<TensorOrScalar> inputs, const Scalar* scalars) {
  bool shared = false;
  for (const TensorOrScalar& v : inputs) {
    shared |= v.tensor && v.tensor != out.impl() && v.tensor->storage == out->storage;
  }
  if (!shared && fast_path(row, inputs, scalars, &out).defined()) return;
  Plan plan = make_plan(row, inputs);
  if (!(IntList(plan.shape) == out.sizes())) {
    fail(ErrorKind::kRuntime, str(row.name, ": output with shape ", list_text(out.sizes()),
                                  " doesn't match the broadcast shape ", list_text(plan.shape)));
  }
  if (plan.device.type != out.device().type) fail_devices(row.name);
  DType type = result_dtype(row, plan.compute);
  if (!can_cast(type, out.dtype())) {
    fail(ErrorKind::kRuntime,
         str(row.name, ": result type ", dtype_title(type),
             " can't be cast to the desired output type ", dtype_title(out.dtype())));
  }
  check_no_internal_overlap(out, row.name);
  for (const TensorOrScalar& v : inputs) {
    if (v.tensor) check_no_overlap(out, Tensor::borrow(v.tensor), row.name);
  }
  run_plan(row, plan, out, inputs, scalars);
}

}  // namespace facula
