# C++ tests: tests/cpp/<layer>/*_test.cpp become the binary <layer>_test, run by CTest. GoogleTest
# comes from the system (Debian: libgtest-dev); ./dev test refuses to run without it.
enable_testing()
find_package(GTest CONFIG)
if(NOT GTest_FOUND)
  find_package(GTest)
endif()
if(NOT GTest_FOUND)
  message(WARNING "GoogleTest is not installed (Debian: libgtest-dev): NO C++ TESTS ARE BUILT")
  return()
endif()

foreach(layer base core device kernels autograd ops sparse modes nn ir compile dist profiler serve)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/cpp/${layer}/*_test.cpp")
  if(NOT sources)
    continue()
  endif()
  # An object library first: it shares the precompiled header, which an executable (-fPIE) could not.
  add_library(${layer}_test_objects OBJECT ${sources})
  target_link_libraries(${layer}_test_objects PRIVATE facula_flags facula GTest::gtest)
  target_compile_options(${layer}_test_objects PRIVATE $<IF:$<CONFIG:Debug>,-O0,-O1>
                         -march=x86-64-v3 -ffp-contract=off)
  facula_use_pch(${layer}_test_objects tests "<gtest/gtest.h>;${FACULA_PCH_STD}")
  facula_unity(${layer}_test_objects 4)
  add_dependencies(${layer}_test_objects facula_opgen)
  add_executable(${layer}_test)
  target_link_libraries(${layer}_test PRIVATE ${layer}_test_objects facula_flags facula GTest::gtest
                        GTest::gtest_main Threads::Threads)
  set_target_properties(${layer}_test PROPERTIES LINKER_LANGUAGE CXX
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin"
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${FACULA_LIB_DIR}")
  if(layer STREQUAL "base")
    # Its tests run oneDNN itself on the pool.
    target_link_libraries(base_test_objects PRIVATE facula_dnnl)
    target_link_libraries(base_test PRIVATE facula_dnnl)
  endif()
  add_test(NAME ${layer} COMMAND ${layer}_test --gtest_brief=1)
endforeach()
