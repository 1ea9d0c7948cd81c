# The operator table's generated sources: runs tools/opgen and sorts what it writes by folder into
#   FACULA_GENERATED_OPS and FACULA_GENERATED_BOXED (libfacula), FACULA_GENERATED_KERNELS (once per instruction set),
#   FACULA_GENERATED_PYTHON (_C), FACULA_GENERATED_STUBS (.pyi of the package).
# opgen rewrites a file only when it changes, so that an edit of one row rebuilds its family alone.
set(FACULA_GENERATED "${PROJECT_BINARY_DIR}/generated")
set(FACULA_GENERATED_OPS)
set(FACULA_GENERATED_BOXED)
set(FACULA_GENERATED_KERNELS)
set(FACULA_GENERATED_PYTHON)
set(FACULA_GENERATED_STUBS)
file(MAKE_DIRECTORY "${FACULA_GENERATED}")

file(GLOB opgen_inputs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/opgen/*.py"
     "${PROJECT_SOURCE_DIR}/ops/*.py")
if(NOT EXISTS "${PROJECT_SOURCE_DIR}/tools/opgen/__main__.py")
  add_custom_target(facula_opgen)
  return()
endif()

file(GLOB opgen_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/opgen/*.py")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${opgen_sources})
set(opgen_command "${CMAKE_COMMAND}" -E env PYTHONDONTWRITEBYTECODE=1 "${Python_EXECUTABLE}"
    "${PROJECT_SOURCE_DIR}/tools/opgen" --out "${FACULA_GENERATED}")
execute_process(COMMAND ${opgen_command} --list OUTPUT_VARIABLE opgen_list
                RESULT_VARIABLE opgen_result OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT opgen_result EQUAL 0)
  message(FATAL_ERROR "tools/opgen --list failed")
endif()
string(REPLACE "\n" ";" opgen_list "${opgen_list}")

set(opgen_outputs)
foreach(name IN LISTS opgen_list)
  set(path "${FACULA_GENERATED}/${name}")
  list(APPEND opgen_outputs "${path}")
  if(name MATCHES "^kernels/.*\\.cpp$")
    list(APPEND FACULA_GENERATED_KERNELS "${path}")
  elseif(name MATCHES "^python/.*\\.cpp$")
    list(APPEND FACULA_GENERATED_PYTHON "${path}")
  elseif(name MATCHES "^facula/.*_boxed\\.cpp$")
    list(APPEND FACULA_GENERATED_BOXED "${path}")
  elseif(name MATCHES "^facula/.*\\.cpp$")
    list(APPEND FACULA_GENERATED_OPS "${path}")
  elseif(name MATCHES "^stubs/")
    list(APPEND FACULA_GENERATED_STUBS "${path}")
  endif()
endforeach()

add_custom_command(
  OUTPUT ${opgen_outputs}
  COMMAND ${opgen_command}
  DEPENDS ${opgen_inputs}
  COMMENT "Generating operators from ops/"
  VERBATIM)
add_custom_target(facula_opgen DEPENDS ${opgen_outputs})
