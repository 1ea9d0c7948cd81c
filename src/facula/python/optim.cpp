// facula._C._optim: one call steps all parameters of an optimiser's group. It walks the list of
// parameters and the optimiser's state dict, makes missing state under PyTorch's names, and returns
// the parameters that it must leave to Python (complex, on other devices, of unusual state), or
// None.
#include "facula/autograd/meta.h"
#include "facula/nn/optim/update.h"
#include "facula/ops/create_functions.h"
#include "facula/python/module.h"
#include "facula/python/tensor_type.h"
#include "facula/sparse/parts.h"

namespace facula::python {

namespace optimizer_calls {
namespace {

using optim::ParamState;

// Above this many elements a step runs without the interpreter's lock.
constexpr int64_t kUnlockedElements = 1 << 17;

// Keys are the interned names of an algorithm's state.
struct Keys {
  const optim::Layout& layout;
  const char* writer;  // who wrote, for errors about overwritten tensors
  PyObject* step = nullptr;
  PyObject* numbers[2] = {};
  PyObject* slots[3] = {};
  Keys(const optim::Layout& l, const char* w) : layout(l), writer(w) {}
  void intern_all() {
    if (step) return;
    step = intern("step");
    for (int i = 0; i < 2; ++i)
      numbers[i] = layout.numbers[i] ? intern(layout.numbers[i]) : nullptr;
    for (int i = 0; i < 3; ++i) slots[i] = layout.slots[i] ? intern(layout.slots[i]) : nullptr;
  }
};

PyObject* find(PyObject* dict, PyObject* key) {
  if (!dict) return nullptr;
  PyObject* value = PyDict_GetItemWithError(dict, key);
  if (!value && PyErr_Occurred()) throw PythonError();
  return value;
}

// number_of points at the value of a 0-d float32 CPU tensor; null when it is anything else.
float* number_of(PyObject* o) {
  if (!is_tensor(o)) return nullptr;
  TensorImpl* t = impl(o);
  if (t->numel != 1 || t->dtype != kFloat32 || !t->device.is_cpu() || t->intercept) return nullptr;
  return static_cast<float*>(t->data());
}

void put_number(PyObject* entry, PyObject* key, double value) {
  Tensor t = new_empty({}, kFloat32);
  *t.data_as<float>() = static_cast<float>(value);
  Owned object = own(wrap(std::move(t)));
  check(PyDict_SetItem(entry, key, object.get()));
}

// Entry is the state of one parameter, read from its dict and written back.
class Entry {
 public:
  // False when the dict holds something that only Python's rule understands.
  bool read(PyObject* dict, const Keys& keys) {
    dict_ = dict;
    if (!dict) return true;
    if (!PyDict_Check(dict)) return false;
    if (keys.layout.has_step && !read_number(keys.step, step_, state.step)) return false;
    for (int i = 0; i < 2 && keys.numbers[i]; ++i) {
      if (!read_number(keys.numbers[i], numbers_[i], state.numbers[i])) return false;
    }
    for (int i = 0; i < 3 && keys.slots[i] && found_ < PyDict_GET_SIZE(dict); ++i) {
      PyObject* o = find(dict, keys.slots[i]);
      if (!o) continue;
      ++found_;
      if (o == Py_None) continue;
      if (!is_tensor(o) || impl(o)->intercept || !impl(o)->device.is_cpu()) return false;
      state.slots[i] = Tensor::borrow(impl(o));
      had_slot_[i] = true;
    }
    return true;
  }

  void write(PyObject* states, PyObject* param, const Keys& keys) {
    Owned made;
    if (!dict_) {
      made = own(PyDict_New());
      dict_ = made.get();
    }
    if (keys.layout.has_step) write_number(keys.step, step_, state.step);
    for (int i = 0; i < 2 && keys.numbers[i]; ++i) {
      write_number(keys.numbers[i], numbers_[i], state.numbers[i]);
    }
    for (int i = 0; i < 3 && keys.slots[i]; ++i) {
      if (had_slot_[i] || !state.slots[i].defined()) continue;
      Owned object = own(wrap(state.slots[i]));
      check(PyDict_SetItem(dict_, keys.slots[i], object.get()));
    }
    if (made && PyDict_GET_SIZE(dict_)) check(PyDict_SetItem(states, param, dict_));
  }

  ParamState state;

 private:
  bool read_number(PyObject* key, float*& place, double& value) {
    PyObject* o = find(dict_, key);
    if (!o) return true;
    ++found_;
    place = number_of(o);
    if (place) value = *place;
    return place != nullptr;
  }
  void write_number(PyObject* key, float* place, double value) {
    if (place) {
      *place = static_cast<float>(value);
    } else {
      put_number(dict_, key, value);
    }
  }

  PyObject* dict_ = nullptr;
  float* step_ = nullptr;
  float* numbers_[2] = {};
  bool had_slot_[3] = {};
  Py_ssize_t found_ = 0;  // entries of the dict that have been met
};

// gradient_of gives the gradient of a parameter, undefined when it has none.
Tensor gradient_of(TensorImpl* p) {
  AutogradMeta* meta = find_meta(p);
  return meta ? meta->grad : Tensor();
}

template <class Options>
bool step_one(PyObject* param, PyObject* states, const Keys& keys, const Options& options) {
  TensorImpl* p = impl(param);
  Tensor grad = gradient_of(p);
  if (!grad.defined()) return true;
  Tensor target = Tensor::borrow(p);
  if (!optim::can_update(target, grad)) return false;
  Entry entry;
  if (!entry.read(find(states, param), keys)) return false;
  optim::check_written(target, entry.state, keys.writer);
  if (p->numel >= kUnlockedElements) {
    PyThreadState* thread = PyEval_SaveThread();
    struct Restore {
      PyThreadState* thread;
      ~Restore() { PyEval_RestoreThread(thread); }
    } restore{thread};
    optim::update(target, grad, entry.state, options);
  } else {
    optim::update(target, grad, entry.state, options);
  }
  bump_version(target, keys.writer);
  entry.write(states, param, keys);
  return true;
}

// step_group steps the parameters of args[0] with the states in args[1].
template <class Options>
PyObject* step_group(PyObject* const* args, Keys& keys, const Options& options) {
  keys.intern_all();
  if (!PyList_Check(args[0]) || !PyDict_Check(args[1])) {
    raise_error(ErrorKind::kType, keys.writer,
                ": expected a list of parameters and a dict of state, "
                "got ",
                type_name(args[0]), " and ", type_name(args[1]));
  }
  Owned left;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(args[0]); ++i) {
    Owned param = Owned::share(PyList_GET_ITEM(args[0], i));
    if (!is_tensor(param.get())) {
      raise_error(ErrorKind::kType, keys.writer, ": expected a Tensor, got ",
                  type_name(param.get()));
    }
    if (step_one(param.get(), args[1], keys, options)) continue;
    if (!left) left = own(PyList_New(0));
    check(PyList_Append(left.get(), param.get()));
  }
  if (left) return left.release();
  Py_RETURN_NONE;
}

double real(PyObject* o) {
  double v = PyFloat_AsDouble(o);
  if (v == -1 && PyErr_Occurred()) throw PythonError();
  return v;
}
bool truth(PyObject* o) {
  int v = PyObject_IsTrue(o);
  check(v);
  return v != 0;
}

void expect_count(const char* name, Py_ssize_t n, Py_ssize_t wanted) {
  if (n != wanted) {
    raise_error(ErrorKind::kType, name, ": expected ", int64_t{wanted}, " arguments, got ",
                int64_t{n});
  }
}

PyObject* sgd_step(PyObject*, PyObject* const* a, Py_ssize_t n) {
  return guarded([&] {
    static Keys keys(optim::kSgdLayout, "SGD.step");
    expect_count("sgd_step", n, 8);
    return step_group(a, keys,
                      optim::SgdOptions{real(a[2]), real(a[3]), real(a[4]), real(a[5]), truth(a[6]),
                                        truth(a[7])});
  });
}

PyObject* adam_step(PyObject*, PyObject* const* a, Py_ssize_t n) {
  return guarded([&] {
    static Keys keys(optim::kAdamLayout, "Adam.step");
    expect_count("adam_step", n, 10);
    return step_group(a, keys,
                      optim::AdamOptions{real(a[2]), real(a[3]), real(a[4]), real(a[5]), real(a[6]),
                                         truth(a[7]), truth(a[8]), truth(a[9])});
  });
}

PyObject* rmsprop_step(PyObject*, PyObject* const* a, Py_ssize_t n) {
  return guarded([&] {
    static Keys keys(optim::kRmspropLayout, "RMSprop.step");
    expect_count("rmsprop_step", n, 9);
    return step_group(a, keys,
                      optim::RmspropOptions{real(a[2]), real(a[3]), real(a[4]), real(a[5]),
                                            real(a[6]), truth(a[7]), truth(a[8])});
  });
}

PyObject* adagrad_step(PyObject*, PyObject* const* a, Py_ssize_t n) {
  return guarded([&] {
    static Keys keys(optim::kAdagradLayout, "Adagrad.step");
    expect_count("adagrad_step", n, 8);
    return step_group(a, keys,
                      optim::AdagradOptions{real(a[2]), real(a[3]), real(a[4]), real(a[5]),
                                            real(a[6]), truth(a[7])});
  });
}

PyObject* adadelta_step(PyObject*, PyObject* const* a, Py_ssize_t n) {
  return guarded([&] {
    static Keys keys(optim::kAdadeltaLayout, "Adadelta.step");
    expect_count("adadelta_step", n, 7);
    return step_group(
        a, keys,
        optim::AdadeltaOptions{real(a[2]), real(a[3]), real(a[4]), real(a[5]), truth(a[6])});
  });
}

PyObject* adamax_step(PyObject*, PyObject* const* a, Py_ssize_t n) {
  return guarded([&] {
    static Keys keys(optim::kAdamaxLayout, "Adamax.step");
    expect_count("adamax_step", n, 8);
    return step_group(a, keys,
                      optim::AdamaxOptions{real(a[2]), real(a[3]), real(a[4]), real(a[5]),
                                           real(a[6]), truth(a[7])});
  });
}

PyObject* nadam_step(PyObject*, PyObject* const* a, Py_ssize_t n) {
  return guarded([&] {
    static Keys keys(optim::kNadamLayout, "NAdam.step");
    expect_count("nadam_step", n, 10);
    return step_group(a, keys,
                      optim::NadamOptions{real(a[2]), real(a[3]), real(a[4]), real(a[5]),
                                          real(a[6]), real(a[7]), truth(a[8]), truth(a[9])});
  });
}

PyObject* radam_step(PyObject*, PyObject* const* a, Py_ssize_t n) {
  return guarded([&] {
    static Keys keys(optim::kRadamLayout, "RAdam.step");
    expect_count("radam_step", n, 9);
    return step_group(a, keys,
                      optim::RadamOptions{real(a[2]), real(a[3]), real(a[4]), real(a[5]),
                                          real(a[6]), truth(a[7]), truth(a[8])});
  });
}

PyObject* asgd_step(PyObject*, PyObject* const* a, Py_ssize_t n) {
  return guarded([&] {
    static Keys keys(optim::kAsgdLayout, "ASGD.step");
    expect_count("asgd_step", n, 8);
    return step_group(a, keys,
                      optim::AsgdOptions{real(a[2]), real(a[3]), real(a[4]), real(a[5]), real(a[6]),
                                         truth(a[7])});
  });
}

PyObject* rprop_step(PyObject*, PyObject* const* a, Py_ssize_t n) {
  return guarded([&] {
    static Keys keys(optim::kRpropLayout, "Rprop.step");
    expect_count("rprop_step", n, 8);
    return step_group(a, keys,
                      optim::RpropOptions{real(a[2]), real(a[3]), real(a[4]), real(a[5]),
                                          real(a[6]), truth(a[7])});
  });
}

// zero_grad drops the gradients of a list of tensors, or fills them with zeros without history.
PyObject* zero_grad(PyObject*, PyObject* const* a, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    expect_count("zero_grad", n, 2);
    bool drop = truth(a[1]);
    if (!PyList_Check(a[0])) raise_error(ErrorKind::kType, "zero_grad: expected a list");
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(a[0]); ++i) {
      Owned param = Owned::share(PyList_GET_ITEM(a[0], i));
      const Tensor& p = expect_tensor(param.get(), "zero_grad");
      Tensor old = gradient_of(p.impl());
      if (!old.defined()) continue;
      if (drop) {
        set_grad(p, Tensor());
      } else if (is_sparse(old)) {
        sparse::Parts parts = sparse::parts_of(old);
        parts.values = zeros_like(parts.values);
        sparse::replace_parts(old, std::move(parts));
      } else {
        optim::clear(old);
      }
    }
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {{"sgd_step", fast(sgd_step), METH_FASTCALL, nullptr},
                           {"adam_step", fast(adam_step), METH_FASTCALL, nullptr},
                           {"rmsprop_step", fast(rmsprop_step), METH_FASTCALL, nullptr},
                           {"adagrad_step", fast(adagrad_step), METH_FASTCALL, nullptr},
                           {"adadelta_step", fast(adadelta_step), METH_FASTCALL, nullptr},
                           {"adamax_step", fast(adamax_step), METH_FASTCALL, nullptr},
                           {"nadam_step", fast(nadam_step), METH_FASTCALL, nullptr},
                           {"radam_step", fast(radam_step), METH_FASTCALL, nullptr},
                           {"asgd_step", fast(asgd_step), METH_FASTCALL, nullptr},
                           {"rprop_step", fast(rprop_step), METH_FASTCALL, nullptr},
                           {"zero_grad", fast(zero_grad), METH_FASTCALL, nullptr},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace
}  // namespace optimizer_calls

void init_optim(PyObject* module) {
  add_functions(submodule(module, "_optim"), optimizer_calls::functions, "facula._C._optim");
}

}  // namespace facula::python
