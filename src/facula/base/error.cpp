// Out-of-line parts of error.h.
#include "facula/base/error.h"

namespace facula {

Error::~Error() = default;

std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kRuntime: return "RuntimeError";
    case ErrorKind::kType: return "TypeError";
    case ErrorKind::kValue: return "ValueError";
    case ErrorKind::kIndex: return "IndexError";
    case ErrorKind::kNotImplemented: return "NotImplementedError";
    case ErrorKind::kZeroDivision: return "ZeroDivisionError";
    case ErrorKind::kOutOfMemory: return "OutOfMemoryError";
    case ErrorKind::kAttribute: return "AttributeError";
    case ErrorKind::kKey: return "KeyError";
    case ErrorKind::kOverflow: return "OverflowError";
    case ErrorKind::kAssertion: return "AssertionError";
    case ErrorKind::kBuffer: return "BufferError";
  }
  return "Error";
}

void fail(ErrorKind kind, std::string message) { throw Error(kind, std::move(message)); }

}  // namespace facula
