// Bound: the arguments of one call from Python, matched to a signature; dispatch tries the
// overloads of a public name. The generated bindings consist of signatures and small callers.
#pragma once
#include <Python.h>

#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "facula/core/generator.h"
#include "facula/core/tensor.h"

namespace facula::python {

// ArgType is the type of a parameter as a row of the operator table spells it.
enum class ArgType : uint8_t {
  kTensor,           // Tensor
  kOptTensor,        // Tensor?
  kTensorList,       // Tensor[]            a tuple, a list or (C++) one tensor
  kOptTensorList,    // Tensor?[]           entries may be None
  kOperand,          // Tensor|Scalar
  kScalar,           // Scalar              bool, int, float, complex, or a 0-d tensor
  kOptScalar,        // Scalar?
  kInt,              // int                 also objects with __index__ and 1-element int tensors
  kOptInt,           // int?
  kIntList,          // int[]               a list, a tuple, a Size, or one int
  kOptIntList,       // int[]?
  kVarInts,          // int...              a list, or the rest of the positional arguments
  kFloat,            // float
  kOptFloat,         // float?
  kFloatList,        // float[]
  kOptFloatList,     // float[]?
  kBool,             // bool
  kOptBool,          // bool?
  kStr,              // str
  kOptStr,           // str?
  kDType,            // DType
  kOptDType,         // DType?
  kOptDevice,        // Device?             a device, a string, or an index
  kOptGenerator,     // Generator?
  kOptMemoryFormat,  // MemoryFormat?
  kOptLayout,        // Layout?             only strided is accepted
  kOut,              // out=                a tensor or a tuple of tensors
};

// Param is one parameter; `interned` is filled at registration.
struct Param {
  const char* name;
  ArgType type;
  bool keyword_only;
  bool has_default;
  PyObject* interned;
};

// Signature is a row's parameter list. `text` is shown in errors: "add(Tensor input, ...)".
// Sharing says what memory an out= tensor may share with the arguments: anything; an argument's
// whole memory; nothing. Results are computed before they are stored, so that no operator needs
// this: programs meet the refusals of PyTorch.
enum class Sharing : uint8_t { kAny, kWhole, kNone };

struct Signature {
  const char* name;
  const char* text;
  Param* params;
  uint8_t count;
  uint8_t positional;  // how many may be given by position
  Sharing out = Sharing::kAny;
};

inline constexpr int kMaxArgs = 24;

// IntsArg owns the integers of a list argument for the duration of the call.
struct IntsArg {
  Sizes values;
  bool present = false;
  operator IntList() const { return IntList(values); }
  operator OptIntList() const { return present ? OptIntList(IntList(values)) : OptIntList(); }
};
struct FloatsArg {
  std::vector<double> values;
  operator std::span<const double>() const { return values; }
};
struct OptFloatsArg {
  std::vector<double> values;
  bool present = false;
  operator std::optional<std::span<const double>>() const {
    if (!present) return {};
    return std::span<const double>(values);
  }
};
struct TensorsArg {
  std::vector<Tensor> values;
  operator TensorList() const { return values; }
};

// Bound holds borrowed references to the arguments, in the order of the signature; null where the
// default applies. The accessors convert argument i and raise TypeError when it does not fit.
struct Bound {
  PyObject* v[kMaxArgs];
  const Signature* sig;
  PyObject* const* var = nullptr;  // the positional arguments of an `int...` given one by one
  Py_ssize_t var_count = 0;
  bool is_method = false;
  bool plain = false;  // only tensors, ints, floats and bools proper: nothing can override the call

  bool has(int i) const { return v[i] != nullptr; }
  Tensor tensor(int i) const;           // Tensor
  Tensor opt_tensor(int i) const;       // undefined for None and when absent
  TensorsArg tensors(int i) const;      // Tensor[], Tensor?[]
  TensorOrScalar operand(int i) const;  // borrows
  Scalar scalar(int i) const;
  std::optional<Scalar> opt_scalar(int i) const;
  int64_t integer(int i) const;
  std::optional<int64_t> opt_integer(int i) const;
  IntsArg ints(int i) const;
  double real(int i) const;
  std::optional<double> opt_real(int i) const;
  FloatsArg reals(int i) const;
  OptFloatsArg opt_reals(int i) const;  // absent for None
  bool boolean(int i) const;
  std::optional<bool> opt_boolean(int i) const;
  std::string_view text(int i) const;
  std::optional<std::string_view> opt_text(int i) const;
  DType dtype(int i) const;
  std::optional<DType> opt_dtype(int i) const;
  std::optional<Device> opt_device(int i) const;
  Generator* generator(int i) const;  // null when absent
  std::optional<MemoryFormat> opt_memory_format(int i) const;
};

// Caller runs one row with bound arguments and returns a new reference; it may throw facula::Error.
using Caller = PyObject* (*)(Bound& b);

// Entry is one overload of a public name.
struct Entry {
  Signature* signature;
  Caller call;
};

// dispatch binds the arguments to the first overload that fits and calls it. `self` is null for
// functions and the first argument for methods. Handles __torch_function__ of tensor subclasses,
// keyword aliases (input/self, axis/dim, keepdims/keepdim, x1/x2), and turns C++ exceptions into
// Python ones; the TypeError for no fit lists all overloads.
PyObject* dispatch(const Entry* entries, int count, PyObject* self, PyObject* const* args,
                   Py_ssize_t nargs, PyObject* kwnames);

// wrap turns results into Python objects (new references).
PyObject* wrap(Tensor t);
PyObject* wrap(const Scalar& s);
PyObject* wrap(bool v);
PyObject* wrap(int64_t v);
PyObject* wrap(double v);
PyObject* wrap(DType v);
PyObject* wrap(const Sizes& v);                // a Size
PyObject* wrap(const std::vector<Tensor>& v);  // a tuple
PyObject* wrap_self(Bound& b, int i);          // argument i itself: results of in-place methods
// wrap_tuple makes a named tuple; `type_name` "max" with fields {"values", "indices"} makes
// facula.return_types.max; a null type_name makes a plain tuple.
PyObject* wrap_tuple(std::span<Tensor> items, const char* type_name, const char* const* fields);

// write_out stores results in the out= argument i: resizes with PyTorch's rules, checks dtypes,
// refuses out= tensors that require grad, and returns the out argument itself: of several results a
// tuple of them, the named one facula.return_types.<type_name>_out if there are names. `exact`
// refuses another dtype than the result's, too.
PyObject* write_out(Bound& b, int i, std::span<Tensor> results, bool exact = false,
                    const char* type_name = nullptr, const char* const* fields = nullptr);

// BindingRow registers one public name: "nn.functional.silu", "max", "linalg.norm".
// In "Tensor.add_" it is a method. The doc begins with a text signature.
struct BindingRow {
  const char* path;
  PyMethodDef def;
};
// One generated function per family returns its rows; a null path ends them.
void register_bindings(PyObject* module, BindingRow* rows);

}  // namespace facula::python
