// Types that the declarations of operators use.
#pragma once
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "facula/core/tensor.h"

namespace facula {

class Generator;

}  // namespace facula
