// InlineVector: a vector of few elements of any movable type that keeps the first N in place.
// SmallVector is its twin for plain data.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <utility>

namespace facula {

// InlineVector<T, N> holds up to N elements without allocating.
template <class T, size_t N>
class InlineVector {
 public:
  InlineVector() = default;
  explicit InlineVector(size_t n) { resize(n); }
  InlineVector(std::initializer_list<T> items) {
    for (const T& t : items) push_back(t);
  }
  InlineVector(const InlineVector& o) {
    reserve(o.size_);
    for (const T& t : o) push_back(t);
  }
  InlineVector(InlineVector&& o) noexcept { take(o); }
  InlineVector& operator=(const InlineVector& o) {
    if (this != &o) *this = InlineVector(o);
    return *this;
  }
  InlineVector& operator=(InlineVector&& o) noexcept {
    if (this != &o) {
      drop();
      take(o);
    }
    return *this;
  }
  ~InlineVector() {
    std::destroy_n(data_, size_);
    free_heap();
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }

  // The item may lie inside this vector, hence by value; emplace_back builds it in place.
  void push_back(T t) {
    if (size_ == capacity_) grow(size_ + 1);
    new (data_ + size_) T(std::move(t));
    ++size_;
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) grow(size_ + 1);
    T* item = new (data_ + size_) T(std::forward<Args>(args)...);
    ++size_;
    return *item;
  }
  void resize(size_t n) {
    reserve(n);
    while (size_ < n) new (data_ + size_++) T();
    while (size_ > n) data_[--size_].~T();
  }
  void reserve(size_t n) {
    if (n > capacity_) grow(n);
  }
  void clear() {
    std::destroy_n(data_, size_);
    size_ = 0;
  }

 private:
  T* inline_data() { return reinterpret_cast<T*>(inline_); }
  void grow(size_t least) {
    size_t cap = capacity_ * 2 < least ? least : capacity_ * 2;
    T* fresh = static_cast<T*>(::operator new(cap * sizeof(T), std::align_val_t(alignof(T))));
    std::uninitialized_move_n(data_, size_, fresh);
    std::destroy_n(data_, size_);
    free_heap();
    data_ = fresh;
    capacity_ = cap;
  }
  void free_heap() {
    if (data_ != inline_data()) ::operator delete(data_, std::align_val_t(alignof(T)));
  }
  void drop() {
    clear();
    free_heap();
    data_ = inline_data();
    capacity_ = N;
  }
  void take(InlineVector& o) {
    if (o.data_ == o.inline_data()) {
      data_ = inline_data();
      capacity_ = N;
      size_ = o.size_;
      std::uninitialized_move_n(o.data_, o.size_, data_);
      o.clear();
    } else {
      data_ = std::exchange(o.data_, o.inline_data());
      capacity_ = std::exchange(o.capacity_, N);
      size_ = std::exchange(o.size_, 0);
    }
  }

  T* data_ = inline_data();
  size_t size_ = 0;
  size_t capacity_ = N;
  alignas(T) unsigned char inline_[N * sizeof(T)];
};

}  // namespace facula
