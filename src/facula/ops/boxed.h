// Boxed calls of operators: what the generated sources FAMILY_boxed.cpp are written with. A Box
// packs the arguments of a call and offers it to the interpreters above autograd.
#pragma once
#include <tuple>

#include "facula/core/interpreter.h"
#include "facula/ops/types.h"

namespace facula {

// BoxedOp is the OpInfo of a row, with what interpreters want to know beside its name.
struct BoxedOp : OpInfo {
  enum Kind : uint8_t { kPointwise, kView, kOther };
  enum Batch : uint8_t { kNoRule, kAlong, kLeading, kMatrices };
  Kind kind;
  uint8_t bool_inputs;  // kPointwise: bit mask of tensor inputs that are read as bool
  bool writes;          // writes into its first argument and returns it
  Batch batch;          // what the row says of samples in front of its first argument's dimensions
  uint8_t dim;          // kAlong: which argument names the dimensions
  uint32_t tensors;     // bit mask of arguments that are tensors: the edges of its node, in order
  uint32_t gradients;   // bit mask of arguments that have gradients
  bool linear;          // in those together: it applies itself to tangents
};

// Box holds the arguments of one call. Nothing is inline: a call that is intercepted is slow
// anyway.
class FACULA_API Box {
 public:
  Box(const BoxedOp& op, size_t count);
  ~Box();
  Box(const Box&) = delete;

  void tensor(const Tensor& v);
  void tensors(TensorList v);
  void operand(const TensorOrScalar& v);
  void scalar(const Scalar& v);
  void opt_scalar(const std::optional<Scalar>& v);
  void integer(int64_t v);
  void opt_integer(std::optional<int64_t> v);
  void ints(IntList v);
  void opt_ints(OptIntList v);
  void real(double v);
  void opt_real(std::optional<double> v);
  void reals(std::span<const double> v);
  void opt_reals(std::optional<std::span<const double>> v);
  void boolean(bool v);
  void opt_boolean(std::optional<bool> v);
  void mask(uint64_t v);
  void text(std::string_view v);
  void opt_text(std::optional<std::string_view> v);
  void dtype(DType v);
  void opt_dtype(std::optional<DType> v);
  void opt_device(std::optional<Device> v);
  void opt_memory_format(std::optional<MemoryFormat> v);
  void generator(Generator* v);

  // take offers the call; true: an interpreter took it and `out` is its result.
  bool take(Tensor& out);
  bool take(std::vector<Tensor>& out);
  bool take(bool& out);
  bool take(int64_t& out);
  bool take(double& out);
  bool take(Scalar& out);
  bool take(Sizes& out);
  bool take(DType& out);
  template <class... T>
  bool take(std::tuple<Tensor, T...>& out) {
    if (!run()) return false;
    take_all(out, std::index_sequence_for<Tensor, T...>());
    return true;
  }

 private:
  template <class Tuple, size_t... I>
  void take_all(Tuple& out, std::index_sequence<I...>) {
    ((std::get<I>(out) = result(I)), ...);
  }
  bool run();
  Tensor result(size_t i) const;

  const BoxedOp& op_;
  std::vector<Value> args_;
  Values out_;
};

// unbox_* give an argument its C++ type back; they borrow from the value.
const Tensor& unbox_tensor(const Value& v);
TensorList unbox_tensors(const Value& v);
TensorOrScalar unbox_operand(const Value& v);
Scalar unbox_scalar(const Value& v);
std::optional<Scalar> unbox_opt_scalar(const Value& v);
int64_t unbox_integer(const Value& v);
std::optional<int64_t> unbox_opt_integer(const Value& v);
IntList unbox_ints(const Value& v);
OptIntList unbox_opt_ints(const Value& v);
double unbox_real(const Value& v);
std::optional<double> unbox_opt_real(const Value& v);
std::span<const double> unbox_reals(const Value& v);
std::optional<std::span<const double>> unbox_opt_reals(const Value& v);
bool unbox_boolean(const Value& v);
std::optional<bool> unbox_opt_boolean(const Value& v);
uint64_t unbox_mask(const Value& v);
std::string_view unbox_text(const Value& v);
std::optional<std::string_view> unbox_opt_text(const Value& v);
DType unbox_dtype(const Value& v);
std::optional<DType> unbox_opt_dtype(const Value& v);
std::optional<Device> unbox_opt_device(const Value& v);
std::optional<MemoryFormat> unbox_opt_memory_format(const Value& v);
Generator* unbox_generator(const Value& v);

// results_of boxes what an operator returned.
Values results_of(Tensor v);
Values results_of(std::vector<Tensor> v);
Values results_of(bool v);
Values results_of(int64_t v);
Values results_of(double v);
Values results_of(Scalar v);
Values results_of(const Sizes& v);
Values results_of(DType v);
void append_result(Values& to, Tensor v);
template <class... T, size_t... I>
Values results_of_tuple(std::tuple<T...>& v, std::index_sequence<I...>) {
  Values out;
  (append_result(out, std::move(std::get<I>(v))), ...);
  return out;
}
template <class... T>
Values results_of(std::tuple<T...> v) {
  return results_of_tuple(v, std::index_sequence_for<T...>());
}

}  // namespace facula
