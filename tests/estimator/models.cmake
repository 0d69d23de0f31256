# The models of the tests, the benchmarks and the fuzzers: target weir_test_models writes them into WEIR_TEST_MODELS.
find_package(Python 3.11 COMPONENTS Interpreter REQUIRED)
set(WEIR_TEST_MODELS "${CMAKE_CURRENT_BINARY_DIR}/models")
set(_script "${CMAKE_CURRENT_LIST_DIR}/make_test_models.py")
add_custom_command(
  OUTPUT "${WEIR_TEST_MODELS}/made"
  COMMAND "${Python_EXECUTABLE}" "${_script}" "${WEIR_TEST_MODELS}"
  COMMAND "${CMAKE_COMMAND}" -E touch "${WEIR_TEST_MODELS}/made"
  DEPENDS "${_script}" "${CMAKE_CURRENT_LIST_DIR}/hostile_models.py" "${CMAKE_CURRENT_LIST_DIR}/tree_models.py"
    "${CMAKE_CURRENT_LIST_DIR}/benchmark_models.py" "${CMAKE_CURRENT_LIST_DIR}/../../estimator/models/weir.onnx"
  COMMENT "Writing test models"
  VERBATIM)
add_custom_target(weir_test_models DEPENDS "${WEIR_TEST_MODELS}/made")
unset(_script)
