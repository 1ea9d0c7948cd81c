// Sparse tensors in Python: their objects are of the class facula.sparse.SparseTensor, whose
// __torch_function__ looks operators up in a table that is written with the functions below.
#include "facula/python/sparse.h"

#include "facula/base/error.h"
#include "facula/nn/optim/sparse_adam.h"
#include "facula/ops/create_functions.h"
#include "facula/python/arguments.h"
#include "facula/python/module.h"
#include "facula/python/types.h"

namespace facula::python {

PyObject* wrap_sparse(Tensor t) {
  static PyObject* type = nullptr;
  if (!type) {
    Owned module = own(PyImport_ImportModule("facula.sparse"));
    type = check(PyObject_GetAttrString(module.get(), "SparseTensor"));
  }
  if (t->python) return wrap(std::move(t));  // the import may run anything
  return wrap_as(reinterpret_cast<PyTypeObject*>(type), std::move(t));
}

namespace {

Layout unwrap_layout(PyObject* o, const char* name) {
  FACULA_CHECK(is_layout(o), kType, name, "(): argument 'layout' must be facula.layout, not ",
               type_name(o));
  int value = reinterpret_cast<PyNamed*>(o)->value;
  FACULA_CHECK(value <= static_cast<int>(Layout::kBsc), kNotImplemented, name,
               "(): the layout is not built");
  return static_cast<Layout>(value);
}

// Arguments is what a function got, by position.
struct Arguments {
  const char* name;
  PyObject* const* v;
  Py_ssize_t n;

  void expect(Py_ssize_t count) const {
    FACULA_CHECK(n == count, kType, name, "() takes ", count, " arguments, got ", n);
  }
  const Tensor& tensor(int i) const { return expect_tensor(v[i], name); }
  SparseTensor sparse(int i) const { return SparseTensor(tensor(i)); }
  bool is_sparse(int i) const { return facula::is_sparse(tensor(i)); }
  bool none(int i) const { return v[i] == Py_None; }
  int64_t integer(int i) const { return to_int64(v[i], name); }
  bool boolean(int i) const { return to_bool(v[i], name); }
  double real(int i) const { return scalar(i).to_double(); }
  Scalar scalar(int i) const { return to_scalar(v[i], name); }
  Sizes sizes(int i) const { return none(i) ? Sizes() : to_sizes(v[i], name); }
  Layout layout(int i) const { return unwrap_layout(v[i], name); }
};

PyObject* give(const SparseTensor& t) { return wrap(t.handle()); }

PyObject* coo(const Arguments& a) {  // indices, values, size, is_coalesced
  a.expect(4);
  Sizes sizes = a.sizes(2);
  return give(sparse_coo_tensor(a.tensor(0), a.tensor(1),
                                a.none(2) ? OptIntList() : OptIntList(sizes), a.boolean(3)));
}

PyObject* compressed(const Arguments& a) {  // compressed, plain, values, size, layout, strict
  a.expect(6);
  Sizes sizes = a.sizes(3);
  SparseTensor t =
      sparse_compressed_tensor(a.tensor(0), a.tensor(1), a.tensor(2),
                               a.none(3) ? OptIntList() : OptIntList(sizes), a.layout(4));
  if (a.boolean(5)) sparse::check_parts(sparse::parts_of(t.handle()), true);
  return give(t);
}

// The parts: layout number, coalesced, compressed indices or None, indices, values without history,
// sparse_dim, dense_dim.
PyObject* parts(const Arguments& a) {
  a.expect(1);
  const sparse::Parts& p = sparse::parts_of(a.tensor(0));
  return check(
      Py_BuildValue("(iNNNNLL)", static_cast<int>(p.layout), PyBool_FromLong(p.coalesced),
                    p.compressed.defined() ? wrap(alias(p.compressed)) : Py_NewRef(Py_None),
                    wrap(alias(p.indices)), wrap(alias(p.values)),
                    static_cast<long long>(p.sparse_dim()), static_cast<long long>(p.dense_dim())));
}

PyObject* values(const Arguments& a) {
  a.expect(1);
  return wrap(facula::values(a.sparse(0)));
}

PyObject* settled(const Arguments& a) {
  a.expect(1);
  return wrap(sparse::settled(a.tensor(0)));
}

PyObject* map(const Arguments& a) {  // t, values: the same pattern with other values
  a.expect(2);
  const sparse::Parts& p = sparse::parts_of(a.tensor(0));
  FACULA_CHECK(a.tensor(1).sizes() == p.values.sizes(), kRuntime, "expected values of size ",
               list_text(p.values.sizes()), ", got ", list_text(a.tensor(1).sizes()));
  return wrap(sparse::record(p, a.tensor(1)));
}

PyObject* raw_values(const Arguments& a) {  // with history where t is settled
  a.expect(1);
  return wrap(sparse::values_of(sparse::settled(a.tensor(0))));
}

PyObject* coalesce(const Arguments& a) {
  a.expect(1);
  return give(facula::coalesce(a.sparse(0)));
}

PyObject* dense(const Arguments& a) {
  a.expect(1);
  return wrap(to_dense(a.sparse(0)));
}

PyObject* convert(const Arguments& a) {  // t, layout, block, dense_dim
  a.expect(4);
  Sizes block = a.sizes(2);
  if (a.is_sparse(0)) return give(to_layout(a.sparse(0), a.layout(1), block));
  return give(to_sparse(a.tensor(0), a.layout(1), block, a.integer(3)));
}

PyObject* mask(const Arguments& a) {
  a.expect(2);
  return give(sparse_mask(a.tensor(0), a.sparse(1)));
}

PyObject* swap(const Arguments& a) {
  a.expect(3);
  return give(transpose(a.sparse(0), a.integer(1), a.integer(2)));
}

PyObject* multiply(const Arguments& a) {
  a.expect(2);
  if (!a.is_sparse(1)) return wrap(mm(a.sparse(0), a.tensor(1)));
  if (!a.is_sparse(0)) return wrap(mm(a.tensor(0), a.sparse(1)));
  return give(mm(a.sparse(0), a.sparse(1)));
}

PyObject* add_two(const Arguments& a) {  // a, b, alpha
  a.expect(3);
  if (!a.is_sparse(0)) return wrap(add(a.tensor(0), a.sparse(1), a.scalar(2)));
  return give(add(a.sparse(0), a.sparse(1), a.scalar(2)));
}

PyObject* add_into(const Arguments& a) {  // strided, sparse, alpha
  a.expect(3);
  add_(a.tensor(0), a.sparse(1), a.scalar(2));
  return Py_NewRef(a.v[0]);
}

PyObject* mul_two(const Arguments& a) {
  a.expect(2);
  if (a.is_sparse(1)) return give(mul(a.sparse(0), a.sparse(1)));
  return give(mul(a.sparse(0), a.tensor(1)));
}

PyObject* sum_up(const Arguments& a) {  // t, dims or None
  a.expect(2);
  if (a.none(1)) return wrap(sum(a.sparse(0)));
  return wrap(sum(a.sparse(0), a.sizes(1)));
}

PyObject* softmax_along(const Arguments& a) {  // t, dim, logarithm
  a.expect(3);
  return give(a.boolean(2) ? log_softmax(a.sparse(0), a.integer(1))
                           : softmax(a.sparse(0), a.integer(1)));
}

PyObject* replace(const Arguments& a) {  // t, other: t gets the parts and the sizes of other
  a.expect(2);
  const sparse::Parts& from = sparse::parts_of(a.tensor(1));
  FACULA_CHECK(from.values.dtype() == a.tensor(0).dtype(), kRuntime, "result type ",
               dtype_name(from.values.dtype()), " can't be cast to the desired output type ",
               dtype_name(a.tensor(0).dtype()));
  FACULA_CHECK(!recording(a.tensor(0), a.tensor(1)), kNotImplemented,
               "in-place operations on sparse tensors are not recorded: use no_grad, or the "
               "functional form");
  sparse::replace_parts(a.tensor(0), from);
  return Py_NewRef(a.v[0]);
}

PyObject* resize(const Arguments& a) {  // t, sizes, sparse_dim, dense_dim, whether to clear
  a.expect(5);
  auto* change = a.boolean(4) ? sparse_resize_and_clear_ : sparse_resize_;
  change(a.sparse(0), a.sizes(1), a.integer(2), a.integer(3));
  return Py_NewRef(a.v[0]);
}

// t, gradient, exp_avg, exp_avg_sq, steps before, lr, beta1, beta2, eps, maximize
PyObject* adam_step(const Arguments& a) {
  a.expect(10);
  optim::ParamState state;
  state.slots[0] = a.tensor(2);
  state.slots[1] = a.tensor(3);
  state.step = a.real(4);
  optim::update(a.tensor(0), a.sparse(1), state,
                optim::SparseAdamOptions{a.real(5), a.real(6), a.real(7), a.real(8), a.boolean(9)});
  Py_RETURN_NONE;
}

PyObject* check_strictly(const Arguments& a) {
  a.expect(1);
  sparse::check_parts(sparse::parts_of(a.tensor(0)), true);
  Py_RETURN_NONE;
}

template <PyObject* (*F)(const Arguments&)>
PyObject* call(PyObject* self, PyObject* const* args, Py_ssize_t n) {
  return guarded([&] { return F(Arguments{"sparse tensor", args, n}); });
}

PyMethodDef sparse_functions[] = {
    {"_sparse_coo", fast(call<coo>), METH_FASTCALL, nullptr},
    {"_sparse_compressed", fast(call<compressed>), METH_FASTCALL, nullptr},
    {"_sparse_parts", fast(call<parts>), METH_FASTCALL, nullptr},
    {"_sparse_values", fast(call<values>), METH_FASTCALL, nullptr},
    {"_sparse_raw_values", fast(call<raw_values>), METH_FASTCALL, nullptr},
    {"_sparse_settled", fast(call<settled>), METH_FASTCALL, nullptr},
    {"_sparse_map", fast(call<map>), METH_FASTCALL, nullptr},
    {"_sparse_coalesce", fast(call<coalesce>), METH_FASTCALL, nullptr},
    {"_sparse_dense", fast(call<dense>), METH_FASTCALL, nullptr},
    {"_sparse_convert", fast(call<convert>), METH_FASTCALL, nullptr},
    {"_sparse_mask", fast(call<mask>), METH_FASTCALL, nullptr},
    {"_sparse_transpose", fast(call<swap>), METH_FASTCALL, nullptr},
    {"_sparse_mm", fast(call<multiply>), METH_FASTCALL, nullptr},
    {"_sparse_add", fast(call<add_two>), METH_FASTCALL, nullptr},
    {"_sparse_add_into", fast(call<add_into>), METH_FASTCALL, nullptr},
    {"_sparse_mul", fast(call<mul_two>), METH_FASTCALL, nullptr},
    {"_sparse_sum", fast(call<sum_up>), METH_FASTCALL, nullptr},
    {"_sparse_softmax", fast(call<softmax_along>), METH_FASTCALL, nullptr},
    {"_sparse_replace", fast(call<replace>), METH_FASTCALL, nullptr},
    {"_sparse_resize", fast(call<resize>), METH_FASTCALL, nullptr},
    {"_sparse_adam", fast(call<adam_step>), METH_FASTCALL, nullptr},
    {"_sparse_check", fast(call<check_strictly>), METH_FASTCALL, nullptr},
    {}};

}  // namespace

Tensor sparse_factory(const char* name, PyObject* layout, IntList sizes, DType dtype) {
  std::string_view function = name;
  bool fits = function == "zeros" || function == "empty" || function == "zeros_like" ||
              function == "empty_like";
  FACULA_CHECK(fits, kNotImplemented, name,
               "(): only zeros, empty and their _like forms make sparse tensors");
  Layout kind = unwrap_layout(layout, name);
  sparse::Parts p;
  p.layout = kind;
  p.sizes = sizes.to_sizes();
  p.coalesced = true;
  p.values = new_empty({0}, dtype);
  p.indices = new_empty({sizes.ssize(), 0}, kInt64);
  if (kind == Layout::kCoo) return sparse::make_handle(std::move(p));
  FACULA_CHECK(kind == Layout::kCsr || kind == Layout::kCsc, kRuntime, name,
               "(): this layout needs a block size");
  FACULA_CHECK(sizes.size() == 2, kRuntime, name, "(): expected 2 dimensions for ",
               layout_name(kind), ", got ", sizes.size());
  p.indices = new_empty({0}, kInt64);
  p.compressed = zeros({sizes[kind == Layout::kCsr ? 0 : 1] + 1}, kInt64);
  return sparse::make_handle(std::move(p));
}

void init_sparse(PyObject* module) { add_functions(module, sparse_functions, "facula._C"); }

}  // namespace facula::python
