# The defaults of scenarios: target weir_scenario_defaults writes them from traces/schema into WEIR_SCENARIO_DEFAULTS.
find_package(Python 3.11 COMPONENTS Interpreter REQUIRED)
set(WEIR_SCENARIO_DEFAULTS "${CMAKE_CURRENT_BINARY_DIR}/scenario_defaults.json")
set(_script "${CMAKE_CURRENT_LIST_DIR}/trainer/sim/make_scenario_defaults.py")
file(GLOB _schema CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/traces/schema/*.py")
add_custom_command(
  OUTPUT "${WEIR_SCENARIO_DEFAULTS}"
  COMMAND "${Python_EXECUTABLE}" "${_script}" "${WEIR_SCENARIO_DEFAULTS}"
  DEPENDS "${_script}" ${_schema}
  COMMENT "Writing the defaults of scenarios"
  VERBATIM)
add_custom_target(weir_scenario_defaults DEPENDS "${WEIR_SCENARIO_DEFAULTS}")
unset(_script)
unset(_schema)
