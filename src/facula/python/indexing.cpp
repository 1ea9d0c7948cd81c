// tensor[...] and tensor[...] = value. Ints, slices, None and Ellipsis become one view; masks,
// lists and index tensors go to the rows index and index_put_. While history is recorded the view
// is built by the rows select, slice and unsqueeze, so that each step has its node.
#include "facula/autograd/detach.h"
#include "facula/autograd/meta.h"
#include "facula/core/intercept.h"
#include "facula/ops/convert_functions.h"
#include "facula/ops/fits.h"
#include "facula/ops/index_functions.h"
#include "facula/ops/shape_functions.h"
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

// View collects select, slice and unsqueeze steps on a tensor: into one geometry when nobody
// records, else one row call a step.
class View {
 public:
  explicit View(const Tensor& self)
      : source_(self),
        steps_((grad_enabled() && requires_grad(self)) ||
               (tls.above | tls.below | self->intercept) != 0) {
    if (steps_) {
      current_ = self;
      return;
    }
    sizes_ = self.sizes().to_sizes();
    strides_ = self.strides().to_sizes();
    offset_ = self.storage_offset();
  }

  int64_t dims() const { return steps_ ? current_.dim() : static_cast<int64_t>(sizes_.size()); }
  int64_t size(int64_t d) const {
    // A second Ellipsis stands for as many dimensions as the first, which may be too many.
    FACULA_CHECK(d < dims(), kIndex, "Dimension out of range (expected to be in range of [-",
                 dims(), ", ", dims() - 1, "], but got ", d, ")");
    return steps_ ? current_->sizes[d] : sizes_[static_cast<size_t>(d)];
  }

  void select(int64_t d, int64_t index, int64_t shown_dim) {
    int64_t n = size(d);
    if (index < -n || index >= n) out_of_bounds(index, shown_dim, n);
    if (index < 0) index += n;
    if (steps_) {
      current_ = facula::select(current_, d, index);
      return;
    }
    offset_ += index * strides_[static_cast<size_t>(d)];
    sizes_.erase(sizes_.begin() + d);
    strides_.erase(strides_.begin() + d);
  }

  void slice(int64_t d, PyObject* o) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(o, &start, &stop, &step) < 0) throw PythonError();
    FACULA_CHECK(step > 0, kValue, "step must be greater than zero");
    int64_t n = size(d);
    int64_t length = PySlice_AdjustIndices(n, &start, &stop, step);
    if (length == n && step == 1) return;
    if (length == 0) stop = start;
    if (steps_) {
      current_ = facula::slice(current_, d, start, stop, step);
      return;
    }
    auto at = static_cast<size_t>(d);
    if (length > 0) offset_ += start * strides_[at];
    sizes_[at] = length;
    strides_[at] = spread(strides_[at], step);
  }

  void unsqueeze(int64_t d) {
    FACULA_CHECK(d <= dims(), kIndex, "too many indices for tensor of dimension ", dims());
    if (steps_) {
      current_ = facula::unsqueeze(current_, d);
      return;
    }
    bool last = d == dims();
    int64_t stride = last ? 1 : sizes_[static_cast<size_t>(d)] * strides_[static_cast<size_t>(d)];
    sizes_.insert(sizes_.begin() + d, 1);
    strides_.insert(strides_.begin() + d, stride);
  }

  // result is the view; a view of the whole when there was no step.
  Tensor result() const {
    if (!steps_) return make_view(source_, sizes_, strides_, offset_);
    if (current_.is_same(source_)) return facula::view(source_, source_.sizes());
    return current_;
  }
  // inner is the same without a view of the whole: for further operators.
  Tensor inner() const {
    if (steps_) return current_;
    return source_.sizes() == IntList(sizes_) && source_.strides() == IntList(strides_) &&
                   source_.storage_offset() == offset_
               ? source_
               : make_view(source_, sizes_, strides_, offset_);
  }

 private:
  const Tensor& source_;
  bool steps_;
  Tensor current_;
  Sizes sizes_, strides_;
  int64_t offset_ = 0;
};

// Index is a parsed index: a view, and index tensors by dimension of it (undefined: all).
struct Index {
  View view;
  std::vector<Tensor> tensors;
  explicit Index(const Tensor& self) : view(self) {}
  void record(int64_t d, Tensor t) {
    if (tensors.size() <= static_cast<size_t>(d)) tensors.resize(static_cast<size_t>(d) + 1);
    tensors[static_cast<size_t>(d)] = std::move(t);
  }
};

bool is_mask(const Tensor& t) { return t.dtype() == kBool || t.dtype() == kUInt8; }

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

Tensor truth_tensor(bool v) {
  Tensor t = new_empty({1}, kBool);
  *t.data_as<bool>() = v;
  return t;
}

// Dimensions that an item of the index uses up.
int64_t consumed(PyObject* o) {
  if (o == Py_Ellipsis || o == Py_None || PyBool_Check(o)) return 0;
  if (is_tensor(o)) {
    const Tensor& t = unwrap(o);
    return is_mask(t) ? t.dim() : 1;
  }
  if (is_ndarray(o)) {
    Tensor t = tensor_from_array(o, false);
    return is_mask(t) ? t.dim() : 1;
  }
  if (PyList_Check(o) || PyTuple_Check(o)) {
    Tensor t = index_tensor(o);
    return is_mask(t) ? t.dim() : 1;
  }
  return 1;
}

// warn_of_bytes warns of masks of bytes, which are those of the time before tensors of bool.
void warn_of_bytes(const Tensor& t) {
  if (t.dtype() != kUInt8) return;
  warn("indexing with dtype facula.uint8 is deprecated: give a mask of facula.bool.");
}

// add_tensor handles an index tensor at dimension d and returns the next dimension.
int64_t add_tensor(Index& out, const Tensor& t, int64_t d) {
  warn_of_bytes(t);
  if (t.dim() == 0) {
    if (is_mask(t)) {
      FACULA_CHECK(!t.is_meta(), kRuntime, "index: a meta tensor has no value");
      bool on = scalar_at(t.data(), t.dtype()).to_bool();
      out.view.unsqueeze(d);
      out.record(d, truth_tensor(on));
      return d + 1;
    }
    if (is_integral(t.dtype()) && !t.is_meta() && !(t->intercept & kInterceptHidden)) {
      out.view.select(d, scalar_at(t.data(), t.dtype()).to_int(), d);
      return d;
    }
  }
  out.record(d, t);
  return d + (is_mask(t) ? t.dim() : 1);
}

int64_t add_item(Index& out, PyObject* o, int64_t d, int64_t missing, int64_t shown) {
  if (PyLong_CheckExact(o) || (PyLong_Check(o) && !PyBool_Check(o))) {
    out.view.select(d, to_int64(o, "index"), shown);
    return d;
  }
  if (PySlice_Check(o)) {
    out.view.slice(d, o);
    return d + 1;
  }
  if (o == Py_Ellipsis) return d + missing;
  if (o == Py_None) {
    out.view.unsqueeze(d);
    return d + 1;
  }
  if (PyBool_Check(o)) {
    out.view.unsqueeze(d);
    out.record(d, truth_tensor(o == Py_True));
    return d + 1;
  }
  if (is_tensor(o)) return add_tensor(out, unwrap(o), d);
  if (is_numpy_scalar(o)) {
    if (!is_integer(o)) bad_index(o);
    out.view.select(d, to_int64(o, "index"), shown);
    return d;
  }
  if (is_ndarray(o)) return add_tensor(out, index_tensor(o), d);
  if (PyUnicode_Check(o) || PyDict_Check(o)) bad_index(o);
  if (PySequence_Check(o)) return add_tensor(out, index_tensor(o), d);
  if (PyIndex_Check(o)) {
    out.view.select(d, to_int64(o, "index"), shown);
    return d;
  }
  bad_index(o);
}

void parse(Index& out, const Tensor& self, PyObject* index) {
  if (!is_tuple_like(index)) {
    if (self.dim() == 0 && PyLong_Check(index) && !PyBool_Check(index)) {
      raise_error(ErrorKind::kIndex, "invalid index of a 0-dim tensor. Use `tensor.item()` in ",
                  "Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number");
    }
    FACULA_CHECK(consumed(index) <= self.dim(), kIndex, "too many indices for tensor of dimension ",
                 self.dim());
    add_item(out, index, 0, self.dim(), 0);
    return;
  }
  if (!PyTuple_Check(index)) {
    warn(
        "Using a non-tuple sequence for multidimensional indexing is deprecated: write "
        "x[tuple(seq)], or x[facula.tensor(seq)] for an index of the first dimension.");
  }
  Py_ssize_t n = PySequence_Fast_GET_SIZE(index);
  int64_t used = 0;
  for (Py_ssize_t i = 0; i < n; ++i) used += consumed(PySequence_Fast_GET_ITEM(index, i));
  FACULA_CHECK(used <= self.dim(), kIndex, "too many indices for tensor of dimension ", self.dim());
  int64_t d = 0, shown = 0, missing = self.dim() - used;
  for (Py_ssize_t i = 0; i < n; ++i) {
    PyObject* o = PySequence_Fast_GET_ITEM(index, i);
    d = add_item(out, o, d, missing, shown);
    shown += o == Py_Ellipsis ? missing : o == Py_None || PyBool_Check(o) ? 0 : 1;
  }
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
  Index parsed(self);
  parse(parsed, self, index);
  if (parsed.tensors.empty()) return parsed.view.result();
  return facula::index(parsed.view.inner(), parsed.tensors);
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

// strip_ones drops leading dimensions of size 1 that the destination does not have.
Tensor strip_ones(const Tensor& value, int64_t dims) {
  if (value.dim() <= dims) return value;
  int64_t extra = 0;
  while (value.dim() - extra > dims && value->sizes[extra] == 1) ++extra;
  if (extra == 0) return value;
  IntList rest(value->sizes + extra, static_cast<size_t>(value.dim() - extra));
  return facula::reshape(value, rest);
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
  Index parsed(self);
  parse(parsed, self, index);
  Tensor target = parsed.view.inner();
  if (parsed.tensors.empty()) {
    if (plain)
      facula::fill_(target, number);
    else
      facula::copy_(target, strip_ones(unwrap(value), target.dim()), false);
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
    if (source.numel() == 1 && source.dtype() != self.dtype() && is_one_mask(parsed.tensors) &&
        (self.is_complex() || !source.is_complex())) {
      source = facula::cast(source, self.dtype());
    }
  }
  facula::index_put_(target, parsed.tensors, source, false);
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
