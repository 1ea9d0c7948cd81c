// Pointwise: what the operator layer knows of a pointwise row: its loops by dtype and the rule of
// its result. The loops are generated from the row's expression, once per instruction set.
#pragma once
#include "facula/kernels/view.h"

namespace facula::kernels {

// LoopFn computes n neighbouring elements: p[0] is the output, p[1...] the inputs. Operands that
// are strided, fixed or of another dtype are brought into dense blocks by the caller, so that a row
// has one loop a dtype.
using LoopFn = void (*)(char* const* p, int64_t n, const Scalar* scalars);

// ResultRule gives the dtype of the result from the promoted dtype of the inputs.
enum class ResultRule : uint8_t {
  kSame,       // the promoted type
  kFloat,      // integers and bool become the default floating type
  kBool,       // bool
  kReal,       // the type of the real part
  kRealFloat,  // kFloat, then the type of the real part
};

inline constexpr int kMaxIsas = 2;

// Pointwise describes a row. A null loop of half and bfloat16 means: through float.
struct Pointwise {
  const char* name;
  uint8_t num_inputs;
  uint8_t bool_inputs;  // bit mask of inputs that are read as bool
  ResultRule rule;
  uint8_t cost;                   // relative work of an element, for the grain of threads
  const LoopFn* loops[kMaxIsas];  // [instruction set][dtype]
};

// isa_level is the instruction set in use: 0 AVX2, 1 AVX-512.
extern FACULA_API int isa_level_in_use;

}  // namespace facula::kernels
