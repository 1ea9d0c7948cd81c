// The operators of ops/matmul.py: checks, shapes, and which product computes what.
#include "facula/base/error.h"
#include "facula/kernels/gemm.h"
#include "facula/ops/arithmetic_functions.h"
#include "facula/ops/checks.h"
#include "facula/ops/compare_functions.h"
#include "facula/ops/create_functions.h"
#include "facula/ops/fits.h"
#include "facula/ops/geometry.h"
#include "facula/ops/math_functions.h"
#include "facula/ops/matmul_functions.h"
#include "facula/ops/products.h"
#include "facula/ops/rules.h"
#include "facula/ops/shape_functions.h"

namespace facula {
namespace {

[[noreturn]] void fail_rank(const char* op, const char* name, int64_t rank, const Tensor& t) {
  const char* kind = rank == 1 ? "a vector" : rank == 2 ? "a matrix" : "a 3D tensor";
  raise_error(ErrorKind::kRuntime, op, ": ", name, " must be ", kind, ", got ", t.dim(),
              "-D tensor");
}

void check_rank(const char* op, const char* name, int64_t rank, const Tensor& t) {
  if (t.dim() != rank) [[unlikely]]
    fail_rank(op, name, rank, t);
}

void check_matrices(const char* op, const Tensor& a, const Tensor& b) {
  check_rank(op, "mat1", 2, a);
  check_rank(op, "mat2", 2, b);
  if (a->sizes[1] != b->sizes[0]) [[unlikely]] {
    raise_error(ErrorKind::kRuntime, op, ": mat1 and mat2 shapes cannot be multiplied (",
                a->sizes[0], 'x', a->sizes[1], " and ", b->sizes[0], 'x', b->sizes[1], ')');
  }
  check_product_types(op, a, b);
}

void check_batches(const char* op, const Tensor& a, const Tensor& b) {
  check_rank(op, "batch1", 3, a);
  check_rank(op, "batch2", 3, b);
  if (a->sizes[0] != b->sizes[0] || a->sizes[2] != b->sizes[1]) {
    raise_error(ErrorKind::kRuntime, op,
                ": Expected size for first two dimensions of batch2 tensor",
                " to be: ", list_text({a->sizes[0], a->sizes[2]}),
                " but got: ", list_text({b->sizes[0], b->sizes[1]}), '.');
  }
  check_product_types(op, a, b);
}

void check_vector(const char* op, const Tensor& matrix, const Tensor& vector) {
  if (matrix.dim() != 2 || vector.dim() != 1) {
    raise_error(ErrorKind::kRuntime, op, ": vector + matrix @ vector expected, got a ",
                matrix.dim(), "-D and a ", vector.dim(), "-D tensor");
  }
  if (matrix->sizes[1] != vector->sizes[0]) {
    raise_error(ErrorKind::kRuntime, op, ": size mismatch, got mat (", matrix->sizes[0], 'x',
                matrix->sizes[1], "), vec (", vector->sizes[0], ')');
  }
  check_product_types(op, matrix, vector);
}

// A vector as a matrix of one column.
Tensor column(const Tensor& v) {
  return alias_storage(v, {v->sizes[0], 1}, {v->strides[0], 1}, v.storage_offset());
}

bool is_real(const Scalar& s) { return !s.is_complex() || s.im == 0; }

// beta * self + alpha * product, where `multiply` computes the scaled product into a tensor.
template <class F>
Tensor scaled_sum(const char* op, const Tensor& self, IntList shape, DType dtype,
                  const Scalar& beta, const Scalar& alpha, F&& multiply) {
  if (self.dtype() != dtype) {
    raise_error(ErrorKind::kRuntime, op, ": self must have the same dtype as the other operands, ",
                "expected ", dtype_name(dtype), ", got ", dtype_name(self.dtype()));
  }
  for (const Scalar& factor : {beta, alpha}) {
    check_fits(is_reduced(dtype) ? kFloat32 : dtype, factor);
  }
  Geometry g = expand_geometry(self, shape);
  Tensor out = new_empty(shape, dtype, self.device());
  if (!is_real(beta) || !is_real(alpha)) {
    multiply(out, Product{});
    Tensor wide = alias_storage(self, g.sizes, g.strides, g.offset);
    return add(mul(wide, beta), mul(out, alpha));
  }
  Product how;
  bool integer = is_integral(dtype);
  how.alpha = integer ? static_cast<double>(alpha.to_int()) : alpha.to_double();
  how.beta = integer ? static_cast<double>(beta.to_int()) : beta.to_double();
  if (how.beta != 0) copy_raw(out, alias_storage(self, g.sizes, g.strides, g.offset));
  multiply(out, how);
  return out;
}

}  // namespace

namespace forward {

Tensor mm(const Tensor& self, const Tensor& mat2) {
  check_matrices("mm", self, mat2);
  Tensor out = new_empty({self->sizes[0], mat2->sizes[1]}, self.dtype(), self.device());
  multiply_into(out, self, mat2);
  return out;
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  check_batches("bmm", self, mat2);
  Tensor out =
      new_empty({self->sizes[0], self->sizes[1], mat2->sizes[2]}, self.dtype(), self.device());
  multiply_batch_into(out, self, mat2);
  return out;
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  check_vector("mv", self, vec);
  Tensor out = new_empty({self->sizes[0]}, self.dtype(), self.device());
  multiply_into(column(out), self, column(vec));
  return out;
}

namespace {

Tensor dot_product(const char* op, const Tensor& x, const Tensor& y, bool conjugate) {
  if (x.dim() != 1 || y.dim() != 1) {
    raise_error(ErrorKind::kRuntime, op, ": 1D tensors expected, but got ", x.dim(), "D and ",
                y.dim(), "D tensors");
  }
  check_vectors(op, x, y);
  Tensor out = new_empty({}, x.dtype(), x.device());
  if (!out.is_meta()) {
    kernels::dot(x.dtype(), out.data(), x.data(), x->strides[0], y.data(), y->strides[0], x.numel(),
                 conjugate);
  }
  return out;
}

}  // namespace

Tensor dot(const Tensor& self, const Tensor& tensor) {
  return dot_product("dot", self, tensor, false);
}

Tensor vdot(const Tensor& self, const Tensor& other) {
  return dot_product("vdot", self, other, true);
}

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
             const Scalar& alpha) {
  check_matrices("addmm", mat1, mat2);
  Sizes shape = {mat1->sizes[0], mat2->sizes[1]};
  return scaled_sum(
      "addmm", self, shape, mat1.dtype(), beta, alpha,
      [&](const Tensor& out, const Product& p) { multiply_into(out, mat1, mat2, p); });
}

Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
               const Scalar& alpha) {
  check_batches("baddbmm", batch1, batch2);
  Sizes shape = {batch1->sizes[0], batch1->sizes[1], batch2->sizes[2]};
  return scaled_sum(
      "baddbmm", self, shape, batch1.dtype(), beta, alpha,
      [&](const Tensor& out, const Product& p) { multiply_batch_into(out, batch1, batch2, p); });
}

Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta,
             const Scalar& alpha) {
  check_vector("addmv", mat, vec);
  return scaled_sum("addmv", self, {mat->sizes[0]}, mat.dtype(), beta, alpha,
                    [&](const Tensor& out, const Product& p) {
                      multiply_into(column(out), mat, column(vec), p);
                    });
}

Tensor linear_product(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  check_rank("linear", "weight", 2, weight);
  int64_t out_features = weight->sizes[0], in_features = weight->sizes[1];
  if (input.dim() == 0 || input->sizes[input->ndim - 1] != in_features) {
    Tensor rows = input.dim() ? matrix_of(input) : input;
    raise_error(ErrorKind::kRuntime, "linear: mat1 and mat2 shapes cannot be multiplied (",
                rows.dim() ? rows->sizes[0] : 1, 'x', rows.dim() ? rows->sizes[1] : 1, " and ",
                in_features, 'x', out_features, "): input has shape ", list_text(input.sizes()),
                ", weight ", list_text(weight.sizes()));
  }
  check_product_types("linear", input, weight);
  Sizes shape = input.sizes().to_sizes();
  shape[shape.size() - 1] = out_features;
  Tensor out = new_empty(shape, input.dtype(), input.device());
  Tensor x = matrix_of(input);
  Tensor y =
      out.dim() == 2 ? out : alias_storage(out, {x->sizes[0], out_features}, {out_features, 1}, 0);
  Product how;
  if (bias.defined()) {
    check_product_types("linear", input, bias);
    if (bias.dim() == 1 && bias->sizes[0] == out_features && bias.is_contiguous()) {
      how.bias = bias;
    } else {
      Geometry g = expand_geometry(bias, y.sizes());
      copy_raw(y, alias_storage(bias, g.sizes, g.strides, g.offset));
      how.beta = 1;
    }
  }
  how.b_transposed = true;
  multiply_into(y, x, weight, how);
  return out;
}

Tensor linear_input_grad(const Tensor& grad_output, const Tensor& weight) {
  check_rank("linear", "weight", 2, weight);
  if (grad_output.dim() == 0 || grad_output.size(-1) != weight->sizes[0]) {
    raise_error(ErrorKind::kRuntime, "linear: a gradient of shape ", list_text(grad_output.sizes()),
                " does not fit the weight of shape ", list_text(weight.sizes()));
  }
  Sizes shape = grad_output.sizes().to_sizes();
  shape[shape.size() - 1] = weight->sizes[1];
  Tensor out = new_empty(shape, grad_output.dtype(), grad_output.device());
  Tensor g = matrix_of(grad_output);
  Tensor w = weight.is_complex() ? facula::conj(weight) : weight;
  multiply_into(matrix_of(out), g, w);
  return out;
}

Tensor linear_weight_grad(const Tensor& grad_output, const Tensor& input) {
  Tensor g = matrix_of(grad_output), x = matrix_of(input);
  if (x.is_complex()) x = facula::conj(x);
  if (g->sizes[0] != x->sizes[0]) {
    raise_error(ErrorKind::kRuntime, "linear: a gradient of shape ", list_text(grad_output.sizes()),
                " does not fit the input of shape ", list_text(input.sizes()));
  }
  Tensor out = new_empty({g->sizes[1], x->sizes[1]}, g.dtype(), g.device());
  Product how;
  how.a_transposed = true;
  multiply_into(out, g, x, how);
  return out;
}

}  // namespace forward

Tensor scaled(const Tensor& self, const Scalar& factor) {
  if (!factor.is_complex() && factor.to_double() == 1) return self;
  return mul(self, factor.conj());
}

Tensor conj_complex(const Tensor& self) { return self.is_complex() ? conj(self) : self; }

Tensor swap_conj(const Tensor& self) {
  Tensor swapped = transpose(self, -2, -1);
  return self.is_complex() ? conj(swapped) : swapped;
}

Tensor outer(const Tensor& self, const Tensor& vec2) {
  if (self.dim() != 1 || vec2.dim() != 1) {
    raise_error(ErrorKind::kRuntime, "outer: Expected 1-D arguments self and vec2, but got ",
                self.dim(), "-D and ", vec2.dim(), "-D");
  }
  return mul(unsqueeze(self, 1), vec2);
}

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
            const Scalar& alpha) {
  if (vec1.dim() != 1 || vec2.dim() != 1) {
    raise_error(ErrorKind::kRuntime, "addr: Expected 1-D arguments vec1 and vec2, but got ",
                vec1.dim(), "-D and ", vec2.dim(), "-D");
  }
  DType type = promote(self.dtype(), promote(vec1.dtype(), vec2.dtype()));
  check_scale("addr", "beta", type, beta);
  check_scale("addr", "alpha", type, alpha);
  Tensor wide = expand(self, IntList({vec1->sizes[0], vec2->sizes[0]}));
  bool boolean = self.dtype() == kBool && vec1.dtype() == kBool && vec2.dtype() == kBool;
  if (boolean) {
    Tensor product = alpha.to_bool() ? outer(vec1, vec2) : zeros_like(wide);
    return beta.to_bool() ? logical_or(wide, product) : product;
  }
  Tensor product = scaled(outer(vec1, vec2), alpha.conj());
  if (beta.is_zero()) return product;
  return add(scaled(wide, beta.conj()), product);
}

Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
              const Scalar& alpha) {
  check_batches("addbmm", batch1, batch2);
  int64_t b = batch1->sizes[0], m = batch1->sizes[1], k = batch1->sizes[2], n = batch2->sizes[2];
  Tensor left = reshape(transpose(batch1, 0, 1), IntList({m, b * k}));
  return addmm(self, left, reshape(batch2, IntList({b * k, n})), beta, alpha);
}

namespace {

// A product of which at least one operand has three or more dimensions, both at least one.
Tensor matmul_batched(const Tensor& a, const Tensor& b) {
  Tensor x = a.dim() == 1 ? unsqueeze(a, 0) : a, y = b.dim() == 1 ? unsqueeze(b, 1) : b;
  IntList xs = x.sizes(), ys = y.sizes();
  Sizes batch = broadcast_sizes({xs.data(), xs.size() - 2}, {ys.data(), ys.size() - 2}, "matmul");
  int64_t m = x.size(-2), k = x.size(-1), n = y.size(-1), count = 1;
  if (k != y.size(-2)) {
    raise_error(ErrorKind::kRuntime, "matmul: the inner sizes differ: ", list_text(a.sizes()),
                " @ ", list_text(b.sizes()), " (", k, " and ", y.size(-2), ')');
  }
  Sizes x_shape = batch, y_shape = batch, shape = batch;
  for (int64_t s : batch) count *= s;
  x_shape.push_back(m), x_shape.push_back(k);
  y_shape.push_back(k), y_shape.push_back(n);
  if (a.dim() > 1) shape.push_back(m);
  if (b.dim() > 1) shape.push_back(n);
  Tensor left = reshape(expand(x, x_shape), IntList({count, m, k}));
  Tensor right = reshape(expand(y, y_shape), IntList({count, k, n}));
  return reshape(bmm(left, right), shape);
}

}  // namespace

Tensor matmul(const Tensor& self, const Tensor& other) {
  int64_t p = self.dim(), q = other.dim();
  if (p == 2 && q == 2) return mm(self, other);
  if (p == 0 || q == 0) {
    raise_error(ErrorKind::kRuntime,
                "matmul: both arguments to matmul need to be at least 1D, but they are ", p,
                "D and ", q, 'D');
  }
  if (p == 1 && q == 1) return dot(self, other);
  if (p == 2 && q == 1) return mv(self, other);
  if (p == 1 && q == 2) return mv(transpose(other, 0, 1), self);
  if (p > 2 && q <= 2) {
    // Leading dimensions are rows of one matrix.
    IntList s = self.sizes();
    if (s.back() == other->sizes[0]) {
      int64_t rows = 1;
      for (int64_t d = 0; d + 1 < p; ++d) rows *= s[d];
      Tensor flat = reshape(self, IntList({rows, s.back()}));
      Sizes shape(s.begin(), s.end() - 1);
      if (q == 2) shape.push_back(other->sizes[1]);
      return reshape(q == 2 ? mm(flat, other) : mv(flat, other), shape);
    }
  }
  return matmul_batched(self, other);
}

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (weight.dim() != 1) [[likely]]
    return linear_product(input, weight, bias);
  if (bias.defined() && bias.dim() != 0) {
    raise_error(ErrorKind::kRuntime, "linear: with a weight of shape ", list_text(weight.sizes()),
                " the bias must be 0-D, got shape ", list_text(bias.sizes()));
  }
  Tensor product = matmul(input, weight);
  return bias.defined() ? add(product, bias) : product;
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias) {
  if (weight.dim() != 3 || input1.dim() != input2.dim() || input1.dim() == 0 ||
      input1.size(-1) != weight->sizes[1] || input2.size(-1) != weight->sizes[2]) {
    raise_error(ErrorKind::kRuntime, "bilinear: inputs of shapes ", list_text(input1.sizes()),
                " and ", list_text(input2.sizes()), " do not fit the weight of shape ",
                list_text(weight.sizes()));
  }
  int64_t out = weight->sizes[0], in1 = weight->sizes[1], in2 = weight->sizes[2];
  // (rows, in1) x (in1, out * in2), then each output's row times input2.
  Tensor flat = reshape(permute(weight, IntList({1, 0, 2})), IntList({in1, out * in2}));
  Sizes shape = input1.sizes().to_sizes();
  shape[shape.size() - 1] = out;
  shape.push_back(in2);
  Tensor left = reshape(matmul(input1, flat), shape);
  Tensor result = squeeze_dim(matmul(left, unsqueeze(input2, -1)), IntList({-1}));
  return bias.defined() ? add(result, bias) : result;
}

}  // namespace facula
