# Defines libwebrtc::libwebrtc from the folder WEIR_LIBWEBRTC, as libwebrtc/build.sh leaves it: include folders,
# definitions and archive. For this build, and for hosts that link an installed weir::webrtc.
add_library(libwebrtc::libwebrtc INTERFACE IMPORTED GLOBAL)
set(_source "${WEIR_LIBWEBRTC}/src")
target_include_directories(libwebrtc::libwebrtc SYSTEM INTERFACE
  "${_source}" "${_source}/third_party/abseil-cpp" "${_source}/third_party/libyuv/include")
# libwebrtc's debug checks change the layout of its classes, so they are on here, in every build type, where they are in
# the archive.
file(STRINGS "${WEIR_LIBWEBRTC}/args.gn" _checked REGEX "^dcheck_always_on = true$")
# The others are those of its own build that its headers read.
target_compile_definitions(libwebrtc::libwebrtc INTERFACE
  $<IF:$<BOOL:${_checked}>,DCHECK_ALWAYS_ON=1,NDEBUG>
  ABSL_ALLOCATOR_NOTHROW=1 RTC_ENABLE_VP9 WEBRTC_DEPRECATE_PLAN_B WEBRTC_ENABLE_PROTOBUF=0 WEBRTC_HAVE_SCTP
  WEBRTC_LINUX WEBRTC_NON_STATIC_TRACE_EVENT_HANDLERS=0 WEBRTC_POSIX WEBRTC_STRICT_FIELD_TRIALS=0)
target_link_libraries(libwebrtc::libwebrtc INTERFACE "${WEIR_LIBWEBRTC}/libwebrtc.a" opus pthread dl rt m)
# The archive names X11, FFmpeg, GLib and more; calls without a screen need none of them.
target_link_options(libwebrtc::libwebrtc INTERFACE LINKER:--as-needed)
