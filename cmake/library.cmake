# libfacula_omp (thread pool and the OpenMP entry points that oneDNN calls) and libfacula (all layers
# below python). Every folder under src/facula is a layer with its own object library.
if(FACULA_INPLACE)
  set(FACULA_PACKAGE_DIR "${PROJECT_SOURCE_DIR}/facula")
else()
  set(FACULA_PACKAGE_DIR "${PROJECT_BINARY_DIR}/package/facula")
endif()
set(FACULA_LIB_DIR "${FACULA_PACKAGE_DIR}/lib")
set(source_root "${PROJECT_SOURCE_DIR}/src/facula")
find_package(Threads REQUIRED)

function(facula_shared name)
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${FACULA_LIB_DIR}"
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN")
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL -Wl,--as-needed -Wl,-z,defs
                      -Wl,-Bsymbolic-functions)
  if(FACULA_SANITIZE)
    target_link_options(${name} PRIVATE -Wl,-z,nodefs)
  endif()
endfunction()

# The pool must outlive everything that runs on it, hence nodelete.
file(GLOB pool_sources CONFIGURE_DEPENDS "${source_root}/base/pool/*.cpp")
list(FILTER pool_sources EXCLUDE REGEX "/processor\\.cpp$")
facula_layer(facula_pool ${pool_sources})
add_library(facula_processor OBJECT "${source_root}/base/pool/processor.cpp")
target_link_libraries(facula_processor PRIVATE facula_flags)
target_compile_options(facula_processor PRIVATE -O1 -march=x86-64)
add_library(facula_omp SHARED)
target_link_libraries(facula_omp PRIVATE facula_pool facula_processor facula_flags
                      Threads::Threads)
facula_shared(facula_omp)
set(openmp_map "${source_root}/base/pool/openmp.map")
target_link_options(facula_omp PRIVATE -Wl,-z,nodelete "-Wl,--version-script=${openmp_map}")
set_target_properties(facula_omp PROPERTIES LINK_DEPENDS "${openmp_map}")

# The two libraries from wheels, beside ours.
set(FACULA_BUNDLED "${FACULA_LIB_DIR}/libdnnl.so.3" "${FACULA_LIB_DIR}/libscipy_openblas.so")
add_custom_command(
  OUTPUT ${FACULA_BUNDLED}
  COMMAND "${CMAKE_COMMAND}" -E copy "${FACULA_WHEELS}/lib/libdnnl.so.3"
          "${FACULA_WHEELS}/lib/libscipy_openblas.so" "${FACULA_LIB_DIR}"
  DEPENDS "${FACULA_WHEELS}/stamp.txt"
  COMMENT "Copying oneDNN and OpenBLAS"
  VERBATIM)
add_custom_target(facula_bundled DEPENDS ${FACULA_BUNDLED})

add_library(facula SHARED)
add_library(Facula::facula ALIAS facula)
set(FACULA_LAYERS)
foreach(layer base core device autograd ops sparse modes nn ir compile dist profiler serve)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${source_root}/${layer}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/base/pool/")
  if(sources)
    facula_layer(facula_${layer} ${sources})
    add_dependencies(facula_${layer} facula_opgen)
    target_link_libraries(facula PRIVATE facula_${layer})
    list(APPEND FACULA_LAYERS ${layer})
  endif()
endforeach()

# Random fills are loops over arrays: vectorised like kernels, in units of their own.
set_source_files_properties("${source_root}/core/generator.cpp" "${source_root}/core/random.cpp"
  PROPERTIES COMPILE_OPTIONS
    "$<IF:$<CONFIG:Debug>,-O0,-O3>;-fno-math-errno;-fno-trapping-math"
  SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)

# Generated operators and nodes.
if(FACULA_GENERATED_OPS)
  facula_layer(facula_generated ${FACULA_GENERATED_OPS})
  facula_unity(facula_generated 1)
  add_dependencies(facula_generated facula_opgen)
  target_link_libraries(facula PRIVATE facula_generated)
  facula_layer(facula_boxed ${FACULA_GENERATED_BOXED})
  add_dependencies(facula_boxed facula_opgen)
  target_link_libraries(facula PRIVATE facula_boxed)
endif()

# Kernels: kernels/cpu/*.cpp and the generated ones once per instruction set; kernels/*.cpp and
# kernels/cpu/*/*.cpp (callers of oneDNN and OpenBLAS, tables) once, with the baseline flags.
file(GLOB kernel_sources CONFIGURE_DEPENDS "${source_root}/kernels/cpu/*.cpp")
file(GLOB plain_kernel_sources CONFIGURE_DEPENDS "${source_root}/kernels/*.cpp"
     "${source_root}/kernels/cpu/*/*.cpp")
if(plain_kernel_sources)
  facula_layer(facula_kernels_plain ${plain_kernel_sources})
  add_dependencies(facula_kernels_plain facula_opgen)
  target_link_libraries(facula_kernels_plain PRIVATE facula_dnnl facula_openblas facula_boost_math)
  target_link_libraries(facula PRIVATE facula_kernels_plain)
  list(APPEND FACULA_LAYERS kernels)
endif()
foreach(isa IN LISTS FACULA_KERNEL_ISAS)
  if(kernel_sources OR FACULA_GENERATED_KERNELS)
    facula_kernels(facula_kernels_${isa} ${isa} ${kernel_sources})
    if(FACULA_GENERATED_KERNELS)
      facula_kernels(facula_loops_${isa} ${isa} ${FACULA_GENERATED_KERNELS})
      set_target_properties(facula_loops_${isa} PROPERTIES UNITY_BUILD OFF)
      add_dependencies(facula_loops_${isa} facula_opgen)
      target_link_libraries(facula PRIVATE facula_loops_${isa})
    endif()
    target_link_libraries(facula_kernels_${isa} PRIVATE facula_boost_math)
    add_dependencies(facula_kernels_${isa} facula_opgen)
    target_link_libraries(facula PRIVATE facula_kernels_${isa})
  endif()
endforeach()

foreach(layer device ops)
  if(TARGET facula_${layer})
    target_link_libraries(facula_${layer} PRIVATE facula_dnnl facula_openblas)
  endif()
endforeach()
target_link_libraries(facula PRIVATE facula_flags facula_dnnl facula_openblas Threads::Threads dl
                      PUBLIC facula_omp)
target_include_directories(facula PUBLIC
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src;${FACULA_GENERATED}>"
  "$<INSTALL_INTERFACE:include>")
target_compile_features(facula PUBLIC cxx_std_20)
add_dependencies(facula facula_bundled)
facula_shared(facula)
set_target_properties(facula PROPERTIES LINKER_LANGUAGE CXX)
