# The tests of the policy, its controller and the C interface.
add_executable(weir_policy_tests
  c_api_test.cc
  c_header_test.c
  c_model_test.cc
  counted_allocations.cc
  policy/mmsys_test.cc
  policy/network_test.cc
  policy/packed_tree_test.cc
  policy/policy_controller_test.cc
  policy/policy_test.cc
  policy/shared_model_test.cc
)
add_dependencies(weir_policy_tests weir_test_models)
set_source_files_properties(c_header_test.c PROPERTIES COMPILE_OPTIONS "-std=c99;-pedantic-errors")
target_compile_definitions(weir_policy_tests PRIVATE WEIR_TEST_MODELS="${WEIR_TEST_MODELS}" WEIR_EXPECTED_VERSION="${PROJECT_VERSION}"
  WEIR_SHIPPED_MODEL="${PROJECT_SOURCE_DIR}/trainer/models/weir.onnx")
target_include_directories(weir_policy_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} "${PROJECT_SOURCE_DIR}/estimator/c")
target_link_libraries(weir_policy_tests PRIVATE weir_private GTest::gtest_main)
gtest_discover_tests(weir_policy_tests DISCOVERY_MODE PRE_TEST)
