// Tensors and what describes them on a std::ostream, in the manner of PyTorch's C++ interface.
//
//   std::cout << rand({2, 3}) << "\n";  // two rows of three numbers, [ CPUFloatType{2,3} ]
//   std::cout << x.dtype() << " " << x.device() << " " << x.sizes() << "\n";  // Float cpu [2, 32]
//   std::cout << nn::Linear(3, 2) << "\n";  // the tree of modules
#pragma once
#include <cstdint>
#include <iosfwd>

#include "facula/core/tensor.h"

namespace facula {

enum class Layout : uint8_t;
class SparseTensor;

// operator<< writes the numbers in columns, every one of them, and what the tensor is. Matrices
// that are wider than 80 characters come in pieces, "Columns 1 to 8"; dimensions above the last two
// as one matrix each, "(1,.,.) = ". Numbers that are large or small share a factor, "100000 *".
// Sparse tensors print as their parts; those on meta and inside vmap have no numbers to show.
FACULA_API std::ostream& operator<<(std::ostream& out, const Tensor& t);
FACULA_API std::ostream& operator<<(std::ostream& out, const SparseTensor& t);
// print does the same for lines of another length.
FACULA_API std::ostream& print(std::ostream& out, const Tensor& t, int64_t line_size = 80);

// These write "Float", "cuda:1", "[2, 3]", the number, "SparseCsr" and "ChannelsLast".
FACULA_API std::ostream& operator<<(std::ostream& out, DType dtype);
FACULA_API std::ostream& operator<<(std::ostream& out, Device device);
FACULA_API std::ostream& operator<<(std::ostream& out, IntList list);
FACULA_API std::ostream& operator<<(std::ostream& out, const Scalar& number);
FACULA_API std::ostream& operator<<(std::ostream& out, Layout layout);
FACULA_API std::ostream& operator<<(std::ostream& out, MemoryFormat format);

namespace nn {

class Module;
// operator<< draws the tree of modules as Module::repr does.
FACULA_API std::ostream& operator<<(std::ostream& out, const Module& module);

}  // namespace nn
}  // namespace facula
