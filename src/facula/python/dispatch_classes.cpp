// __torch_dispatch__ of tensor classes. A call with a tensor of such a class goes to the class
// instead of to memory, beneath autograd: the call is recorded with stand-ins, tensors of the meta
// device that have the history of those they stand for; what the node saved of them is then put
// right, and the node becomes the history of what the class gave. Calls without such tensors pay
// nothing: their intercept mask is zero.
#include "facula/python/dispatch_classes.h"

#include "facula/autograd/detach.h"
#include "facula/autograd/accumulate.h"
#include "facula/autograd/engine.h"
#include "facula/ops/create_functions.h"
#include "facula/python/arguments.h"
#include "facula/python/dispatch_modes.h"
#include "facula/python/module.h"
#include "facula/python/overrides.h"
#include "facula/python/types.h"

namespace facula::python {
namespace {

PyObject* disabled_dispatch = nullptr;  // Tensor's own: calls go to memory

PyObject* dispatch_name() {
  static PyObject* name = intern("__torch_dispatch__");
  return name;
}

// The functions of the package that are written in Python.
Owned python_function(const char* name) {
  Owned module = own(PyImport_ImportModule("facula.utils._dispatch_classes"));
  return own(PyObject_GetAttrString(module.get(), name));
}

template <class F>
void each_tensor(std::span<Value> values, F&& f) {
  for (Value& v : values) {
    if (v.is<Tensor>()) {
      f(v.as<Tensor>());
    } else if (v.is<std::vector<Tensor>>()) {
      for (Tensor& t : v.as<std::vector<Tensor>>()) {
        if (t.defined()) f(t);
      }
    }
  }
}

// What a node saved of a stand-in: the real tensor, once it is known.
struct Kept {
  Tensor seen, real;
};

// StandIns makes stand-ins for the arguments of one call and finds out what was saved of them.
class StandIns final : public SavedTensorHooks {
 public:
  Tensor of(const Tensor& real) {
    for (const Pair& p : pairs_) {
      if (p.real.is_same(real)) return p.stand;
    }
    Tensor stand = alias_of_shape(real);
    if (requires_grad(real)) {
      Edge edge = gradient_edge(real.impl());
      stand->grad_fn = std::move(edge.node).detach();
      stand->output_nr = edge.input_nr;
      stand->flags |= kRequiresGrad;
    }
    pairs_.push_back({real, stand});
    return stand;
  }

  std::shared_ptr<void> pack(const Tensor& t) override {
    auto kept = std::make_shared<Kept>();
    kept->seen = t;
    for (const Pair& p : pairs_) {
      if (p.stand.is_same(t)) kept->real = p.real;
    }
    saved_.push_back(kept);
    return kept;
  }
  Tensor unpack(const std::shared_ptr<void>& packed) override {
    const auto& kept = *static_cast<const Kept*>(packed.get());
    FACULA_CHECK(kept.real.defined(), kNotImplemented,
                 "the gradient of this operator needs a value from inside it, which it does not "
                 "have for tensors of a class with a __torch_dispatch__");
    return kept.real;
  }

  // Of a call that writes: a copy of what is written to that was saved is made before the write.
  void copy_before_write(const Tensor& written, const Tensor& stand) {
    for (auto& kept : saved_) {
      if (!kept->real.defined() && kept->seen->storage != stand->storage) {
        kept->real = gradient_ops.clone(written);
      }
    }
  }
  // The result that a stand-in is the result of.
  void resolve(const Tensor& stand, const Tensor& real) {
    for (auto& kept : saved_) {
      bool same = kept->seen->storage == stand->storage && kept->seen.sizes() == stand.sizes();
      if (!kept->real.defined() && same) kept->real = detach(real);
    }
  }
  void forget() {
    for (auto& kept : saved_) kept->seen = Tensor();
    saved_.clear();
    pairs_.clear();
  }

 private:
  struct Pair {
    Tensor real, stand;
  };
  static Tensor alias_of_shape(const Tensor& t) {
    Sizes strides = t.strides().to_sizes();
    for (int64_t& s : strides) s = s < 0 ? 0 : s;
    return new_strided(t.sizes(), strides, t.dtype(), Device{DeviceType::kMeta});
  }

  std::vector<Pair> pairs_;
  std::vector<std::shared_ptr<Kept>> saved_;
};

// PushHooks makes hooks those of saved tensors for its scope.
struct PushHooks {
  explicit PushHooks(std::shared_ptr<SavedTensorHooks> hooks) {
    push_saved_hooks(std::move(hooks));
  }
  ~PushHooks() { pop_saved_hooks(); }
  PushHooks(const PushHooks&) = delete;
};

// Makes the node that recorded a stand-in the history of a real result, which was written to or is
// without history.
void adopt_history(const Tensor& stand, const Tensor& real, bool written) {
  Node* node = stand->grad_fn;
  if (!node) return;
  node->outputs[stand->output_nr] = GradMeta(real);
  if (written) return set_history_inplace(real, Ref<Node>::share(node));
  node->retain();
  real->grad_fn = node;
  real->output_nr = stand->output_nr;
  real->flags |= kRequiresGrad;
}

// DispatchedCall is one call on its way to a class.
class DispatchedCall {
 public:
  DispatchedCall(const BoxedOp& op, std::span<Value> args) : op_(op), args_(args) {
    each_tensor(args, [&](const Tensor& t) {
      if (!(t->intercept & kInterceptDispatch)) return;
      objects_.push_back(own(wrap(t)));
    });
  }

  Values run() {
    bool taken = false;
    for (const Owned& o : objects_) taken |= has_dispatch(Py_TYPE(o.get()));
    FACULA_CHECK(taken, kNotImplemented, op_.name,
                 ": an alias of a tensor of a class with a __torch_dispatch__ that was made past "
                 "the class cannot be used");
    Owned begin = python_function("begin"), handle = operator_handle(op_);
    Owned values = boxed_objects(args_);
    begun_ = own(PyObject_CallFunction(begin.get(), "OssO", handle.get(), op_.name, op_.schema,
                                       values.get()));
    // Composed of other operators, which were dispatched by themselves.
    if (PyTuple_GET_SIZE(begun_.get()) == 1) {
      return boxed_results(PyTuple_GET_ITEM(begun_.get(), 0), op_.name);
    }
    bool wanted = false;
    each_tensor(args_, [&](const Tensor& t) { wanted |= requires_grad(t); });
    bool records = wanted && grad_enabled() && op_.gradients;
    if (op_.writes) check_write(records);
    return records ? record() : ask();
  }

 private:
  void check_write(bool records) {
    const Tensor& written = args_[0].as<Tensor>();
    check_inplace(written, op_.name, records);
    FACULA_CHECK(!records || !written->base, kNotImplemented, op_.name,
                 ": a write to a view of a tensor cannot be recorded for tensors of a class with a "
                 "__torch_dispatch__");
  }

  // Asks the class, beneath autograd.
  Values ask() {
    NoGrad off;
    Owned finish = python_function("finish");
    Owned list = own(PyList_New(0));
    for (const Owned& o : objects_) check(PyList_Append(list.get(), o.get()));
    Owned result = own(PyObject_CallFunctionObjArgs(
        finish.get(), PyTuple_GET_ITEM(begun_.get(), 0), PyTuple_GET_ITEM(begun_.get(), 1),
        PyTuple_GET_ITEM(begun_.get(), 2), list.get(), nullptr));
    if (!op_.writes) return boxed_results(result.get(), op_.name);
    bump_version(args_[0].as<Tensor>(), op_.name);
    return Values{args_[0]};
  }

  // Asks the class, and records the call.
  Values record() {
    auto stand_ins = std::make_shared<StandIns>();
    std::vector<Value> stands(args_.begin(), args_.end());
    each_tensor(stands, [&](Tensor& t) { t = stand_ins->of(t); });
    Values shapes;
    {
      PushHooks push(stand_ins);
      shapes = op_.call(stands);
    }
    if (op_.writes && op_.kind == BoxedOp::kPointwise) {
      NoGrad off;
      stand_ins->copy_before_write(args_[0].as<Tensor>(), stands[0].as<Tensor>());
    }
    Values results = ask();
    std::vector<Tensor> made, expected;
    each_tensor(std::span(shapes.begin(), shapes.end()),
                [&](const Tensor& t) { expected.push_back(t); });
    each_tensor(std::span(results.begin(), results.end()), [&](Tensor& t) {
      if (!op_.writes) t = distinct(t);
      made.push_back(t);
    });
    FACULA_CHECK(made.size() == expected.size(), kRuntime, op_.name, ": __torch_dispatch__ gave ",
                 made.size(), " tensors where ", expected.size(), " are expected");
    for (size_t i = 0; i < made.size(); ++i) adopt_history(expected[i], made[i], op_.writes);
    {
      NoGrad off;
      for (size_t i = 0; i < made.size(); ++i) stand_ins->resolve(expected[i], made[i]);
    }
    stand_ins->forget();
    return results;
  }

  // A result that has a history already, or is an argument, is given as another object.
  Tensor distinct(const Tensor& t) {
    bool known = t->grad_fn != nullptr;
    each_tensor(args_, [&](const Tensor& a) { known |= a.is_same(t); });
    NoGrad off;
    return known ? detach(t) : t;
  }

  const BoxedOp& op_;
  std::span<Value> args_;
  std::vector<Owned> objects_;
  Owned begun_;
};

// ClassDispatch is the handler of tensors with kInterceptDispatch.
struct ClassDispatch final : Interpreter {
  const char* name() const override { return "__torch_dispatch__"; }
  Values call(const OpInfo& op, std::span<Value> args) override {
    GilLock lock;
    // A class may be called from within another's function, and it may call its own operators.
    InterpreterStack& stack = InterpreterStack::of_thread();
    stack.restore_bits(static_cast<uint8_t>(stack.without_bits(0) & ~kInterceptDispatch));
    return DispatchedCall(static_cast<const BoxedOp&>(op), args).run();
  }
};

// detach is no row of the table: autograd does it. To classes it is an operator.
Values call_detach(std::span<Value> args) { return Values{Value(detach(args[0].tensor()))}; }
const BoxedOp detach_op{{"detach", "detach(Tensor self) -> Tensor", call_detach},
                        BoxedOp::kOther,
                        0,
                        false,
                        BoxedOp::kNoRule,
                        0,
                        1,
                        0,
                        false};

Tensor detach_object(const Tensor& t) {
  Value arg{t};
  Values out;
  if (!intercept(StackSide::kAbove, detach_op, std::span(&arg, 1), out)) return alias(t);
  return out[0].tensor();
}

// A storage without bytes, for tensors whose values only their class knows.
Storage* no_bytes() {
  return Storage::external(nullptr, SIZE_MAX / 4, [](void*) {}, nullptr);
}

// _make_wrapper(cls, size, strides, storage_offset, dtype, device, requires_grad)
PyObject* make_wrapper(PyObject*, PyObject* const* args, Py_ssize_t n) {
  return guarded([&]() -> PyObject* {
    constexpr const char* kName = "_make_wrapper_subclass";
    FACULA_CHECK(n == 7 && PyType_Check(args[0]), kType, kName, ": expected a class and 6 values");
    auto* type = reinterpret_cast<PyTypeObject*>(args[0]);
    FACULA_CHECK(has_dispatch(type), kType, type->tp_name, " must define __torch_dispatch__");
    Sizes sizes = to_sizes(args[1], kName);
    count_elements(sizes, kName);
    Sizes strides = args[2] == Py_None ? contiguous_strides(sizes) : to_sizes(args[2], kName);
    FACULA_CHECK(strides.size() == sizes.size(), kRuntime, kName, ": ", sizes.size(), " sizes and ",
                 strides.size(), " strides were given");
    for (int64_t s : strides) FACULA_CHECK(s >= 0, kRuntime, kName, ": a stride is negative");
    int64_t offset = to_int64(args[3], kName);
    Storage* storage = no_bytes();
    Tensor t = tensor_over(storage, sizes, strides, offset, unwrap_dtype(args[4], kName));
    storage->release();
    t->device = unwrap_device(args[5], kName);
    if (to_bool(args[6], kName)) set_requires_grad(t, true);
    return wrap_as(type, std::move(t));
  });
}

PyObject* run_undispatched(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject*) {
  if (n < 2) {
    PyErr_SetString(PyExc_TypeError, "__torch_dispatch__() needs func and types");
    return nullptr;
  }
  Owned positional(n > 2 ? PySequence_Tuple(args[2]) : PyTuple_New(0));
  if (!positional) return nullptr;
  PyObject* kwargs = n > 3 && args[3] != Py_None ? args[3] : nullptr;
  return PyObject_Call(args[0], positional.get(), kwargs);
}

PyMethodDef dispatch_class_functions[] = {
    {"_make_wrapper", fast(make_wrapper), METH_FASTCALL, nullptr},
    {"_disabled_torch_dispatch_impl", fast(run_undispatched), kFast,
     "The __torch_dispatch__ of classes whose operators work on memory."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

bool has_dispatch(PyTypeObject* type) {
  if (type == &tensor_type || !disabled_dispatch) return false;
  PyObject* f = type_lookup(type, dispatch_name());
  return f && f != disabled_dispatch;
}

Scalar dispatched_value(const Tensor& t) {
  Owned f = python_function("value"), o = own(wrap(t));
  Owned number = own(PyObject_CallOneArg(f.get(), o.get()));
  return to_scalar(number.get(), "item");
}

Tensor dispatched_seed(const Tensor& root, Tensor seed) {
  bool implied = root->numel == 1 && !root.is_complex() && requires_grad(root);
  if (seed.defined() || !implied || !(root->intercept & kInterceptDispatch)) return seed;
  NoGrad off;
  return ones_like(root);
}

void init_dispatch_classes(PyObject* module) {
  add_functions(module, dispatch_class_functions, "facula._C");
  disabled_dispatch =
      PyDict_GetItemString(PyModule_GetDict(module), "_disabled_torch_dispatch_impl");
  check(PyDict_SetItem(tensor_type.tp_dict, dispatch_name(), disabled_dispatch));
  PyType_Modified(&tensor_type);
  detach_dispatched = detach_object;
  InterpreterStack::set_handler(kInterceptDispatch, std::make_shared<ClassDispatch>());
}

}  // namespace facula::python
