# Compiler, flags and the two helpers that every target goes through:
#   facula_layer(NAME SOURCES)          an object library with the baseline flags
#   facula_kernels(NAME ISA SOURCES)    an object library compiled for one instruction set
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  message(FATAL_ERROR "Facula builds on x86-64 Linux; this is ${CMAKE_SYSTEM_PROCESSOR} "
                      "${CMAKE_SYSTEM_NAME}")
endif()
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  message(FATAL_ERROR "Facula needs GCC 12 or Clang 15, or later")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
# Optimisation levels are set target by target below.
set(CMAKE_CXX_FLAGS_RELEASE "-DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-g")

find_program(FACULA_CCACHE ccache)
mark_as_advanced(FACULA_CCACHE)
if(FACULA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers are safe to cache once the macros they define are taken as given.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${FACULA_CCACHE})
endif()

if(FACULA_ISAS STREQUAL "native")
  file(STRINGS /proc/cpuinfo cpu_flags REGEX "^flags" LIMIT_COUNT 1)
  set(FACULA_KERNEL_ISAS avx2)
  if(cpu_flags MATCHES "avx512f" AND cpu_flags MATCHES "avx512bw" AND cpu_flags MATCHES "avx512vl"
     AND cpu_flags MATCHES "avx512dq" AND cpu_flags MATCHES "avx512cd")
    list(APPEND FACULA_KERNEL_ISAS avx512)
  endif()
else()
  set(FACULA_KERNEL_ISAS ${FACULA_ISAS})
endif()
set(FACULA_ISA_FLAGS_avx2 -march=x86-64-v3)
set(FACULA_ISA_FLAGS_avx512 -march=x86-64-v4 -mprefer-vector-width=512)
foreach(isa IN LISTS FACULA_KERNEL_ISAS)
  if(NOT DEFINED FACULA_ISA_FLAGS_${isa})
    message(FATAL_ERROR "FACULA_ISAS: expected avx2, avx512 or native, got ${isa}")
  endif()
endforeach()
if(NOT "avx2" IN_LIST FACULA_KERNEL_ISAS)
  message(FATAL_ERROR "FACULA_ISAS must name avx2, the baseline")
endif()

# Flags of everything: warnings, include root, sanitizers.
add_library(facula_flags INTERFACE)
target_include_directories(facula_flags INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src;${PROJECT_BINARY_DIR}/generated>")
target_compile_options(facula_flags INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Wno-psabi
  -fno-semantic-interposition -fno-plt
  $<$<AND:$<BOOL:${FACULA_CCACHE}>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>)
if(FACULA_SANITIZE)
  string(REPLACE ";" "," sanitize "${FACULA_SANITIZE}")
  # alignment and vptr stay off: unaligned tensors are legal, and vptr needs RTTI across libraries.
  # So do checks of null pointers: AddressSanitizer reports them when they are used.
  target_compile_options(facula_flags INTERFACE -fsanitize=${sanitize} -fno-omit-frame-pointer -g1
    -fno-sanitize-recover=all
    -fno-sanitize=vptr,null,nonnull-attribute,returns-nonnull-attribute,object-size)
  target_link_options(facula_flags INTERFACE -fsanitize=${sanitize})
endif()

if("avx512" IN_LIST FACULA_KERNEL_ISAS)
  target_compile_definitions(facula_flags INTERFACE FACULA_HAS_AVX512=1)
endif()

# What kernels may assume. Contraction is off so that the vector body and the scalar tail of a loop
# give the same bits whatever the length and alignment: with contraction GCC fuses a*b+c in one and
# not the other. Kernels that want a fused multiply-add write one. errno and traps are not observed.
# Arithmetic on integers wraps.
set(FACULA_KERNEL_FLAGS -fno-math-errno -fno-trapping-math -ffp-contract=off -fwrapv)
set(FACULA_OPT_plain $<IF:$<CONFIG:Debug>,-O0,-O2>)
set(FACULA_OPT_kernel $<IF:$<CONFIG:Debug>,-O1,-O3>)
set(FACULA_OPT_small $<IF:$<CONFIG:Debug>,-O0,-Os>)
if(FACULA_SANITIZE)
  # Checked loops do not vectorise; optimising them further only takes time.
  set(FACULA_OPT_plain -O1)
  set(FACULA_OPT_kernel -O1)
endif()

set(FACULA_PCH_STD <algorithm> <array> <atomic> <cmath> <complex> <cstdint> <cstring> <memory>
    <mutex> <optional> <span> <string> <string_view> <type_traits> <unordered_map> <utility>
    <variant> <vector>)
set(FACULA_PCH_KERNEL <immintrin.h> <cfloat> <climits> <cmath> <cstddef> <cstdint> <cstring>)

file(WRITE "${PROJECT_BINARY_DIR}/empty.cpp.in" "// Owner of a precompiled header.\n")
configure_file("${PROJECT_BINARY_DIR}/empty.cpp.in" "${PROJECT_BINARY_DIR}/empty.cpp" COPYONLY)

# Makes TARGET share the precompiled header FAMILY, which its first user creates from HEADERS.
function(facula_use_pch target family headers)
  if(NOT FACULA_PCH)
    return()
  endif()
  if(NOT TARGET facula_pch_${family})
    add_library(facula_pch_${family} OBJECT "${PROJECT_BINARY_DIR}/empty.cpp")
    get_target_property(options ${target} COMPILE_OPTIONS)
    target_compile_options(facula_pch_${family} PRIVATE ${options})
    get_target_property(definitions ${target} COMPILE_DEFINITIONS)
    if(definitions)
      target_compile_definitions(facula_pch_${family} PRIVATE ${definitions})
    endif()
    get_target_property(libraries ${target} LINK_LIBRARIES)
    target_link_libraries(facula_pch_${family} PRIVATE ${libraries})
    target_precompile_headers(facula_pch_${family} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM facula_pch_${family})
endfunction()

function(facula_unity target size)
  if(FACULA_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  endif()
endfunction()

function(facula_layer name)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PRIVATE facula_flags)
  target_compile_options(${name} PRIVATE ${FACULA_OPT_plain} -march=x86-64-v3 -ffp-contract=off)
  facula_use_pch(${name} plain "${FACULA_PCH_STD}")
  facula_unity(${name} 8)
endfunction()

function(facula_kernels name isa)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PRIVATE facula_flags)
  target_compile_options(${name} PRIVATE ${FACULA_OPT_kernel} ${FACULA_ISA_FLAGS_${isa}}
                         ${FACULA_KERNEL_FLAGS})
  target_compile_definitions(${name} PRIVATE FACULA_ISA=${isa})
  facula_use_pch(${name} kernel_${isa} "${FACULA_PCH_KERNEL}")
  facula_unity(${name} 3)
endfunction()
