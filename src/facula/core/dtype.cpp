// Names and promotion of element types.
#include "facula/core/dtype.h"

#include <algorithm>
#include <atomic>

#include "facula/base/error.h"

namespace facula {
namespace {

constexpr const char* kNames[kNumDTypes] = {
    "bool",   "uint8",   "int8",     "int16",   "int32",   "int64",     "uint16",    "uint32",
    "uint64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"};
constexpr const char* kTitles[kNumDTypes] = {
    "Bool",   "Byte", "Char",     "Short", "Int",    "Long",         "UInt16",       "UInt32",
    "UInt64", "Half", "BFloat16", "Float", "Double", "ComplexFloat", "ComplexDouble"};

std::atomic<DType> default_type{kFloat32};

// The wider of two types of one kind; for a signed and an unsigned one, the least that holds both.
DType promote_integers(DType a, DType b) {
  if (is_signed(a) == is_signed(b)) return item_size(a) < item_size(b) ? b : a;
  DType with_sign = is_signed(a) ? a : b, without = is_signed(a) ? b : a;
  if (item_size(with_sign) > item_size(without)) return with_sign;
  switch (without) {
    case kUInt8: return kInt16;
    case kUInt16: return kInt32;
    case kUInt32: return kInt64;
    default:
      fail(ErrorKind::kRuntime, str("promotion for uint64 with signed types is not supported, "
                                    "attempted to promote ",
                                    dtype_title(a), " and ", dtype_title(b)));
  }
}

}  // namespace

const char* dtype_name(DType t) { return kNames[static_cast<int>(t)]; }
const char* dtype_title(DType t) { return kTitles[static_cast<int>(t)]; }

DType promote(DType a, DType b) {
  if (a == b) return a;
  int ca = category(a), cb = category(b);
  if (ca < cb) {
    std::swap(a, b);
    std::swap(ca, cb);
  }
  // now a has the higher or equal category
  if (ca == 3) {
    bool wide = a == kComplex128 || b == kComplex128 || b == kFloat64;
    return wide ? kComplex128 : kComplex64;
  }
  if (ca == 2) {
    if (cb < 2) return a;
    if (is_reduced(a) && is_reduced(b)) return kFloat32;  // half with bfloat16
    return std::max(a, b);
  }
  if (ca == 1) return cb == 0 ? a : promote_integers(a, b);
  return kBool;
}

bool can_cast(DType from, DType to) {
  int cf = category(from), ct = category(to);
  if (cf == 3 && ct < 3) return false;
  if (cf == 2 && ct < 2) return false;
  return !(cf == 1 && ct == 0);
}

DType default_dtype() { return default_type.load(std::memory_order_relaxed); }

void set_default_dtype(DType t) {
  if (!is_floating(t)) {
    fail(ErrorKind::kType,
         str("set_default_dtype: expected a floating-point dtype, got ", dtype_name(t)));
  }
  default_type.store(t, std::memory_order_relaxed);
}

}  // namespace facula
