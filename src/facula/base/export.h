// Attributes that headers need: what a shared library exports and how functions are inlined.
// Everything else is hidden (-fvisibility=hidden), so a symbol used outside libfacula carries
// FACULA_API.
#pragma once

#define FACULA_API __attribute__((visibility("default")))

// Inlined even without optimisation; emits no symbol of its own, so it may be included in files
// that are compiled for different instruction sets.
#define FACULA_INLINE inline __attribute__((always_inline))

// Kept out of line and away from the hot code: error paths.
#define FACULA_COLD __attribute__((cold, noinline))
