// Number printing for str(): the shortest digits that read back to the same value.
#include "facula/base/format.h"

#include <charconv>
#include <cmath>

namespace facula::format {

namespace {

template <class T>
void append_number(std::string& out, T value) {
  char buffer[64];
  auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out.append(buffer, result.ptr);
}

template <class T>
void append_real(std::string& out, T value) {
  if (std::isnan(value)) {
    out += "nan";
  } else {
    append_number(out, value);
  }
}

}  // namespace

void append_signed(std::string& out, int64_t value) { append_number(out, value); }
void append_unsigned(std::string& out, uint64_t value) { append_number(out, value); }
void append_float(std::string& out, float value) { append_real(out, value); }
void append_double(std::string& out, double value) { append_real(out, value); }

}  // namespace facula::format
