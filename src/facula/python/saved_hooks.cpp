// Hooks on saved tensors that are written in Python: what a node keeps for backward is whatever
// object the pack function made of the tensor, and the unpack function gives the tensor back.
#include "facula/autograd/node.h"
#include "facula/python/arguments.h"
#include "facula/python/module.h"
#include "facula/python/tensor_type.h"

namespace facula::python {

namespace {

class HookGil {
 public:
  HookGil() : state_(PyGILState_Ensure()) {}
  ~HookGil() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

// drop releases a reference from any thread and leaves an exception that is set alone.
void drop_packed(PyObject* object) {
  if (!python_lives()) return;
  HookGil gil;
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  Py_DECREF(object);
  PyErr_Restore(type, value, trace);
}

uint32_t saved_version(const Tensor& t) {
  return t->version->value.load(std::memory_order_acquire);
}

class PythonSavedHooks final : public SavedTensorHooks {
 public:
  PythonSavedHooks(PyObject* pack, PyObject* unpack)
      : pack_(Py_NewRef(pack)), unpack_(Py_NewRef(unpack)) {}
  ~PythonSavedHooks() override {
    drop_packed(pack_);
    drop_packed(unpack_);
  }
  PythonSavedHooks(const PythonSavedHooks&) = delete;
  PythonSavedHooks& operator=(const PythonSavedHooks&) = delete;

  std::shared_ptr<void> pack(const Tensor& t) override {
    HookGil gil;
    Owned tensor = own(wrap(t));
    const uint32_t version = saved_version(t);
    Owned packed = own(PyObject_CallOneArg(pack_, tensor.get()));
    FACULA_CHECK(saved_version(t) == version, kRuntime,
                 "A saved tensor pack hook is modifying its input in place. What is saved must "
                 "stay as it was: copy the tensor before writing to it.");
    return std::shared_ptr<void>(packed.release(),
                                 [](void* p) { drop_packed(static_cast<PyObject*>(p)); });
  }

  Tensor unpack(const std::shared_ptr<void>& packed) override {
    HookGil gil;
    Owned result = own(PyObject_CallOneArg(unpack_, static_cast<PyObject*>(packed.get())));
    if (!is_tensor(result.get())) {
      raise_error(ErrorKind::kType,
                  "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                  "type ",
                  type_name(result.get()));
    }
    return unwrap(result.get());
  }

 private:
  PyObject* pack_;
  PyObject* unpack_;
};

// _push_saved_tensors_hooks(pack, unpack)
PyObject* push_hooks(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    FACULA_CHECK(n == 2, kType, "_push_saved_tensors_hooks() takes 2 arguments");
    push_saved_hooks(std::make_shared<PythonSavedHooks>(args[0], args[1]));
    Py_RETURN_NONE;
  });
}

PyObject* pop_hooks(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    pop_saved_hooks();
    Py_RETURN_NONE;
  });
}

PyMethodDef saved_hook_functions[] = {
    {"_push_saved_tensors_hooks", fast(push_hooks), METH_FASTCALL,
     "Let what nodes save go through a pair of functions from now on in this thread."},
    {"_pop_saved_tensors_hooks", pop_hooks, METH_NOARGS,
     "Take the pair of functions that was pushed last away."},
    {}};

}  // namespace

void init_saved_hooks(PyObject* module) { add_functions(module, saved_hook_functions); }

}  // namespace facula::python
