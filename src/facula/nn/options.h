// The check of options that are words: what a misspelt one gets to hear.
//
//   std::string mode = "linear";
//   nn::check_option("Resize", "mode", mode, {"linear", "cubic"});
#pragma once
#include <initializer_list>
#include <string_view>

#include "facula/base/error.h"

namespace facula::nn {

// check_option raises "Resize: expected mode 'linear' or 'cubic', got 'cubbic'" unless the value is
// one of those that are allowed; a ValueError if nothing else is asked for.
FACULA_API void check_option(std::string_view where, std::string_view option,
                             std::string_view value,
                             std::initializer_list<std::string_view> allowed,
                             ErrorKind kind = ErrorKind::kValue);

}  // namespace facula::nn
