// tensor[...] and tensor[...] = value. Subscripts are read by ops/subscript.h, ints and slices
// alone by a faster way; masks, lists and index tensors go to the rows index and index_put_.
#include "facula/autograd/meta.h"
#include "facula/core/intercept.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/fits.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/shape_functions.h"
#include "facula/ops/subscript.h"
#include "facula/ops/warn.h"
#include "facula/python/arguments.h"
#include "facula/python/construct.h"
#include "facula/python/foreign.h"
#include "facula/python/overrides.h"

namespace facula::python {

namespace {

[[noreturn, gnu::cold]] void out_of_bounds(int64_t index, int64_t dim, int64_t size) {
  raise_error(ErrorKind::kIndex, "index ", index, " is out of bounds for dimension ", dim,
              " with size ", size);
}

// spread multiplies a stride by a step; steps beyond the numbers stand before a single element.
int64_t spread(int64_t stride, Py_ssize_t step) {
  int64_t product;
  return __builtin_mul_overflow(stride, step, &product) ? stride : product;
}

[[noreturn, gnu::cold]] void bad_index(PyObject* o) {
  if (PyUnicode_Check(o)) raise_error(ErrorKind::kType, "new(): invalid data type 'str'");
  raise_error(ErrorKind::kIndex, "only integers, slices (`:`), ellipsis (`...`), None and long or ",
              "byte Variables are valid indices (got ", type_name(o), ")");
}

// is_tuple_like is NumPy's old rule for lists that stand for tuples: short ones with a sequence,
// slice, Ellipsis, None or tensor inside.
bool is_tuple_like(PyObject* o) {
  if (PyTuple_Check(o)) return true;
  if (is_tensor(o) || !PyList_Check(o) || PyList_GET_SIZE(o) >= 32) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(o); ++i) {
    PyObject* item = PyList_GET_ITEM(o, i);
    bool plain = PyLong_CheckExact(item) || PyBool_Check(item);
    if (plain) continue;
    if (is_tensor(item) || PySlice_Check(item) || item == Py_Ellipsis || item == Py_None) {
      return true;
    }
    if (PySequence_Check(item) && !PyUnicode_Check(item)) return true;
  }
  return false;
}

// index_tensor makes the tensor that a list or array of indices stands for.
Tensor index_tensor(PyObject* o) {
  if (is_ndarray(o)) return tensor_from_array(o, false);
  Tensor t = tensor_from_data(o, std::nullopt, kCpu, true);
  return t.numel() == 0 && t.dtype() != kBool ? facula::cast(t, kInt64) : t;
}

// Dimensions that an item of the index uses up.
int64_t consumed(PyObject* o) {
  if (o == Py_Ellipsis || o == Py_None || PyBool_Check(o)) return 0;
  if (is_tensor(o)) return dims_of_index(unwrap(o));
  bool list = is_ndarray(o) || PyList_Check(o) || PyTuple_Check(o);
  return list ? dims_of_index(index_tensor(o)) : 1;
}

// warn_of_bytes warns of masks of bytes, which are those of the time before tensors of bool.
void warn_of_bytes(const Tensor& t) {
  if (t.dtype() != kUInt8) return;
  warn("indexing with dtype facula.uint8 is deprecated: give a mask of facula.bool.");
}

void add_tensor(Subscript& out, const Tensor& t) {
  warn_of_bytes(t);
  out.tensor(t);
}

void add_slice(Subscript& out, PyObject* o) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(o, &start, &stop, &step) < 0) throw PythonError();
  out.slice(start, stop, step);
}

void add_item(Subscript& out, PyObject* o) {
  if (PyLong_Check(o) && !PyBool_Check(o)) return out.number(to_int64(o, "index"));
  if (PySlice_Check(o)) return add_slice(out, o);
  if (o == Py_Ellipsis) return out.ellipsis();
  if (o == Py_None) return out.none();
  if (PyBool_Check(o)) return out.truth(o == Py_True);
  if (is_tensor(o)) return add_tensor(out, unwrap(o));
  if (is_numpy_scalar(o)) {
    if (!is_integer(o)) bad_index(o);
    return out.number(to_int64(o, "index"));
  }
  if (is_ndarray(o)) return add_tensor(out, index_tensor(o));
  if (PyUnicode_Check(o) || PyDict_Check(o)) bad_index(o);
  if (PySequence_Check(o)) return add_tensor(out, index_tensor(o));
  if (PyIndex_Check(o)) return out.number(to_int64(o, "index"));
  bad_index(o);
}

Subscript parse(const Tensor& self, PyObject* index) {
  if (!is_tuple_like(index)) {
    if (self.dim() == 0 && PyLong_Check(index) && !PyBool_Check(index)) {
      raise_error(ErrorKind::kIndex, "invalid index of a 0-dim tensor. Use `tensor.item()` in ",
                  "Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
    }
    Subscript out(self, consumed(index));
    add_item(out, index);
    return out;
  }
  if (!PyTuple_Check(index)) {
    warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated: write "
        "x[tuple(seq)], or x[facula.tensor(seq)] for an index of the first dimension.");
  }
  Py_ssize_t n = PySequence_Fast_GET_SIZE(index);
  int64_t used = 0;
  for (Py_ssize_t i = 0; i < n; ++i) used += consumed(PySequence_Fast_GET_ITEM(index, i));
  Subscript out(self, used);
  for (Py_ssize_t i = 0; i < n; ++i) add_item(out, PySequence_Fast_GET_ITEM(index, i));
  return out;
}

// plain_view is the fast way for ints and slices alone while nobody records; false when the index
// holds anything else. It makes the same view as parse().
bool plain_view(const Tensor& self, PyObject* const* items, Py_ssize_t n, Tensor& out) {
  const TensorImpl* t = self.impl();
  if (n > t->ndim || (grad_enabled() && requires_grad(self)) ||
      (tls.above | tls.below | t->intercept) != 0) {
    return false;
  }
  int64_t sizes[64], strides[64], offset = t->offset;
  size_t kept = 0;
  for (int d = 0; d < t->ndim; ++d) {
    int64_t size = t->sizes[d], stride = t->strides[d];
    if (d < n) {
      PyObject* o = items[d];
      if (PyLong_CheckExact(o)) {
        int64_t i = to_int64(o, "index");
        if (i < -size || i >= size) out_of_bounds(i, d, size);
        offset += (i < 0 ? i + size : i) * stride;
        continue;
      }
      if (!PySlice_Check(o)) return false;
      Py_ssize_t start, stop, step;
      if (PySlice_Unpack(o, &start, &stop, &step) < 0) throw PythonError();
      FACULA_CHECK(step > 0, kValue, "step must be greater than zero");
      size = PySlice_AdjustIndices(size, &start, &stop, step);
      if (size > 0) offset += start * stride;
      stride = spread(stride, step);
    }
    sizes[kept] = size;
    strides[kept++] = stride;
  }
  out = make_view(self, IntList(sizes, kept), IntList(strides, kept), offset);
  return true;
}

Tensor get(const Tensor& self, PyObject* index) {
  Tensor out;
  bool tuple = PyTuple_CheckExact(index);
  PyObject* const* items = tuple ? &PyTuple_GET_ITEM(index, 0) : &index;
  if (plain_view(self, items, tuple ? PyTuple_GET_SIZE(index) : 1, out)) return out;
  if (is_tensor(index) && unwrap(index).dim() > 0 && consumed(index) <= self.dim()) {
    warn_of_bytes(unwrap(index));
    return facula::index(self, TensorList(&unwrap(index), 1));
  }
  Subscript parsed = parse(self, index);
  if (parsed.indices().empty()) return parsed.result();
  return facula::index(parsed.inner(), parsed.indices());
}

// overrides_index says whether an index, or an item of one that is a tuple, overrides functions.
inline bool overrides_index(PyObject* index) {
  auto one = [](PyObject* o) {
    PyTypeObject* t = Py_TYPE(o);
    return t != &PyLong_Type && t != &PySlice_Type && t != &PyEllipsis_Type && has_override(o) &&
           !(overrides_disabled && is_tensor(o));
  };
  if (!PyTuple_CheckExact(index)) return one(index);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); ++i) {
    if (one(PyTuple_GET_ITEM(index, i))) return true;
  }
  return false;
}

// override_index calls the overrides of what is indexed, of the index and of what is assigned.
PyObject* override_index(PyObject* self, PyObject* index, PyObject* value) {
  std::vector<PyObject*> overloaded;
  collect_override(overloaded, self);
  Py_ssize_t items = PyTuple_CheckExact(index) ? PyTuple_GET_SIZE(index) : 0;
  for (Py_ssize_t i = 0; i < items; ++i) collect_override(overloaded, PyTuple_GET_ITEM(index, i));
  if (items == 0) collect_override(overloaded, index);
  if (value) collect_override(overloaded, value);
  Owned name = own(PyUnicode_InternFromString(value ? "__setitem__" : "__getitem__"));
  PyObject* func = type_lookup(&tensor_type, name.get());
  Owned args = own(value ? PyTuple_Pack(3, self, index, value) : PyTuple_Pack(2, self, index));
  return call_override(func, overloaded, args.get(), nullptr);
}

PyObject* subscript(PyObject* self, PyObject* index) {
  return guarded([&]() -> PyObject* {
    if (intercepted(self) || overrides_index(index)) [[unlikely]]
      return override_index(self, index, nullptr);
    return wrap(get(unwrap(self), index));
  });
}

// is_one_mask tells the index to whose elements one number of another type may be written.
bool is_one_mask(const std::vector<Tensor>& indices) {
  int masks = 0;
  for (const Tensor& t : indices) {
    if (t.defined()) masks += t.dtype() == kBool ? 1 : 2;
  }
  return masks == 1;
}

// number_to_set reads a number; what no 64 bits hold is a ValueError here, an OverflowError where
// they have no sign.
bool number_to_set(PyObject* value, DType dtype, Scalar& number) {
  if (!PyLong_CheckExact(value)) return try_scalar(value, number);
  number = dtype == kUInt64 ? unsigned_of(value) : Scalar(to_int64(value, "__setitem__"));
  return true;
}

void set(const Tensor& self, PyObject* index, PyObject* value) {
  Scalar number;
  bool plain = !is_tensor(value) && number_to_set(value, self.dtype(), number);
  if (!plain && !is_tensor(value)) {
    raise_error(ErrorKind::kType, "can't assign a ", type_name(value), " to a facula.",
                dtype_title(self.dtype()), "Tensor");
  }
  if (plain && number.is_complex() && !self.is_complex() && self.dtype() != kBool) {
    raise_error(ErrorKind::kRuntime, "value cannot be converted to type ", dtype_name(self.dtype()),
                " without overflow");
  }
  Subscript parsed = parse(self, index);
  Tensor target = parsed.inner();
  if (parsed.indices().empty()) {
    if (plain)
      facula::fill_(target, number);
    else
      facula::copy_(target, without_leading_ones(unwrap(value), target.dim()), false);
    return;
  }
  Tensor source;
  if (plain) {
    check_fits(self.dtype(), number);
    source = new_empty({}, self.dtype());
    if (is_integral(self.dtype()) && number.is_floating()) number = Scalar(number.to_int());
    store_scalar(source.data(), self.dtype(), number);
  } else {
    source = unwrap(value);
    if (source.numel() == 1 && source.dtype() != self.dtype() && is_one_mask(parsed.indices()) &&
        (self.is_complex() || !source.is_complex())) {
      source = facula::cast(source, self.dtype());
    }
  }
  facula::index_put_(target, parsed.indices(), source, false);
}

int assign_subscript(PyObject* self, PyObject* index, PyObject* value) {
  return guarded_status([&] {
    FACULA_CHECK(value, kType, "Tensor does not support deleting items");
    bool given = has_override(value) && !(overrides_disabled && is_tensor(value));
    if (given || intercepted(self) || overrides_index(index)) [[unlikely]] {
      Owned r(override_index(self, index, value));
      return r ? 0 : -1;
    }
    set(unwrap(self), index, value);
    return 0;
  });
}

}  // namespace

PyMappingMethods tensor_mapping = {tensor_length, subscript, assign_subscript};

}  // namespace facula::python
