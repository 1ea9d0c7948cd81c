// The parts of the extension module facula._C, in the order in which they are set up.
#pragma once
#include "facula/python/object.h"

namespace facula::python {

// Each adds its types and functions to the module; they throw PythonError.
void init_autograd(PyObject* module);
void init_extension_api(PyObject* module);
void init_settings(PyObject* module);
void init_gamma_draws(PyObject* module);
void init_module_base(PyObject* module);
void init_optim(PyObject* module);
void init_queries(PyObject* module);
void init_saved_hooks(PyObject* module);
void init_sparse(PyObject* module);
void init_dispatch_modes(PyObject* module);
void init_dispatch_classes(PyObject* module);
void init_transforms(PyObject* module);

// register_operators is generated: it registers the rows of every family.
void register_operators(PyObject* module);

}  // namespace facula::python
