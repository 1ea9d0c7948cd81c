# Install rules. Component `python` puts the whole package below the prefix, in facula/; component
# `cpp`, the default, fills a prefix for C++: include/, lib/, share/cmake/Facula. Both hold a
# FaculaConfig.cmake, so find_package(Facula) works from a prefix and from an installed package.
configure_file(cmake/FaculaConfig.cmake.in "${PROJECT_BINARY_DIR}/cmake/FaculaConfig.cmake" @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/FaculaConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)

# Headers, libraries, CMake package and licence texts below ROOT, as part of a component.
function(facula_install_library root component)
  set(part COMPONENT ${component} ${ARGN})
  install(TARGETS facula facula_omp LIBRARY DESTINATION "${root}lib" ${part})
  install(PROGRAMS ${FACULA_BUNDLED} DESTINATION "${root}lib" ${part})
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/facula" DESTINATION "${root}include" ${part}
          FILES_MATCHING PATTERN "*.h"
          PATTERN "src/facula/python" EXCLUDE PATTERN "src/facula/kernels/cpu" EXCLUDE)
  install(DIRECTORY "${FACULA_GENERATED}/facula" DESTINATION "${root}include" ${part} OPTIONAL
          FILES_MATCHING PATTERN "*.h")
  install(FILES "${PROJECT_BINARY_DIR}/cmake/FaculaConfig.cmake"
                "${PROJECT_BINARY_DIR}/cmake/FaculaConfigVersion.cmake"
          DESTINATION "${root}share/cmake/Facula" ${part})
  install(DIRECTORY "${FACULA_WHEELS}/licenses/" DESTINATION "${root}share/licenses" ${part})
  install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${root}share/licenses/facula" ${part})
endfunction()

facula_install_library("" cpp)
# The digits of nn::digits(); in an installed package they lie in facula/datasets.
install(FILES "${PROJECT_SOURCE_DIR}/facula/datasets/digits.bin"
              "${PROJECT_SOURCE_DIR}/facula/datasets/LICENSE.digits.txt"
        DESTINATION share/facula/datasets COMPONENT cpp)

if(TARGET _C)
  facula_install_library("facula/" python EXCLUDE_FROM_ALL)
  install(TARGETS _C LIBRARY DESTINATION facula COMPONENT python EXCLUDE_FROM_ALL)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/facula" DESTINATION "." COMPONENT python EXCLUDE_FROM_ALL
          PATTERN "__pycache__" EXCLUDE PATTERN "*.so" EXCLUDE PATTERN "*.so.*" EXCLUDE
          PATTERN "facula/lib" EXCLUDE PATTERN "facula/package" EXCLUDE)
  if(FACULA_GENERATED_STUBS)
    install(DIRECTORY "${FACULA_GENERATED}/stubs/" DESTINATION facula COMPONENT python
            EXCLUDE_FROM_ALL)
  endif()
endif()
