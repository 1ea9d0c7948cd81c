// The recorder that profilers of Python are written with.
#pragma once
#include "facula/python/object.h"

namespace facula::python {

// init_trace_recorder adds the functions _profiler_* to the extension module.
void init_trace_recorder(PyObject* module);

}  // namespace facula::python
