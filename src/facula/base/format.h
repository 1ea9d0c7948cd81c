// Builds strings from values without streams: str("dim ", 3, " of ", shape) gives "dim 3 of [2,
// 5]". A type takes part when a function append_to(std::string&, const T&) is found by its
// namespace, or when it is a range of such types. Numbers are printed with as few digits as read
// back the same.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "facula/base/export.h"

namespace facula {

namespace format {

FACULA_API void append_signed(std::string& out, int64_t value);
FACULA_API void append_unsigned(std::string& out, uint64_t value);
FACULA_API void append_float(std::string& out, float value);
FACULA_API void append_double(std::string& out, double value);

template <class T>
concept Text = std::convertible_to<const T&, std::string_view>;

template <class T>
concept Appendable = requires(std::string& out, const T& value) { append_to(out, value); };

template <class T>
concept Range = requires(const T& value) {
  value.begin();
  value.end();
};

// Appends one value to `out`; booleans are spelled True and False, ranges [a, b].
template <class T>
void append(std::string& out, const T& value) {
  if constexpr (Appendable<T>) {
    append_to(out, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    out += value ? "True" : "False";
  } else if constexpr (std::is_same_v<T, char>) {
    out += value;
  } else if constexpr (Text<T>) {
    out += std::string_view(value);
  } else if constexpr (std::is_enum_v<T>) {
    append(out, static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_unsigned_v<T>) {
    append_unsigned(out, value);
  } else if constexpr (std::is_integral_v<T>) {
    append_signed(out, value);
  } else if constexpr (std::is_same_v<T, float>) {
    append_float(out, value);
  } else if constexpr (std::is_floating_point_v<T>) {
    append_double(out, static_cast<double>(value));
  } else {
    static_assert(Range<T>, "str: no append_to for this type");
    out += '[';
    const char* separator = "";
    for (const auto& item : value) {
      out += separator;
      append(out, item);
      separator = ", ";
    }
    out += ']';
  }
}

}  // namespace format

// Concatenates the printed forms of its arguments.
template <class... Args>
std::string str(const Args&... args) {
  std::string out;
  (format::append(out, args), ...);
  return out;
}

}  // namespace facula
