// Conversions: to() in its forms and the methods named after dtypes.
#include "facula/base/error.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/warn.h"

namespace facula {
namespace {

Tensor converted(const Tensor& self, Device device, DType dtype, bool copy,
                 std::optional<MemoryFormat> format) {
  MemoryFormat f = format.value_or(MemoryFormat::kPreserve);
  bool laid_out = f == MemoryFormat::kPreserve || is_contiguous_as(self, f);
  bool same = dtype == self.dtype() && device == self.device();
  if (same && laid_out && !copy) return self;
  Tensor r = self;
  if (!(device == self.device())) r = to_device(r, device);
  if (dtype != self.dtype()) {
    warn_of_discarded_part(self.dtype(), dtype);
    r = cast(r, dtype);
  }
  bool fresh = !r.is_same(self);
  if (f == MemoryFormat::kPreserve) return fresh ? r : clone(r);
  return fresh && is_contiguous_as(r, f) ? r : clone(r, f);
}

}  // namespace

Tensor to_dtype_format(const Tensor& self, DType dtype, bool, bool copy,
                       std::optional<MemoryFormat> format) {
  return converted(self, self.device(), dtype, copy, format);
}

Tensor to_other(const Tensor& self, const Tensor& other, bool, bool copy,
                std::optional<MemoryFormat> format) {
  return converted(self, other.device(), other.dtype(), copy, format);
}

Tensor to(const Tensor& self, std::optional<Device> device, std::optional<DType> dtype, bool,
          bool copy, std::optional<MemoryFormat> format) {
  return converted(self, device.value_or(self.device()), dtype.value_or(self.dtype()), copy,
                   format);
}

namespace forward {

Tensor to_device(const Tensor& self, std::optional<Device> device) {
  Device to = device.value_or(self.device());
  if (!to.is_cpu() && !to.is_meta()) fail_no_device("to", to);
  if (self.is_meta() && !to.is_meta()) {
    fail(ErrorKind::kNotImplemented,
         "Cannot copy out of meta tensor; no data! Use torch.nn.Module.to_empty() instead of "
         "torch.nn.Module.to() when moving module from meta to a different device.");
  }
  Tensor r = new_strided(
      self.sizes(), is_dense(self) ? self.strides() : IntList(contiguous_strides(self.sizes())),
      self.dtype(), to);
  copy_raw(r, self);
  return r;
}

}  // namespace forward

#define FACULA_CAST(name, type)                                         \
  Tensor name(const Tensor& self, std::optional<MemoryFormat> format) { \
    return converted(self, self.device(), type, false, format);         \
  }
FACULA_CAST(to_float32, kFloat32)
FACULA_CAST(to_float64, kFloat64)
FACULA_CAST(to_float16, kFloat16)
FACULA_CAST(to_bfloat16, kBFloat16)
FACULA_CAST(to_int64, kInt64)
FACULA_CAST(to_int32, kInt32)
FACULA_CAST(to_int16, kInt16)
FACULA_CAST(to_int8, kInt8)
FACULA_CAST(to_uint8, kUInt8)
FACULA_CAST(to_bool, kBool)
FACULA_CAST(to_complex64, kComplex64)
FACULA_CAST(to_complex128, kComplex128)
#undef FACULA_CAST

}  // namespace facula
