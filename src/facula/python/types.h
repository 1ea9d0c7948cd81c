// The small value types of the package: dtype, device, layout, memory_format, Size, Generator.
#pragma once
#include "facula/core/generator.h"
#include "facula/core/tensor.h"
#include "facula/python/object.h"

namespace facula::python {

extern PyTypeObject dtype_type;
extern PyTypeObject device_type;
extern PyTypeObject layout_type;
extern PyTypeObject memory_format_type;
extern PyTypeObject size_type;
extern PyTypeObject generator_type;

struct PyDType {
  PyObject_HEAD DType value;
};
struct PyDevice {
  PyObject_HEAD Device value;
};
struct PyNamed {  // layout, memory_format
  PyObject_HEAD const char* name;
  int value;
};
struct PyGenerator {
  PyObject_HEAD Generator* generator;
  bool owned;
};

// dtype_object gives the singleton of a dtype, borrowed.
PyObject* dtype_object(DType t);
// is_dtype accepts dtype objects and the classes bool, int, float, complex.
bool is_dtype(PyObject* o);
DType unwrap_dtype(PyObject* o, const char* op);

PyObject* device_object(Device d);  // a new reference
// is_device accepts device objects, strings and indices.
bool is_device(PyObject* o);
Device unwrap_device(PyObject* o, const char* op);
// The device that factories use when none is given; set by `with device:` and set_default_device.
[[gnu::tls_model("initial-exec")]] extern thread_local bool has_factory_device;
extern thread_local Device factory_device;

PyObject* layout_object();  // facula.strided, borrowed
PyObject* memory_format_object(MemoryFormat f);
inline bool is_memory_format(PyObject* o) { return Py_TYPE(o) == &memory_format_type; }
inline bool is_layout(PyObject* o) { return Py_TYPE(o) == &layout_type; }
MemoryFormat unwrap_memory_format(PyObject* o, const char* op);

// size_object makes a Size (a tuple) of integers.
PyObject* size_object(IntList sizes);

inline bool is_generator(PyObject* o) { return PyObject_TypeCheck(o, &generator_type); }

void init_dtype_types(PyObject* module);
void init_device_type(PyObject* module);
void init_size_type(PyObject* module);
void init_generator_type(PyObject* module);

}  // namespace facula::python
