// What extensions that users compile need from this module: tensors in and out of Python objects,
// and Python's exception for the one that is being handled. They find it as the capsule
// facula._C._extension_api; facula/utils/cpp_include/facula/extension.h declares the same struct.
#include "facula/python/module.h"
#include "facula/python/object.h"
#include "facula/python/tensor_type.h"

namespace facula::python {
namespace {

struct ExtensionApi {
  int version;
  PyObject* (*wrap)(TensorImpl* tensor);       // takes over a count; null for an undefined tensor
  TensorImpl* (*tensor_of)(PyObject* object);  // borrowed; null for what is no tensor
  void (*set_exception)();                     // inside a catch block
};

PyObject* wrap_stolen(TensorImpl* tensor) {
  return guarded([&] { return wrap(Tensor::steal(tensor)); });
}
TensorImpl* tensor_of(PyObject* object) { return is_tensor(object) ? impl(object) : nullptr; }
void set_exception() { raise_from_exception(); }

const ExtensionApi api{1, wrap_stolen, tensor_of, set_exception};

}  // namespace

void init_extension_api(PyObject* module) {
  Owned capsule =
      own(PyCapsule_New(const_cast<ExtensionApi*>(&api), "facula._C._extension_api", nullptr));
  add_object(module, "_extension_api", capsule.get());
}

}  // namespace facula::python
