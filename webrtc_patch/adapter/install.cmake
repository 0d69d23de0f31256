# Installs component `webrtc`: weir::webrtc, for hosts with their own libwebrtc (estimator/cmake/install.cmake has the
# other components).
set(_package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/weir")
install(TARGETS weir_webrtc EXPORT weirWebrtcTargets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT webrtc)
install(EXPORT weirWebrtcTargets NAMESPACE weir:: DESTINATION "${_package_folder}" COMPONENT webrtc)
install(FILES receive_side_switch.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/weir_webrtc" COMPONENT webrtc)
install(FILES sender/observation.h sender/observing_network_controller.h sender/remb_network_controller.h
  sender/return_path.h sender/weir_network_controller.h
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/weir_webrtc/sender" COMPONENT webrtc)
install(FILES weirWebrtc.cmake ../libwebrtc.cmake DESTINATION "${_package_folder}" COMPONENT webrtc)
