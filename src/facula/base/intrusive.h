// Shared ownership with the count inside the object: Counted is the base class, Ref<T> the pointer.
// A new object starts with a count of one, which make_ref or Ref<T>::adopt takes over.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "facula/base/export.h"

namespace facula {

// Base of objects that Ref<T> owns. When the count falls to zero, dispose() runs, once.
class FACULA_API Counted {
 public:
  Counted() noexcept = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  // Adds one owner.
  void retain() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }

  // Drops one owner; disposes of the object when it was the last.
  void release() const noexcept {
    if (count_.load(std::memory_order_acquire) == 1 ||
        count_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      const_cast<Counted*>(this)->dispose();
    }
  }

  // The number of owners; exact only while no other thread holds a reference.
  uint32_t use_count() const noexcept { return count_.load(std::memory_order_acquire); }

 protected:
  virtual ~Counted() = default;

  // What happens when the last owner is gone: deletes the object. Classes that recycle objects or
  // hand them to another owner override it.
  virtual void dispose() noexcept { delete this; }

 private:
  mutable std::atomic<uint32_t> count_{1};
};

// Owning pointer to a Counted object; may be null.
template <class T>
class Ref {
 public:
  Ref() noexcept = default;
  Ref(std::nullptr_t) noexcept {}
  Ref(const Ref& other) noexcept : pointer_(other.pointer_) { acquire(); }
  Ref(Ref&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(const Ref<U>& other) noexcept : pointer_(other.get()) {
    acquire();
  }
  template <class U>
    requires std::is_convertible_v<U*, T*>
  Ref(Ref<U>&& other) noexcept : pointer_(other.detach()) {}
  ~Ref() {
    if (pointer_) pointer_->release();
  }

  Ref& operator=(const Ref& other) noexcept {
    Ref(other).swap(*this);
    return *this;
  }
  Ref& operator=(Ref&& other) noexcept {
    Ref(std::move(other)).swap(*this);
    return *this;
  }

  // Takes over one owner's share that `pointer` already counts.
  static Ref adopt(T* pointer) noexcept {
    Ref ref;
    ref.pointer_ = pointer;
    return ref;
  }

  // Becomes one more owner of `pointer`, which may be null.
  static Ref share(T* pointer) noexcept {
    if (pointer) pointer->retain();
    return adopt(pointer);
  }

  // Gives up ownership without releasing: the caller now holds the share.
  T* detach() noexcept { return std::exchange(pointer_, nullptr); }

  void reset() noexcept { Ref().swap(*this); }
  void swap(Ref& other) noexcept { std::swap(pointer_, other.pointer_); }
  T* get() const noexcept { return pointer_; }
  T* operator->() const noexcept { return pointer_; }
  T& operator*() const noexcept { return *pointer_; }
  explicit operator bool() const noexcept { return pointer_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.pointer_ == b.pointer_; }
  friend bool operator==(const Ref& a, std::nullptr_t) noexcept { return a.pointer_ == nullptr; }

 private:
  void acquire() noexcept {
    if (pointer_) pointer_->retain();
  }

  T* pointer_ = nullptr;
};

// Creates a T and its first owner.
template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>::adopt(new T(std::forward<Args>(args)...));
}

}  // namespace facula
