// The exception that everything in Facula throws, its kinds, and the helpers that throw it. The
// Python binding turns a kind into the exception class of that name; messages say the operator,
// what was expected and what came.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "facula/base/export.h"
#include "facula/base/format.h"

namespace facula {

// What went wrong, named after the Python exception that it becomes.
enum class ErrorKind : uint8_t {
  kRuntime,
  kType,
  kValue,
  kIndex,
  kNotImplemented,
  kZeroDivision,
  kOutOfMemory,
  kAttribute,
  kKey,
  kOverflow,
  kAssertion,
  kBuffer,
};

// The name of a kind as C++ messages show it: "RuntimeError", "ValueError", ...
FACULA_API std::string_view name_of(ErrorKind kind);

// The exception of the library: a kind and a message.
class FACULA_API Error : public std::exception {
 public:
  Error(ErrorKind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
  ~Error() override;

  ErrorKind kind() const noexcept { return kind_; }
  const std::string& message() const noexcept { return message_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  ErrorKind kind_;
  std::string message_;
};

// Throws an Error of this kind with this message.
[[noreturn]] FACULA_API FACULA_COLD void fail(ErrorKind kind, std::string message);

// Throws an Error whose message is the concatenation of `args`.
template <class... Args>
[[noreturn]] FACULA_COLD void raise_error(ErrorKind kind, const Args&... args) {
  fail(kind, str(args...));
}

}  // namespace facula

// Throws unless `condition` holds: FACULA_CHECK(dim < n, kIndex, "softmax: expected dim < ", n).
#define FACULA_CHECK(condition, kind, ...)                           \
  do {                                                               \
    if (!(condition)) [[unlikely]]                                   \
      ::facula::raise_error(::facula::ErrorKind::kind, __VA_ARGS__); \
  } while (false)
