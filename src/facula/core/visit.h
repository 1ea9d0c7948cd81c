// From a dtype to the C++ type of its elements, for code outside the kernels: visit calls a generic
// lambda with the type as template argument.
#pragma once

#include <cstdint>

#include "facula/base/half.h"
#include "facula/core/dtype.h"

namespace facula {

// visit_floating calls f.operator()<T>() with the type of a real floating-point dtype; false, and
// nothing is called, for other dtypes.
template <class F>
bool visit_floating(DType dtype, F&& f) {
  switch (dtype) {
    case kFloat16: f.template operator()<Half>(); return true;
    case kBFloat16: f.template operator()<BFloat16>(); return true;
    case kFloat32: f.template operator()<float>(); return true;
    case kFloat64: f.template operator()<double>(); return true;
    default: return false;
  }
}

// visit_real does the same for every dtype but the complex ones.
template <class F>
bool visit_real(DType dtype, F&& f) {
  switch (dtype) {
    case kBool: f.template operator()<bool>(); return true;
    case kUInt8: f.template operator()<uint8_t>(); return true;
    case kInt8: f.template operator()<int8_t>(); return true;
    case kInt16: f.template operator()<int16_t>(); return true;
    case kInt32: f.template operator()<int32_t>(); return true;
    case kInt64: f.template operator()<int64_t>(); return true;
    case kUInt16: f.template operator()<uint16_t>(); return true;
    case kUInt32: f.template operator()<uint32_t>(); return true;
    case kUInt64: f.template operator()<uint64_t>(); return true;
    default: return visit_floating(dtype, f);
  }
}

}  // namespace facula
