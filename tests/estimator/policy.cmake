# The tests of the policy, its controller and the C interface.
add_executable(weir_policy_tests
  c_api_test.cc
  c_header_test.c
  policy/mmsys_test.cc
  policy/policy_controller_test.cc
  policy/policy_test.cc
)
add_dependencies(weir_policy_tests weir_test_models)
set_source_files_properties(c_header_test.c PROPERTIES COMPILE_OPTIONS "-std=c99;-pedantic-errors")
target_compile_definitions(weir_policy_tests PRIVATE WEIR_TEST_MODELS="${WEIR_TEST_MODELS}" WEIR_EXPECTED_VERSION="${PROJECT_VERSION}")
target_include_directories(weir_policy_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} "${PROJECT_SOURCE_DIR}/estimator/c")
target_link_libraries(weir_policy_tests PRIVATE weir::weir GTest::gtest_main)
gtest_discover_tests(weir_policy_tests DISCOVERY_MODE PRE_TEST)
