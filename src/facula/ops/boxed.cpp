// Packing and unpacking of boxed calls.
#include "facula/ops/boxed.h"

#include "facula/base/error.h"

namespace facula {

Box::Box(const BoxedOp& op, size_t count) : op_(op) { args_.reserve(count); }
Box::~Box() = default;

void Box::tensor(const Tensor& v) { args_.emplace_back(v); }
void Box::tensors(TensorList v) { args_.emplace_back(v); }
void Box::operand(const TensorOrScalar& v) { args_.emplace_back(v); }
void Box::scalar(const Scalar& v) { args_.emplace_back(v); }
void Box::opt_scalar(const std::optional<Scalar>& v) { args_.emplace_back(v); }
void Box::integer(int64_t v) { args_.emplace_back(v); }
void Box::opt_integer(std::optional<int64_t> v) { args_.emplace_back(v); }
void Box::ints(IntList v) { args_.emplace_back(v); }
void Box::opt_ints(OptIntList v) { v ? args_.emplace_back(*v) : args_.emplace_back(); }
void Box::real(double v) { args_.emplace_back(v); }
void Box::opt_real(std::optional<double> v) { args_.emplace_back(v); }
void Box::reals(std::span<const double> v) { args_.emplace_back(v); }
void Box::opt_reals(std::optional<std::span<const double>> v) { args_.emplace_back(v); }
void Box::boolean(bool v) { args_.emplace_back(v); }
void Box::opt_boolean(std::optional<bool> v) { args_.emplace_back(v); }
void Box::mask(uint64_t v) { args_.emplace_back(static_cast<int64_t>(v)); }
void Box::text(std::string_view v) { args_.emplace_back(v); }
void Box::opt_text(std::optional<std::string_view> v) { args_.emplace_back(v); }
void Box::dtype(DType v) { args_.emplace_back(v); }
void Box::opt_dtype(std::optional<DType> v) { args_.emplace_back(v); }
void Box::opt_device(std::optional<Device> v) { args_.emplace_back(v); }
void Box::opt_memory_format(std::optional<MemoryFormat> v) { args_.emplace_back(v); }
void Box::generator(Generator* v) { args_.emplace_back(v); }

bool Box::run() {
  if (!intercept(StackSide::kAbove, op_, args_, out_)) return false;
  FACULA_CHECK(!out_.empty(), kType, op_.name, ": an interpreter gave no result");
  return true;
}

Tensor Box::result(size_t i) const {
  FACULA_CHECK(i < out_.size(), kRuntime, op_.name, ": an interpreter gave ", out_.size(),
               " results");
  return out_[i].tensor();
}

bool Box::take(Tensor& out) {
  if (!run()) return false;
  out = result(0);
  FACULA_CHECK(out.defined(), kType, op_.name,
               ": an interpreter gave None where a tensor is expected");
  return true;
}
bool Box::take(std::vector<Tensor>& out) {
  if (!run()) return false;
  out.clear();
  for (const Value& v : out_) {
    if (v.is<std::vector<Tensor>>()) {
      for (const Tensor& t : v.as<std::vector<Tensor>>()) out.push_back(t);
    } else {
      out.push_back(v.tensor());
    }
  }
  return true;
}
bool Box::take(bool& out) {
  if (!run()) return false;
  out = out_[0].boolean();
  return true;
}
bool Box::take(int64_t& out) {
  if (!run()) return false;
  out = out_[0].integer();
  return true;
}
bool Box::take(double& out) {
  if (!run()) return false;
  out = out_[0].real();
  return true;
}
bool Box::take(Scalar& out) {
  if (!run()) return false;
  out = out_[0].scalar();
  return true;
}
bool Box::take(Sizes& out) {
  if (!run()) return false;
  out = out_[0].ints().to_sizes();
  return true;
}
bool Box::take(DType& out) {
  if (!run()) return false;
  out = out_[0].as<DType>();
  return true;
}

const Tensor& unbox_tensor(const Value& v) {
  static const Tensor nothing;
  return v.is_none() ? nothing : v.as<Tensor>();
}
TensorList unbox_tensors(const Value& v) { return TensorList(v.as<std::vector<Tensor>>()); }
TensorOrScalar unbox_operand(const Value& v) { return v.operand(); }
Scalar unbox_scalar(const Value& v) { return v.scalar(); }
std::optional<Scalar> unbox_opt_scalar(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional(v.scalar());
}
int64_t unbox_integer(const Value& v) { return v.integer(); }
std::optional<int64_t> unbox_opt_integer(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional(v.integer());
}
IntList unbox_ints(const Value& v) { return v.ints(); }
OptIntList unbox_opt_ints(const Value& v) {
  return v.is_none() ? OptIntList() : OptIntList(v.ints());
}
double unbox_real(const Value& v) { return v.real(); }
std::optional<double> unbox_opt_real(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional(v.real());
}
std::span<const double> unbox_reals(const Value& v) { return v.as<std::vector<double>>(); }
std::optional<std::span<const double>> unbox_opt_reals(const Value& v) {
  if (v.is_none()) return std::nullopt;
  return std::span<const double>(v.as<std::vector<double>>());
}
bool unbox_boolean(const Value& v) { return v.boolean(); }
std::optional<bool> unbox_opt_boolean(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional(v.boolean());
}
uint64_t unbox_mask(const Value& v) { return static_cast<uint64_t>(v.integer()); }
std::string_view unbox_text(const Value& v) { return v.as<std::string>(); }
std::optional<std::string_view> unbox_opt_text(const Value& v) {
  if (v.is_none()) return std::nullopt;
  return std::string_view(v.as<std::string>());
}
DType unbox_dtype(const Value& v) { return v.as<DType>(); }
std::optional<DType> unbox_opt_dtype(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional(v.as<DType>());
}
std::optional<Device> unbox_opt_device(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional(v.as<Device>());
}
std::optional<MemoryFormat> unbox_opt_memory_format(const Value& v) {
  return v.is_none() ? std::nullopt : std::optional(v.as<MemoryFormat>());
}
Generator* unbox_generator(const Value& v) {
  return v.is_none() ? nullptr : v.as<Ref<Generator>>().get();
}

void append_result(Values& to, Tensor v) { to.push_back(Value(std::move(v))); }

namespace {
template <class T>
Values one(T v) {
  Values out;
  out.push_back(Value(std::move(v)));
  return out;
}
}  // namespace

Values results_of(Tensor v) { return one(std::move(v)); }
Values results_of(std::vector<Tensor> v) { return one(std::move(v)); }
Values results_of(bool v) { return one(v); }
Values results_of(int64_t v) { return one(v); }
Values results_of(double v) { return one(v); }
Values results_of(Scalar v) { return one(v); }
Values results_of(const Sizes& v) { return one(IntList(v)); }
Values results_of(DType v) { return one(v); }

}  // namespace facula
