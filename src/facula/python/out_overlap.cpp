// What an out= argument may share memory with.
#include "facula/python/out_overlap.h"

#include "facula/python/arguments.h"
#include "facula/python/types.h"

namespace facula::python {

namespace {

void refuse(const Signature& call, const Tensor& out, PyObject* object) {
  if (!is_tensor(object)) return;
  Overlap found = memory_overlap(out, unwrap(object));
  if (found == Overlap::kPartial || (call.out == Sharing::kNone && found == Overlap::kFull)) {
    raise_error(ErrorKind::kRuntime, call.name, "(): unsupported operation: some elements of the ",
                "input tensor and the written-to tensor refer to a single memory location. Please ",
                "clone() the tensor before performing the operation.");
  }
}

}  // namespace

void refuse_overlap(const Bound& b, int i, const Tensor& out) {
  const Signature& call = *b.sig;
  if (call.out == Sharing::kAny || out.numel() == 0) return;
  for (int k = 0; k < call.count; ++k) {
    PyObject* v = b.v[k];
    if (k == i || !v) continue;
    refuse(call, out, v);
    if (!PyTuple_Check(v) && !PyList_Check(v)) continue;
    for (Py_ssize_t j = 0; j < PySequence_Fast_GET_SIZE(v); ++j) {
      refuse(call, out, PySequence_Fast_GET_ITEM(v, j));
    }
  }
}

void refuse_shared_outs(const char* name, std::span<const Tensor> outs) {
  for (size_t i = 0; i < outs.size(); ++i) {
    for (size_t k = i + 1; k < outs.size(); ++k) {
      Overlap found = memory_overlap(outs[i], outs[k]);
      if (outs[i].numel() && (found == Overlap::kFull || found == Overlap::kPartial)) {
        raise_error(ErrorKind::kValue, name, "(): the out= tensors must not overlap.");
      }
    }
  }
}

}  // namespace facula::python
