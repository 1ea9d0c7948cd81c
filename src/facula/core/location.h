// SourceLocation: where in the user's program an operator was called, kept so cheaply that it is
// always on, and turned into text only when an error message needs it.
#pragma once
#include <string>
#include <utility>

#include "facula/base/export.h"

namespace facula {

// SourceLocation is a code object of the embedding language and an offset into it. It owns a
// reference to the code object. C++ programs leave it empty.
struct SourceLocation {
  void* code = nullptr;
  int offset = 0;
  SourceLocation() = default;
  SourceLocation(void* c, int o) : code(c), offset(o) {}
  SourceLocation(SourceLocation&& o) noexcept : code(o.code), offset(o.offset) { o.code = nullptr; }
  SourceLocation& operator=(SourceLocation&& o) noexcept {
    std::swap(code, o.code);
    std::swap(offset, o.offset);
    return *this;
  }
  ~SourceLocation() {
    if (code) release(code);
  }
  // text gives "file.py:12" or "" when unknown.
  std::string text() const { return code ? resolve(code, offset) : std::string(); }

  // Filled by the Python layer; release may be called from any thread.
  static FACULA_API SourceLocation (*capture)();
  static FACULA_API void (*release)(void* code);
  static FACULA_API std::string (*resolve)(void* code, int offset);
};

// current_location asks the embedding language where its caller stands.
inline SourceLocation current_location() {
  return SourceLocation::capture ? SourceLocation::capture() : SourceLocation();
}

}  // namespace facula
