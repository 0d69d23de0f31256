# Finds the parts of ns-3 that the simulator uses: targets Ns3::core, Ns3::network, Ns3::internet,
# Ns3::virtual-net-device, and Ns3_VERSION.
#
# Not ns-3's own CMake package: Debian 12's names helper executables that libns3-dev does not contain, and so fails.
find_path(Ns3_INCLUDE_DIR ns3/core-module.h)
foreach(component core network internet virtual-net-device)
  find_library(Ns3_${component}_LIBRARY NAMES ns3-${component} ns3.37-${component})
  list(APPEND _ns3_libraries Ns3_${component}_LIBRARY)
endforeach()

if(Ns3_core_LIBRARY)
  get_filename_component(_ns3_library_folder "${Ns3_core_LIBRARY}" DIRECTORY)
  find_file(_ns3_version_file ns3ConfigVersion.cmake PATHS "${_ns3_library_folder}/cmake/ns3" NO_DEFAULT_PATH NO_CACHE)
  if(_ns3_version_file)
    file(STRINGS "${_ns3_version_file}" _ns3_version_line REGEX "^set\\(PACKAGE_VERSION " LIMIT_COUNT 1)
    string(REGEX REPLACE "^set\\(PACKAGE_VERSION \"?([0-9.]+).*" "\\1" Ns3_VERSION "${_ns3_version_line}")
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  Ns3 REQUIRED_VARS ${_ns3_libraries} Ns3_INCLUDE_DIR VERSION_VAR Ns3_VERSION
  REASON_FAILURE_MESSAGE "Install libns3-dev, or configure with -DWEIR_BUILD_SIMULATOR=OFF.")
mark_as_advanced(Ns3_INCLUDE_DIR ${_ns3_libraries})

if(Ns3_FOUND AND NOT TARGET Ns3::internet)
  foreach(component core network internet virtual-net-device)
    add_library(Ns3::${component} UNKNOWN IMPORTED)
    set_target_properties(Ns3::${component} PROPERTIES
      IMPORTED_LOCATION "${Ns3_${component}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Ns3_INCLUDE_DIR}")
  endforeach()
  set_property(TARGET Ns3::network PROPERTY INTERFACE_LINK_LIBRARIES Ns3::core)
  set_property(TARGET Ns3::internet PROPERTY INTERFACE_LINK_LIBRARIES Ns3::network)
  set_property(TARGET Ns3::virtual-net-device PROPERTY INTERFACE_LINK_LIBRARIES Ns3::network)
endif()
