// Products of plain tensors for the hand-written operators: operands are made fit for the kernels,
// 16-bit types go through float32.
#pragma once
#include "facula/core/tensor.h"

namespace facula {

// Product says how a product is scaled, what is added to it, and which operands are transposed.
struct Product {
  double alpha = 1, beta = 0;
  Tensor bias;  // n elements, dense, of the product's type
  bool a_transposed = false, b_transposed = false;
};

// multiply_into computes out = alpha * a b + beta * out + bias for matrices of one type; the rows
// of out are dense. Records nothing.
FACULA_API void multiply_into(const Tensor& out, const Tensor& a, const Tensor& b,
                              const Product& how = {});

// multiply_batch_into does the same for 3-d tensors.
FACULA_API void multiply_batch_into(const Tensor& out, const Tensor& a, const Tensor& b,
                                    const Product& how = {});

// check_product_types raises unless two operands have one type that products exist for, and one
// device.
FACULA_API void check_product_types(const char* op, const Tensor& a, const Tensor& b);

// check_vectors does so for vectors of a dot product, which must have one length too; dimensions in
// front count samples.
FACULA_API void check_vectors(const char* op, const Tensor& x, const Tensor& y);

// matrix_of views a tensor as a matrix of its last dimension, copying where strides demand it.
FACULA_API Tensor matrix_of(const Tensor& t);

}  // namespace facula
