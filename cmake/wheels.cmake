# Third-party libraries, out of pinned PyPI wheels (tools/wheels.txt): imported targets
#   facula_dnnl, facula_openblas, facula_boost_math; and FACULA_WHEELS, the folder they lie in.
set(Python_FIND_VIRTUALENV FIRST)
if(FACULA_PYTHON)
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
else()
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
endif()

set(FACULA_WHEEL_DIR "" CACHE PATH "Folder with the wheels of tools/wheels.txt, instead of PyPI")
set(FACULA_WHEELS "${PROJECT_BINARY_DIR}/wheels")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             "${PROJECT_SOURCE_DIR}/tools/wheels.txt" "${PROJECT_SOURCE_DIR}/tools/wheels.py")
set(wheel_source)
if(FACULA_WHEEL_DIR)
  set(wheel_source --wheels "${FACULA_WHEEL_DIR}")
endif()
execute_process(
  COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/wheels.py" "${FACULA_WHEELS}"
          ${wheel_source}
  RESULT_VARIABLE wheels_result)
if(NOT wheels_result EQUAL 0)
  message(FATAL_ERROR "the third-party wheels could not be prepared")
endif()

add_library(facula_dnnl SHARED IMPORTED)
set_target_properties(facula_dnnl PROPERTIES
  IMPORTED_LOCATION "${FACULA_WHEELS}/lib/libdnnl.so.3"
  IMPORTED_SONAME libdnnl.so.3
  INTERFACE_INCLUDE_DIRECTORIES "${FACULA_WHEELS}/include")

add_library(facula_openblas SHARED IMPORTED)
set_target_properties(facula_openblas PROPERTIES
  IMPORTED_LOCATION "${FACULA_WHEELS}/lib/libscipy_openblas.so"
  IMPORTED_SONAME libscipy_openblas.so
  INTERFACE_INCLUDE_DIRECTORIES "${FACULA_WHEELS}/include/openblas")

add_library(facula_boost_math INTERFACE)
target_include_directories(facula_boost_math SYSTEM INTERFACE "${FACULA_WHEELS}/include")
# Inside a kernel Boost must not throw: domain errors give NaN, poles and overflow infinity.
target_compile_definitions(facula_boost_math INTERFACE BOOST_MATH_STANDALONE=1
  BOOST_MATH_DOMAIN_ERROR_POLICY=ignore_error BOOST_MATH_POLE_ERROR_POLICY=ignore_error
  BOOST_MATH_OVERFLOW_ERROR_POLICY=ignore_error BOOST_MATH_EVALUATION_ERROR_POLICY=ignore_error
  BOOST_MATH_ROUNDING_ERROR_POLICY=ignore_error BOOST_MATH_PROMOTE_DOUBLE_POLICY=false)
