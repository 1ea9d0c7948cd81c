// Chooses the instruction set of the CPU kernels when the library is loaded: the best one that
// processor and build have, or AVX2 when the environment says FACULA_ISA=avx2.
#include <cstdlib>
#include <cstring>

#include "facula/kernels/families.h"
#include "facula/kernels/pointwise.h"

namespace facula::kernels {

#define FACULA_DECLARE(Struct, name) extern const Struct name##_table;
namespace avx2 {
FACULA_KERNEL_FAMILIES(FACULA_DECLARE)
}
#if FACULA_HAS_AVX512
namespace avx512 {
FACULA_KERNEL_FAMILIES(FACULA_DECLARE)
}
#endif
#undef FACULA_DECLARE

// Tables are constants, so the pointers are right before any constructor runs.
#define FACULA_DEFINE(Struct, name) const Struct* name = &avx2::name##_table;
FACULA_KERNEL_FAMILIES(FACULA_DEFINE)
#undef FACULA_DEFINE

int isa_level_in_use = 0;

namespace {

bool want_avx512() {
#if FACULA_HAS_AVX512
  const char* wanted = std::getenv("FACULA_ISA");
  if (wanted && std::strcmp(wanted, "avx2") == 0) return false;
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

__attribute__((constructor)) void select_kernels() {
  __builtin_cpu_init();
  if (!want_avx512()) return;
#if FACULA_HAS_AVX512
  isa_level_in_use = 1;
#define FACULA_SELECT(Struct, name) name = &avx512::name##_table;
  FACULA_KERNEL_FAMILIES(FACULA_SELECT)
#undef FACULA_SELECT
#endif
}

}  // namespace

int isa_level() { return 2 + isa_level_in_use; }

}  // namespace facula::kernels
