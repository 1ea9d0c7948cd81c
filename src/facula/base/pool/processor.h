// What a processor must have to run Facula: the instruction sets of x86-64-v3.
#pragma once

#include "facula/base/export.h"

namespace facula::pool {

// The instruction sets above the x86-64 baseline that our code relies on.
struct Features {
  bool avx2;
  bool bmi2;
  bool f16c;
  bool fma;
};

// The name of the first instruction set that is missing, or null.
FACULA_API const char* missing_feature(const Features& features);

}  // namespace facula::pool
