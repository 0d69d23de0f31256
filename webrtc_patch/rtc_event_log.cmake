# webrtc_event_log: libwebrtc's parser and writer of RTC event logs. They are built here, not in the archive: with gn they
# need Chromium's own copy of Protocol Buffers.
set(Protobuf_USE_STATIC_LIBS ON)
find_package(Protobuf REQUIRED)
set(_log "${WEIR_LIBWEBRTC}/src/logging/rtc_event_log")
set(_generated "${CMAKE_CURRENT_BINARY_DIR}/generated")
set(_messages)
foreach(name rtc_event_log rtc_event_log2)
  set(_message "${_generated}/logging/rtc_event_log/${name}.pb")
  add_custom_command(
    OUTPUT "${_message}.cc" "${_message}.h"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${_generated}"
    COMMAND protobuf::protoc --cpp_out=${_generated} -I "${WEIR_LIBWEBRTC}/src" "${_log}/${name}.proto"
    DEPENDS "${_log}/${name}.proto"
    VERBATIM)
  list(APPEND _messages "${_message}.cc")
endforeach()
# The parser is written for Chromium's copy; the system's is older.
file(READ "${_log}/rtc_event_log_parser.cc" _parser)
foreach(pair
    "absl::string_view(event_start.data(), total_event_size)|std::string(event_start.data(), total_event_size)"
    "#include \"rtc_base/protobuf_utils.h\"|namespace webrtc { using google::protobuf::RepeatedPtrField$<SEMICOLON> }")
  string(REPLACE "|" ";" pair "${pair}")
  list(GET pair 0 _from)
  list(GET pair 1 _to)
  string(FIND "${_parser}" "${_from}" _place)
  if(_place EQUAL -1)
    message(FATAL_ERROR "${_log}/rtc_event_log_parser.cc has no ${_from}: of another version of libwebrtc")
  endif()
  string(REPLACE "${_from}" "${_to}" _parser "${_parser}")
endforeach()
file(GENERATE OUTPUT "${_generated}/rtc_event_log_parser.cc" CONTENT "${_parser}")
add_library(webrtc_event_log STATIC
  "${_generated}/rtc_event_log_parser.cc"
  ${_messages}
  "${_log}/dependency_descriptor_encoder_decoder.cc"
  "${_log}/encoder/bit_writer.cc"
  "${_log}/encoder/blob_encoding.cc"
  "${_log}/encoder/delta_encoding.cc"
  "${_log}/encoder/optional_blob_encoding.cc"
  "${_log}/encoder/rtc_event_log_encoder_legacy.cc"
  "${_log}/encoder/rtc_event_log_encoder_new_format.cc"
  "${_log}/encoder/rtc_event_log_encoder_v3.cc"
  "${_log}/encoder/var_int.cc"
  "${_log}/events/rtc_event_begin_log.cc"
  "${_log}/events/rtc_event_end_log.cc"
  "${_log}/events/rtc_event_frame_decoded.cc"
  "${_log}/rtc_event_log_impl.cc"
  "${_log}/rtc_event_processor.cc")
target_compile_features(webrtc_event_log PUBLIC cxx_std_20)
target_include_directories(webrtc_event_log SYSTEM PUBLIC "${_generated}")
target_compile_options(webrtc_event_log PRIVATE -w)
target_link_libraries(webrtc_event_log PUBLIC libwebrtc::libwebrtc protobuf::libprotobuf-lite)
