// Options that are words.
#include "facula/nn/options.h"

#include <algorithm>
#include <string>

namespace facula::nn {

void check_option(std::string_view where, std::string_view option, std::string_view value,
                  std::initializer_list<std::string_view> allowed, ErrorKind kind) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  std::string words;
  size_t left = allowed.size();
  for (std::string_view word : allowed) {
    words += str("'", word, "'", --left > 1 ? ", " : left == 1 ? " or " : "");
  }
  raise_error(kind, where, ": expected ", option, " ", words, ", got '", value, "'");
}

}  // namespace facula::nn
