// assign_data: `t.data = data`, for Python and for modules that are converted.
#pragma once
#include "facula/core/tensor.h"

namespace facula {

// assign_data makes a tensor look at the elements of another one, of its type and device, so that
// all handles of it see the change; its history and gradient stay. The caller checks that they fit.
inline void assign_data(const Tensor& t, const Tensor& data) {
  TensorImpl* p = t.impl();
  replace_storage(p, data->storage);
  p->dtype = data.dtype();
  p->device = data.device();
  set_geometry(p, data.sizes(), data.strides(), data.storage_offset());
}

}  // namespace facula
