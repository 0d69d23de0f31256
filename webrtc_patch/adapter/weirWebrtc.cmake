# Target weir::webrtc of find_package(weir COMPONENTS webrtc). It links libwebrtc::libwebrtc: the host's own target of this
# name, of the patched M150 and the same compiler and flags, else what WEIR_LIBWEBRTC has, the folder that `make webrtc`
# fills.
if(NOT TARGET libwebrtc::libwebrtc)
  if(NOT EXISTS "${WEIR_LIBWEBRTC}/args.gn")
    set(weir_webrtc_FOUND FALSE)
    set(weir_NOT_FOUND_MESSAGE "the component webrtc needs a target libwebrtc::libwebrtc, or WEIR_LIBWEBRTC, the folder "
                               "that `make webrtc` fills (build/libwebrtc)")
    return()
  endif()
  include("${CMAKE_CURRENT_LIST_DIR}/libwebrtc.cmake")
endif()
include("${CMAKE_CURRENT_LIST_DIR}/weirWebrtcTargets.cmake")
set(weir_webrtc_FOUND TRUE)
