# Defines weir::webrtc for find_package(weir COMPONENTS webrtc). It links libwebrtc::libwebrtc: the host's target of that
# name, which must be the patched M150 built with the same compiler and flags, else the libwebrtc in WEIR_LIBWEBRTC, the
# folder that `make webrtc` fills.
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
