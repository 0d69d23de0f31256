# Installs the library for C++ (find_package(weir), target weir::weir) and C (target weir::c, or pkg-config weir).
include(CMakePackageConfigHelpers)
set(_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/weir")

install(TARGETS weir weir_shared EXPORT weirTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
install(EXPORT weirTargets NAMESPACE weir:: DESTINATION "${_package_folder}" COMPONENT development)
install(DIRECTORY include/weir DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development FILES_MATCHING PATTERN "*.h")
install(FILES c/weir.h c/weir_controller.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)

configure_package_config_file(cmake/weirConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/weirConfig.cmake"
  INSTALL_DESTINATION "${_package_folder}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/weirConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/weirConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/weirConfigVersion.cmake"
  cmake/FindONNXRuntime.cmake DESTINATION "${_package_folder}" COMPONENT development)

file(RELATIVE_PATH _prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/weir.pc.in "${CMAKE_CURRENT_BINARY_DIR}/weir.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/weir.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
unset(_package_folder)
