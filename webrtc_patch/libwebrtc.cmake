# libwebrtc::libwebrtc: include folders, definitions and archive of the libwebrtc that everything here links. The one that
# `make webrtc` has built, of M150, with the patch; where there is none, Debian's prebuilt one of January 2023, which is
# enough for weir-sim. Variables, and
# definitions of sources that include its headers:
#   WEIR_LIBWEBRTC_MILESTONE  150 or 109
#   WEIR_LIBWEBRTC_VERSION    what results name: the version of the source package, or the month of its branch
set(WEIR_LIBWEBRTC "${PROJECT_SOURCE_DIR}/build/libwebrtc" CACHE PATH "libwebrtc as webrtc_patch/libwebrtc/build.sh leaves it")

add_library(libwebrtc::libwebrtc INTERFACE IMPORTED GLOBAL)
# Both are built with libwebrtc's debug checks. They change the layout of classes, so who includes its headers must have
# them on too, in every build type.
target_compile_definitions(libwebrtc::libwebrtc INTERFACE DCHECK_ALWAYS_ON=1)
if(EXISTS "${WEIR_LIBWEBRTC}/version")
  set(WEIR_LIBWEBRTC_MILESTONE 150)
  file(READ "${WEIR_LIBWEBRTC}/version" WEIR_LIBWEBRTC_VERSION)
  string(STRIP "${WEIR_LIBWEBRTC_VERSION}" WEIR_LIBWEBRTC_VERSION)
  set(_source "${WEIR_LIBWEBRTC}/src")
  target_include_directories(libwebrtc::libwebrtc SYSTEM INTERFACE
    "${_source}" "${_source}/third_party/abseil-cpp" "${_source}/third_party/libyuv/include")
  # Those of its own build that its headers read.
  target_compile_definitions(libwebrtc::libwebrtc INTERFACE
    ABSL_ALLOCATOR_NOTHROW=1 RTC_ENABLE_VP9 WEBRTC_DEPRECATE_PLAN_B WEBRTC_ENABLE_PROTOBUF=0 WEBRTC_HAVE_SCTP
    WEBRTC_LINUX WEBRTC_NON_STATIC_TRACE_EVENT_HANDLERS=0 WEBRTC_POSIX WEBRTC_STRICT_FIELD_TRIALS=0)
  target_link_libraries(libwebrtc::libwebrtc INTERFACE "${WEIR_LIBWEBRTC}/libwebrtc.a" opus pthread dl rt m)
else()
  set(WEIR_LIBWEBRTC_MILESTONE 109)
  set(WEIR_LIBWEBRTC_VERSION 2023-01)
  find_package(tg_owt REQUIRED)
  target_link_libraries(libwebrtc::libwebrtc INTERFACE tg_owt::tg_owt)
endif()
target_compile_definitions(libwebrtc::libwebrtc INTERFACE
  WEIR_LIBWEBRTC_MILESTONE=${WEIR_LIBWEBRTC_MILESTONE} WEIR_LIBWEBRTC_VERSION="${WEIR_LIBWEBRTC_VERSION}")
# The archives name X11, FFmpeg, GLib and more; congestion controllers need none of them.
target_link_options(libwebrtc::libwebrtc INTERFACE LINKER:--as-needed)
