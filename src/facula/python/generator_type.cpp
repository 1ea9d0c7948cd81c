// facula.Generator, the seeded source of random numbers, and the functions over the default one.
#include "facula/core/random.h"
#include "facula/python/arguments.h"
#include "facula/python/types.h"

namespace facula::python {

PyTypeObject generator_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

namespace {

Generator& generator_of(PyObject* o) { return *reinterpret_cast<PyGenerator*>(o)->generator; }

PyObject* wrap_generator(PyTypeObject* type, Ref<Generator> g) {
  PyObject* o = check(type->tp_alloc(type, 0));
  reinterpret_cast<PyGenerator*>(o)->generator = g.detach();
  reinterpret_cast<PyGenerator*>(o)->owned = true;
  return o;
}

PyObject* generator_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"device", nullptr};
    PyObject* device = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Generator", const_cast<char**>(names),
                                     &device)) {
      return nullptr;
    }
    Device d = device && device != Py_None ? unwrap_device(device, "Generator") : kCpu;
    FACULA_CHECK(d.is_cpu(), kRuntime, "Generator: expected the CPU, got ", device_text(d));
    return wrap_generator(type, make_ref<Generator>());
  });
}

void generator_dealloc(PyObject* self) {
  auto* o = reinterpret_cast<PyGenerator*>(self);
  if (o->owned && o->generator) o->generator->release();
  Py_TYPE(self)->tp_free(self);
}

// seed_number accepts what PyTorch does: negative seeds count from 2**64.
uint64_t seed_number(PyObject* o) {
  if (!is_integer(o)) {
    raise_error(ErrorKind::kRuntime, "manual_seed expected a long, but got ", type_name(o));
  }
  Owned index = own(PyNumber_Index(o));
  int overflow = 0;
  long long v = PyLong_AsLongLongAndOverflow(index.get(), &overflow);
  if (!overflow) return static_cast<uint64_t>(v);
  unsigned long long u = PyLong_AsUnsignedLongLong(index.get());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    raise_error(ErrorKind::kValue, "Overflow when unpacking long long: the seed has over 64 bits");
  }
  return u;
}

template <class F>
auto locked(Generator& g, F&& f) {
  std::lock_guard<std::mutex> lock(g.mutex());
  return f(g);
}

PyObject* manual_seed(PyObject* self, PyObject* seed) {
  return guarded([&]() -> PyObject* {
    uint64_t s = seed_number(seed);
    locked(generator_of(self), [&](Generator& g) { g.manual_seed(s); });
    return Py_NewRef(self);
  });
}
PyObject* fresh_seed(PyObject* self, PyObject*) {
  return guarded([&] {
    return PyLong_FromUnsignedLongLong(
        locked(generator_of(self), [](Generator& g) { return g.seed(); }));
  });
}
PyObject* initial_seed(PyObject* self, PyObject*) {
  return PyLong_FromUnsignedLongLong(generator_of(self).initial_seed());
}

PyObject* get_state(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Tensor t = new_empty({static_cast<int64_t>(Generator::kStateBytes)}, kUInt8);
    locked(generator_of(self), [&](Generator& g) {
      g.get_state(std::span<std::byte, Generator::kStateBytes>(t.data_as<std::byte>(),
                                                               Generator::kStateBytes));
    });
    return wrap(std::move(t));
  });
}

PyObject* set_state(PyObject* self, PyObject* state) {
  return guarded([&]() -> PyObject* {
    const Tensor& t = expect_tensor(state, "set_state");
    FACULA_CHECK(t.dtype() == kUInt8 && t.is_contiguous() && t.device().is_cpu(), kType,
                 "RNG state must be a facula.ByteTensor");
    locked(generator_of(self), [&](Generator& g) {
      g.set_state({t.data_as<const std::byte>(), static_cast<size_t>(t.numel())});
    });
    return Py_NewRef(self);
  });
}

PyObject* clone_state(PyObject* self, PyObject*) {
  return guarded([&] {
    return wrap_generator(&generator_type,
                          locked(generator_of(self), [](Generator& g) { return g.clone(); }));
  });
}

PyObject* get_device_of(PyObject*, void*) {
  return guarded([] { return device_object(kCpu); });
}

PyObject* generator_reduce(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    Owned state = own(get_state(self, nullptr));
    Owned make =
        own(PyObject_GetAttrString(reinterpret_cast<PyObject*>(&generator_type), "_from_state"));
    return Py_BuildValue("O(O)", make.get(), state.get());
  });
}

PyObject* from_state(PyObject*, PyObject* state) {
  return guarded([&]() -> PyObject* {
    Owned o = own(wrap_generator(&generator_type, make_ref<Generator>()));
    Owned done = own(set_state(o.get(), state));
    return o.release();
  });
}

PyMethodDef generator_methods[] = {
    {"manual_seed", manual_seed, METH_O,
     "manual_seed($self, seed, /)\n--\n\nRestarts the stream from a seed."},
    {"seed", fresh_seed, METH_NOARGS, "seed($self, /)\n--\n\nRestarts from a fresh seed."},
    {"initial_seed", initial_seed, METH_NOARGS, "initial_seed($self, /)\n--\n\nThe seed."},
    {"get_state", get_state, METH_NOARGS, "get_state($self, /)\n--\n\nThe state as bytes."},
    {"set_state", set_state, METH_O, "set_state($self, state, /)\n--\n\nRestores a state."},
    {"clone_state", clone_state, METH_NOARGS, "clone_state($self, /)\n--\n\nA twin."},
    {"_from_state", from_state, METH_O | METH_STATIC, nullptr},
    {"__reduce__", generator_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef generator_getset[] = {
    {"device", get_device_of, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

}  // namespace

void init_generator_type(PyObject* module) {
  PyTypeObject& type = generator_type;
  type.tp_name = "facula.Generator";
  type.tp_basicsize = sizeof(PyGenerator);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  type.tp_doc = "Generator(device='cpu')\n--\n\nA seeded source of random numbers.";
  type.tp_new = generator_new;
  type.tp_dealloc = generator_dealloc;
  type.tp_methods = generator_methods;
  type.tp_getset = generator_getset;
  check(PyType_Ready(&type));
  add_object(module, "Generator", reinterpret_cast<PyObject*>(&type));
  Owned shared = own(type.tp_alloc(&type, 0));
  reinterpret_cast<PyGenerator*>(shared.get())->generator = &default_generator();
  reinterpret_cast<PyGenerator*>(shared.get())->owned = false;
  add_object(module, "default_generator", shared.get());
}

}  // namespace facula::python
