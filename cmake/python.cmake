# The Python extension facula/_C: hand-written bindings (nanobind and the C API) in src/facula/python
# at -O2, generated METH_FASTCALL bindings at -Os.
list(APPEND CMAKE_PREFIX_PATH "${FACULA_WHEELS}/nanobind/cmake")
find_package(nanobind 3.1 CONFIG REQUIRED PATHS "${FACULA_WHEELS}/nanobind/cmake" NO_DEFAULT_PATH)
nanobind_build_library(nanobind-static AS_SYSINCLUDE)

file(GLOB_RECURSE python_sources CONFIGURE_DEPENDS "${source_root}/python/*.cpp")
if(NOT python_sources)
  return()
endif()

set(FACULA_PCH_PYTHON <Python.h> ${FACULA_PCH_STD})
function(facula_bindings name optimisation)
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PRIVATE facula_flags Python::Module nanobind-static)
  target_compile_options(${name} PRIVATE ${FACULA_OPT_${optimisation}} -march=x86-64-v3
                         -ffp-contract=off -fno-strict-aliasing)
  facula_use_pch(${name} python_${optimisation} "${FACULA_PCH_PYTHON}")
  facula_unity(${name} 8)
  add_dependencies(${name} facula_opgen)
endfunction()

facula_bindings(facula_python plain ${python_sources})
Python_add_library(_C MODULE WITH_SOABI)
target_link_libraries(_C PRIVATE facula_python facula facula_flags nanobind-static)
if(FACULA_GENERATED_PYTHON)
  facula_bindings(facula_python_generated small ${FACULA_GENERATED_PYTHON})
  target_link_libraries(_C PRIVATE facula_python_generated)
endif()
set_target_properties(_C PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY "${FACULA_PACKAGE_DIR}" LINKER_LANGUAGE CXX
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN/lib")
target_link_options(_C PRIVATE -Wl,--exclude-libs,ALL -Wl,--as-needed -Wl,-Bsymbolic-functions)

# Stubs lie beside the modules that they describe.
if(FACULA_GENERATED_STUBS AND FACULA_INPLACE)
  add_custom_target(facula_stubs ALL
    COMMAND "${CMAKE_COMMAND}" -E copy_directory "${FACULA_GENERATED}/stubs" "${FACULA_PACKAGE_DIR}"
    DEPENDS ${FACULA_GENERATED_STUBS}
    VERBATIM)
  add_dependencies(facula_stubs facula_opgen)
endif()
