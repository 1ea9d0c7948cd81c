// Types that the declarations of operators use.
#pragma once
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "facula/core/generator.h"
#include "facula/core/tensor.h"
