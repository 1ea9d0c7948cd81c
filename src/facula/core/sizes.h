// Lists of sizes and strides: IntList, a borrowed view of integers, and Sizes, a small owned
// vector.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "facula/base/export.h"
#include "facula/base/small_vector.h"

namespace facula {

using Sizes = SmallVector<int64_t, 6>;

// IntList borrows `size()` integers; like std::span, but made from braces and single numbers too.
// It must not outlive the statement in which it is made from braces.
class IntList {
 public:
  constexpr IntList() = default;
  constexpr IntList(const int64_t* p, size_t n) : data_(p), size_(n) {}
  IntList(const Sizes& s) : data_(s.data()), size_(s.size()) {}
  IntList(const std::vector<int64_t>& s) : data_(s.data()), size_(s.size()) {}
  constexpr IntList(const int64_t& one) : data_(&one), size_(1) {}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
  constexpr IntList(std::initializer_list<int64_t> s) : data_(s.begin()), size_(s.size()) {}
#pragma GCC diagnostic pop
  constexpr const int64_t* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr int ssize() const { return static_cast<int>(size_); }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const int64_t* begin() const { return data_; }
  constexpr const int64_t* end() const { return data_ + size_; }
  constexpr int64_t operator[](size_t i) const { return data_[i]; }
  constexpr int64_t back() const { return data_[size_ - 1]; }
  Sizes to_sizes() const { return Sizes(begin(), end()); }
  friend bool operator==(IntList a, IntList b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i) {
      if (a.data_[i] != b.data_[i]) return false;
    }
    return true;
  }

 private:
  const int64_t* data_ = nullptr;
  size_t size_ = 0;
};

// OptIntList is an IntList or nothing. Like IntList, it must not outlive the statement in which it
// is made from braces; std::optional would keep a pointer into a temporary that is gone before.
class OptIntList {
 public:
  constexpr OptIntList() = default;
  constexpr OptIntList(std::nullopt_t) {}
  constexpr OptIntList(IntList list) : list_(list), present_(true) {}
  OptIntList(const Sizes& s) : list_(s), present_(true) {}
  OptIntList(const std::vector<int64_t>& s) : list_(s), present_(true) {}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
  constexpr OptIntList(std::initializer_list<int64_t> s)
      : list_(s.begin(), s.size()), present_(true) {}
#pragma GCC diagnostic pop
  constexpr bool has_value() const { return present_; }
  constexpr explicit operator bool() const { return present_; }
  constexpr const IntList& operator*() const { return list_; }
  constexpr const IntList* operator->() const { return &list_; }
  constexpr const IntList& value() const { return list_; }
  constexpr IntList value_or(IntList other) const { return present_ ? list_ : other; }

 private:
  IntList list_;
  bool present_ = false;
};

// list_text writes "[2, 3]".
FACULA_API std::string list_text(IntList list);

// wrap_dim turns a possibly negative dimension into [0, ndim); a 0-d tensor counts as 1-d.
// Raises IndexError "op: expected dim in [-2, 1], got 5".
FACULA_API int64_t wrap_dim(int64_t dim, int64_t ndim, const char* op);

// wrap_dims wraps each entry and refuses duplicates; an absent or empty list means all dimensions.
// Returns a bit mask of the dimensions (at most 64).
FACULA_API uint64_t dim_mask(OptIntList dims, int64_t ndim, const char* op,
                             bool empty_is_all = true);

// count_elements multiplies sizes; raises on negative sizes and on overflow of the element count.
FACULA_API int64_t count_elements(IntList sizes, const char* op);

// contiguous_strides gives row-major strides; a size of 0 counts as 1.
FACULA_API Sizes contiguous_strides(IntList sizes);

// broadcast_sizes gives the common shape of two shapes; raises naming op, both shapes and the dim.
FACULA_API Sizes broadcast_sizes(IntList a, IntList b, const char* op);

// infer_sizes replaces one -1 in `wanted` so that the product is `numel`.
FACULA_API Sizes infer_sizes(IntList wanted, int64_t numel, const char* op);

}  // namespace facula
