// The ranges of the types, and their names in C++, which the message uses.
#include "facula/ops/fits.h"

#include <cfloat>
#include <cmath>

#include "facula/base/error.h"

namespace facula {
namespace {

const char* name_in_cpp(DType dtype) {
  switch (dtype) {
    case kInt8: return "int8_t";
    case kInt16: return "int16_t";
    case kInt32: return "int";
    case kInt64: return "int64_t";
    case kUInt8: return "uint8_t";
    case kUInt16: return "uint16_t";
    case kUInt32: return "uint32_t";
    case kUInt64: return "uint64_t";
    case kFloat32: return "float";
    case kFloat64: return "double";
    default: return dtype_name(dtype);
  }
}

bool fits_integer(DType dtype, const Scalar& v) {
  int bits = static_cast<int>(item_size(dtype) * 8);
  if (v.is_floating() || v.is_complex()) {
    if (!std::isfinite(v.re)) return false;
    double low = is_signed(dtype) ? -std::ldexp(1, bits - 1) : 0;
    double high = std::ldexp(1, is_signed(dtype) ? bits - 1 : bits);
    return v.re >= low && v.re < high;
  }
  if (bits == 64) return v.kind != kUInt64 || !is_signed(dtype);
  if (v.kind == kUInt64) return false;
  int64_t high = (int64_t{1} << (is_signed(dtype) ? bits - 1 : bits)) - 1;
  return v.i <= high && v.i >= (is_signed(dtype) ? -high - 1 : -high);
}

bool fits_float(double v, double most = FLT_MAX) {
  return !std::isfinite(v) || std::abs(v) <= most;
}

}  // namespace

void check_fits(DType dtype, const Scalar& v) {
  bool fits = dtype == kBool || is_complex(dtype) || v.im == 0;
  if (fits && is_integral(dtype) && dtype != kBool) fits = fits_integer(dtype, v);
  if (dtype == kFloat16) fits = fits && fits_float(v.to_double(), 65504);
  if (dtype == kBFloat16) fits = fits && fits_float(v.to_double(), 0x1.FEp127);
  if (dtype == kFloat32) fits = fits && fits_float(v.re);
  if (dtype == kComplex64) fits = fits_float(v.re) && fits_float(v.im);
  FACULA_CHECK(fits, kRuntime, "value cannot be converted to type ", name_in_cpp(dtype),
               " without overflow");
}

}  // namespace facula
