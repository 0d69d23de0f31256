# Installs a build into WORK_FOLDER and builds and runs the two programs beside this file against it: with find_package, and the one in C with
# pkg-config as well where that exists. Each must print the start rate.
set(prefix "${WORK_FOLDER}/prefix")
file(REMOVE_RECURSE "${WORK_FOLDER}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect_start_rate)
  run(${ARGN})
  if(NOT output STREQUAL "300000\n")
    message(FATAL_ERROR "${ARGN} printed '${output}', not the start rate")
  endif()
endfunction()

run("${CMAKE_COMMAND}" --install "${BUILD_FOLDER}" --prefix "${prefix}" --component development)
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${WORK_FOLDER}/build" -G "${GENERATOR}" "-DCMAKE_PREFIX_PATH=${prefix}"
  "-DCMAKE_C_COMPILER=${C_COMPILER}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}")
run("${CMAKE_COMMAND}" --build "${WORK_FOLDER}/build")
expect_start_rate("${WORK_FOLDER}/build/from_cpp")
expect_start_rate("${WORK_FOLDER}/build/from_c")

find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
  run("${PKG_CONFIG}" --cflags --libs weir)
  string(STRIP "${output}" flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run("${C_COMPILER}" "${CMAKE_CURRENT_LIST_DIR}/from_c.c" -o "${WORK_FOLDER}/from_pkg_config" ${flags} "-Wl,-rpath,${prefix}/${LIBDIR}")
  expect_start_rate("${WORK_FOLDER}/from_pkg_config")
endif()
