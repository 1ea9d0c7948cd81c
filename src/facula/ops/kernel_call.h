// Helpers of operators that call kernels by hand: releasing the language's lock for long work,
// index tensors in the type that kernels read, and faults as the exception that an operator raises.
#pragma once
#include <optional>

#include "facula/base/error.h"
#include "facula/core/unlocked.h"
#include "facula/kernels/view.h"
#include "facula/ops/rules.h"

namespace facula {

// LongWork releases the lock for its scope when there are enough elements to be worth it.
class LongWork {
 public:
  explicit LongWork(int64_t elements) {
    if (elements > kElements) unlocked_.emplace();
  }

 private:
  static constexpr int64_t kElements = 1 << 15;
  std::optional<Unlocked> unlocked_;
};

// check_position throws for a position out of range: IndexError, or RuntimeError for the operators
// whose counterparts in PyTorch raise that.
inline void check_position(const kernels::Fault& fault, const char* op, ErrorKind kind) {
  if (!fault) [[likely]]
    return;
  if (fault.kind.load() != kernels::Fault::kIndexOutOfRange) kernels::raise_fault(fault, op);
  raise_error(kind, op, ": index ", fault.value, " is out of bounds for dimension with size ",
              fault.bound, " (element ", fault.position, " of the index)");
}

// index_tensor gives a position tensor as int64; other types than int32 and int64 are refused.
inline Tensor index_tensor(const Tensor& t, const char* op, ErrorKind kind = ErrorKind::kRuntime) {
  if (t.dtype() == kInt64) return t;
  if (t.dtype() != kInt32) {
    raise_error(kind, op, ": Expected dtype int32 or int64 for index, got ", dtype_name(t.dtype()));
  }
  return to_dtype(t, kInt64);
}

// refuse_complex raises as PyTorch does for operators without an order of complex numbers.
inline void refuse_complex(const Tensor& t, const char* op,
                           ErrorKind kind = ErrorKind::kNotImplemented) {
  if (!t.is_complex()) [[likely]]
    return;
  raise_error(kind, '"', op, "\" not implemented for '", dtype_title(t.dtype()), "'");
}

// reduced_result allocates the result of folding the dimensions of a mask.
inline Tensor reduced_result(const Tensor& t, uint64_t mask, bool keepdim, DType dtype) {
  return new_empty(reduced_shape(t.sizes(), mask, keepdim), dtype, t.device());
}

}  // namespace facula
