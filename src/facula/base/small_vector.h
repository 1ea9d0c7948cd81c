// A vector of a trivially copyable type whose first N elements live inside the object, for sizes,
// strides and short lists of integers. Larger contents move to the heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace facula {

template <class T, size_t N>
class SmallVector {
  static_assert(std::is_trivially_copyable_v<T>, "SmallVector holds trivially copyable types");
  static_assert(N > 0);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() noexcept = default;
  explicit SmallVector(size_t count, T value = T()) { assign(count, value); }
  SmallVector(std::initializer_list<T> items) { assign(items.begin(), items.end()); }
  SmallVector(std::span<const T> items) { assign(items.begin(), items.end()); }
  template <std::forward_iterator I>
  SmallVector(I first, I last) {
    assign(first, last);
  }
  SmallVector(const SmallVector& other) { copy_from(other.data_, other.size_); }
  SmallVector(SmallVector&& other) noexcept { steal(other); }
  ~SmallVector() { free_heap(); }

  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) copy_from(other.data_, other.size_);
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      free_heap();
      steal(other);
    }
    return *this;
  }

  size_t size() const noexcept { return size_; }
  size_t capacity() const noexcept { return capacity_; }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  auto rbegin() noexcept { return std::reverse_iterator<T*>(end()); }
  auto rend() noexcept { return std::reverse_iterator<T*>(begin()); }
  auto rbegin() const noexcept { return std::reverse_iterator<const T*>(end()); }
  auto rend() const noexcept { return std::reverse_iterator<const T*>(begin()); }
  T& operator[](size_t i) noexcept { return data_[i]; }
  const T& operator[](size_t i) const noexcept { return data_[i]; }
  T& front() noexcept { return data_[0]; }
  const T& front() const noexcept { return data_[0]; }
  T& back() noexcept { return data_[size_ - 1]; }
  const T& back() const noexcept { return data_[size_ - 1]; }
  operator std::span<const T>() const noexcept { return {data_, size_}; }
  operator std::span<T>() noexcept { return {data_, size_}; }

  void clear() noexcept { size_ = 0; }
  void reserve(size_t count) {
    if (count > capacity_) grow(count);
  }
  void resize(size_t count, T value = T()) {
    reserve(count);
    if (count > size_) std::fill(data_ + size_, data_ + count, value);
    size_ = static_cast<uint32_t>(count);
  }
  void assign(size_t count, T value) {
    size_ = 0;
    resize(count, value);
  }
  // The items may lie inside this vector.
  template <std::forward_iterator I>
  void assign(I first, I last) {
    size_t count = static_cast<size_t>(std::distance(first, last));
    if (count > capacity_) {
      SmallVector fresh;
      fresh.reserve(count);
      std::copy(first, last, fresh.data_);
      fresh.size_ = static_cast<uint32_t>(count);
      *this = std::move(fresh);
      return;
    }
    std::copy(first, last, data_);
    size_ = static_cast<uint32_t>(count);
  }

  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    data_[size_++] = value;
  }
  void pop_back() noexcept { --size_; }

  // Inserts `value` before `where`; returns its place.
  T* insert(const T* where, T value) {
    size_t index = static_cast<size_t>(where - data_);
    push_back(value);
    std::rotate(data_ + index, data_ + size_ - 1, data_ + size_);
    return data_ + index;
  }
  // Appends the items [first, last), which must not lie inside this vector.
  template <std::forward_iterator I>
  void append(I first, I last) {
    size_t count = static_cast<size_t>(std::distance(first, last));
    reserve(size_ + count);
    std::copy(first, last, data_ + size_);
    size_ += static_cast<uint32_t>(count);
  }
  // Removes one item, or the items [first, last); returns the place after them.
  T* erase(const T* where) { return erase(where, where + 1); }
  T* erase(const T* first, const T* last) {
    T* place = data_ + (first - data_);
    std::copy(last, static_cast<const T*>(end()), place);
    size_ -= static_cast<uint32_t>(last - first);
    return place;
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator==(const SmallVector& a, std::span<const T> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  T* local() noexcept { return reinterpret_cast<T*>(storage_); }
  bool on_heap() const noexcept { return data_ != reinterpret_cast<const T*>(storage_); }
  void free_heap() noexcept {
    if (on_heap()) std::free(data_);
  }

  __attribute__((noinline)) void grow(size_t count) {
    size_t capacity = std::max<size_t>(count, size_t{capacity_} * 2);
    if (capacity > UINT32_MAX) throw std::bad_alloc();
    T* fresh = static_cast<T*>(std::malloc(capacity * sizeof(T)));
    if (!fresh) throw std::bad_alloc();
    std::memcpy(static_cast<void*>(fresh), data_, size_ * sizeof(T));
    free_heap();
    data_ = fresh;
    capacity_ = static_cast<uint32_t>(capacity);
  }

  void copy_from(const T* items, size_t count) {
    reserve(count);
    std::memcpy(static_cast<void*>(data_), items, count * sizeof(T));
    size_ = static_cast<uint32_t>(count);
  }

  void steal(SmallVector& other) noexcept {
    if (other.on_heap()) {
      data_ = std::exchange(other.data_, other.local());
      capacity_ = std::exchange(other.capacity_, uint32_t{N});
    } else {
      data_ = local();
      capacity_ = N;
      std::memcpy(storage_, other.storage_, other.size_ * sizeof(T));
    }
    size_ = std::exchange(other.size_, 0);
  }

  T* data_ = local();
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  alignas(T) unsigned char storage_[N * sizeof(T)];
};

}  // namespace facula
