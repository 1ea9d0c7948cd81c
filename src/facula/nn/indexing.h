// Subscripts: parts of a tensor by numbers, slices, None, "...", masks and index tensors, as
// Python's t[1, None, ..., ::2] picks and writes them.
//
//   Tensor t = zeros({3, 4, 5});
//   Tensor row = index(t, {0, Slice(1, None, 2)});              // t[0, 1::2], a view
//   index_put_(t, {Ellipsis, -1}, 7);                           // t[..., -1] = 7
//   index_put_(t, {t > 0}, -t.numel());                         // t[t > 0] = -60
//   Tensor picked = index(t, {tensor({0, 2}), None, Slice()});  // t[[0, 2], None, :], a copy
#pragma once
#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <variant>

#include "facula/core/tensor.h"
#include "facula/ops/index_functions.h"

namespace facula {

// None inserts a dimension of size 1; in a Slice it leaves a bound open.
inline constexpr std::nullopt_t None = std::nullopt;

// Ellipsis stands for all dimensions that the other indices leave; so does "...".
struct EllipsisIndex {};
inline constexpr EllipsisIndex Ellipsis;

// Slice takes the elements from start to stop, exclusive; negative bounds count from the end, and
// those outside of the dimension are clamped. Slice() is the whole dimension.
struct Slice {
  std::optional<int64_t> start, stop;
  int64_t step;
  Slice(std::optional<int64_t> from = std::nullopt, std::optional<int64_t> to = std::nullopt,
        std::optional<int64_t> by = std::nullopt)
      : start(from), stop(to), step(by.value_or(1)) {}
};

// TensorIndex is one index of a subscript. IndexError for a text other than "...".
class TensorIndex {
 public:
  using Value = std::variant<std::nullopt_t, EllipsisIndex, int64_t, bool, Slice, Tensor>;

  TensorIndex(std::nullopt_t) : value_(std::nullopt) {}
  TensorIndex(EllipsisIndex) : value_(EllipsisIndex()) {}
  FACULA_API TensorIndex(const char* text);
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  TensorIndex(T position) : value_(static_cast<int64_t>(position)) {}
  template <std::same_as<bool> T>
  TensorIndex(T keep) : value_(keep) {}
  TensorIndex(Slice slice) : value_(slice) {}
  TensorIndex(Tensor positions) : value_(std::move(positions)) {}

  const Value& value() const { return value_; }

 private:
  Value value_;
};

// index gives a part of the tensor: a view where the subscript has neither masks nor index tensors
// (a whole number in a tensor without dimensions is a number), a copy otherwise. A mask stands for
// as many dimensions as it has; index tensors take the place of one each. IndexError for positions
// out of range, too many indices and shapes that do not match; ValueError for a step below 1.
FACULA_API Tensor index(const Tensor& self, std::span<const TensorIndex> indices);
inline Tensor index(const Tensor& self, std::initializer_list<TensorIndex> indices) {
  return index(self, std::span<const TensorIndex>(indices.begin(), indices.size()));
}

// index_put_ writes into what index names, or adds to it, and gives a handle of the tensor. A value
// that is a tensor is broadcast; with masks or index tensors it has the tensor's dtype.
FACULA_API Tensor index_put_(const Tensor& self, std::span<const TensorIndex> indices,
                             const TensorOrScalar& value, bool accumulate = false);
inline Tensor index_put_(const Tensor& self, std::initializer_list<TensorIndex> indices,
                         const TensorOrScalar& value, bool accumulate = false) {
  return index_put_(self, std::span<const TensorIndex>(indices.begin(), indices.size()), value,
                    accumulate);
}

}  // namespace facula
