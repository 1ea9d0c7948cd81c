// Refuses processors below x86-64-v3 when the first of our libraries is loaded, in words instead of
// an illegal instruction. This file alone is compiled for every x86-64 processor.
#include "facula/base/pool/processor.h"

#include <unistd.h>

#include <cstring>

namespace facula::pool {

namespace {

void say(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

// 101 is the first priority that programs may use: before the constructors of our other files.
__attribute__((constructor(101))) void check_processor() {
  __builtin_cpu_init();
  Features features{.avx2 = __builtin_cpu_supports("avx2") != 0,
                    .bmi2 = __builtin_cpu_supports("bmi2") != 0,
                    .f16c = __builtin_cpu_supports("f16c") != 0,
                    .fma = __builtin_cpu_supports("fma") != 0};
  const char* missing = missing_feature(features);
  if (!missing) return;
  say("facula: this processor has no ");
  say(missing);
  say("; Facula needs x86-64-v3 (Intel since 2013, AMD since 2015)\n");
  _exit(1);
}

}  // namespace

const char* missing_feature(const Features& features) {
  if (!features.avx2) return "AVX2";
  if (!features.bmi2) return "BMI2";
  if (!features.f16c) return "F16C";
  if (!features.fma) return "FMA";
  return nullptr;
}

}  // namespace facula::pool
