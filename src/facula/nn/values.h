// What programs in C++ want around tensors: numbers out of tensors and tensors out of numbers,
// memory that belongs to others, the seed. Signs between tensors are in signs.h; everything else is
// an operator: facula/ops/functions.h.
//
//   manual_seed(0);
//   double total = item(sum(rand({3}) * 2 + 1));
//   int rows = item<int>(max(tensor({{1, 2}, {3, 4}})));
//   std::vector<float> own{1, 2, 3, 4};
//   Tensor t = tensor_of(own, {2, 2}), same = from_blob(own.data(), {2, 2});
//   data_ptr<float>(same)[0] += 1;  // own[0] too
#pragma once
#include <concepts>
#include <initializer_list>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "facula/base/error.h"
#include "facula/base/half.h"
#include "facula/base/intrusive.h"
#include "facula/nn/signs.h"
#include "facula/ops/functions.h"

namespace facula {

// manual_seed restarts the stream that all draws without a generator come from.
FACULA_API void manual_seed(uint64_t seed);

// item gives the value of a tensor of one element; RuntimeError for other tensors, TypeError for
// complex ones. item_int does the same without rounding integers above 2^53; item_scalar gives a
// number of the tensor's own kind, complex ones too.
FACULA_API double item(const Tensor& t);
FACULA_API int64_t item_int(const Tensor& t);
FACULA_API Scalar item_scalar(const Tensor& t);

// integer_within and real_within give a number as the types below want it, the integer in two's
// complement; RuntimeError for what is out of range, TypeError for complex numbers.
FACULA_API uint64_t integer_within(const Scalar& value, int64_t low, uint64_t high);
FACULA_API double real_within(const Scalar& value, double largest);

// item<T> gives the value as a T: fractions are cut off; RuntimeError for what T cannot hold.
template <class T>
T item(const Tensor& t) {
  Scalar value = item_scalar(t);
  using Limits = std::numeric_limits<T>;
  if constexpr (std::same_as<T, bool>) {
    return value.to_bool();
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(integer_within(value, Limits::min(), Limits::max()));
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(real_within(value, static_cast<double>(Limits::max())));
  } else {
    return T(value.to_complex());
  }
}

// values_of gives all elements in row order.
FACULA_API std::vector<double> values_of(const Tensor& t);
// int_values_of gives all elements of a tensor of integers in row order.
FACULA_API std::vector<int64_t> int_values_of(const Tensor& t);

// dtype_for is the dtype whose elements are of the C++ type T.
template <class T>
inline constexpr DType dtype_for = [] {
  if constexpr (std::same_as<T, bool>)
    return kBool;
  else if constexpr (std::same_as<T, float>)
    return kFloat32;
  else if constexpr (std::same_as<T, double>)
    return kFloat64;
  else if constexpr (std::same_as<T, Half>)
    return kFloat16;
  else if constexpr (std::same_as<T, BFloat16>)
    return kBFloat16;
  else if constexpr (std::same_as<T, std::complex<float>>)
    return kComplex64;
  else if constexpr (std::same_as<T, std::complex<double>>)
    return kComplex128;
  else {
    static_assert(std::integral<T> && sizeof(T) <= 8, "no dtype has elements of this type");
    constexpr DType with_sign[] = {kInt8, kInt16, kInt32, kInt64};
    constexpr DType without[] = {kUInt8, kUInt16, kUInt32, kUInt64};
    constexpr int place = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::signed_integral<T> ? with_sign[place] : without[place];
  }
}();

// check_elements raises RuntimeError for a tensor of another dtype, or one without memory.
FACULA_API void check_elements(const Tensor& t, DType wanted);

// data_ptr gives the address of the first element, as Tensor::data_as does, and checks the dtype.
template <class T>
T* data_ptr(const Tensor& t) {
  check_elements(t, dtype_for<std::remove_const_t<T>>);
  return t.data_as<T>();
}

// tensor_of makes a float32 or an int64 tensor of the given shape from elements in row order.
FACULA_API Tensor tensor_of(const std::vector<float>& values, IntList size);
FACULA_API Tensor tensor_of(const std::vector<int64_t>& values, IntList size);

// tensor_from makes a tensor of the given shape and dtype from elements in row order.
FACULA_API Tensor tensor_from(const std::vector<double>& values, IntList size, DType dtype);
FACULA_API Tensor tensor_from(const std::vector<int64_t>& values, IntList size, DType dtype);

// Element is a number that stands in braces.
template <class T>
concept Element = std::floating_point<T> || std::integral<T>;

// Elements collects numbers and the shape of the braces around them.
template <Element T>
struct Elements {
  std::vector<std::conditional_t<std::integral<T>, int64_t, double>> values;
  Sizes size;

  void add(T value, size_t) {
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
      FACULA_CHECK(std::in_range<int64_t>(value), kOverflow, "tensor: ", value,
                   " is beyond the range of int64");
    }
    values.push_back(static_cast<std::conditional_t<std::integral<T>, int64_t, double>>(value));
  }
  template <class Inner>
  void add(std::initializer_list<Inner> list, size_t depth) {
    int64_t length = static_cast<int64_t>(list.size());
    if (size.size() <= depth) size.push_back(length);
    FACULA_CHECK(size[depth] == length, kValue, "tensor: expected ", size[depth],
                 " elements in dimension ", depth, ", got ", length);
    for (const Inner& inner : list) add(inner, depth + 1);
  }
  Tensor made(std::optional<DType> dtype) const {
    DType own = std::same_as<T, bool> ? kBool : std::integral<T> ? kInt64 : default_dtype();
    return tensor_from(values, size, dtype.value_or(own));
  }
};

// tensor makes a tensor of a number, of numbers in one to three braces, or of a vector. Whole
// numbers become int64, others the default dtype, bool stays bool, unless a dtype is given.
// ValueError for rows of several lengths.
template <Element T>
Tensor tensor(T value, std::optional<DType> dtype = std::nullopt) {
  Elements<T> all;
  all.add(value, 0);
  return all.made(dtype);
}
template <Element T>
Tensor tensor(std::initializer_list<T> row, std::optional<DType> dtype = std::nullopt) {
  Elements<T> all;
  all.add(row, 0);
  return all.made(dtype);
}
template <Element T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> rows,
              std::optional<DType> dtype = std::nullopt) {
  Elements<T> all;
  all.add(rows, 0);
  return all.made(dtype);
}
template <Element T>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> planes,
              std::optional<DType> dtype = std::nullopt) {
  Elements<T> all;
  all.add(planes, 0);
  return all.made(dtype);
}
template <Element T>
Tensor tensor(const std::vector<T>& row, std::optional<DType> dtype = std::nullopt) {
  Elements<T> all;
  for (T value : row) all.add(value, 0);
  all.size.push_back(static_cast<int64_t>(row.size()));
  return all.made(dtype);
}

// from_blob makes a tensor over memory that belongs to somebody else and must outlive it, row-major
// or with strides, which count elements. ValueError for no address, one that is not aligned for the
// dtype, and negative strides; RuntimeError for negative sizes.
FACULA_API Tensor from_blob(void* data, IntList size, DType dtype = kFloat32);
FACULA_API Tensor from_blob(void* data, IntList size, IntList stride, DType dtype = kFloat32);

// blob_bytes checks as from_blob does, and counts the bytes from the first element to the last.
FACULA_API size_t blob_bytes(const void* data, IntList size, IntList stride, DType dtype);

// from_blob with a deleter calls deleter(data) when the last tensor over the memory is gone. Where
// from_blob raises, the memory stays with the caller.
template <class Deleter>
  requires std::invocable<Deleter&, void*>
Tensor from_blob(void* data, IntList size, IntList stride, Deleter deleter,
                 DType dtype = kFloat32) {
  struct Owner {
    Deleter deleter;
    void* data;
  };
  size_t bytes = blob_bytes(data, size, stride, dtype);
  std::unique_ptr<Owner> owner(new Owner{std::move(deleter), data});
  auto give_back = [](void* p) {
    std::unique_ptr<Owner> last(static_cast<Owner*>(p));
    last->deleter(last->data);
  };
  auto storage = Ref<Storage>::adopt(Storage::external(data, bytes, give_back, owner.get()));
  static_cast<void>(owner.release());
  return tensor_over(storage.get(), size, stride, 0, dtype);
}
template <class Deleter>
  requires std::invocable<Deleter&, void*>
Tensor from_blob(void* data, IntList size, Deleter deleter, DType dtype = kFloat32) {
  return from_blob(data, size, contiguous_strides(size), std::move(deleter), dtype);
}

}  // namespace facula
