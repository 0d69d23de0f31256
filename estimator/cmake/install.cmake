# Components: `development`, the library for C++ (find_package(weir), target weir::weir; or pkg-config weir-cpp) and C
# (target weir::c; or pkg-config weir); `onnxruntime`, the ONNX Runtime it was built with, in a folder of its own, where
# it was built with one (WEIR_ONNXRUNTIME).
include(CMakePackageConfigHelpers)
set(_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/weir")
set(_onnxruntime_folder "${CMAKE_INSTALL_LIBDIR}/weir")
set(_model "${CMAKE_INSTALL_DATADIR}/weir/weir.onnx")

install(TARGETS weir weir_shared EXPORT weirTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
install(EXPORT weirTargets NAMESPACE weir:: DESTINATION "${_package_folder}" COMPONENT development)
install(FILES models/weir.onnx models/weir.md DESTINATION "${CMAKE_INSTALL_DATADIR}/weir" COMPONENT development)
install(DIRECTORY include/weir DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development FILES_MATCHING PATTERN "*.h")
install(FILES c/weir.h c/weir_controller.h c/weir_mocc.h
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)

configure_package_config_file(cmake/weirConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/weirConfig.cmake"
  INSTALL_DESTINATION "${_package_folder}" PATH_VARS _onnxruntime_folder _model NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/weirConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/weirConfig.cmake" "${CMAKE_CURRENT_BINARY_DIR}/weirConfigVersion.cmake"
  DESTINATION "${_package_folder}" COMPONENT development)

set(_onnxruntime_libs "")
if(WEIR_ONNXRUNTIME)
  set(_onnxruntime_libs " -L\${onnxruntimedir} -l:libonnxruntime.so.1 -Wl,-rpath,\${onnxruntimedir}")
endif()
file(RELATIVE_PATH _prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
foreach(_pc weir.pc weir-cpp.pc)
  configure_file("cmake/${_pc}.in" "${CMAKE_CURRENT_BINARY_DIR}/${_pc}" @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${_pc}" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
endforeach()

if(WEIR_ONNXRUNTIME)
  # The file behind the links, under its SONAME, with the licences that its wheel has.
  file(REAL_PATH "${ONNXRuntime_LIBRARY}" _onnxruntime)
  install(FILES "${_onnxruntime}" DESTINATION "${_onnxruntime_folder}" RENAME libonnxruntime.so.1 COMPONENT onnxruntime)
  cmake_path(GET _onnxruntime PARENT_PATH _capi)
  install(FILES "${_capi}/../LICENSE" "${_capi}/../ThirdPartyNotices.txt" DESTINATION "${CMAKE_INSTALL_DOCDIR}/onnxruntime"
    COMPONENT onnxruntime OPTIONAL)
endif()
