// The extension module facula._C. The package facula/__init__.py builds its namespace from it.
#include "facula/python/module.h"

#include "facula/python/construct.h"
#include "facula/python/foreign.h"
#include "facula/python/node_type.h"
#include "facula/python/overrides.h"
#include "facula/python/storage_type.h"
#include "facula/python/tensor_type.h"
#include "facula/python/trace_recorder.h"
#include "facula/python/types.h"

namespace {

void build(PyObject* module) {
  using namespace facula::python;
  init_errors(module);
  init_dtype_types(module);
  init_device_type(module);
  init_size_type(module);
  init_generator_type(module);
  init_storage_type(module);
  init_tensor_type(module);
  init_overrides(module);
  init_node_types(module);
  init_function_type(module);
  check(Py_AtExit([] { python_ended = true; }));
  init_autograd(module);
  init_saved_hooks(module);
  init_gamma_draws(module);
  init_sparse(module);
  init_settings(module);
  init_module_base(module);
  init_optim(module);
  init_extension_api(module);
  add_functions(module, construct_functions);
  add_functions(module, foreign_functions);
  init_queries(module);
  init_dispatch_modes(module);
  init_dispatch_classes(module);
  init_transforms(module);
  init_trace_recorder(module);
  register_operators(module);
}

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "facula._C", "The compiled part of Facula.", -1,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__C() {
  PyObject* module = PyModule_Create(&definition);
  if (!module) return nullptr;
  try {
    build(module);
  } catch (...) {
    facula::python::raise_from_exception();
    Py_DECREF(module);
    return nullptr;
  }
  return module;
}
