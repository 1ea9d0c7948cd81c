// What generated operator sources share: the base of nodes, saved lists, and small helpers that
// formulas print as calls. Nothing else includes this.
#pragma once
#include <string>

#include "facula/autograd/engine.h"
#include "facula/base/error.h"
#include "facula/core/intercept.h"
#include "facula/kernels/view.h"
#include "facula/ops/checks.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/geometry.h"
#include "facula/ops/pointwise.h"
#include "facula/ops/rules.h"
#include "facula/ops/scalar_math.h"
#include "facula/ops/types.h"

// FACULA_LOOPS declares a row's loops of each instruction set; FACULA_LOOP_TABLE lists them.
#if FACULA_HAS_AVX512
#define FACULA_LOOPS(name)              \
  namespace kernels::avx2 {             \
  extern const LoopFn name[kNumDTypes]; \
  }                                     \
  namespace kernels::avx512 {           \
  extern const LoopFn name[kNumDTypes]; \
  }
#define FACULA_LOOP_TABLE(name) {kernels::avx2::name, kernels::avx512::name}
#else
#define FACULA_LOOPS(name)              \
  namespace kernels::avx2 {             \
  extern const LoopFn name[kNumDTypes]; \
  }
#define FACULA_LOOP_TABLE(name) {kernels::avx2::name, nullptr}
#endif

namespace facula {

// OperatorNode is the base of generated nodes.
struct OperatorNode : Node {
  void add_edges(TensorList list) {
    for (const Tensor& t : list) add_edge(t);
  }
  bool needs_any(size_t first, size_t count) const {
    for (size_t i = first; i < first + count; ++i) {
      if (needs(i)) return true;
    }
    return false;
  }
};

// SavedTensors is a saved Tensor[].
struct SavedTensors {
  std::vector<SavedTensor> items;
  void save_input(TensorList list) {
    items.resize(list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i].defined()) items[i].save_input(list[i]);
    }
  }
  std::vector<Tensor> unpack(const Node* node) const {
    std::vector<Tensor> out(items.size());
    for (size_t i = 0; i < items.size(); ++i) out[i] = items[i].unpack(node);
    return out;
  }
  void reset() { items.clear(); }
};

// SavedInts and SavedFloats are saved optional lists.
struct SavedInts {
  Sizes values;
  bool present = false;
  void operator=(OptIntList list) {
    present = list.has_value();
    if (list) values = list->to_sizes();
  }
  OptIntList get() const { return present ? OptIntList(IntList(values)) : OptIntList(); }
};
struct SavedFloats {
  std::vector<double> values;
  bool present = false;
  void operator=(std::optional<std::span<const double>> list) {
    present = list.has_value();
    if (list) values.assign(list->begin(), list->end());
  }
  std::optional<std::span<const double>> get() const {
    if (!present) return {};
    return std::span<const double>(values);
  }
};

inline void visit(const SavedTensor& s, void (*f)(void*, TensorImpl*), void* c) {
  if (s.peek()) f(c, s.peek());
}
inline void visit(const SavedOperand& s, void (*f)(void*, TensorImpl*), void* c) {
  visit(s.tensor, f, c);
}
inline void visit(const SavedTensors& s, void (*f)(void*, TensorImpl*), void* c) {
  for (const SavedTensor& t : s.items) visit(t, f, c);
}

// conj_operand conjugates a factor of a gradient; real ones are passed on.
Tensor conj(const Tensor& self);
inline Tensor conj_operand(const Tensor& t) { return t.is_complex() ? conj(t) : t; }
inline Scalar conj_operand(const Scalar& s) { return s.conj(); }
inline Operand conj_operand(const Operand& v) {
  if (v.tensor.defined()) return Operand(conj_operand(v.tensor));
  return Operand(v.scalar.conj());
}
inline Operand conj_operand(const TensorOrScalar& v) {
  if (v.tensor) return Operand(conj_operand(Tensor::borrow(v.tensor)));
  return Operand(v.scalar.conj());
}
inline Scalar conj_operand(double v) { return Scalar(v); }

// operand_add and its kin combine operands of which neither may be a tensor.
FACULA_API Operand operand_add(const TensorOrScalar& a, const TensorOrScalar& b);
FACULA_API Operand operand_sub(const TensorOrScalar& a, const TensorOrScalar& b);
FACULA_API Operand operand_mul(const TensorOrScalar& a, const TensorOrScalar& b);
FACULA_API Operand operand_div(const TensorOrScalar& a, const TensorOrScalar& b);

template <class... T>
inline void check_defined(const char* op, const T&... tensors) {
  if (!(tensors.defined() && ...)) [[unlikely]] {
    fail(ErrorKind::kType, str(op, ": expected a Tensor, got an undefined one"));
  }
}

// OneDevice notes whether all tensors that it meets lie on the same device.
struct OneDevice {
  std::optional<Device> device;
  bool holds = true;
  void add(const Tensor& t) {
    if (!t.defined()) return;
    if (!device) device = t.device();
    holds &= *device == t.device();
  }
  void add(TensorList list) {
    for (const Tensor& t : list) add(t);
  }
  void add(const TensorOrScalar& v) {
    if (v.tensor) add(Tensor::borrow(v.tensor));
  }
};

// check_devices refuses tensors of different devices: a kernel would read what a meta tensor does
// not have.
template <class... T>
inline void check_devices(const char* op, const T&... tensors) {
  OneDevice check;
  (check.add(tensors), ...);
  if (!check.holds) [[unlikely]] {
    fail_devices(op);
  }
}

// store_into copies the value of a functional call into self: the in-place form of rows that have
// no kernel of their own for it.
FACULA_API void store_into(const Tensor& self, const Tensor& value, const char* op);

// copy_checked copies the value of a composite into self, recorded; shapes must agree and the dtype
// must fit.
FACULA_API Tensor copy_checked(const Tensor& self, const Tensor& value, const char* op);

// Metadata of live values, as formulas name it.
inline IntList shape_of(const Tensor& t) { return t.defined() ? t.sizes() : IntList(); }
inline IntList shape_of(const TensorOrScalar& v) {
  return v.tensor ? IntList{v.tensor->sizes, v.tensor->ndim} : IntList();
}
inline IntList strides_of(const Tensor& t) { return t.strides(); }
inline DType dtype_of(const Tensor& t) { return t.defined() ? t.dtype() : kFloat32; }
inline DType dtype_of(const TensorOrScalar& v) {
  return v.tensor ? v.tensor->dtype : v.scalar.kind;
}
inline int64_t dim_of(const Tensor& t) { return t.dim(); }
inline int64_t numel_of(const Tensor& t) { return t.numel(); }
inline int64_t offset_of(const Tensor& t) { return t.storage_offset(); }
inline Device device_of(const Tensor& t) { return t.device(); }
inline bool defined_of(const Tensor& t) { return t.defined(); }
inline int64_t list_at(IntList list, int64_t i) { return list[i < 0 ? i + list.ssize() : i]; }
inline int64_t length_of(IntList list) { return list.ssize(); }
inline int64_t list_prod(IntList list) {
  int64_t n = 1;
  for (int64_t v : list) n *= v;
  return n;
}
// shapes_of flattens the shapes of a list: for each tensor its rank, then its sizes.
inline Sizes shapes_of(TensorList list) {
  Sizes out;
  for (const Tensor& t : list) {
    out.push_back(t.dim());
    for (int64_t s : t.sizes()) out.push_back(s);
  }
  return out;
}
// inverse_permutation gives the dims that undo a permute.
inline Sizes inverse_permutation(IntList dims) {
  Sizes out(dims.size());
  for (int i = 0; i < dims.ssize(); ++i) out[dims[i] < 0 ? dims[i] + dims.ssize() : dims[i]] = i;
  return out;
}
// reduced_numel counts the elements that a reduction over dims folds into one.
inline int64_t reduced_numel(IntList shape, OptIntList dims) {
  uint64_t mask = dim_mask(dims, shape.ssize(), "reduction");
  int64_t n = 1;
  for (int d = 0; d < shape.ssize(); ++d) {
    if (mask >> d & 1) n *= shape[d];
  }
  return n;
}

}  // namespace facula
