// Questions about dtype and shape.
#include "facula/base/error.h"
#include "facula/ops/data_checks.h"
#include "facula/ops/generated_prelude.h"
#include "facula/ops/query_functions.h"

namespace facula {

bool is_complex(const Tensor& self) { return self.is_complex(); }
bool is_floating_point(const Tensor& self) { return self.is_floating_point(); }
bool is_signed(const Tensor& self) { return is_signed(self.dtype()); }
bool is_conj(const Tensor&) { return false; }
bool is_neg(const Tensor&) { return false; }
bool is_inference(const Tensor& self) { return self->has(kInference); }
bool is_same_size(const Tensor& self, const Tensor& other) { return self.sizes() == other.sizes(); }

bool is_nonzero(const Tensor& self) {
  if (self.numel() != 1) {
    fail(ErrorKind::kRuntime,
         self.numel() == 0 ? "Boolean value of Tensor with no values is ambiguous"
                           : "Boolean value of Tensor with more than one value is ambiguous");
  }
  require_data("is_nonzero", self);
  return *to_dtype(self, kBool).data_as<uint8_t>() != 0;
}

}  // namespace facula
