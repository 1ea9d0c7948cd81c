// The number protocol of Tensor: operators call the generated entries; foreign operands get
// NotImplemented so that their own reflected methods have a say.
#include "facula/autograd/meta.h"
#include "facula/core/intercept.h"
#include "facula/ops/warn.h"
#include "facula/python/dispatch_classes.h"
#include "facula/python/arguments.h"
#include "facula/python/foreign.h"
#include "facula/python/overrides.h"
#include "facula/python/slots.h"

namespace facula::python {

SlotEntries slot_entries;
SlotEntries function_entries;

namespace {

struct NamedSlot {
  const char* name;
  FastMethod SlotEntries::* entry;
};
constexpr NamedSlot kSlots[] = {
    {"add", &SlotEntries::add},
    {"sub", &SlotEntries::sub},
    {"mul", &SlotEntries::mul},
    {"div", &SlotEntries::div},
    {"floor_divide", &SlotEntries::floor_divide},
    {"remainder", &SlotEntries::remainder},
    {"pow", &SlotEntries::pow},
    {"matmul", &SlotEntries::matmul},
    {"bitwise_and", &SlotEntries::bitwise_and},
    {"bitwise_or", &SlotEntries::bitwise_or},
    {"bitwise_xor", &SlotEntries::bitwise_xor},
    {"bitwise_left_shift", &SlotEntries::bitwise_left_shift},
    {"bitwise_right_shift", &SlotEntries::bitwise_right_shift},
    {"add_", &SlotEntries::add_},
    {"sub_", &SlotEntries::sub_},
    {"mul_", &SlotEntries::mul_},
    {"div_", &SlotEntries::div_},
    {"floor_divide_", &SlotEntries::floor_divide_},
    {"remainder_", &SlotEntries::remainder_},
    {"pow_", &SlotEntries::pow_},
    {"bitwise_and_", &SlotEntries::bitwise_and_},
    {"bitwise_or_", &SlotEntries::bitwise_or_},
    {"bitwise_xor_", &SlotEntries::bitwise_xor_},
    {"bitwise_left_shift_", &SlotEntries::bitwise_left_shift_},
    {"bitwise_right_shift_", &SlotEntries::bitwise_right_shift_},
    {"neg", &SlotEntries::neg},
    {"abs", &SlotEntries::abs},
    {"bitwise_not", &SlotEntries::bitwise_not},
    {"logical_not", &SlotEntries::logical_not},
    {"eq", &SlotEntries::eq},
    {"ne", &SlotEntries::ne},
    {"lt", &SlotEntries::lt},
    {"le", &SlotEntries::le},
    {"gt", &SlotEntries::gt},
    {"ge", &SlotEntries::ge},
};

// is_operand says whether an object may stand beside a tensor: a tensor, a number, or something
// that overrides functions.
inline bool is_operand(PyObject* o) {
  PyTypeObject* t = Py_TYPE(o);
  if (t == &tensor_type || t == &PyFloat_Type || t == &PyLong_Type || t == &PyBool_Type)
    return true;
  return is_tensor(o) || is_number(o) || (!overrides_disabled && has_override(o));
}

PyObject* missing(const char* name) {
  PyErr_Format(PyExc_NotImplementedError, "%s is not built", name);
  return nullptr;
}

// Handed names the methods of Tensor that overrides are given for an operator: the one with the
// tensor on the left, and the one for a tensor on the right alone, which it has as first argument.
struct Handed {
  const char* method;
  const char* reflected;
};
namespace handed {
constexpr Handed kAdd{"add", "add"};
constexpr Handed kSub{"sub", "__rsub__"};
constexpr Handed kMul{"mul", "mul"};
constexpr Handed kDiv{"div", "__rtruediv__"};
constexpr Handed kFloorDivide{"__floordiv__", "__rfloordiv__"};
constexpr Handed kRemainder{"remainder", "__rmod__"};
constexpr Handed kPow{"__pow__", "__rpow__"};
constexpr Handed kMatmul{"matmul", "__rmatmul__"};
constexpr Handed kAnd{"__and__", "bitwise_and"};
constexpr Handed kOr{"__or__", "bitwise_or"};
constexpr Handed kXor{"__xor__", "bitwise_xor"};
constexpr Handed kLeftShift{"__lshift__", "__rlshift__"};
constexpr Handed kRightShift{"__rshift__", "__rrshift__"};
constexpr Handed kAddInPlace{"add_", nullptr};
constexpr Handed kSubInPlace{"sub_", nullptr};
constexpr Handed kMulInPlace{"mul_", nullptr};
constexpr Handed kDivInPlace{"div_", nullptr};
constexpr Handed kFloorDivideInPlace{"floor_divide_", nullptr};
constexpr Handed kRemainderInPlace{"remainder_", nullptr};
constexpr Handed kPowInPlace{"__ipow__", nullptr};
constexpr Handed kAndInPlace{"__iand__", nullptr};
constexpr Handed kOrInPlace{"__ior__", nullptr};
constexpr Handed kXorInPlace{"__ixor__", nullptr};
constexpr Handed kLeftShiftInPlace{"__ilshift__", nullptr};
constexpr Handed kRightShiftInPlace{"__irshift__", nullptr};
}  // namespace handed

// needs_no_look says whether an operand neither overrides functions nor needs a closer look.
inline bool needs_no_look(PyObject* o) {
  PyTypeObject* t = Py_TYPE(o);
  return t == &tensor_type || t == &PyFloat_Type || t == &PyLong_Type || t == &PyBool_Type;
}

// hand gives the call self.name(other) to overrides. The other operand has its say where they do
// not know the types: a TypeError is the answer NotImplemented.
PyObject* hand(PyObject* self, const char* name, PyObject* other) {
  PyObject* r = guarded([&] { return override_method(self, name, &other, 1, nullptr); });
  if (r || !PyErr_ExceptionMatches(PyExc_TypeError)) return r;
  PyErr_Clear();
  Py_RETURN_NOTIMPLEMENTED;
}

// divide_by gives o / tensor of what is no operand, an array say, as o times the reciprocal: such
// products are those of the object's own class.
PyObject* divide_by(PyObject* tensor, PyObject* o) {
  Owned inverse(PyObject_CallMethod(tensor, "reciprocal", nullptr));
  if (!inverse) return nullptr;
  PyObject* r = PyNumber_Multiply(inverse.get(), o);
  if (r || !PyErr_ExceptionMatches(PyExc_TypeError)) return r;
  PyErr_Clear();
  Py_RETURN_NOTIMPLEMENTED;
}

[[gnu::noinline]] PyObject* binary_slow(PyObject* a, PyObject* b, FastMethod method,
                                        FastMethod function, const Handed& names) {
  if (!is_operand(a) || !is_operand(b)) {
    if (PyErr_Occurred()) return nullptr;
    if (&names == &handed::kDiv && is_tensor(b)) return divide_by(b, a);
    Py_RETURN_NOTIMPLEMENTED;
  }
  bool left = is_tensor(a);
  if (intercepted(a) || intercepted(b)) {
    return left ? hand(a, names.method, b) : hand(b, names.reflected, a);
  }
  if (left) return method(a, &b, 1, nullptr);
  PyObject* args[] = {a, b};
  return (function ? function : method)(nullptr, args, 2, nullptr);
}

template <FastMethod SlotEntries::* kEntry, const Handed& kHanded>
PyObject* binary(PyObject* a, PyObject* b) {
  FastMethod f = slot_entries.*kEntry;
  if (!f) return missing("this operator");
  if (Py_TYPE(a) == &tensor_type && needs_no_look(b) && !modes_active) [[likely]]
    return f(a, &b, 1, nullptr);
  return binary_slow(a, b, f, function_entries.*kEntry, kHanded);
}

template <FastMethod SlotEntries::* kEntry, const Handed& kHanded>
PyObject* in_place(PyObject* a, PyObject* b) {
  FastMethod f = slot_entries.*kEntry;
  if (!f) return missing("this operator");
  if (Py_TYPE(a) == &tensor_type && needs_no_look(b) && !modes_active) [[likely]]
    return f(a, &b, 1, nullptr);
  return binary_slow(a, b, f, nullptr, kHanded);
}

template <FastMethod SlotEntries::* kEntry>
PyObject* unary(PyObject* a) {
  FastMethod f = slot_entries.*kEntry;
  if (!f) return missing("this operator");
  return f(a, nullptr, 0, nullptr);
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) {
    PyErr_SetString(PyExc_TypeError, "pow: a modulus is not supported");
    return nullptr;
  }
  return binary<&SlotEntries::pow, handed::kPow>(a, b);
}
PyObject* power_in_place(PyObject* a, PyObject* b, PyObject*) {
  return in_place<&SlotEntries::pow_, handed::kPowInPlace>(a, b);
}

PyObject* positive(PyObject* a) {
  if (intercepted(a)) [[unlikely]]
    return guarded([&] { return override_method(a, "positive", nullptr, 0, nullptr); });
  if (is_tensor(a) && unwrap(a).dtype() == kBool) [[unlikely]] {
    PyErr_SetString(PyExc_NotImplementedError,
                    "The `+` operator, on a bool tensor is not supported.");
    return nullptr;
  }
  return Py_NewRef(a);
}

Scalar value_of(PyObject* self, const char* op) {
  const Tensor& t = unwrap(self);
  if (t.numel() != 1) {
    raise_error(ErrorKind::kValue, "only one element tensors can be converted to Python scalars");
  }
  FACULA_CHECK(!t.is_meta(), kRuntime, op, ": a meta tensor has no value");
  if (t->intercept & kInterceptDispatch) return dispatched_value(t);
  return scalar_at(t.data(), t.dtype());
}

int truth(PyObject* self) {
  return guarded_status([&] {
    if (intercepted(self)) {
      Owned r = own(override_method(self, "__bool__", nullptr, 0, nullptr));
      return PyObject_IsTrue(r.get());
    }
    const Tensor& t = unwrap(self);
    if (t.numel() != 1) {
      if (t.numel() == 0) {
        raise_error(ErrorKind::kRuntime, "Boolean value of Tensor with no values is ambiguous");
      }
      raise_error(ErrorKind::kRuntime,
                  "Boolean value of Tensor with more than one value is ambiguous");
    }
    return static_cast<int>(value_of(self, "bool").to_bool());
  });
}

PyObject* as_float(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (intercepted(self)) return override_method(self, "__float__", nullptr, 0, nullptr);
    Scalar s = value_of(self, "float");
    if (requires_grad(unwrap(self)) && grad_enabled()) [[unlikely]] {
      static std::atomic<bool> said{false};
      warn_once(said,
                "Converting a tensor with requires_grad=True to a scalar drops its history: "
                "say so by tensor.detach() or tensor.item().");
    }
    FACULA_CHECK(!s.is_complex() || s.im == 0, kRuntime,
                 "value cannot be converted to type double without overflow");
    return PyFloat_FromDouble(s.to_double());
  });
}

PyObject* as_int(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (intercepted(self)) return override_method(self, "__int__", nullptr, 0, nullptr);
    Scalar s = value_of(self, "int");
    FACULA_CHECK(!s.is_complex() || s.im == 0, kRuntime,
                 "value cannot be converted to type int64_t without overflow");
    if (s.kind == kUInt64) return PyLong_FromUnsignedLongLong(static_cast<uint64_t>(s.i));
    // PyLong_FromDouble raises ValueError for NaN and OverflowError for infinity.
    if (s.is_floating() || s.is_complex()) return PyLong_FromDouble(s.re);
    return PyLong_FromLongLong(s.i);
  });
}

PyObject* as_index(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (intercepted(self)) return override_method(self, "__index__", nullptr, 0, nullptr);
    const Tensor& t = unwrap(self);
    FACULA_CHECK(t.numel() == 1 && !is_inexact(t.dtype()), kType,
                 "only integer tensors of a single element can be converted to an index");
    Scalar s = value_of(self, "index");
    if (s.kind == kUInt64) return PyLong_FromUnsignedLongLong(static_cast<uint64_t>(s.i));
    return scalar_object(Scalar(s.to_int()));
  });
}

// `~` is logical for bools, bitwise for integers.
PyObject* invert(PyObject* a) {
  if (intercepted(a)) [[unlikely]]
    return guarded([&] { return override_method(a, "__invert__", nullptr, 0, nullptr); });
  if (is_tensor(a) && is_inexact(unwrap(a).dtype())) [[unlikely]] {
    PyErr_Format(PyExc_TypeError,
                 "~ (operator.invert) is only implemented on integer and Boolean-type tensors, "
                 "got %s",
                 dtype_name(unwrap(a).dtype()));
    return nullptr;
  }
  return unary<&SlotEntries::bitwise_not>(a);
}

}  // namespace

void note_slot(SlotEntries& entries, const char* name, FastMethod entry) {
  for (const NamedSlot& s : kSlots) {
    if (strcmp(s.name, name) == 0) entries.*(s.entry) = entry;
  }
}

// equal_to_array compares element by element. NumPy leaves == and != of an array and a tensor to
// the tensor; without an answer Python would compare identities.
static PyObject* equal_to_array(FastMethod f, PyObject* a, PyObject* array) {
  return guarded([&]() -> PyObject* {
    Owned dense = own(PyObject_CallMethod(array, "copy", nullptr));
    Owned other = own(wrap(tensor_from_array(dense.get(), false)));
    PyObject* given = other.get();
    return f(a, &given, 1, nullptr);
  });
}

PyObject* tensor_richcompare(PyObject* a, PyObject* b, int op) {
  static constexpr FastMethod SlotEntries::* kByOp[] = {&SlotEntries::lt, &SlotEntries::le,
                                                        &SlotEntries::eq, &SlotEntries::ne,
                                                        &SlotEntries::gt, &SlotEntries::ge};
  FastMethod f = slot_entries.*kByOp[op];
  if (!f) return missing("this comparison");
  if (Py_TYPE(a) == &tensor_type && needs_no_look(b) && !modes_active) [[likely]]
    return f(a, &b, 1, nullptr);
  static constexpr const char* kHanded[] = {"lt", "le", "__eq__", "ne", "gt", "ge"};
  bool operand = is_operand(b);
  if (PyErr_Occurred()) return nullptr;
  if (intercepted(a) ? operand || op == Py_EQ : operand && intercepted(b))
    return hand(a, kHanded[op], b);
  if (operand) return f(a, &b, 1, nullptr);
  if ((op == Py_EQ || op == Py_NE) && is_ndarray(b)) return equal_to_array(f, a, b);
  Py_RETURN_NOTIMPLEMENTED;
}

PyNumberMethods tensor_number = {
    .nb_add = binary<&SlotEntries::add, handed::kAdd>,
    .nb_subtract = binary<&SlotEntries::sub, handed::kSub>,
    .nb_multiply = binary<&SlotEntries::mul, handed::kMul>,
    .nb_remainder = binary<&SlotEntries::remainder, handed::kRemainder>,
    .nb_divmod = nullptr,
    .nb_power = power,
    .nb_negative = unary<&SlotEntries::neg>,
    .nb_positive = positive,
    .nb_absolute = unary<&SlotEntries::abs>,
    .nb_bool = truth,
    .nb_invert = invert,
    .nb_lshift = binary<&SlotEntries::bitwise_left_shift, handed::kLeftShift>,
    .nb_rshift = binary<&SlotEntries::bitwise_right_shift, handed::kRightShift>,
    .nb_and = binary<&SlotEntries::bitwise_and, handed::kAnd>,
    .nb_xor = binary<&SlotEntries::bitwise_xor, handed::kXor>,
    .nb_or = binary<&SlotEntries::bitwise_or, handed::kOr>,
    .nb_int = as_int,
    .nb_reserved = nullptr,
    .nb_float = as_float,
    .nb_inplace_add = in_place<&SlotEntries::add_, handed::kAddInPlace>,
    .nb_inplace_subtract = in_place<&SlotEntries::sub_, handed::kSubInPlace>,
    .nb_inplace_multiply = in_place<&SlotEntries::mul_, handed::kMulInPlace>,
    .nb_inplace_remainder = in_place<&SlotEntries::remainder_, handed::kRemainderInPlace>,
    .nb_inplace_power = power_in_place,
    .nb_inplace_lshift = in_place<&SlotEntries::bitwise_left_shift_, handed::kLeftShiftInPlace>,
    .nb_inplace_rshift = in_place<&SlotEntries::bitwise_right_shift_, handed::kRightShiftInPlace>,
    .nb_inplace_and = in_place<&SlotEntries::bitwise_and_, handed::kAndInPlace>,
    .nb_inplace_xor = in_place<&SlotEntries::bitwise_xor_, handed::kXorInPlace>,
    .nb_inplace_or = in_place<&SlotEntries::bitwise_or_, handed::kOrInPlace>,
    .nb_floor_divide = binary<&SlotEntries::floor_divide, handed::kFloorDivide>,
    .nb_true_divide = binary<&SlotEntries::div, handed::kDiv>,
    .nb_inplace_floor_divide = in_place<&SlotEntries::floor_divide_, handed::kFloorDivideInPlace>,
    .nb_inplace_true_divide = in_place<&SlotEntries::div_, handed::kDivInPlace>,
    .nb_index = as_index,
    .nb_matrix_multiply = binary<&SlotEntries::matmul, handed::kMatmul>,
    .nb_inplace_matrix_multiply = nullptr,
};

}  // namespace facula::python
