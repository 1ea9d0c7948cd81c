// old_orders: argument orders that PyTorch deprecated and programs still use, with the factors
// before what they multiply: x.add(2, y), x.addcmul(0.5, a, b), torch.addmm(beta, x, alpha, a, b).
#include <array>
#include <string_view>
#include <vector>

#include "facula/python/arguments.h"
#include "facula/python/construct.h"
#include "facula/python/old_orders.h"
#include "facula/python/types.h"

namespace facula::python {

namespace {

// The names of one kind, without the underscore of in-place forms.
constexpr std::array<std::string_view, 3> kSums = {"add", "sub", "subtract"};
constexpr std::array<std::string_view, 2> kPointwise = {"addcmul", "addcdiv"};
constexpr std::array<std::string_view, 5> kProducts = {"addmm", "addmv", "addr", "addbmm",
                                                       "baddbmm"};

template <size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::string_view n : names) {
    if (n == name) return true;
  }
  return false;
}

// Reordered is a call in the present order: tensors by position, factors by keyword.
struct Reordered {
  std::array<PyObject*, 5> values{};
  std::array<const char*, 2> keywords{};
  int tensors = 0, factors = 0;

  void tensor(PyObject* o) { values[static_cast<size_t>(tensors++)] = o; }
  void factor(const char* name, PyObject* o) {
    keywords[static_cast<size_t>(factors)] = name;
    values[static_cast<size_t>(tensors + factors++)] = o;
  }
};

// shape_of spells the kinds of arguments: 't' a tensor, 'n' a number, '?' anything else.
std::string shape_of(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  std::string shape = self ? "t" : "";
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    shape += is_tensor(args[i]) ? 't' : is_number(args[i]) ? 'n' : '?';
  }
  return shape;
}

bool reorder(std::string_view name, PyObject* self, PyObject* const* args, Py_ssize_t nargs,
             Reordered& out) {
  if (nargs < 2 || nargs > 5) return false;
  if (name.ends_with('_')) name.remove_suffix(1);
  std::string shape = shape_of(self, args, nargs);
  bool one_factor =
      (among(kSums, name) && shape == "tnt") || (among(kPointwise, name) && shape == "tntt");
  bool product = among(kProducts, name);
  bool beta_only = product && shape == (self ? "tntt" : "nttt");
  bool both = product && shape == (self ? "tnntt" : "ntntt");
  if (!one_factor && !beta_only && !both) return false;
  std::array<PyObject*, 2> numbers{};
  size_t count = 0;
  for (Py_ssize_t i = 0; i < nargs; ++i) {
    if (is_tensor(args[i])) {
      out.tensor(args[i]);
    } else {
      numbers[count++] = args[i];
    }
  }
  if (one_factor) {
    out.factor(among(kSums, name) ? "alpha" : "value", numbers[0]);
  } else {
    out.factor("beta", numbers[0]);
    if (both) out.factor("alpha", numbers[1]);
  }
  return true;
}

// Functions that PyTorch gives two numbers as well.
constexpr std::array<std::string_view, 9> kOfNumbers = {
    "add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide"};

// Pending sets the exception of the refused call aside while its arguments are looked at, which may
// call into Python; it comes back unless another call takes its place.
class Pending {
 public:
  Pending() { PyErr_Fetch(&type_, &value_, &trace_); }
  ~Pending() {
    if (type_) PyErr_Restore(type_, value_, trace_);
  }
  Pending(const Pending&) = delete;
  void drop() {
    Py_CLEAR(type_);
    Py_CLEAR(value_);
    Py_CLEAR(trace_);
  }

 private:
  PyObject *type_, *value_, *trace_;
};

}  // namespace

PyObject* call_with_numbers(const Entry* entries, int count, PyObject* self, PyObject* const* args,
                            Py_ssize_t nargs, PyObject* kwnames) {
  Pending refusal;
  if (self || nargs < 2 || !among(kOfNumbers, entries->signature->name)) return nullptr;
  if (!is_number(args[0]) || !is_number(args[1])) return nullptr;
  refusal.drop();
  std::vector<PyObject*> given(args, args + nargs + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0));
  Owned first(wrap(tensor_from_data(args[0], std::nullopt, std::nullopt, true)));
  given[0] = first.get();
  return dispatch(entries, count, self, given.data(), nargs, kwnames);
}

PyObject* call_in_old_order(const Entry* entries, int count, PyObject* self, PyObject* const* args,
                            Py_ssize_t nargs, PyObject* kwnames) {
  Pending refusal;
  Reordered call;
  const char* name = entries->signature->name;
  if (kwnames || !reorder(name, self, args, nargs, call)) return nullptr;
  refusal.drop();
  std::string text = str("facula: this order of arguments of ", name,
                         " is deprecated: give the tensors first, factors by keyword");
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) < 0) return nullptr;
  Owned names = own(PyTuple_New(call.factors));
  for (int i = 0; i < call.factors; ++i) {
    PyTuple_SET_ITEM(names.get(), i, PyUnicode_FromString(call.keywords[static_cast<size_t>(i)]));
  }
  return dispatch(entries, count, self, call.values.data(), call.tensors, names.get());
}

}  // namespace facula::python
